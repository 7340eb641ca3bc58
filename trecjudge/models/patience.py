"""How long an endpoint is borne with: waits in seconds, failures in a row by their cause."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field

TELL_AFTER = 5.0
TELL_AGAIN = 60.0
LONGEST_PAUSE = 30.0
FIRST_PAUSE = 0.5
OUTAGE_FROM = 3
"""Different items that fail in a row from which on the endpoint is taken to be out of order."""
LEAST_ITEMS = 5
USED_UP = "its limit for a minute is used up"


def growing(number: int) -> float:
    """Return the seconds of a pause, the first of which has the number 1."""
    longest: float = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (min(number, 20) - 1))
    return longest * random.uniform(0.75, 1.0)


@dataclass(slots=True)
class Row:
    """Calls that failed in a row for one cause, and the items that they were for."""

    calls: int = 0
    items: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Patience:
    """What no success has interrupted yet: an outage, and failures by their kind.

    `seconds` is how long an outage is waited for, `give_up_after` how many calls in a row may fail
    for one cause, `tries` how many one item may take of them. `say` is told of a wait of over 5
    seconds, and on.
    """

    seconds: float
    give_up_after: int
    tries: int
    say: Callable[[str], None]
    since: float | None = None
    """When the outage began, in the event loop's time; None where there is none."""
    _pauses: int = 0
    _paused_until: float = 0.0
    _held_until: float = 0.0
    _waited_from: float = 0.0
    _reason: str = ""
    _rows: dict[str, Row] = field(default_factory=dict)
    _teller: asyncio.TimerHandle | None = None

    @property
    def is_pausing(self) -> bool:
        """Whether nothing has succeeded since the last pause."""
        return self._pauses > 1

    @property
    def in_a_row(self) -> int:
        """Calls that failed in a row for one cause: the longest such row."""
        return max((row.calls for row in self._rows.values()), default=0)

    def answered(self) -> None:
        """Note that the endpoint answers, whatever the reply is worth: nothing is waited for."""
        if self.since is not None:
            self.since, self._pauses = None, 0
            if not self._is_held:
                self.close()
        if self._rows:
            self._rows.pop("transport", None)

    def succeeded(self) -> None:
        """Note a reply that is good: no failure is in a row any more."""
        if self._rows:
            self._rows.clear()

    def failed(self, kind: str, mark: int, at_once: int = 1, once: bool = False) -> bool:
        """Note a call that failed for an item; return whether it is one too many.

        Of replies that come together `at_once` all have to fail. With `once`, what has the same
        mark counts once: many items may be about one document.
        """
        row = self._rows.setdefault(kind, Row())
        if once and mark in row.items:
            return False
        row.calls += 1
        row.items.add(mark)
        different = max(min(self.give_up_after, LEAST_ITEMS), self.give_up_after // self.tries)
        return row.calls >= max(self.give_up_after, at_once) and len(row.items) >= different

    def out_of_order(self, kind: str, mark: int) -> bool:
        """Return whether so many different items failed for one cause that it is an outage."""
        items = self._rows[kind].items if kind in self._rows else set()
        return self.since is not None or len(items | {mark}) >= OUTAGE_FROM

    def pause(self) -> float:
        """Return the seconds that the door is to pause for: they grow while nothing is answered."""
        now = asyncio.get_running_loop().time()
        if now < self._paused_until:  # others of the same moment
            return self._paused_until - now
        self._pauses += 1
        pause = growing(self._pauses)
        self._paused_until = now + pause
        return pause

    def waits(self, reason: str) -> bool:
        """Note that the endpoint is waited for; return whether it was for too long already."""
        loop = asyncio.get_running_loop()
        self._reason = reason
        if self.since is None:
            self.since = loop.time()
            self._tell_later()
        return loop.time() - self.since > self.seconds

    def holds(self, seconds: float) -> None:
        """Note that nothing is asked for so many seconds, even where answers still come in."""
        self._held_until = max(self._held_until, asyncio.get_running_loop().time() + seconds)
        if self._is_held:
            self._tell_later()

    @property
    def _is_held(self) -> bool:
        return asyncio.get_running_loop().time() < self._held_until

    def _tell_later(self) -> None:
        if self._teller is None:
            loop = asyncio.get_running_loop()
            self._waited_from = loop.time()
            self._teller = loop.call_later(TELL_AFTER, self._tell, 2 * TELL_AFTER)

    def _tell(self, again: float) -> None:
        if self.since is None and not self._is_held:
            self.close()
            return
        loop = asyncio.get_running_loop()
        passed = loop.time() - self._waited_from
        most = f"{passed:.0f} s of at most {self.seconds:.0f}"
        self.say(f"waiting for the endpoint, {most}: {self._reason or USED_UP}")
        self._teller = loop.call_later(again, self._tell, min(TELL_AGAIN, 2 * again))

    def close(self) -> None:
        """Tell nothing any more."""
        if self._teller is not None:
            self._teller.cancel()
            self._teller = None
            self._reason = ""
