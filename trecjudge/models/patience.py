"""How long failures are tolerated: outages in seconds, others by how many fail in a row."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

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
