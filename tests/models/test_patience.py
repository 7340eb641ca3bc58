"""What is asked again, how long is waited, and what ends a run at once."""

from __future__ import annotations

import asyncio
import random
import socket
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import (
    Answer,
    Endpoint,
    Script,
    attestation,
    attesting,
    in_turn,
    running,
    text_of,
)
from tests.models.clients import ask, ask_many, client_to, failure, kinds
from tests.models.clock import now, run
from trecjudge.errors import ModelError
from trecjudge.models.client import Client
from trecjudge.models.pace import OutageTracker
from trecjudge.models.transport import _seconds

LONGEST_WAIT = 120.0
NOT_READABLE = Answer("I would rather not say.")


@dataclass
class Asked:
    """How asking once went: the label, or how it failed; the seconds that passed; what was sent."""

    label: str
    seconds: float
    tries: int
    endpoint: Endpoint
    spent: dict[str, Any]
    error: str = ""


def asked(script: Script, folder: Path, **settings: Any) -> Asked:
    async def once() -> Asked:
        async with running(script) as endpoint, client_to(endpoint, folder, **settings) as client:
            began = now()
            (found,) = await asyncio.gather(ask(client), return_exceptions=True)
            (kind,) = kinds([found])
            passed, spent = now() - began, client.spent()
            if isinstance(found, BaseException):
                tries = getattr(found, "tries", 0)
                return Asked(kind, passed, tries, endpoint, spent, str(found))
            return Asked(found.fields["label"], passed, found.call.tries, endpoint, spent)

    return run(once())


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(Answer(drop=True), id="reset"),
        pytest.param(Answer(delay=121.0), id="read timeout"),
        *(
            pytest.param(Answer(status=status), id=str(status))
            for status in (408, 409, 425, 500, 502, 504)
        ),
        pytest.param(Answer(""), id="empty"),
        pytest.param(Answer(" \n"), id="blank"),
        pytest.param(Answer(raw=b'{"choices": [{"message": {"content": null}}]}'), id="null"),
        pytest.param(Answer(raw=b'{"choices": []}'), id="no choice"),
        pytest.param(Answer(raw=b'{"error": {"message": "Oops"}}'), id="an error with status 200"),
        pytest.param(Answer(raw=b"[1"), id="no JSON"),
        pytest.param(Answer(raw=b"[]"), id="a list"),
        pytest.param(Answer('{"label": "full', finish_reason="length"), id="cut"),
        pytest.param(Answer("", finish_reason="length"), id="cut before the first word"),
        pytest.param(NOT_READABLE, id="not in the form"),
        pytest.param(Answer('{"evidence": "", "label": "perhaps"}'), id="no such label"),
        pytest.param(Answer('{"evidence": "x"}'), id="a field is missing"),
    ],
)
def test_is_asked_again(bad: Answer, tmp_path: Path) -> None:
    found = asked(in_turn(bad, Answer()), tmp_path)
    assert (found.label, found.tries, len(found.endpoint.requests)) == ("full_support", 2, 2)
    assert found.spent["retries"] == 1


@pytest.mark.parametrize(
    ("bad", "kind", "tries"),
    [
        pytest.param(Answer(drop=True), "transport", 3, id="reset"),
        pytest.param(Answer(status=500), "transport", 5, id="500: twice by schema, then without"),
        pytest.param(Answer(""), "empty", 3, id="empty"),
        pytest.param(Answer("x", finish_reason="length"), "cut", 2, id="cut: once more"),
        pytest.param(NOT_READABLE, "parse", 3, id="not in the form"),
    ],
)
def test_what_stays_wrong_is_a_failure(bad: Answer, kind: str, tries: int, tmp_path: Path) -> None:
    found = asked(in_turn(bad), tmp_path)
    assert (found.label, len(found.endpoint.requests)) == (kind, tries)


@pytest.mark.parametrize("content", ['{"label": "full', ""], ids=["some", "none"])
def test_a_cut_reply_is_asked_for_with_a_larger_limit(content: str, tmp_path: Path) -> None:
    found = asked(in_turn(Answer(content, finish_reason="length"), Answer()), tmp_path)
    first, second = (body["max_tokens"] for body in found.endpoint.requests)
    assert (first, second > first) == (512, True)


