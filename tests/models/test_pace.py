"""How fast a client goes: hard limits found in a burst, noise forgiven, places never lost."""

from __future__ import annotations

import asyncio
import random

import pytest

from tests.models.clock import now, run
from trecjudge.models.pace import Bucket, Pace, seconds_of


class Server:
    """Holds so many requests at once, each for a tenth of a second; refuses further ones."""

    def __init__(self, holds: int, noise: float = 0.0) -> None:
        self.holds, self.noise = holds, noise
        self.busy = self.refused = self.served = 0
        self.chance = random.Random(1)

    async def serve(self, pace: Pace) -> None:
        """Get one request through, however often it is refused."""
        while True:
            await pace.enter(0)
            try:
                if self.busy >= self.holds or self.chance.random() < self.noise:
                    await asyncio.sleep(0.02)
                    self.refused += 1
                    pace.slow_down(0.0)
                    continue
                self.busy += 1
                await asyncio.sleep(0.1)
                self.busy -= 1
            finally:
                pace.leave()
            self.served += 1
            pace.note_success()
            return


def served(server: Server, pace: Pace, count: int) -> float:
    """Return the seconds that it takes to get `count` requests through, all begun at once."""

    async def all_of_them() -> float:
        began = now()
        await asyncio.gather(*(server.serve(pace) for _ in range(count)))
        return now() - began

    return run(all_of_them())


def test_a_hard_limit_is_found_in_the_first_burst() -> None:
    server, pace = Server(8), Pace(64)
    served(server, pace, 64)
    first = server.refused
    assert (int(pace.limit), first) == (8, 64 - 8)
    served(server, pace, 2000)
    assert int(pace.limit) in (8, 9)
    assert server.refused - first <= 10


def test_a_refusal_takes_a_quarter_off_and_successes_bring_it_back() -> None:
    async def limits() -> list[float]:
        pace, found = Pace(16), []
        for happens in [
            lambda: pace.slow_down(0.0),
            *[pace.note_success] * 12,
            *[pace.note_success] * 13,
        ]:
            happens()
            found.append(pace.limit)
        return found

    found = run(limits())
    assert (found[0], found[11], found[12], found[25]) == (12, 12, 13, 14)


def test_a_hard_limit_is_used_to_the_full() -> None:
    assert served(Server(8), Pace(64), 800) < 1.2 * 800 / 8 * 0.1


def test_noise_does_not_ratchet_the_limit_down() -> None:
    server, pace = Server(999, noise=0.01), Pace(32)
    seconds = served(server, pace, 5000)
    assert server.refused > 20
    assert int(pace.limit) >= 4
    assert seconds < 6 * 5000 / 32 * 0.1


@pytest.mark.parametrize("most", [1, 2, 7])
def test_never_more_than_the_most(most: int) -> None:
    server = Server(most)
    served(server, Pace(most), 50)
    assert (server.refused, server.served) == (0, 50)


def test_cancelled_while_waiting_leaks_no_place() -> None:
    async def many() -> int:
        pace, server, chance = Pace(3), Server(3), random.Random(3)
        tasks = [asyncio.create_task(server.serve(pace)) for _ in range(200)]
        for _ in range(150):
            await asyncio.sleep(0.02)
            chance.choice(tasks).cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return pace.in_flight

    assert run(many()) == 0


def test_cancelled_in_the_moment_of_admission() -> None:
    async def two() -> int:
        pace = Pace(1)
        await pace.enter(0)
        waiting = asyncio.create_task(pace.enter(0))
        await asyncio.sleep(0)
        pace.leave()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await asyncio.wait_for(pace.enter(0), 1.0)
        return pace.in_flight

    assert run(two()) == 1


def test_a_hold_holds_all_and_ends() -> None:
    async def three() -> list[float]:
        pace, began = Pace(8), now()
        pace.hold(30.0)
        pace.hold(5.0)

        async def enter() -> float:
            await pace.enter(0)
            return now() - began

        return await asyncio.gather(*(enter() for _ in range(3)))

    assert run(three()) == pytest.approx([30.0] * 3, abs=0.1)


def test_first_come_first_served() -> None:
    async def many() -> list[int]:
        pace, order = Pace(1), list[int]()

        async def enter(number: int) -> None:
            await pace.enter(0)
            order.append(number)
            await asyncio.sleep(0.01)
            pace.leave()

        await asyncio.gather(*(enter(n) for n in range(20)))
        return order

    assert run(many()) == list(range(20))


@pytest.mark.parametrize(
    ("pace", "tokens", "seconds"),
    [
        pytest.param(Pace.of(64, 60, None), 0, 119, id="60 requests a minute"),
        pytest.param(Pace.of(64, 600, None), 0, 11, id="600 requests a minute"),
        pytest.param(Pace.of(64, 30, None), 0, 238, id="30 requests a minute"),
        pytest.param(Pace.of(64, None, 6000), 100, 119, id="6000 tokens a minute"),
        pytest.param(Pace.of(64, 60, 6000), 200, 238, id="both: the slower one"),
    ],
)
def test_120_requests_at_limits_per_minute(pace: Pace, tokens: int, seconds: float) -> None:
    async def many() -> float:
        began = now()

        async def one() -> None:
            await pace.enter(tokens)
            pace.leave()

        await asyncio.gather(*(one() for _ in range(120)))
        return now() - began

    assert run(many()) == pytest.approx(seconds, rel=0.05)


def test_limits_are_learned_from_headers() -> None:
    async def learned() -> tuple[Bucket | None, Bucket | None]:
        pace = Pace(8)
        pace.learn({"x-ratelimit-limit-requests": "120", "x-ratelimit-limit-tokens": "6000"})
        return pace.requests, pace.tokens

    requests, tokens = run(learned())
    assert requests is not None
    assert tokens is not None
    assert (requests.rate, tokens.rate) == (2.0, 100.0)


@pytest.mark.parametrize("given", ["", "0", "-5", "many", "1.5"])
def test_odd_headers_teach_nothing(given: str) -> None:
    async def learned() -> Bucket | None:
        pace = Pace(8)
        pace.learn({"x-ratelimit-limit-requests": given})
        return pace.requests

    assert run(learned()) is None


def test_nothing_left_is_waited_for() -> None:
    async def one() -> float:
        pace, began = Pace(8), now()
        pace.learn({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m30s"})
        await pace.enter(0)
        return now() - began

    assert run(one()) == pytest.approx(90.0, abs=0.1)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1s", 1), ("6m0s", 360), ("20ms", 0.02), ("1h1m1s", 3661), ("7", 7), ("1.5s", 1.5), ("", 0)],
)
def test_durations(text: str, seconds: float) -> None:
    assert seconds_of(text) == pytest.approx(seconds)
