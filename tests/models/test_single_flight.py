"""Jobs that share a cache: what one of them asks, the others wait for."""

from __future__ import annotations

import asyncio
import math
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import (
    Answer,
    Endpoint,
    Script,
    attestation,
    attesting,
    in_chat_form,
    in_turn,
    running,
    serving,
    text_of,
)
from tests.models.clients import ask, ask_many, client_to, failure, kinds
from tests.models.processes import FILES, IN_FLIGHT, SENTENCES, TOPICS, runs, start, wait_until
from trecjudge.models.client import Client
from trecjudge.models.spending import Budget

SLOW = 0.15
Case = Callable[[Endpoint, list[Client]], Awaitable[Any]]


def at_once(
    folder: Path, case: Case, script: Script, each: list[dict[str, Any]] | int = 2
) -> tuple[Any, int]:
    """Return what a case makes of clients with one cache, and how many requests there were."""

    async def play() -> tuple[Any, int]:
        options: list[dict[str, Any]] = [{}] * each if isinstance(each, int) else each
        async with running(script) as endpoint, AsyncExitStack() as stack:
            opened = (client_to(endpoint, folder, **option) for option in options)
            clients = [await stack.enter_async_context(client) for client in opened]
            return await case(endpoint, clients), len(endpoint.requests)

    return asyncio.run(asyncio.wait_for(play(), 30))


async def all_ask(endpoint: Endpoint, clients: list[Client]) -> list[Any]:
    """Let all clients ask the same at once; return what became of it, and what was spent."""
    found = await asyncio.gather(*(ask_many(client, 20) for client in clients))
    return [[kinds(each) == ["ok"] * 20 for each in found], [c.spent()["calls"] for c in clients]]


@pytest.mark.parametrize("structured", ["auto", "always"])
def test_equal_questions_of_three_jobs_are_one_call_each(structured: str, tmp_path: Path) -> None:
    each = [{"structured": structured}] * 3
    (good, calls), requests = at_once(tmp_path, all_ask, attesting(delay=SLOW), each)
    assert (good, sum(calls), requests) == ([True] * 3, 20, 20)


def test_a_form_that_one_job_was_refused_is_not_paid_for_by_others(tmp_path: Path) -> None:
    (good, _), requests = at_once(tmp_path, all_ask, in_chat_form(attesting(delay=SLOW)), 3)
    assert good == [True] * 3
    assert requests - 20 <= 3  # refused, one of each job at most


def test_what_is_in_the_cache_by_its_turn_is_not_asked(tmp_path: Path) -> None:
    async def case(endpoint: Endpoint, clients: list[Client]) -> Any:
        first, second = clients
        # Of the second, one is under way at a time: it comes to the others after the first did.
        later = asyncio.create_task(ask_many(second, 8))
        return [kinds(await ask_many(first, 8)), kinds(await later)]

    each = [{"structured": "always"}, {"structured": "always", "in_flight": 1}]
    found, requests = at_once(tmp_path, case, attesting(delay=SLOW), each)
    assert (found, requests) == ([["ok"] * 8] * 2, 8)


