"""What real endpoints do at their oddest: right labels or unjudged by kind, never a wrong one."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Answer, attestation, running, text_of
from tests.llm.clock import now, run
from tests.llm.doors import ask, door_to, kinds
from trecjudge.llm.door import Door
from trecjudge.llm.model import Prediction

ITEMS = 12
ODD = 5
"""The item that some endpoints have something against."""


@dataclass(frozen=True)
class Asked:
    """A request as an endpoint sees it: its item, the right reply, and how often it came."""

    body: dict[str, Any]
    number: int
    times: int

    @property
    def item(self) -> int:
        found = re.search(r"Claim (\d+)\.", text_of(self.body))
        assert found is not None
        return int(found[1])

    @property
    def right(self) -> str:
        return attestation(self.body, label_of(self.item))

    @property
    def wrong(self) -> str:
        return attestation(self.body, label_of(self.item + 1))

    @property
    def by_schema(self) -> bool:
        return "response_format" in self.body

    @property
    def most(self) -> int:
        found: int = self.body.get("max_completion_tokens") or self.body["max_tokens"]
        return found


@dataclass(frozen=True)
class Outcome:
    """What became of the items, the requests that came, the seconds that passed."""

    labels: dict[int, str]
    kinds: dict[int, str]
    calls: int
    seconds: float
    said: list[str]
    errors: list[str]

    @property
    def right(self) -> int:
        return sum(label_of(item) == label for item, label in self.labels.items())

    @property
    def wrong(self) -> int:
        return len(self.labels) - self.right

    @property
    def unjudged(self) -> dict[str, int]:
        return dict(Counter(self.kinds.values()))


Behaviour = Callable[[Asked], Answer]


def label_of(item: int) -> str:
    return ("full_support", "no_support")[item % 2]


async def each(door: Door, items: list[int]) -> list[Prediction | BaseException]:
    asked = (ask(door, f"Claim {item}.", f"Text {item}.") for item in items)
    return await asyncio.gather(*asked, return_exceptions=True)


def play(behaviour: Behaviour, folder: Path, items: list[int] | None = None, **how: Any) -> Outcome:
    """Ask for every item through one door, and return what became of them."""
    items = list(range(ITEMS)) if items is None else items
    said: list[str] = []
    times: Counter[str] = Counter()

    def script(body: dict[str, Any], number: int) -> Answer:
        key = text_of(body)
        times[key] += 1
        return behaviour(Asked(body, number, times[key]))

    async def once() -> Outcome:
        settings = {"in_flight": 4} | how
        async with (
            running(script) as endpoint,
            door_to(endpoint, folder, say=said.append, **settings) as door,
        ):
            began = now()
            found = await each(door, items)
            labels = {
                item: f.fields["label"]
                for item, f in zip(items, found, strict=True)
                if isinstance(f, Prediction)
            }
            failed = dict(zip(items, kinds(found), strict=True))
            failed = {item: kind for item, kind in failed.items() if kind != "ok"}
            errors = [str(f) for f in found if isinstance(f, BaseException)]
            return Outcome(
                labels, failed, len(endpoint.requests), now() - began, said, errors
            )

    return run(once())


def raw(found: Any, status: int = 200, **headers: str) -> Answer:
    data = found.encode() if isinstance(found, str) else json.dumps(found).encode()
    return Answer(status=status, raw=data, headers=headers)


def problem(status: int, message: str, **more: Any) -> Answer:
    return raw({"error": {"message": message} | more}, status)


def completion(content: Any, finish: Any = "stop", **message: Any) -> dict[str, Any]:
    return {
        "choices": [{"message": {"content": content} | message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    }


def stream(content: str, *more: Any, **in_each: Any) -> str:
    """Return a reply as the events of a stream."""
    half = len(content) // 2
    chunks: list[Any] = [
        {"choices": [{"delta": delta, "finish_reason": None}]} | in_each
        for delta in ({"role": "assistant"}, {"content": content[:half]}, {"content": content[half:]})
    ]
    chunks.append({"choices": [{"delta": {}, "finish_reason": "stop"}]} | in_each)
    events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in (*chunks, *more))
    return f": PROCESSING\n\n{events}data: [DONE]\n\n"


ENVELOPES: dict[str, Callable[[Asked], Answer]] = {
    "a stream": lambda a: raw(stream(a.right)),
    "a stream with error null in each event": lambda a: raw(stream(a.right, error=None)),
    "a stream with odd events": lambda a: raw(
        stream(a.right, {"choices": None}, {"choices": 7}, {"choices": [None]}, [])
    ),
    "a stream with usage at its end": lambda a: raw(
        stream(a.right, {"choices": [], "usage": {"prompt_tokens": 5}})
    ),
    "one event that is whole": lambda a: raw(f"data: {json.dumps(completion(a.right))}\n\n"),
    "byte order mark": lambda a: raw("\ufeff" + json.dumps(completion(a.right))),
    "comment lines": lambda a: raw(": PROCESSING\n\n: P\n\n" + json.dumps(completion(a.right))),
    "white space for a long time": lambda a: raw(" \n" * 999 + json.dumps(completion(a.right))),
    "usage null": lambda a: raw(completion(a.right) | {"usage": None}),
    "usage of texts": lambda a: raw(completion(a.right) | {"usage": {"prompt_tokens": "many"}}),
    "usage negative": lambda a: raw(completion(a.right) | {"usage": {"completion_tokens": -7}}),
    "usage a list": lambda a: raw(completion(a.right) | {"usage": [1]}),
    "error null": lambda a: raw(completion(a.right) | {"error": None}),
    "white space up to the limit": lambda a: raw(completion(a.right + "\n" * 400, "length")),
    "finish reason of another kind": lambda a: raw(completion(a.right, 7)),
    "eos": lambda a: raw(completion(a.right, "eos_token")),
    "reasoning beside it": lambda a: raw(completion(a.right, reasoning_content=a.wrong)),
    "an answer of a legacy server": lambda a: raw({"choices": [{"text": a.right}]}),
    "end of turn left in": lambda a: raw(completion(f"{a.right}<|im_end|>")),
    "gzip": lambda a: Answer(
        raw=gzip.compress(json.dumps(completion(a.right)).encode()),
        headers={"Content-Encoding": "gzip"},
    ),
    "unasked-for logprobs": lambda a: raw(completion(a.right) | {"prompt_logprobs": [None] * 99}),
}


@pytest.mark.parametrize("behaviour", ENVELOPES.values(), ids=ENVELOPES)
def test_a_good_reply_in_any_envelope_is_taken_at_once(
    behaviour: Behaviour, tmp_path: Path
) -> None:
    found = play(behaviour, tmp_path)
    assert (found.right, found.wrong, found.unjudged, found.calls) == (ITEMS, 0, {}, ITEMS)


def once(first: Callable[[Asked], Answer]) -> Behaviour:
    """Return a behaviour that is odd the first time that it is asked for an item."""
    return lambda a: first(a) if a.times == 1 else Answer(a.right)


GOES_AWAY: dict[str, Behaviour] = {
    "an error in a choice": once(
        lambda a: raw(
            {"choices": [{"error": {"code": 502, "message": "Provider"}, "message": {"content": ""}}]}
        )
    ),
    "an error beside an empty choice": once(
        lambda a: raw(completion("") | {"error": {"code": 502, "message": "upstream"}})
    ),
    "an error within a stream": once(
        lambda a: raw(stream(a.wrong[:9], {"error": {"code": 500, "message": "upstream"}}))
    ),
    "a stream that breaks off": once(lambda a: raw(stream(a.right)[:200])),
    "no choice": once(lambda a: raw({"choices": []})),
    "a web page with status 200": once(lambda a: raw("<html><title>Sign in</title></html>")),
    "a call of a tool": once(lambda a: raw(completion(None, "tool_calls", tool_calls=[{}]))),
    "only reasoning": once(lambda a: raw(completion(None, reasoning_content=a.wrong))),
    "broken gzip": once(
        lambda a: Answer(raw=b"\x1f\x8bno", headers={"Content-Encoding": "gzip"})
    ),
    "half a body": once(
        lambda a: Answer(raw=json.dumps(completion(a.right)).encode()[:40])
    ),
    "a refusal in prose": once(lambda a: Answer("I'm sorry, but I can't help with that.")),
    "another language": once(lambda a: Answer("Le document confirme la phrase.")),
    "a table": once(lambda a: Answer("| field | value |\n|---|---|\n| label | perhaps |")),
    **{
        str(status): once(lambda a, status=status: raw("<html><h1>Oops</h1></html>", status))
        for status in (408, 424, 499, 520, 521, 522, 523, 524, 529, 530)
    },
}


@pytest.mark.parametrize("behaviour", GOES_AWAY.values(), ids=GOES_AWAY)
def test_what_goes_away_is_asked_again(behaviour: Behaviour, tmp_path: Path) -> None:
    found = play(behaviour, tmp_path)
    assert (found.right, found.wrong, found.unjudged) == (ITEMS, 0, {})
    assert found.calls <= 3 * ITEMS


def of_one(odd: Answer) -> Behaviour:
    return lambda a: odd if a.item == ODD else Answer(a.right)


CONTEXT = "This model's maximum context length is 8192 tokens. However, "
OF_ONE: dict[str, tuple[Answer, str]] = {
    "vLLM": (raw({"object": "error", "message": f"{CONTEXT}you requested 9512 tokens (9000 in the"
             " messages, 512 in the completion).", "type": "BadRequestError", "code": 400}, 400),
             "too_long"),
    "vLLM, prompt only": (problem(400, "max_tokens must be at least 1, got -412."), "too_long"),
    "TGI": (raw({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <="
            " 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`",
            "error_type": "validation"}, 422), "too_long"),
    "TGI, prompt only": (raw({"error": "Input validation error: `inputs` must have less than 1024"
                         " tokens. Given: 4096", "error_type": "validation"}, 422), "too_long"),
    "xAI": (problem(400, "This model's maximum prompt length is 131072 but the request contains"
            " 140000 tokens."), "too_long"),
    "Anthropic": (problem(400, "prompt is too long: 210000 tokens > 200000 maximum"), "too_long"),
    "Google": (raw([{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "The input"
               " token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}],
               400), "too_long"),
    "more tokens than a minute has": (problem(429, "Request too large for gpt-4o in organization x"
        " on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must"
        " be reduced in order to run successfully.", code="rate_limit_exceeded", type="tokens"),
        "too_long"),
    "nginx": (raw("<html>\r\n<head><title>413 Request Entity Too Large</title></head></html>", 413),
              "too_long"),
    "content filter": (raw(completion("{", "content_filter")), "filtered"),
    "safety": (raw(completion("", "SAFETY")), "filtered"),
    "Azure": (problem(400, "The response was filtered", code="content_filter"), "filtered"),
    "a firewall": (raw("<!DOCTYPE html><html><title>Attention Required! | Cloudflare</title>"
                   "<p>Sorry, you have been blocked</p></html>", 403), "refused"),
    "a refusal": (raw(completion(None, refusal="I can't help with that.")), "refused"),
}  # fmt: skip


@pytest.mark.parametrize("in_flight", [1, 32])
@pytest.mark.parametrize("place", [0, 1, ITEMS - 1], ids=["first", "second", "last"])
@pytest.mark.parametrize(("odd", "kind"), OF_ONE.values(), ids=OF_ONE)
def test_one_item_refused_is_that_item_wherever_it_stands(
    odd: Answer, kind: str, place: int, in_flight: int, tmp_path: Path
) -> None:
    items = [item for item in range(ITEMS) if item != ODD]
    items.insert(place, ODD)
    found = play(of_one(odd), tmp_path, items, in_flight=in_flight)
    assert (found.right, found.wrong, found.kinds) == (ITEMS - 1, 0, {ODD: kind})
    assert found.calls <= ITEMS + 2
