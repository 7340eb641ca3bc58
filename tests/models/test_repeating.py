"""A reply that repeats itself until it is cut: asked for with a penalty once, never at length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Answer, Script, in_turn, repeating, running
from tests.models.clients import ask, ask_many, client_to, failure, kinds
from tests.models.clock import run
from trecjudge.models.spending import Budget

TRAM = "The tram ran until 1957. "
SENT = "frequency_penalty"
Found = tuple[list[str], list[tuple[int, Any]], list[str], dict[str, Any]]


def asked(script: Script, folder: Path, count: int = 1, **settings: Any) -> Found:
    """Return the outcome of each, (limit, penalty) of each request, what was told, the calls."""

    async def all_of_them() -> Found:
        told: list[str] = []
        async with (
            running(script) as endpoint,
            client_to(endpoint, folder, notify=told.append, in_flight=1, **settings) as client,
        ):
            found = kinds(await ask_many(client, count))
            limit = "max_completion_tokens" if client.settings.reasoning else "max_tokens"
            sent = [(body[limit], body.get(SENT)) for body in endpoint.requests]
            return found, sent, told, client.spent()

    return run(all_of_them())


def refusing(message: str, status: int = 400) -> Script:
    """Return a script that takes no penalty, and repeats itself."""
    raw = b'{"error": {"message": "%s"}}' % message.encode()
    endless = repeating(TRAM)
    return lambda body, number: (
        Answer(status=status, raw=raw) if SENT in body else endless(body, number)
    )


@pytest.mark.parametrize("settings", [{}, {"reasoning": True}, {"structured": "never"}])
def test_it_is_asked_for_with_a_penalty(settings: dict[str, Any], tmp_path: Path) -> None:
    found, sent, told, spent = asked(repeating(TRAM, 0.5), tmp_path, max_tokens=400, **settings)
    assert (found, sent) == (["ok"], [(400, None), (400, 0.5)])
    assert (spent["calls"], spent["retries"], spent["completion_tokens"]) == (2, 1, 405)
    assert told == [
        "replies of attest repeat themselves until they are cut: each such is asked for once more"
        " (llm.extra_body: {frequency_penalty: 0.5} may prevent that)"
    ]


def test_it_takes_no_try(tmp_path: Path) -> None:
    assert asked(repeating(TRAM, 0.5), tmp_path, tries=1)[0] == ["ok"]


def test_each_reply_begins_without_a_penalty(tmp_path: Path) -> None:
    found, sent, told, _ = asked(repeating(TRAM, 0.5), tmp_path, count=3)
    assert (found, len(told)) == (["ok"] * 3, 1)
    assert sorted(sent, key=str) == [(512, 0.5)] * 3 + [(512, None)] * 3


@pytest.mark.parametrize("part", [TRAM, "\n", " ", "\t", r"\n", "0"])
def test_what_goes_on_repeating_itself_fails(part: str, tmp_path: Path) -> None:
    found, sent, _, _ = asked(repeating(part), tmp_path)
    assert (found, sent) == (["cut"], [(512, None), (512, 0.5)])


def test_a_reply_of_thoughts_that_repeat_themselves(tmp_path: Path) -> None:
    thoughts = b'{"choices": [{"message": {"content": "", "reasoning_content": "%s"},' % (
        b"Wait. " * 200
    )
    looped = Answer(raw=thoughts + b' "finish_reason": "length"}]}')
    found, sent, _, _ = asked(in_turn(looped, Answer()), tmp_path)
    assert (found, sent) == (["ok"], [(512, None), (512, 0.5)])


def test_too_short_to_be_known_it_gets_more_tokens_first(tmp_path: Path) -> None:
    found, sent, _, _ = asked(repeating(TRAM, 0.5), tmp_path, max_tokens=50)
    assert (found, sent) == (["ok"], [(50, None), (200, None), (200, 0.5)])


def test_a_penalty_after_which_it_is_cut_is_the_last_try(tmp_path: Path) -> None:
    script = in_turn(
        Answer("{" + TRAM * 20, finish_reason="length"),
        Answer('{"evidence": "Of many things', finish_reason="length"),
    )
    found, sent, _, _ = asked(script, tmp_path)
    assert (found, sent) == (["cut"], [(512, None), (512, 0.5)])


def test_a_reply_with_a_penalty_that_does_not_parse_is_asked_for_again(tmp_path: Path) -> None:
    script = in_turn(Answer("{" + TRAM * 20, finish_reason="length"), Answer("hm"), Answer())
    found, sent, _, _ = asked(script, tmp_path)
    assert (found, sent) == (["ok"], [(512, None), (512, 0.5), (512, 0.5)])


@pytest.mark.parametrize("own", [{SENT: 0.1}, {"repeat_penalty": 1.05}, {"presence_penalty": 0}])
def test_a_penalty_of_the_workflow_is_left_as_it_is(own: dict[str, Any], tmp_path: Path) -> None:
    found, sent, _, _ = asked(repeating(TRAM, 0.5), tmp_path, extra_body=own)
    assert (found, sent) == (["cut"], [(512, own.get(SENT))])


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("Unsupported parameter: 'frequency_penalty' is not supported with this model.", 400),
        ("Penalty is not enabled for models/gemini-2.0-flash-lite", 400),
        ("frequency_penalty: Extra inputs are not permitted", 422),
    ],
    ids=["OpenAI", "Google", "FastAPI"],
)
def test_an_endpoint_that_takes_no_penalty_is_asked_for_it_once(
    message: str, status: int, tmp_path: Path
) -> None:
    found, sent, told, _ = asked(refusing(message, status), tmp_path, count=3)
    assert (found, sent) == (["cut"] * 3, [(512, None), (512, 0.5), (512, None), (512, None)])
    assert len(told) == 1
    assert told[0].endswith("; frequency_penalty is not sent any more")


def test_the_failure_shows_what_is_repeated(tmp_path: Path) -> None:
    async def once() -> tuple[str, list[str]]:
        async with running(repeating("no ")) as endpoint, client_to(endpoint, tmp_path) as client:
            failed = await failure(client)
            assert failed.call is not None
            return str(failed), [call.error for call in (*failed.call.earlier, failed.call)]

    message, errors = run(once())
    assert message == "the reply was cut at 512 tokens, repeating 'no '"
    hint = "llm.extra_body: {frequency_penalty: 0.5} may prevent that"
    assert errors == [f"{message}; asked again with frequency_penalty 0.5 ({hint})", message]


def test_its_reply_is_kept_as_that_of_the_request(tmp_path: Path) -> None:
    async def twice() -> tuple[int, int]:
        async with running(repeating(TRAM, 0.5)) as endpoint:
            for _ in range(2):
                async with client_to(endpoint, tmp_path) as client:
                    await ask(client)
            return len(endpoint.requests), client.spent()["cached"]

    assert run(twice()) == (2, 1)


def test_it_counts_against_the_budget(tmp_path: Path) -> None:
    found, sent, _, spent = asked(
        repeating(TRAM, 0.5), tmp_path, count=3, budget=Budget(max_calls=3)
    )
    assert (len(sent), spent["calls"], found.count("ok")) == (3, 3, 1)
