"""Retries a call while the endpoint is temporarily unavailable, and reports the wait."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from trecjudge.errors import JudgmentFailed, ModelError
from trecjudge.models.faults import (
    AccountFault,
    Busy,
    ConfigurationFault,
    Fault,
    ItemFault,
    Unreachable,
)

T = TypeVar("T")
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
NOTICE_AFTER = 5.0
NO_ANSWER_AFTER = 30.0


@dataclass(slots=True)
class _Alarm:
    """Reports that there is no answer, less and less often."""

    notify: Callable[[str], None]
    handle: asyncio.TimerHandle = field(init=False)

    def __post_init__(self) -> None:
        self._set(NO_ANSWER_AFTER, NO_ANSWER_AFTER)

    def _set(self, after: float, passed: float) -> None:
        self.handle = asyncio.get_running_loop().call_later(after, self._report, passed)

    def _report(self, passed: float) -> None:
        self.notify(f"the endpoint of batches: no answer for {passed:.0f} s")
        self._set(passed, 2 * passed)


@dataclass(slots=True)
class Retry:
    """Retries for `patience` seconds. An endpoint that cannot be reached at first is not retried.

    The first answer is waited for only `first_answer` seconds, if that is less.
    """

    patience: float
    notify: Callable[[str], None]
    first_answer: float = math.inf
    _has_answered: bool = False

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return what `work` returns.

        Where patience ends it raises JudgmentFailed, where there never was an answer ModelError.
        """
        alarm = _Alarm(self.notify)
        try:
            return await self._run(work)
        finally:
            alarm.handle.cancel()

    async def _run(self, work: Callable[[], Awaitable[T]]) -> T:
        loop = asyncio.get_running_loop()
        since, pause, noticed = loop.time(), FIRST_PAUSE, False
        while True:
            try:
                found = await work()
            except Fault as fault:
                if not self._may_pass(fault):
                    raise
                self._has_answered = self._has_answered or fault.status > 0
                passed = loop.time() - since
                self._give_up(passed, fault)
                if passed >= NOTICE_AFTER and not noticed:
                    noticed = True
                    self.notify(f"waiting for the endpoint: {fault}")
                # An endpoint that asks for a wait knows best, as long as there is patience.
                wait = (isinstance(fault, Busy) and fault.after) or pause
                await asyncio.sleep(min(wait, self.patience - passed))
                pause = min(LONGEST_PAUSE, 2 * pause)
            else:
                self._has_answered = True
                return found

    def _give_up(self, passed: float, fault: Fault) -> None:
        """Raise JudgmentFailed or ModelError where the wait was too long."""
        if not self._has_answered and self.first_answer < min(passed, self.patience):
            message = f"no answer at all for {self.first_answer:g} s (llm.first_answer): {fault}"
            raise ModelError(f"{message}; run the same command again to go on") from fault
        if passed > self.patience:
            waited = f"waited for {self.patience:g} s (llm.patience) in vain: {fault}"
            raise JudgmentFailed("stopped", waited) from fault

    def _may_pass(self, fault: Fault) -> bool:
        if isinstance(fault, Unreachable):
            return self._has_answered
        return not isinstance(fault, AccountFault | ConfigurationFault | ItemFault)
