"""Several endpoints of equal models: who is asked, and what one that fails costs."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Answer, Endpoint, Script, attestation, attesting, in_chat_form, running
from tests.models.clients import ask, ask_many, client_to, kinds
from tests.models.clock import now, run
from trecjudge.errors import ModelError
from trecjudge.judges.citation import ATTEST
from trecjudge.models.client import Client


def nowhere() -> str:
    """Return a base URL at which nothing listens."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{closed.getsockname()[1]}/v1"


@asynccontextmanager
async def clients_to(
    scripts: Sequence[Script | None], folder: Path, **settings: Any
) -> AsyncIterator[tuple[Client, list[Endpoint | None]]]:
    """Open a client to endpoints with these scripts; None is one that is not there."""
    async with AsyncExitStack() as stack:
        found = [s and await stack.enter_async_context(running(s)) for s in scripts]
        urls = [endpoint.url if endpoint else nowhere() for endpoint in found]
        client = await stack.enter_async_context(client_to(urls, folder, **settings))
        yield client, found


def asked_many(
    scripts: Sequence[Script | None], folder: Path, count: int = 60, **settings: Any
) -> tuple[Counter[str], list[int], float, list[str]]:
    """Ask so many questions of different documents, `in_flight` at a time.

    Return what came of it, how many requests each endpoint got, the seconds, what was reported.
    """
    notices: list[str] = []

    async def many() -> tuple[Counter[str], list[int], float, list[str]]:
        async with clients_to(scripts, folder, notify=notices.append, **settings) as (
            client,
            endpoints,
        ):
            began = now()
            found = await in_turns(client, count)
            got = [len(endpoint.requests) if endpoint else 0 for endpoint in endpoints]
            return Counter(kinds(found)), got, now() - began, notices

    return run(many())


async def in_turns(client: Client, count: int) -> list[Any]:
    """Ask so many questions of different documents, as many at a time as the client allows."""
    places = asyncio.Semaphore(client.in_flight)

    async def one(number: int) -> Any:
        async with places:
            return await ask(client, f"Claim {number}.", f"Document {number}.")

    return await asyncio.gather(*map(one, range(count)), return_exceptions=True)


QUICK, SLOW = attesting(delay=0.1), attesting(delay=2.0)
BROKEN: Script = lambda body, number: Answer(status=500)  # noqa: E731
NO_KEY: Script = lambda body, number: Answer(status=401)  # noqa: E731
BUSY: Script = lambda body, number: Answer(status=429, headers={"Retry-After": "5"})  # noqa: E731


def test_requests_are_spread(tmp_path: Path) -> None:
    found, (first, second), _, _ = asked_many([QUICK, QUICK], tmp_path, 200, in_flight=16)
    assert found == {"ok": 200}
    assert min(first, second) > 60


def test_no_more_are_under_way_than_in_flight_in_all(tmp_path: Path) -> None:
    async def most() -> int:
        async with clients_to([QUICK, QUICK], tmp_path, in_flight=6) as (client, endpoints):
            await ask(client)
            found = await ask_many(client, 60)
            assert set(kinds(found)) == {"ok"}
            return sum(endpoint.most_in_flight for endpoint in endpoints if endpoint)

    # Each has had its most at some moment, not necessarily the same one.
    assert run(most()) <= 12


def test_a_slow_one_gets_less(tmp_path: Path) -> None:
    found, (quick, slow), seconds, _ = asked_many([QUICK, SLOW], tmp_path, 400, in_flight=16)
    assert found == {"ok": 400}
    assert slow < 400 / 8 < quick
    assert seconds < 10.0


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(None, id="not there"),
        pytest.param(BROKEN, id="500"),
        pytest.param(NO_KEY, id="401"),
        pytest.param(BUSY, id="429"),
        pytest.param(lambda body, number: Answer(status=402), id="no money"),
        pytest.param(lambda body, number: Answer(status=403), id="403"),
        pytest.param(lambda body, number: Answer(status=404), id="404"),
        pytest.param(lambda body, number: Answer(status=503), id="503"),
        pytest.param(lambda body, number: Answer(drop=True), id="reset"),
    ],
)
@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
def test_one_that_is_bad_from_the_start_loses_nothing(
    bad: Script | None, first: bool, tmp_path: Path
) -> None:
    scripts = [bad, QUICK] if first else [QUICK, bad]
    found, got, seconds, _ = asked_many(scripts, tmp_path, in_flight=8, tries=1, give_up_after=9)
    assert found == {"ok": 60}
    assert got[0 if first else 1] < 30
    assert seconds < 8.0


def test_one_that_is_out_of_order_is_reported_once(tmp_path: Path) -> None:
    *_, notices = asked_many([None, QUICK], tmp_path)
    assert len(notices) == 1
    assert "nothing listens" in notices[0]
    assert "the others are asked" in notices[0]


def test_one_that_dies_in_the_middle_loses_nothing(tmp_path: Path) -> None:
    async def many() -> tuple[Counter[str], int]:
        async with running(QUICK) as stays, AsyncExitStack() as stack:
            dies = await stack.enter_async_context(running(QUICK))
            settings: dict[str, Any] = {"in_flight": 8, "tries": 1}
            async with client_to([dies.url, stays.url], tmp_path, **settings) as client:
                asking = asyncio.create_task(in_turns(client, 120))
                while len(dies.requests) < 20:
                    await asyncio.sleep(0.05)
                await stack.aclose()
                return Counter(kinds(await asking)), len(stays.requests)

    found, stayed = run(many())
    assert found == {"ok": 120}
    assert stayed >= 90


