"""Retries a call while the endpoint is temporarily unavailable, and reports the wait."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from trecjudge.errors import JudgmentFailed
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


@dataclass(slots=True)
class Retry:
    """Retries for `patience` seconds, unless the endpoint never answered: then it is not there."""

    patience: float
    notify: Callable[[str], None]
    _has_answered: bool = False

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return what `work` returns. Raises Fault, JudgmentFailed where patience ends."""
        loop = asyncio.get_running_loop()
        since, pause, noticed = loop.time(), FIRST_PAUSE, False
        while True:
            try:
                found = await work()
            except Fault as fault:
                if not self._may_pass(fault):
                    raise
                passed = loop.time() - since
                if passed > self.patience:
                    waited = f"waited for {self.patience:g} s (llm.patience) in vain: {fault}"
                    raise JudgmentFailed("stopped", waited) from fault
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

    def _may_pass(self, fault: Fault) -> bool:
        if isinstance(fault, Unreachable):
            return self._has_answered
        return not isinstance(fault, AccountFault | ConfigurationFault | ItemFault)
