"""Work that several wait for: done once, and not given up with those that asked for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from trecjudge.models.client import InFlight

Case = Callable[[InFlight[str], asyncio.Event], Awaitable[object]]


def played(case: Case) -> object:
    """Return what a case makes of work under way; the event lets the work be done."""

    async def play() -> object:
        return await case(InFlight(), asyncio.Event())

    return asyncio.run(play())


async def waited_for(gate: asyncio.Event) -> str:
    await gate.wait()
    return "done"


def test_all_that_wait_have_the_result_and_then_it_is_over() -> None:
    async def case(in_flight: InFlight[str], gate: asyncio.Event) -> object:
        first = asyncio.ensure_future(in_flight.begin("k", waited_for(gate)))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(in_flight.join("k"))
        await asyncio.sleep(0)
        gate.set()
        return [await first, await second, "k" in in_flight]

    assert played(case) == ["done", "done", False]


def test_whoever_asked_may_be_gone_and_the_others_have_it() -> None:
    async def case(in_flight: InFlight[str], gate: asyncio.Event) -> object:
        first = asyncio.ensure_future(in_flight.begin("k", waited_for(gate)))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        gate.set()
        return await in_flight.join("k")

    assert played(case) == "done"


def test_an_error_reaches_all_and_the_work_can_begin_anew() -> None:
    async def fails() -> str:
        raise ValueError("once")

    async def case(in_flight: InFlight[str], gate: asyncio.Event) -> object:
        with pytest.raises(ValueError, match="once"):
            await in_flight.begin("k", fails())
        gate.set()
        return await in_flight.begin("k", waited_for(gate))

    assert played(case) == "done"


@pytest.mark.parametrize("turns", [0, 2], ids=["not begun yet", "begun"])
def test_closing_gives_up_what_is_in_flight_and_nobody_waits_on(turns: int) -> None:
    async def case(in_flight: InFlight[str], gate: asyncio.Event) -> object:
        first = asyncio.ensure_future(in_flight.begin("k", waited_for(gate)))
        await asyncio.sleep(0)
        for _ in range(turns):
            await asyncio.sleep(0)
        await in_flight.close()
        (found,) = await asyncio.wait_for(asyncio.gather(first, return_exceptions=True), 5)
        return type(found)

    assert played(case) is asyncio.CancelledError


def test_closing_may_wait_for_what_is_paid_for() -> None:
    async def case(in_flight: InFlight[str], gate: asyncio.Event) -> object:
        first = asyncio.ensure_future(in_flight.begin("k", waited_for(gate)))
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(0.05, gate.set)
        await in_flight.settle(5)
        await in_flight.close()
        return await first

    assert played(case) == "done"