def test_what_was_wrong_is_sent_when_asking_again(tmp_path: Path) -> None:
    found = asked(in_turn(Answer('{"evidence": "", "label": "perhaps"}'), Answer()), tmp_path)
    first, second = (body["messages"] for body in found.endpoint.requests)
    assert second[: len(first)] == first
    reply, again = second[len(first) :]
    assert reply == {"role": "assistant", "content": '{"evidence": "", "label": "perhaps"}'}
    assert (again["role"], "full_support" in again["content"]) == ("user", True)


def test_nothing_listens(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"

        async def once() -> Any:
            async with client_to(url, tmp_path) as client:
                return await failure(client)

        with pytest.raises(ModelError, match=r"nothing listens at .*; check OPENAI_BASE_URL"):
            run(once())


def test_no_single_try_takes_longer_than_the_timeout(tmp_path: Path) -> None:
    found = asked(in_turn(Answer(delay=999.0), Answer()), tmp_path, timeout=7.0)
    assert 7.0 <= found.seconds < 10.0


def test_waits_grow_and_differ(tmp_path: Path) -> None:
    waits = [
        asked(in_turn(*[Answer(status=500)] * 7, Answer()), tmp_path / str(seed), tries=9).seconds
        for seed in range(4)
    ]
    assert len(set(waits)) == len(waits)
    assert max(waits) > 2.0
    assert max(waits) < 64.0


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        pytest.param("7", 7, 8, id="seconds"),
        pytest.param("0.5", 0.5, 1, id="a part of a second"),
        pytest.param("99999", LONGEST_WAIT, LONGEST_WAIT + 1, id="capped"),
        pytest.param("-3", 0, 1, id="negative"),
        pytest.param("nan", 0, 1, id="no number"),
        pytest.param("soon", 0, 1, id="neither"),
        pytest.param("Wed, 01 Jan 2020 00:00:00 GMT", 0, 1, id="a date gone by"),
        pytest.param("Fri, 01 Jan 2100 00:00:00 GMT", LONGEST_WAIT, 121, id="a far date"),
        pytest.param("1e12", LONGEST_WAIT, LONGEST_WAIT + 1, id="for ever"),
        pytest.param("inf", 0, 1, id="without end"),
        pytest.param("Fri, 01 Jan 99999 00:00:00 GMT", 0, 1, id="no date"),
    ],
)
def test_retry_after_is_waited_for(header: str, least: float, most: float, tmp_path: Path) -> None:
    busy = Answer(status=429, headers={"Retry-After": header})
    found = asked(in_turn(busy, Answer()), tmp_path)
    assert found.label == "full_support"
    assert least <= found.seconds <= most


LONG = (
    pytest.param({"Retry-After": "3600"}, "it asks to wait 3600 s", id="an hour"),
    pytest.param({"Retry-After": "1e12"}, "it asks to wait 1e+12 s", id="for ever"),
    pytest.param({"Retry-After": "Fri, 01 Jan 2100 00:00:00 GMT"}, "it asks to wait", id="a date"),
    pytest.param({"retry-after-ms": "90000"}, "it asks to wait 90 s", id="milliseconds"),
    pytest.param({"Retry-After": "-5"}, "HTTP", id="negative"),
    pytest.param({"Retry-After": "nan"}, "HTTP", id="no number"),
    pytest.param(
        {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "90s"},
        "HTTP",
        id="a reset",
    ),
)


@pytest.mark.parametrize("several", [False, True], ids=["one endpoint", "two"])
@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("headers", "said"), LONG)
def test_no_wait_that_is_asked_for_is_longer_than_the_patience(
    headers: dict[str, str], said: str, status: int, several: bool, tmp_path: Path
) -> None:
    notices: list[str] = []
    script = in_turn(Answer(status=status, headers=headers))

    async def many() -> tuple[list[Any], float]:
        async with running(script) as one, running(script) as other:
            where = [one.url, other.url] if several else one.url
            patience = {"patience": 10.0, "notify": notices.append}
            async with client_to(where, tmp_path, **patience) as client:
                began = now()
                return await ask_many(client, 5), now() - began

    found, seconds = run(many())
    assert set(kinds(found)) <= {"transport", "stopped"}
    # Of two, the first wait is that of one of them, before all are out of order.
    assert 10 <= seconds < (22 if several else 11)
    for failed in found:
        assert f"waited for 10 s (llm.patience) in vain: HTTP {status}" in str(failed)
        assert said in str(failed)
    assert said in notices[-1]


