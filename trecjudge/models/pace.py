"""When requests may be sent: a rate limiter, a tracker of outages, and a watchdog for silence."""

from __future__ import annotations

import asyncio
import math
import random
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from trecjudge.errors import JudgmentFailed
from trecjudge.models.faults import LONGEST_WAIT, Fault

# Adaptive rate limiter: concurrency, requests and tokens per minute.
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
        """Raise EndpointDown in every request that waits."""
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


# How long failures are tolerated: outages in seconds, others by how many fail in a row.
NOTICE_AFTER = 5.0
NOTICE_AGAIN = 60.0
LONGEST_SILENCE = 1800.0
LONGEST_PAUSE = 30.0
FIRST_PAUSE = 0.5
OUTAGE_FROM = 3
"""If so many different items fail in a row, the endpoint counts as out of order."""
LEAST_ITEMS = 5
"""Different items that have to fail, at least, before nothing is asked any more."""
USED_UP = "its limit for a minute is used up"
"""The reason in a notice where no failure gave one."""


def growing_pause(number: int, first: float = FIRST_PAUSE, longest: float = LONGEST_PAUSE) -> float:
    """Return the seconds of a pause, the first of which has the number 1."""
    # At most 2 ** 19: a long outage must not overflow. Random, so that jobs do not come in step.
    most: float = min(longest, first * 2.0 ** (min(number, 20) - 1))
    return most * random.uniform(0.75, 1.0)


@contextmanager
def report_waiting(notify: Callable[[str], None], waits_for: Callable[[], str]) -> Iterator[None]:
    """Report what is waited for after 5 s, then less and less often, down to twice an hour."""
    loop = asyncio.get_running_loop()
    handle, since = None, loop.time()

    def report(passed: float) -> None:
        nonlocal handle
        notify(f"{waits_for()}, for {loop.time() - since:.0f} s")
        pause = min(LONGEST_SILENCE, max(NOTICE_AGAIN, passed))
        handle = loop.call_later(pause, report, passed + pause)

    handle = loop.call_later(NOTICE_AFTER, report, NOTICE_AFTER)
    try:
        yield
    finally:
        handle.cancel()


@dataclass(slots=True)
class FailureRow:
    """Calls that failed in a row for one cause, and the items that they were for."""

    calls: int = 0
    items: set[int] = field(default_factory=set)