def test_who_waits_for_another_job_takes_no_place(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(attestation(body), delay=1.0 if "Slow" in text_of(body) else 0.0)

    async def case(endpoint: Endpoint, clients: list[Client]) -> list[str]:
        first, second = clients
        over: list[str] = []

        async def noted(client: Client, sentence: str, name: str) -> None:
            await ask(client, sentence)
            over.append(name)

        slow = asyncio.create_task(noted(first, "Slow.", "first"))
        await asyncio.sleep(0.1)
        waiting = asyncio.create_task(noted(second, "Slow.", "waiting"))
        await noted(second, "Quick.", "other")
        await asyncio.gather(slow, waiting)
        return over

    each = [{"structured": "always"}, {"structured": "always", "in_flight": 1}]
    over, requests = at_once(tmp_path, case, script, each)
    assert (over[0], sorted(over), requests) == ("other", ["first", "other", "waiting"], 2)


def test_a_failure_is_not_shared(tmp_path: Path) -> None:
    async def case(endpoint: Endpoint, clients: list[Client]) -> Any:
        fails = asyncio.create_task(failure(clients[0]))
        await asyncio.sleep(0.05)
        await ask(clients[1])
        return (await fails).kind

    bad = Answer("no JSON", delay=SLOW)
    each = [{"structured": "always", "tries": 1}] * 2
    assert at_once(tmp_path, case, in_turn(bad, Answer()), each) == ("parse", 2)


def test_a_reply_that_is_asked_again_is_still_waited_for(tmp_path: Path) -> None:
    async def case(endpoint: Endpoint, clients: list[Client]) -> Any:
        return kinds(await asyncio.gather(*(ask(client) for client in clients)))

    script = in_turn(Answer("no JSON", delay=SLOW), Answer(delay=SLOW), Answer(status=400))
    assert at_once(tmp_path, case, script, [{"structured": "always"}] * 2) == (["ok"] * 2, 2)


def test_a_budget_is_not_spent_by_waiting(tmp_path: Path) -> None:
    async def case(endpoint: Endpoint, clients: list[Client]) -> Any:
        first = asyncio.create_task(ask_many(clients[0], 5))
        await asyncio.sleep(0.05)
        return [kinds(await ask_many(clients[1], 6)), kinds(await first)]

    each = [{"structured": "always"}, {"structured": "always", "budget": Budget(max_calls=1)}]
    found, requests = at_once(tmp_path, case, attesting(delay=SLOW), each)
    assert (found, requests) == ([["ok"] * 6, ["ok"] * 5], 6)


def test_asked_anew_no_other_reply_is_taken(tmp_path: Path) -> None:
    each = [{"structured": "always", "refresh": True}] * 2
    (good, calls), requests = at_once(tmp_path, all_ask, attesting(delay=SLOW), each)
    assert (good, calls, requests) == ([True] * 2, [20, 20], 40)


def test_who_is_interrupted_while_it_waits_ends_at_once(tmp_path: Path) -> None:
    async def case(endpoint: Endpoint, clients: list[Client]) -> bool:
        first = asyncio.create_task(ask(clients[0]))
        await asyncio.sleep(0.1)
        second = asyncio.create_task(ask(clients[1]))
        await asyncio.sleep(0.1)
        began = time.monotonic()
        second.cancel()
        await clients[1].__aexit__(asyncio.CancelledError, asyncio.CancelledError(), None)
        quick = time.monotonic() - began < 0.5
        await first
        return quick

    each = [{"structured": "always"}] * 2
    assert at_once(tmp_path, case, attesting(delay=1.5), each) == (True, 1)


def test_one_job_is_killed_and_another_stopped_and_what_is_paid_is_paid_once(
    tmp_path: Path,
) -> None:
    runs(tmp_path / "runs")
    with serving(attesting("partial_support")) as endpoint:
        endpoint.answers = 60
        # A stopped job is waited for as long as two tries of a request may take.
        flags = ("--set", "llm.timeout=4", "--name")
        killed, stopped = (start(tmp_path, endpoint, "cache", *flags, name) for name in "ab")
        wait_until(lambda: len(endpoint.requests) == 60 + 2 * IN_FLIGHT)
        killed.kill()
        stopped.send_signal(signal.SIGSTOP)
        endpoint.answers = math.inf
        again = start(tmp_path, endpoint, "cache", *flags, "a")
        again.communicate(timeout=60)
        stopped.send_signal(signal.SIGCONT)
        stopped.communicate(timeout=60)
        killed.communicate(timeout=20)
    assert (again.returncode, stopped.returncode) == (0, 0)
    # What was under way in those two may be asked once more, and nothing else.
    whole = SENTENCES * TOPICS
    assert whole <= len(endpoint.requests) <= whole + 2 * IN_FLIGHT
    for kind in FILES:
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