def test_an_answer_within_the_patience_is_taken_whatever_wait_was_asked_for(tmp_path: Path) -> None:
    busy = Answer(status=503, headers={"Retry-After": "3600"})
    found = asked(in_turn(busy, Answer()), tmp_path, patience=10.0)
    assert (found.label, 9 <= found.seconds < 11) == ("full_support", True)


def test_retry_after_as_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 28 <= _seconds(date) <= 31


def test_a_busy_endpoint_costs_no_try(tmp_path: Path) -> None:
    found = asked(in_turn(*[Answer(status=429)] * 8, Answer()), tmp_path, tries=1)
    assert (found.label, found.tries) == ("full_support", 1)
    assert (found.spent["calls"], found.spent["throttled"]) == (1, 8)


def test_a_busy_endpoint_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    found = asked(in_turn(Answer(status=429)), tmp_path, patience=0.0)
    assert (found.label, found.spent["calls"]) == ("transport", 0)


def test_a_reset_time_of_years_does_not_hold_the_client(tmp_path: Path) -> None:
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1893456000",
    }

    async def two() -> float:
        async with (
            running(in_turn(Answer(headers=headers), Answer())) as endpoint,
            client_to(endpoint, tmp_path) as client,
        ):
            began = now()
            await ask(client, "One.")
            await ask(client, "Two.")
            return now() - began

    assert run(two()) <= LONGEST_WAIT + 1


def test_a_429_holds_the_whole_client_and_it_recovers(tmp_path: Path) -> None:
    times: list[float] = []

    def script(body: dict[str, Any], number: int) -> Answer:
        times.append(now())
        busy = Answer(status=429, headers={"Retry-After": "20"})
        return busy if number == 3 else Answer(attestation(body), delay=0.1)

    async def many() -> tuple[list[str], int]:
        async with (
            running(script) as endpoint,
            client_to(endpoint, tmp_path, in_flight=4) as client,
        ):
            return kinds(await ask_many(client, 100)), int(client.transport.pace.limit)

    found, limit = run(many())
    assert set(found) == {"ok"}
    assert not [t for t in times if times[3] + 0.01 < t < times[3] + 19.9]
    assert limit == 4


@pytest.mark.parametrize("status", [401, 404])
@pytest.mark.parametrize(
    "raw",
    [b'{"error": {"message": "no such thing"}}', b"<html>\n<h1>no such thing</h1>\n</html>\n"],
    ids=["json", "html"],
)
def test_stops_at_once_with_one_clear_line(status: int, raw: bytes, tmp_path: Path) -> None:
    found = asked(in_turn(Answer(status=status, raw=raw)), tmp_path)
    assert (found.label, len(found.endpoint.requests)) == ("ModelError", 1 if status == 401 else 2)
    assert found.error.count("\n") == 0
    for part in (found.endpoint.url, str(status), "no such thing", "OPENAI_"):
        assert part in found.error


async def one_by_one(client: Client, count: int) -> list[str]:
    """Ask so many different questions, one after the other; return how each ended."""
    return [(await ask_each(client, f"Claim {n}."))[0] for n in range(count)]


async def ask_each(client: Client, sentence: str) -> list[str]:
    return kinds(await asyncio.gather(ask(client, sentence), return_exceptions=True))


BUSY = (
    pytest.param(Answer(status=503), id="503"),
    pytest.param(Answer(status=529), id="529"),
    pytest.param(Answer(raw=b'{"error": {"code": 429, "message": "slow down"}}'), id="429 in 200"),
    pytest.param(Answer(raw=b'{"error": {"message": "Overloaded"}}'), id="overloaded in 200"),
    pytest.param(
        Answer(status=503, raw=b'{"error": {"message": "Loading model", "code": 503}}'),
        id="loading",
    ),
)


@pytest.mark.parametrize("busy", BUSY)
def test_an_outage_is_waited_out_and_costs_no_try(busy: Answer, tmp_path: Path) -> None:
    found = asked(in_turn(*[busy] * 8, Answer()), tmp_path, tries=1)
    assert (found.label, found.tries, found.spent["calls"]) == ("full_support", 1, 1)


@pytest.mark.parametrize("busy", BUSY)
def test_an_outage_ends_the_asking_after_the_patience(busy: Answer, tmp_path: Path) -> None:
    notices: list[str] = []

    async def many() -> tuple[list[str], float, int]:
        async with (
            running(in_turn(busy)) as endpoint,
            client_to(endpoint, tmp_path, patience=60.0, notify=notices.append) as client,
        ):
            began = now()
            return kinds(await ask_many(client, 40)), now() - began, len(endpoint.requests)

    found, seconds, calls = run(many())
    assert set(found) <= {"transport", "stopped"}
    assert 60 <= seconds < 125
    assert calls < 80
    assert "/chat/completions, 5 s of at most 60: HTTP" in notices[0]
    assert "run the same command again to go on" in notices[-1]