def test_one_that_comes_back_is_asked_again(tmp_path: Path) -> None:
    def down_for_a_while(body: dict[str, Any], number: int) -> Answer:
        return Answer(status=503) if number < 4 else Answer(attestation(body), delay=0.1)

    found, (back, _), _, _ = asked_many([down_for_a_while, QUICK], tmp_path, 600, in_flight=4)
    assert found == {"ok": 600}
    assert back > 100


def test_all_out_of_order_is_an_outage_that_is_waited_for(tmp_path: Path) -> None:
    def down(body: dict[str, Any], number: int) -> Answer:
        return Answer(status=503) if number in range(5, 9) else Answer(attestation(body), delay=0.1)

    found, _, _, _ = asked_many([down, down], tmp_path, in_flight=4)
    assert found == {"ok": 60}


def test_all_out_of_order_for_too_long_ends_the_asking(tmp_path: Path) -> None:
    def down(body: dict[str, Any], number: int) -> Answer:
        return Answer(status=503) if number > 5 else Answer(attestation(body))

    found, _, seconds, notices = asked_many([down, down], tmp_path, patience=60.0, in_flight=4)
    assert set(found) <= {"ok", "stopped", "transport"}
    assert found["stopped"] > 40
    assert seconds < 120.0
    assert "waited for 60 s (llm.patience) in vain" in notices[-1]


@pytest.mark.parametrize(
    "scripts",
    [[None, None], [NO_KEY, NO_KEY], [None, NO_KEY]],
    ids=["none is there", "both want a key", "one of each"],
)
def test_none_that_can_be_asked_is_one_line(scripts: list[Script | None], tmp_path: Path) -> None:
    async def once() -> None:
        async with clients_to(scripts, tmp_path) as (client, _):
            await ask(client)

    with pytest.raises(ModelError, match=r"check OPENAI"):
        run(once())


def test_an_item_that_no_endpoint_can_do_is_its_own(tmp_path: Path) -> None:
    def poison(body: dict[str, Any], number: int) -> Answer:
        # Late enough that both endpoints have shown their form: before that a 500 may be of it.
        bad = "Claim 40." in str(body["messages"])
        return Answer(status=500) if bad else Answer(attestation(body), delay=0.1)

    found, got, _, _ = asked_many([poison, poison], tmp_path, in_flight=4)
    assert found == {"ok": 59, "transport": 1}
    assert sum(got) <= 59 + 2 * 3


def test_a_document_stays_on_one_endpoint(tmp_path: Path) -> None:
    async def many() -> list[set[str]]:
        async with clients_to([QUICK] * 3, tmp_path, in_flight=24) as (client, endpoints):
            places = asyncio.Semaphore(24)

            async def one(document: int, sentence: int) -> None:
                async with places:
                    await ask(client, f"Claim {sentence}.", f"Document {document}: a text.")

            await asyncio.gather(*(one(d, s) for d in range(30) for s in range(5)))
            asked = [str(e and e.requests) for e in endpoints]
            assert all(len(e.requests) > 15 for e in endpoints if e)
            return [{str(n) for n in range(3) if f"Document {d}:" in asked[n]} for d in range(30)]

    places = run(many())
    assert sum(len(where) == 1 for where in places) >= 8  # by chance: less than one


def test_what_one_does_not_take_is_asked_of_the_other_all_the_same(tmp_path: Path) -> None:
    def no_temperature(body: dict[str, Any], number: int) -> Answer:
        error = b'{"error": {"message": "temperature is not supported"}}'
        return Answer(status=400, raw=error) if "temperature" in body else Answer(attestation(body))

    async def many() -> tuple[Counter[str], list[int], Any]:
        async with clients_to([no_temperature, attesting()], tmp_path) as (client, endpoints):
            found = Counter(kinds(await in_turns(client, 60)))
            sent = [sum("temperature" in r for r in e.requests) for e in endpoints if e]
            return found, sent, client.record()["endpoint"]

    found, sent, known = run(many())
    assert found == {"ok": 60}
    assert sent[1] > 10
    assert [habits.get("without") for url, habits in known.items() if ":" in url] == [
        ["temperature"],
        None,
    ]


@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
def test_the_form_is_one_that_all_take(first: bool, tmp_path: Path) -> None:
    chat = in_chat_form(QUICK)
    found, got, _, _ = asked_many([chat, QUICK] if first else [QUICK, chat], tmp_path)
    assert found == {"ok": 60}
    assert min(got) > 10


def test_a_wrong_address_does_not_teach_the_form(tmp_path: Path) -> None:
    async def form() -> Any:
        wrong: Script = lambda body, number: Answer(status=404)  # noqa: E731
        async with clients_to([wrong, QUICK], tmp_path) as (client, _):
            await in_turns(client, 20)
            return client.replies.form_of(ATTEST)

    assert run(form()) == "schema"


@pytest.mark.parametrize(
    ("then", "later"),
    [
        pytest.param("ab", "ab", id="the same"),
        pytest.param("ab", "ba", id="in another order"),
        pytest.param("a", "ab", id="one more"),
        pytest.param("b", "ab", id="one more, before"),
        pytest.param("ab", "a", id="without the second"),
    ],
)
def test_the_cache_does_not_care_who_answered(then: str, later: str, tmp_path: Path) -> None:
    async def twice() -> list[int]:
        async with running(attesting()) as a, running(attesting()) as b:
            urls = {"a": a.url, "b": b.url}
            calls = []
            for names in (then, later):
                async with client_to([urls[name] for name in names], tmp_path) as client:
                    await in_turns(client, 20)
                    calls.append(client.spent()["calls"])
            return calls

    assert run(twice()) == [20, 0]
