"""Adaptive rate limiter: concurrency, requests and tokens per minute."""

from __future__ import annotations

import asyncio
import math
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from trecjudge.models.faults import LONGEST_WAIT

# Seconds until a hard limit is tried again: every trial may cost a refusal, so less and less often.
PROBE_FIRST = 10.0
PROBE_LAST = 600.0
DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)?")
_LIMIT_HEADERS = tuple(
    (what, *(f"x-ratelimit-{sort}-{what}" for sort in ("remaining", "reset", "limit")))
    for what in ("requests", "tokens")
)
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}


@dataclass(slots=True)
class Bucket:
    """An allowance that refills at `rate` a second up to a second's worth (at least one unit)."""

    rate: float
    level: float = 0.0
    at: float = 0.0

    def wait(self, now: float) -> float:
        """Return the seconds until something may be taken."""
        self.level = min(max(self.rate, 1.0), self.level + (now - self.at) * self.rate)
        self.at = now
        return max(0.0, (min(1.0, self.rate) - self.level) / self.rate)

    def take(self, amount: float) -> None:
        """Take an amount, into debt where it is more than there is."""
        # Debt is allowed: a prompt of more than a second's tokens could never go otherwise.
        self.level -= amount


class EndpointDown(Exception):
    """Raised for a request that waits: it should look for another endpoint."""


