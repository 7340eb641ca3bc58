"""Bugs in the code of judges: how many of them in a row end the judging."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from trecjudge.errors import JudgmentFailed

FIRST = 5
"""Bugs of a judge that has judged nothing yet after which judging stops."""
IN_A_ROW = 20
"""Bugs in a row of a judge that has judged something after which judging stops."""
LARGE_BATCH = 1000
"""Requests at once from which on they are a batch: it takes hours, whatever is in it."""


@dataclass(slots=True)
class CircuitBreaker:
    """How the code of one judge has done so far.

    Until one item has gone through it without a bug, it is given only a few at once: each may cost
    a call of a model.
    """

    has_judged: bool = False
    bugs: int = 0
    """Bugs since it last judged something."""
    _is_through: bool = False
    _waiting: int = 0
    _places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(FIRST))

    @asynccontextmanager
    async def turn(self, in_flight: int) -> AsyncIterator[None]:
        """Wait until the judge may be given one more item."""
        if self._is_through or in_flight <= FIRST or in_flight >= LARGE_BATCH:
            yield
            return
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._places.release()

    def record_success(self, has_judged: bool) -> None:
        """Note that an item went through without a bug, and whether it was judged."""
        if not self._is_through:
            self._is_through = True
            for _ in range(self._waiting):
                self._places.release()
        if has_judged:
            self.has_judged, self.bugs = True, 0

    def failed(self) -> bool:
        """Note a bug; return whether there were too many."""
        self.bugs += 1
        return self.bugs >= (IN_A_ROW if self.has_judged else FIRST)


@dataclass(slots=True)
class Stop:
    """Whether judging has stopped before its end, and why."""

    why: str = ""
    listeners: list[Callable[[str], None]] = field(default_factory=list)
    """Called with why it stops."""

    def now(self, why: str) -> None:
        """Leave all items unjudged that are not begun yet; the first reason counts."""
        if not self.why:
            self.why = why
            for listener in self.listeners:
                listener(why)

    @property
    def failure(self) -> JudgmentFailed:
        """What an item that is not judged any more fails with."""
        return JudgmentFailed("stopped", f"not judged any more: {self.why}")
