"""How long an endpoint has sent no answer at all, while requests wait for one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from trecjudge.errors import JudgmentFailed
from trecjudge.models.faults import Fault

T = TypeVar("T")
NOTICE_AFTER = 5.0
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


def _now() -> float:
    return asyncio.get_running_loop().time()