def test_a_retry_after_is_kept_to_on_a_503(tmp_path: Path) -> None:
    busy = Answer(status=503, headers={"Retry-After": "40"})
    found = asked(in_turn(busy, Answer()), tmp_path)
    assert (found.label, 40 <= found.seconds < 42) == ("full_support", True)


@pytest.mark.parametrize(
    "broken",
    [Answer(status=500), Answer(status=502), Answer(drop=True)],
    ids=["500", "502", "reset"],
)
def test_what_fails_for_all_is_an_outage(broken: Answer, tmp_path: Path) -> None:
    async def many() -> list[str]:
        began = 0.0

        def script(body: dict[str, Any], number: int) -> Answer:
            nonlocal began
            began = began or now()
            return broken if 1 < now() - began < 90 else Answer(attestation(body), delay=0.2)

        async with (
            running(script) as endpoint,
            client_to(endpoint, tmp_path, in_flight=4) as client,
        ):
            return kinds(await ask_many(client, 60))

    assert run(many()) == ["ok"] * 60


def test_what_fails_for_all_costs_no_item_its_tries(tmp_path: Path) -> None:
    answered: set[str] = set()

    async def many() -> list[str]:
        began = now()

        def script(body: dict[str, Any], number: int) -> Answer:
            """Answer nothing for a while, then each item at first with what nobody can read."""
            if now() - began < 100:
                return Answer(drop=True)
            if (text := text_of(body)) not in answered:
                answered.add(text)
                return NOT_READABLE
            return Answer(attestation(body))

        async with (
            running(script) as endpoint,
            client_to(endpoint, tmp_path, in_flight=4, tries=3) as client,
        ):
            return kinds(await ask_many(client, 4))

    assert run(many()) == ["ok"] * 4


ALWAYS = {
    "refused": Answer(
        raw=b'{"choices": [{"message": {"content": null, "refusal": "I will not"}}]}'
    ),
    "refused by status": Answer(status=400),
    "parse": NOT_READABLE,
    "empty": Answer(""),
    "cut": Answer("x", finish_reason="length"),
    "filtered": Answer("x", finish_reason="content_filter"),
}


@pytest.mark.parametrize("script", ALWAYS.values(), ids=ALWAYS)
@pytest.mark.parametrize("in_flight", [1, 8, 64])
def test_what_always_fails_ends_the_asking(script: Answer, in_flight: int, tmp_path: Path) -> None:
    async def many() -> tuple[list[str], int]:
        async with (
            running(in_turn(script)) as endpoint,
            client_to(endpoint, tmp_path, in_flight=in_flight, give_up_after=20) as client,
        ):
            return kinds(await ask_many(client, 200)), len(endpoint.requests)

    found, calls = run(many())
    assert 20 <= calls <= 25
    assert found.count("stopped") >= 175