@dataclass(slots=True)
class Pace:
    """Admits requests in order, at most `limit` at a time.

    A refusal for being too many (429) takes a quarter off the limit and holds new requests back for
    as long as the server asked. Several in a row show a hard limit: what the server held at that
    moment becomes the ceiling. Successes raise the limit again, by one for as many as it admits.
    Above the ceiling, one more is tried only after a while, which doubles each time; a refusal of
    that trial holds nothing back.
    """

    most: int
    requests: Bucket | None = None
    tokens: Bucket | None = None
    limit: float = 0.0
    in_flight: int = 0
    throttled: int = 0
    on_hold: Callable[[float], None] = lambda seconds: None
    """Called with the seconds whenever nothing is admitted for a while."""
    longest: Callable[[], float] = lambda: LONGEST_WAIT
    """The longest hold that is allowed from now on, in seconds; an endpoint may ask for more."""
    cap: float = math.inf
    """The most at a time, even below the limit: set while the endpoint has not proved to work."""
    _paused_at: float | None = None
    _proved: int = 0
    _refused_in_a_row: int = 0
    _ceiling: float = math.inf
    _probe_at: float = 0.0
    _probe_after: float = PROBE_FIRST
    _held_until: float = 0.0
    _waiting: deque[tuple[asyncio.Future[None], int]] = field(default_factory=deque)
    _alarm: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        self.limit = float(self.most)

    @classmethod
    def of(cls, in_flight: int, rpm: float | None, tpm: float | None) -> Pace:
        """Return a pace with limits per minute where they are given."""
        requests = Bucket(rpm / 60) if rpm else None
        return cls(in_flight, requests, Bucket(tpm / 60) if tpm else None)

    @property
    def _places(self) -> float:
        return min(self.limit, self.cap)

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return len(self._waiting)

    @property
    def seconds_held(self) -> float:
        """The seconds for which nothing is admitted."""
        return max(0.0, self._held_until - _now())

    async def enter(self, tokens: int) -> None:
        """Wait for a place; `tokens` is an estimate of what the request will cost."""
        # Nobody overtakes those who wait already.
        if not self._waiting and self.in_flight + 1 <= self._places and self._delay() <= 0:
            self._take(tokens)
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append((place, tokens))
        self._admit()
        try:
            await place
        except asyncio.CancelledError:
            # Cancelled just after it was admitted: the place would be lost.
            if place.done() and not place.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        """Give the place back."""
        self.in_flight -= 1
        if self._waiting:
            self._admit()

    def note_success(self) -> None:
        """Note a success; raise the limit by one after as many as it admits."""
        if self._paused_at is not None:
            # The endpoint is back: so is the limit from before the pause.
            self.limit, self._paused_at = self._paused_at, None
        self._proved += 1
        self._refused_in_a_row = 0
        if self.limit >= self.most or self._proved < self.limit:
            return
        if self.limit > self._ceiling:
            # A whole round above the ceiling succeeded: it is a ceiling no more.
            self._ceiling, self._probe_after = math.inf, PROBE_FIRST
        if self.limit >= self._ceiling and _now() < self._probe_at:
            return
        self.limit, self._proved = min(float(self.most), self.limit + 1), 0

    def slow_down(self, after: float) -> None:
        """Slow down; to be called while the refused request still has its place.

        `after` are the seconds that the server asked to wait.
        """
        self.throttled += 1
        self._refused_in_a_row += 1
        if self.limit > self._ceiling and self._proved < self.limit:
            # A trial above the ceiling: expected to fail, so nobody else has to wait for it.
            self.limit = self._ceiling
            self._probe_later()
        elif self._refused_in_a_row > 1:
            # `in_flight` counts the refused request too: the server held one less.
            self.limit = self._ceiling = float(min(self.limit, max(1, self.in_flight - 1)))
            self._probe_later()
            self.hold(after)
        else:
            # One refusal may be chance: a quarter costs little speed and is soon won back.
            self.limit = max(1.0, self.limit * 0.75)
            self.hold(after)
        self._proved = 0

    def _probe_later(self) -> None:
        # Several refusals of one burst are one trial, and double the pause once.
        if _now() >= self._probe_at:
            self._probe_at = _now() + self._probe_after
            self._probe_after = min(PROBE_LAST, 2 * self._probe_after)

    def pause(self, seconds: float) -> None:
        """Admit nothing for so many seconds, then one at a time until one succeeds."""
        if self._paused_at is None:
            self._paused_at, self.limit = self.limit, 1.0
        self.hold(seconds)

    def release(self) -> None:
        """Admit all that wait at once: they will not be sent."""
        self.limit = self.cap = math.inf
        self.requests = self.tokens = None
        self._held_until = 0.0
        self._admit()

    def turn_away(self) -> None:
        """Raise TurnedAway in every request that waits."""
        waiting = list(self._waiting)
        self._waiting.clear()
        for place, _ in waiting:
            if not place.done():
                place.set_exception(EndpointDown())

    def hold(self, seconds: float) -> None:
        """Admit nothing for so many seconds, at most for `longest()`."""
        seconds = min(seconds, self.longest())
        self._held_until = max(self._held_until, _now() + seconds)
        self.on_hold(seconds)

    def learn(self, headers: Mapping[str, str]) -> None:
        """Take limits from x-ratelimit headers: hold while nothing remains; learn the rate."""
        for what, remaining, reset, limit_name in _LIMIT_HEADERS:
            if headers.get(remaining, "").strip() == "0":
                # Some give the time of day.
                self.hold(min(LONGEST_WAIT, seconds_of(headers.get(reset, ""))))
            limit = headers.get(limit_name, "")
            # What the user set counts more. Digits without end are no number: int() refuses them.
            if (
                getattr(self, what) is None
                and limit.isdecimal()
                and 0 < len(limit) < 16
                and int(limit) > 0
            ):
                setattr(self, what, Bucket(int(limit) / 60, level=int(limit) / 60, at=_now()))

    def _delay(self) -> float:
        """Return the seconds until the next request may go, if there is a place for it."""
        now = _now()
        delay = self._held_until - now
        for bucket in (self.requests, self.tokens):
            if bucket is not None:
                delay = max(delay, bucket.wait(now))
        return delay

    def _take(self, tokens: int) -> None:
        self.in_flight += 1
        if self.requests is not None:
            self.requests.take(1)
        if self.tokens is not None:
            self.tokens.take(tokens)

    def _admit(self) -> None:
        """Admit waiting requests in order; schedule a wake-up for the rest."""
        while self._waiting and self.in_flight + 1 <= self._places:
            place, tokens = self._waiting[0]
            delay = 0.0 if place.done() else self._delay()
            if delay > 0:
                self._wake_in(delay)
                return
            self._waiting.popleft()
            if not place.done():
                self._take(tokens)
                place.set_result(None)

    def _wake_in(self, delay: float) -> None:
        # Only the first in line needs an alarm; an older one may be for another delay.
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = asyncio.get_running_loop().call_later(delay, self._admit)


def _now() -> float:
    return asyncio.get_running_loop().time()


def seconds_of(duration: str) -> float:
    """Return the seconds of `1s`, `6m0s`, `20ms` or a plain number; 0 for anything else."""
    return sum(float(number) * SECONDS[unit or None] for number, unit in DURATION.findall(duration))
