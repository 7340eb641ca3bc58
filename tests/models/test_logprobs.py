"""Log-probabilities of a reply's tokens: read, placed in the text, kept, and not taken."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Answer, attestation, completion, in_turn, running
from tests.models.clients import client_to
from tests.models.clock import run
from trecjudge.judges.citation import ATTEST
from trecjudge.models.envelope import Reply, answer_in, mean_chance, reply_in, token_chances
from trecjudge.models.model import Prediction
from trecjudge.models.prompt import sampled_program
from trecjudge.records import TokenChances

SURE = sampled_program(ATTEST, {"logprobs": True})


def tokens(*given: tuple[str, float], **more: Any) -> dict[str, Any]:
    """Return log-probabilities as endpoints give them."""
    return {"content": [{"token": t, "logprob": p} | more for t, p in given]}


def read(given: Any, text: str) -> TokenChances:
    reply = reply_in(completion(Answer(text, logprobs=given)))
    assert isinstance(reply, Reply)
    return reply.logprobs


@pytest.mark.parametrize(
    ("given", "text", "wanted"),
    [
        (tokens(("It ", -0.1), ("rose", -0.5)), "It rose", ((3, -0.1), (7, -0.5))),
        (tokens(("<think>", -1), ("It", -0.1), ("<end>", -2)), "It", ((2, -0.1),)),
        (tokens((" It", -0.1), (" rose", -0.5)), "It rose", ((2, -0.1), (7, -0.5))),
        (tokens(("é", -0.25)), "é", ((2, -0.25),)),
        ({"content": [{"token": "?", "logprob": -1, "bytes": [b]} for b in "é".encode()]}, "é",
         ((1, -1.0), (2, -1.0))),
        (tokens(("It", 0.25)), "It", ((2, 0.0),)),
        (tokens(("Other", -0.1)), "It", ()),
        (tokens(("It", -math.inf)), "It", ()),
        (tokens(("It", -9999.0)), "It", ()),
        (tokens(("It", -0.1), bytes=10**15), "It", ((2, -0.1),)),
        ({"content": [{"token": "It"}]}, "It", ()),
        ({"content": None}, "It", ()),
        ([None], "It", ()),
        (True, "It", ()),
    ],
    ids=["two tokens", "tokens around", "a token that begins before", "bytes count",
         "parts of a character", "above 0", "of another text", "not finite", "not known",
         "no list of bytes", "no number", "none", "a list", "no object"],
)  # fmt: skip
def test_tokens_are_placed_in_the_text(given: Any, text: str, wanted: TokenChances) -> None:
    assert token_chances(given, text) == wanted


def test_of_a_stream_they_are_put_together() -> None:
    parts = [
        {"choices": [{"delta": {"content": text}, "logprobs": tokens((text, chance))}]}
        for text, chance in (("a", -1), ("b", -2))
    ]
    events = "\n\n".join(f"data: {json.dumps(part)}" for part in parts)
    reply = reply_in(answer_in(events.encode()))
    assert reply is not None and (reply.text, reply.logprobs) == ("ab", ((1, -1.0), (2, -2.0)))


def test_the_mean_is_of_the_tokens_that_touch_the_stretch() -> None:
    chances = ((2, math.log(0.5)), (5, math.log(0.9)), (9, math.log(0.4)))
    assert mean_chance(chances, 2, 9) == pytest.approx(0.6)
    assert mean_chance(chances, 1, 3) == pytest.approx(math.sqrt(0.45))
    assert mean_chance((), 0, 9) is mean_chance(chances, 9, 12) is None


def test_they_are_asked_for_kept_and_found_again(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        text = attestation(body)
        return Answer(text, logprobs=tokens((text, -0.5)) if body.get("logprobs") else None)

    async def asked() -> tuple[list[Prediction], list[bool]]:
        async with running(script) as endpoint:
            found = []
            for program in (SURE, SURE, ATTEST):
                async with client_to(endpoint, tmp_path) as client:
                    found.append(await client.predict(program, document="D.", sentence="S."))
            return found, [body.get("logprobs", False) for body in endpoint.requests]

    (first, again, plain), sent = run(asked())
    assert sent == [True, False]  # the second is from the cache, the third is another request
    assert first.call.logprobs == ((len(first.call.reply), -0.5),)
    assert (again.call.logprobs, again.call.reply) == (first.call.logprobs, first.call.reply)
    assert again.call.usage.cached and plain.call.logprobs == ()
    assert first.fields == again.fields == plain.fields


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Unsupported parameter: 'logprobs' is not supported with this model."),
        (403, "You are not allowed to request logprobs from this model."),
        (422, "extra inputs are not permitted: logprobs"),
    ],
)
def test_where_they_are_refused_they_are_left_out(
    status: int, message: str, tmp_path: Path
) -> None:
    notes: list[str] = []
    refused = Answer(status=status, raw=b'{"error": {"message": "%s"}}' % message.encode())

    async def asked() -> tuple[Prediction, list[bool]]:
        async with (
            running(in_turn(refused, Answer())) as endpoint,
            client_to(endpoint, tmp_path, notify=notes.append) as client,
        ):
            found = [await client.predict(SURE, document=d, sentence="S.") for d in ("D.", "E.")]
            return found[-1], [body.get("logprobs", False) for body in endpoint.requests]

    found, sent = run(asked())
    assert sent == [True, False, False] and found.call.logprobs == ()
    assert sum("logprobs is not sent any more" in note for note in notes) == 1


def test_what_the_endpoint_calls_its_model_is_known_of_a_stream_too() -> None:
    named = {"model": "m-2026", "system_fingerprint": "fp_1"}
    parts = [named | {"choices": [{"delta": {"content": text}}]} for text in ("a", "b")]
    events = "\n\n".join(f"data: {json.dumps(part)}" for part in parts)
    for answer in (completion(Answer("ab")) | named, answer_in(events.encode())):
        reply = reply_in(answer)
        assert reply is not None
        assert (reply.text, reply.served) == ("ab", "m-2026 fp_1")