@pytest.mark.parametrize("good", range(3))
def test_a_success_between_failures_keeps_the_asking_going(good: int, tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(attestation(body)) if number % 3 == good else Answer("", status=400)

    async def many() -> list[str]:
        async with (
            running(script) as endpoint,
            client_to(endpoint, tmp_path, give_up_after=3, structured="always") as client,
        ):
            return await one_by_one(client, 9)

    found = run(many())
    assert (found.count("ok"), found.count("refused")) == (3, 6)


def test_one_item_that_fails_again_and_again_ends_nothing(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return NOT_READABLE if "Claim 0" in str(body) else Answer(attestation(body))

    async def many() -> tuple[list[str], int]:
        async with (
            running(script) as endpoint,
            client_to(endpoint, tmp_path, give_up_after=4, tries=9) as client,
        ):
            return await one_by_one(client, 4), len(endpoint.requests)

    assert run(many()) == (["parse", "ok", "ok", "ok"], 12)


def test_an_account_without_money_ends_the_asking_at_once(tmp_path: Path) -> None:
    notices: list[str] = []
    raw = b'{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}'

    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(attestation(body)) if number < 3 else Answer(status=429, raw=raw)

    async def many() -> tuple[list[str], float]:
        async with (
            running(script) as endpoint,
            client_to(endpoint, tmp_path, in_flight=2, notify=notices.append) as client,
        ):
            began = now()
            return kinds(await ask_many(client, 60)), now() - began

    found, seconds = run(many())
    assert (found.count("ok"), found.count("account"), seconds < 3) == (3, 57, True)
    assert "You exceeded your current quota" in notices[0]


def test_a_key_that_is_withdrawn_ends_the_asking_and_not_the_job(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(attestation(body)) if number < 3 else Answer(status=401)

    async def many() -> list[str]:
        async with running(script) as endpoint, client_to(endpoint, tmp_path) as client:
            return await one_by_one(client, 9)

    assert run(many()) == ["ok"] * 3 + ["refused"] + ["stopped"] * 5


def test_forbidden_is_an_item_until_a_second_one_is(tmp_path: Path) -> None:
    def of_one(body: dict[str, Any], number: int) -> Answer:
        return Answer(status=403) if "Claim 0" in str(body) else Answer(attestation(body))

    async def many(script: Script, folder: Path) -> list[str]:
        async with running(script) as endpoint, client_to(endpoint, folder) as client:
            return await one_by_one(client, 4)

    assert run(many(of_one, tmp_path / "one")) == ["refused", "ok", "ok", "ok"]
    every = run(many(in_turn(Answer(status=403)), tmp_path / "all"))
    assert every[:2] == ["refused", "ModelError"]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(in_turn(Answer(status=401)), id="no key"),
        pytest.param(in_turn(Answer(status=503)), id="dead"),
        pytest.param(in_turn(NOT_READABLE), id="not in the form"),
        pytest.param(in_turn(Answer(drop=True)), id="reset"),
    ],
)
def test_many_failing_at_once_complain_of_nothing(
    script: Script, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def many() -> list[Any]:
        asyncio.get_running_loop().set_debug(True)
        async with (
            running(script) as endpoint,
            client_to(endpoint, tmp_path, in_flight=8, tries=2, give_up_after=6) as client,
        ):
            waiting = [asyncio.create_task(ask(client, f"{n}")) for n in range(30)]
            try:
                await waiting[0]
            except Exception as error:
                assert not isinstance(error, BaseExceptionGroup)
            for task in waiting[10:]:
                task.cancel()
            return await asyncio.gather(*waiting[:10], return_exceptions=True)

    found = run(many())
    assert not [error for error in found if isinstance(error, BaseExceptionGroup)]
    assert "never retrieved" not in caplog.text


def test_closing_a_client_with_requests_under_way(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def many() -> None:
        async with running(attesting(delay=5.0)) as endpoint:
            async with client_to(endpoint, tmp_path, structured="always") as client:
                waiting = [asyncio.create_task(ask(client, f"{n}")) for n in range(9)]
                await asyncio.sleep(1.0)
            found = await asyncio.gather(*waiting, return_exceptions=True)
            assert {type(error) for error in found} == {asyncio.CancelledError}

    run(many())
    assert "never retrieved" not in caplog.text


def test_random_trouble_loses_nothing(tmp_path: Path) -> None:
    chance = random.Random(7)

    def script(body: dict[str, Any], number: int) -> Answer:
        good = Answer(attestation(body), delay=chance.random())
        bad = (Answer(status=429), Answer(status=503), Answer(drop=True), Answer(""), NOT_READABLE)
        return chance.choice(bad) if chance.random() < 0.2 else good

    async def many() -> tuple[list[str], int]:
        async with running(script) as endpoint, client_to(endpoint, tmp_path, tries=20) as client:
            return kinds(await ask_many(client, 200)), client.transport.pace.in_flight

    assert run(many()) == (["ok"] * 200, 0)


def test_after_how_many_failures_in_a_row_the_asking_ends() -> None:
    patience = OutageTracker(900.0, 6, 3, print)
    assert [patience.note_failure("parse", item) for item in range(7)] == [False] * 5 + [True] * 2
    patience.note_success()
    assert not patience.note_failure("parse", 8)


def test_what_is_too_long_of_one_document_is_one_failure() -> None:
    patience = OutageTracker(900.0, 6, 3, print)
    assert not any(
        patience.note_failure("too_long", document % 2, once=True) for document in range(99)
    )
    assert patience.in_a_row == 2


def test_a_reply_that_is_cut_takes_no_try(tmp_path: Path) -> None:
    found = asked(in_turn(Answer("{", finish_reason="length"), Answer()), tmp_path, tries=1)
    assert (found.label, len(found.endpoint.requests)) == ("full_support", 2)