@dataclass(slots=True)
class OutageTracker:
    """Counts what no success has interrupted yet: an outage, and failures by kind.

    `seconds` is how long an outage is waited for, `give_up_after` how many calls in a row may fail
    for one cause, `tries` how many of these one item may take. `notify` gets a message after 5
    seconds of waiting, then less and less often, with `where` the endpoint is.
    """

    seconds: float
    give_up_after: int
    tries: int
    notify: Callable[[str], None]
    where: str = "the endpoint"
    pauses: tuple[float, float] = (FIRST_PAUSE, LONGEST_PAUSE)
    """The first and the longest pause, in seconds."""
    since: float | None = None
    """When the outage began, in the event loop's time; None where there is none."""
    _pauses: int = 0
    _paused_until: float = 0.0
    _held_until: float = 0.0
    _waited_from: float = 0.0
    _reason: str = ""
    _rows: dict[str, FailureRow] = field(default_factory=dict)
    _notice: asyncio.TimerHandle | None = None

    @property
    def is_pausing(self) -> bool:
        """Whether nothing has succeeded since the last pause."""
        return self._pauses > 1

    @property
    def in_a_row(self) -> int:
        """Calls that failed in a row for one cause: the longest such row."""
        return max((row.calls for row in self._rows.values()), default=0)

    def note_answer(self) -> None:
        """Note that the endpoint answers, even with a reply of no use: an outage is over."""
        if self.since is not None:
            self.since, self._pauses = None, 0
            if not self._is_held:
                self.close()
        if self._rows:
            # Only this row: an answer that does not parse is still a failure of its own kind.
            self._rows.pop("transport", None)

    def note_success(self) -> None:
        """Note a good reply: it ends every row of failures."""
        if self._rows:
            self._rows.clear()

    def note_failure(self, kind: str, mark: int, at_once: int = 1, once: bool = False) -> bool:
        """Note a call that failed for an item; return whether it is one too many.

        Of replies that come together `at_once` all have to fail. With `once`, what has the same
        mark counts once: many items may be about one document.
        """
        row = self._rows.setdefault(kind, FailureRow())
        if once and mark in row.items:
            return False
        row.calls += 1
        row.items.add(mark)
        # One item that fails again and again is no sign of a broken endpoint: several must fail.
        different = max(min(self.give_up_after, LEAST_ITEMS), self.give_up_after // self.tries)
        return row.calls >= max(self.give_up_after, at_once) and len(row.items) >= different

    def is_outage(self, kind: str, mark: int) -> bool:
        """Return whether so many different items failed for one cause that it is an outage."""
        items = self._rows[kind].items if kind in self._rows else set()
        return self.since is not None or len(items | {mark}) >= OUTAGE_FROM

    def pause(self) -> float:
        """Return the seconds of the client's next pause: longer each time without an answer."""
        now = asyncio.get_running_loop().time()
        if now < self._paused_until:  # others of the same moment
            return self._paused_until - now
        self._pauses += 1
        pause = growing_pause(self._pauses, *self.pauses)
        self._paused_until = now + pause
        return pause

    def note_wait(self, reason: str) -> bool:
        """Note that the endpoint is waited for; return whether it was for too long already."""
        loop = asyncio.get_running_loop()
        self._reason = reason
        if self.since is None:
            self.since = loop.time()
            self._notice_later()
        return loop.time() - self.since > self.seconds

    def seconds_left(self) -> float:
        """Return the seconds for which the endpoint may be waited for from now on."""
        if self.since is None:
            return self.seconds
        return max(0.0, self.seconds - (asyncio.get_running_loop().time() - self.since))

    def note_hold(self, seconds: float) -> None:
        """Note that nothing is asked for so many seconds, even where answers still come in."""
        self._held_until = max(self._held_until, asyncio.get_running_loop().time() + seconds)
        if self._is_held:
            self._notice_later()

    @property
    def _is_held(self) -> bool:
        return asyncio.get_running_loop().time() < self._held_until

    def _notice_later(self) -> None:
        if self._notice is None:
            loop = asyncio.get_running_loop()
            self._waited_from = loop.time()
            self._notice = loop.call_later(NOTICE_AFTER, self._give_notice, 2 * NOTICE_AFTER)

    def _give_notice(self, again: float) -> None:
        if self.since is None and not self._is_held:
            self.close()
            return
        loop = asyncio.get_running_loop()
        passed = loop.time() - self._waited_from
        most = f"{passed:.0f} s of at most {self.seconds:.0f}"
        self.notify(f"waiting for {self.where}, {most}: {self._reason or USED_UP}")
        self._notice = loop.call_later(again, self._give_notice, min(NOTICE_AGAIN, 2 * again))

    def close(self) -> None:
        """Report nothing any more."""
        if self._notice is not None:
            self._notice.cancel()
            self._notice = None
            self._reason = ""


# How long an endpoint has sent no answer at all, while requests wait for one.
T = TypeVar("T")

SILENCE_AGAIN = 30.0
SLOWER = 2.0
"""A silence is reported once it is so many times the longest wait for an answer so far."""


@dataclass(slots=True)
class Watchdog:
    """Measures the time in which requests were under way and none was answered.

    The first answer is waited for `first` seconds, any other one `later` seconds. After that all
    requests under way are given up. Any complete answer counts, errors too. `on_notice` gets the
    seconds and the requests that wait after 5 seconds, after 30, then each time that the silence
    has doubled; `on_limit` is called at the end. Without them nothing is given up.
    """

    first: float
    later: float
    on_notice: Callable[[float, int], None] | None = None
    on_limit: Callable[[], None] | None = None
    has_answered: bool = False
    lost: int = 0
    """Requests that were given up because their caller is gone."""
    _waiting: set[asyncio.Timeout] = field(default_factory=set)
    _from: float = 0.0
    _before: float = 0.0
    _longest: float = 0.0
    _next: float = NOTICE_AFTER
    _alarm: asyncio.TimerHandle | None = None

    @property
    def limit(self) -> float:
        """The seconds for which an answer is waited for."""
        return self.later if self.has_answered else self.first

    @property
    def requests(self) -> int:
        """How many requests wait for their answer."""
        return len(self._waiting)

    async def watch(self, answer: Awaitable[T]) -> T:
        """Return the answer that a request waits for. Raises Fault where it is given up."""
        if not self._waiting:
            self._from = _now()
        try:
            async with asyncio.timeout(None) as given_up:
                self._waiting.add(given_up)
                self._look_later()
                try:
                    found = await answer
                finally:
                    self._waiting.discard(given_up)
                    if not self._waiting:  # time in which nothing is asked is no silence
                        self._before += _now() - self._from
        except (asyncio.CancelledError, JudgmentFailed):  # or a large reply, after an interrupt
            self.lost += 1
            raise
        except TimeoutError:
            raise Fault("transport", "no answer") from None
        self._note_answer()
        return found

    def _note_answer(self) -> None:
        self._longest = max(self._longest, self._seconds())
        self._next = max(NOTICE_AFTER, SLOWER * self._longest)
        self.has_answered, self._from, self._before = True, _now(), 0.0

    def _seconds(self) -> float:
        return self._before + (_now() - self._from if self._waiting else 0.0)

    def _look_later(self) -> None:
        # An alarm that comes too early, since there were answers, is set again: that costs less
        # than to set one for each request.
        if self._alarm is None and self.on_limit is not None:
            after = max(0.0, min(self._next, self.limit) - self._seconds())
            self._alarm = asyncio.get_running_loop().call_later(after, self._look)

    def _look(self) -> None:
        self._alarm = None
        if not self._waiting or self.on_limit is None or self.on_notice is None:
            return
        seconds = self._seconds()
        if seconds >= self.limit:
            self.on_limit()
            for given_up in self._waiting:
                given_up.reschedule(_now())
            return
        if seconds >= self._next:
            self.on_notice(seconds, len(self._waiting))
            self._next = max(SILENCE_AGAIN, 2 * max(seconds, self._next))
        self._look_later()

    def close(self) -> None:
        """Stop measuring."""
        self.on_notice = self.on_limit = None
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
