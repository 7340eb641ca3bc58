"""What real endpoints do at their oddest: right labels or unjudged by kind, never a wrong one."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Answer, attestation, running, text_of
from tests.models.clients import ask, client_to, kinds
from tests.models.clock import now, run
from trecjudge.models.client import Client
from trecjudge.models.model import Prediction

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
    notices: list[str]
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


async def each(
    client: Client, items: list[int], about: Callable[[int], int] = lambda item: item
) -> list[Prediction | BaseException]:
    asked = (
        ask(client, f"Claim {item}.", f"Text {about(item)}. It is of some length.")
        for item in items
    )
    return await asyncio.gather(*asked, return_exceptions=True)


def play(
    behaviour: Behaviour,
    folder: Path,
    items: list[int] | None = None,
    about: Callable[[int], int] = lambda item: item,
    **how: Any,
) -> Outcome:
    """Ask for every item through one client, and return what became of them.

    `about` gives the number of an item's document.
    """
    items = list(range(ITEMS)) if items is None else items
    notices: list[str] = []
    times: Counter[str] = Counter()

    def script(body: dict[str, Any], number: int) -> Answer:
        key = text_of(body)
        times[key] += 1
        return behaviour(Asked(body, number, times[key]))

    async def once() -> Outcome:
        settings = {"in_flight": 4} | how
        async with (
            running(script) as endpoint,
            client_to(endpoint, folder, notify=notices.append, **settings) as client,
        ):
            began = now()
            found = await each(client, items, about)
            labels = {
                item: f.fields["label"]
                for item, f in zip(items, found, strict=True)
                if isinstance(f, Prediction)
            }
            failed = dict(zip(items, kinds(found), strict=True))
            failed = {item: kind for item, kind in failed.items() if kind != "ok"}
            errors = [str(f) for f in found if isinstance(f, BaseException)]
            return Outcome(labels, failed, len(endpoint.requests), now() - began, notices, errors)

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
        for delta in (
            {"role": "assistant"},
            {"content": content[:half]},
            {"content": content[half:]},
        )
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
            {
                "choices": [
                    {"error": {"code": 502, "message": "Provider"}, "message": {"content": ""}}
                ]
            }
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
    "broken gzip": once(lambda a: Answer(raw=b"\x1f\x8bno", headers={"Content-Encoding": "gzip"})),
    "half a body": once(lambda a: Answer(raw=json.dumps(completion(a.right)).encode()[:40])),
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


FOR_EVER: dict[str, tuple[Answer, str]] = {
    "429": (problem(429, "Rate limit reached"), "transport"),
    "429 with a time": (problem(429, "Please try again in 20s"), "transport"),
    "503": (problem(503, "Service unavailable"), "transport"),
    "500": (problem(500, "Internal error"), "transport"),
    "502 page": (raw("<html><h1>502 Bad Gateway</h1></html>", 502), "transport"),
    "524 page": (raw("<html>A timeout occurred</html>", 524), "transport"),
    "reset": (Answer(drop=True), "transport"),
    "no reply in time": (Answer(delay=130.0), "transport"),
    "empty": (Answer(""), "empty"),
    "cut": (Answer("{", finish_reason="length"), "cut"),
    "prose": (Answer("I would rather not say."), "parse"),
    "a page": (raw("<html>Sign in</html>"), "transport"),
    "no completion": (raw({"status": "ok"}), "transport"),
    "loading": (problem(200, "Loading model", code=503), "transport"),
}


@pytest.mark.parametrize("in_flight", [1, 32])
@pytest.mark.parametrize("place", [0, ITEMS - 1], ids=["first", "last"])
@pytest.mark.parametrize(("odd", "kind"), FOR_EVER.values(), ids=FOR_EVER)
def test_one_item_that_never_gets_a_reply_holds_no_other(
    odd: Answer, kind: str, place: int, in_flight: int, tmp_path: Path
) -> None:
    items = [item for item in range(ITEMS) if item != ODD]
    items.insert(place, ODD)
    found = play(of_one(odd), tmp_path, items, in_flight=in_flight)
    assert (found.right, found.wrong, found.kinds) == (ITEMS - 1, 0, {ODD: kind})
    assert found.calls <= ITEMS + 120


WINDOW = CONTEXT.replace("8192", "{window}")
LIMIT = "max_tokens"
OTHER = "max_completion_tokens"


def takes(most: int, message: str, status: int = 400) -> Behaviour:
    """Return an endpoint that takes no limit above `most`, and cuts replies of less."""
    return lambda a: (
        problem(status, message) if a.most > most
        else Answer(a.right) if a.most >= most // 2
        else Answer("", finish_reason="length")
    )  # fmt: skip


def without(name: str, message: str, status: int = 400) -> Behaviour:
    return lambda a: problem(status, message) if name in a.body else Answer(a.right)


def no_system(message: str, status: int = 400) -> Behaviour:
    def behaviour(a: Asked) -> Answer:
        roles = [m["role"] for m in a.body["messages"]]
        return problem(status, message) if "system" in roles else Answer(a.right)

    return behaviour


def with_room(prompt: int, window: int, message: str, status: int = 400) -> Behaviour:
    """Return an endpoint whose window holds a prompt and its reply together."""
    words = message.format(window=window, prompt=prompt, total="{total}", limit="{limit}")
    return lambda a: (
        problem(status, words.format(total=prompt + a.most, limit=a.most))
        if prompt + a.most > window
        else Answer(a.right)
    )


PARAMETERS: dict[str, tuple[Behaviour, dict[str, Any]]] = {
    "OpenAI, max_tokens": (without(LIMIT, "Unsupported parameter: 'max_tokens' is not supported"
        " with this model. Use 'max_completion_tokens' instead."), {}),
    "an older server": (without(OTHER, "Unrecognized request argument supplied:"
        " max_completion_tokens"), {"reasoning": True}),
    "FastAPI": (lambda a: raw({"detail": [{"loc": ["body", OTHER], "msg": "extra fields not"
        " permitted", "type": "value_error.extra"}]}, 422) if OTHER in a.body else Answer(a.right),
        {"reasoning": True}),
    "Mistral": (lambda a: raw({"object": "error", "message": {"detail": [{"type":
        "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted",
        "input": 1}]}}, 422) if "seed" in a.body else Answer(a.right), {"seed": 1}),
    "temperature": (without("temperature", "Unsupported value: 'temperature' does not support 0.0"
        " with this model. Only the default (1) value is supported."), {}),
    "temperature and limit": (lambda a: without(LIMIT, "Unsupported parameter: 'max_tokens' is not"
        " supported with this model.")(a) if LIMIT in a.body else without("temperature",
        "Unsupported value: 'temperature'")(a), {}),
    "no system role": (no_system("System role not supported"), {}),
    "Gemma's template": (no_system("Conversation roles must alternate user/assistant/user/"
        "assistant/..."), {}),
    "Google's": (no_system("Developer instruction is not enabled for models/gemma-3-27b-it"), {}),
    "OpenAI, limit": (takes(2048, "max_tokens is too large: 4096. This model supports at most 2048"
        " completion tokens, whereas you provided 4096."), {LIMIT: 4096}),
    "Anthropic, limit": (takes(4096, "max_tokens: 8192 > 4096, which is the maximum allowed number"
        " of output tokens for claude-3-haiku"), {LIMIT: 8192}),
    "Groq, limit": (takes(8192, "`max_tokens` must be less than or equal to `8192`, the maximum"
        " value for `max_tokens` is less than the `context_window` for this model"), {LIMIT: 9000}),
    "DeepSeek, limit": (takes(8192, "Invalid max_tokens value, the valid range of max_tokens is"
        " [1, 8192]"), {LIMIT: 9000}),
    "a limit raised too far": (takes(1000, "max_tokens must be at most 1000"), {LIMIT: 300}),
    "vLLM, room": (with_room(300, 4096, "'max_tokens' or 'max_completion_tokens' is too large:"
        " {limit}. This model's maximum context length is {window} tokens and your request has"
        " {prompt} input tokens."), {"reasoning": True, LIMIT: 4096}),
    "older vLLM, room": (with_room(3000, 4096, WINDOW + "you requested"
        " {total} tokens ({prompt} in the messages, {limit} in the completion)."), {LIMIT: 4096}),
    "newest vLLM, room": (with_room(3000, 4096, WINDOW + "you requested"
        " {limit} output tokens and your prompt contains at least {prompt} input tokens."),
        {LIMIT: 4096}),
    "TGI, room": (with_room(7000, 8193, "Input validation error: `inputs` tokens + `max_new_tokens`"
        " must be <= {window}. Given: {prompt} `inputs` tokens and {limit} `max_new_tokens`", 422),
        {LIMIT: 4096}),
    "SGLang, room": (with_room(1000, 4096, "Requested token count exceeds the model's maximum"
        " context length of {window} tokens. You requested a total of {total} tokens: {prompt}"
        " tokens from the input messages and {limit} tokens for the completion."), {LIMIT: 4096}),
    "Anthropic, room": (with_room(900, 4000, "input length and `max_tokens` exceed context limit:"
        " {prompt} + {limit} > {window}, decrease input length or `max_tokens`"), {LIMIT: 4096}),
}  # fmt: skip


@pytest.mark.parametrize(("behaviour", "settings"), PARAMETERS.values(), ids=PARAMETERS)
def test_a_parameter_that_is_not_taken_is_found_out_once(
    behaviour: Behaviour, settings: dict[str, Any], tmp_path: Path
) -> None:
    found = play(behaviour, tmp_path, **settings)
    assert (found.right, found.wrong, found.unjudged) == (ITEMS, 0, {})
    assert found.calls <= 2 * ITEMS + 4


def for_a_while(busy: Answer, calls: int = 3) -> Behaviour:
    return lambda a: busy if 2 <= a.number < 2 + calls else Answer(a.right)


PAYMENT = (
    "Rate limit reached for gpt-4o in organization org-x on requests per min. Limit: 3 / min."
    " Please try again in 20s. Visit https://platform.openai.com/account/billing to add a payment"
    " method."
)
GOOGLE = "You exceeded your current quota, please check your plan and billing details. " + "x" * 300
A_TIME: dict[str, tuple[Answer, float]] = {
    "retry-after-ms": (raw({}, 429, **{"retry-after-ms": "20000"}), 20),
    "in words": (problem(429, "Please try again in 20s."), 20),
    "in words, long": (problem(429, "Please try again in 1m3.5s."), 63),
    "in words, spelt": (problem(429, "Retry after 20 seconds"), 20),
    "OpenAI of billing": (problem(429, PAYMENT), 20),
    "Google": (raw([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": GOOGLE,
               "details": [{"@type": "RetryInfo", "retryDelay": "34s"}]}}], 429), 34),
    "in an answer of 200": (problem(200, "slow down, retry in 20s", code=429), 20),
    "x-ratelimit-reset": (raw({}, 429, **{"x-ratelimit-remaining-requests": "0",
                          "x-ratelimit-reset-requests": "20s"}), 20),
    "x-ratelimit-reset of all": (raw({}, 429, **{"X-RateLimit-Reset": "20"}), 20),
    "503 and a date": (raw({}, 503, **{"Retry-After": "20"}), 20),
}  # fmt: skip


@pytest.mark.parametrize(("busy", "seconds"), A_TIME.values(), ids=A_TIME)
def test_the_time_that_an_endpoint_asks_for_is_waited(
    busy: Answer, seconds: float, tmp_path: Path
) -> None:
    found = play(for_a_while(busy, 1), tmp_path)
    assert (found.right, found.wrong, found.unjudged) == (ITEMS, 0, {})
    assert (found.calls, seconds <= found.seconds < seconds + 2) == (ITEMS + 1, True)
    assert any("waiting for http" in line for line in found.notices)


CONFIGURATION: dict[str, tuple[Answer, str]] = {
    "401": (problem(401, "Incorrect API key provided"), "OPENAI_API_KEY"),
    "a proxy's 407": (raw("<html><h1>Proxy Authentication Required</h1></html>", 407), "PROXY"),
    "405": (raw({"detail": "Method Not Allowed"}, 405), "OPENAI_BASE_URL"),
    "vLLM, model": (raw({"object": "error", "message": "The model `x` does not exist.",
                    "type": "NotFoundError", "code": 404}, 404), "does not exist"),
    "Ollama, model": (problem(404, 'model "x" not found, try pulling it first'), "not found"),
    "400, model": (problem(400, "The model `x` does not exist"), "does not exist"),
    "a page": (raw("<!DOCTYPE html><title>Sign in</title>"), "OPENAI_BASE_URL"),
    "301": (raw("", 301, Location="https://elsewhere/"), "redirects to"),
}  # fmt: skip


@pytest.mark.parametrize(("answer", "words"), CONFIGURATION.values(), ids=CONFIGURATION)
def test_a_wrong_address_key_or_model_ends_in_one_line(
    answer: Answer, words: str, tmp_path: Path
) -> None:
    found = play(lambda a: answer, tmp_path)
    assert found.unjudged["ModelError"] >= ITEMS - 1
    assert found.calls <= 3 * ITEMS
    assert words in found.errors[-1]
    for error in found.errors:
        assert not re.search(r"\n|<\w", error)


ACCOUNT: dict[str, Answer] = {
    "402": problem(402, "Insufficient credits. Add more using https://openrouter.ai/credits"),
    "402 in 200": problem(200, "Insufficient credits", code=402),
    "Anthropic": problem(400, "Your credit balance is too low to access the Anthropic API."),
    "quota": problem(429, "You exceeded your current quota", code="insufficient_quota"),
    "quota with a time": raw(
        {"error": {"message": "quota", "code": "insufficient_quota"}}, 429, **{"Retry-After": "1"}
    ),
    "DeepSeek": problem(402, "Insufficient Balance"),
    "a limit of the user's own": problem(429, "Billing hard limit has been reached"),
}


@pytest.mark.parametrize("gone", ACCOUNT.values(), ids=ACCOUNT)
def test_an_account_that_may_not_ask_ends_the_asking(gone: Answer, tmp_path: Path) -> None:
    found = play(lambda a: Answer(a.right) if a.number < 4 else gone, tmp_path, in_flight=2)
    assert (found.right, found.wrong, found.unjudged) == (4, 0, {"account": ITEMS - 4})
    assert (found.calls <= 6, found.seconds < 5) == (True, True)


ANSWERS: dict[str, Callable[[Asked], str]] = {
    "a table": lambda a: f"| evidence | label |\n|---|---|\n| | {label_of(a.item)} |",
    "YAML": lambda a: f"evidence: none\nlabel: {label_of(a.item)}",
    "only a line": lambda a: f"label: {label_of(a.item)}",
    "XML": lambda a: f"<evidence>x</evidence><label>{label_of(a.item)}</label>",
    "XML, only a label": lambda a: f"<label>{label_of(a.item)}</label>",
    "prose": lambda a: f"The label is {label_of(a.item)} and not {label_of(a.item + 1)}.",
    "heading": lambda a: f"## Label\n{label_of(a.item)}",
    "a form, then the answer": lambda a: (
        "[[ ## label ## ]]\n{label}  # must be one of full_support; no_support\n" + a.right
    ),
    "the next turn, too": lambda a: f"{a.right}\n<|im_end|>\n<|im_start|>user\n{a.wrong}",
    "a draft and no end": lambda a: f"<think>{a.wrong}",
    "a draft in a fence": lambda a: f"```\n{a.wrong}\n```\nNo:\n```\n{a.right}\n```",
    "an analysis": lambda a: f"<analysis>{a.wrong}</analysis>{a.right}",
    "a draft, ends in a tool call": lambda a: f"{a.wrong}<tool_call>{a.right}</tool_call>",
    "a list of both": lambda a: f"[{a.right}, {a.wrong}]",
    "struck out": lambda a: f"~~{a.wrong}~~ {a.right}",
    "corrected": lambda a: f"{a.wrong}\nCorrection: {label_of(a.item)}",
    "as lines": lambda a: "\n".join(
        json.dumps({"label": label_of(n)}) for n in (a.item, a.item + 1)
    ),
}


@pytest.mark.parametrize("form", ["always", "never"])
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_reply_in_a_form_of_its_own_is_right_or_none(
    answer: Callable[[Asked], str], form: str, tmp_path: Path
) -> None:
    found = play(lambda a: Answer(answer(a)), tmp_path, structured=form)
    print(found.right, found.unjudged, found.calls)
    assert found.wrong == 0
    assert found.right + sum(found.unjudged.values()) == ITEMS
    assert set(found.unjudged) <= {"parse", "stopped"}
    assert found.calls <= 3 * ITEMS


MOMENTS: tuple[Callable[[Asked], Answer], ...] = (
    lambda a: problem(429, "Please try again in 2s"),
    lambda a: problem(503, "overloaded"),
    lambda a: raw("<html>Bad gateway</html>", 502),
    lambda a: problem(500, "Internal error"),
    lambda a: Answer(drop=True),
    lambda a: Answer(raw=json.dumps(completion(a.wrong)).encode()[:60]),
    lambda a: Answer(""),
    lambda a: Answer("Hm."),
    lambda a: Answer(f"{a.wrong}\nor\n{a.right}"),
    lambda a: Answer(a.wrong[:20], finish_reason="length" if a.times == 1 else "stop"),
    lambda a: raw({"error": {"code": 429, "message": "slow down"}}),
    lambda a: raw(stream(a.right)),
    lambda a: Answer(f"<think>{a.wrong}</think>{a.right}"),
    lambda a: Answer(raw=b"\x1f\x8bno", headers={"Content-Encoding": "gzip"}),
)


@pytest.mark.parametrize("seed", range(3))
def test_many_faults_at_once_lose_nothing_and_turn_nothing_round(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)

    def behaviour(a: Asked) -> Answer:
        good = a.times > 2 or dice.random() < 0.6
        return Answer(a.right) if good else dice.choice(MOMENTS)(a)

    found = play(behaviour, tmp_path, list(range(300)), in_flight=16)
    assert (found.right, found.wrong, found.unjudged) == (300, 0, {})
    assert found.calls < 700


BAD = {
    3: problem(400, "prompt is too long: 9000 tokens > 8000 maximum"),
    8: raw({"error": {"code": 403, "message": "flagged", "metadata": {"reasons": ["hate"]}}}, 403),
    14: problem(400, "The response was filtered", code="content_filter"),
    19: raw(completion(None, refusal="I can't.")),
    22: raw("<html>Forbidden</html>", 403),
}


@pytest.mark.parametrize("in_flight", [1, 32])
@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_items_decides_nothing(seed: int, in_flight: int, tmp_path: Path) -> None:
    items = list(range(30))
    random.Random(seed).shuffle(items)
    if seed == 0:
        items.sort(key=lambda item: item not in BAD)
    found = play(lambda a: BAD.get(a.item, Answer(a.right)), tmp_path, items, in_flight=in_flight)
    assert (found.right, found.wrong) == (25, 0)
    assert found.kinds == {3: "too_long", 8: "filtered", 14: "filtered", 19: "refused",
                           22: "refused"}  # fmt: skip
    assert found.calls <= 30 + 6


def test_a_server_that_restarts_is_waited_for(tmp_path: Path) -> None:
    """The port is closed for half a minute, in truth: nothing listens."""
    notices: list[str] = []

    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(Asked(body, number, 1).right, delay=0.5)

    async def once() -> tuple[list[Prediction | BaseException], float]:
        async with AsyncExitStack() as server:
            url = (await server.enter_async_context(running(script))).url
            async with client_to(url, tmp_path, in_flight=2, notify=notices.append) as client:
                asked = asyncio.create_task(each(client, list(range(ITEMS))))
                began = now()
                await asyncio.sleep(1.2)
                await server.aclose()
                await asyncio.sleep(30)
                port = int(url.split(":")[2].removesuffix("/v1"))
                async with running(script, port=port):
                    return await asked, now() - began

    found, seconds = run(once())
    labels = [f.fields["label"] for f in found if isinstance(f, Prediction)]
    assert labels == [label_of(item) for item in range(ITEMS)]
    assert 30 < seconds < 100
    assert any("/chat/completions, 5 s" in line for line in notices)


@pytest.mark.parametrize("in_flight", [1, 32])
def test_one_long_document_of_many_items_ends_nothing(in_flight: int, tmp_path: Path) -> None:
    long = BAD[3]
    found = play(
        lambda a: long if "Text 0." in text_of(a.body) else Answer(a.right),
        tmp_path, list(range(100)), about=lambda item: max(0, item - 80), in_flight=in_flight,
    )  # fmt: skip
    assert (found.right, found.wrong, found.unjudged) == (19, 0, {"too_long": 81})


def test_documents_that_are_all_too_long_end_the_asking(tmp_path: Path) -> None:
    found = play(lambda a: BAD[3], tmp_path, list(range(300)), give_up_after=20)
    assert found.unjudged.keys() == {"too_long", "stopped"}
    assert found.calls <= 26


def test_a_reply_that_cannot_be_read_is_shown(tmp_path: Path) -> None:
    found = play(lambda a: Answer("I'd rather not say."), tmp_path)
    assert "I'd rather not say." in found.errors[0]
