"""Retries a call while the endpoint is temporarily unavailable, and reports the wait."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from trecjudge.errors import JudgmentFailed, ModelError
from trecjudge.models.batch.api import BatchState
from trecjudge.models.faults import (
    AccountFault,
    Busy,
    ConfigurationFault,
    Fault,
    ItemFault,
    Unreachable,
)
from trecjudge.models.patience import reported

T = TypeVar("T")
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
NO_ANSWER = "no answer"
GO_ON = "the same command goes on waiting for it, and pays for nothing twice"


@dataclass(slots=True)
class BatchWait:
    """How long a batch is waited for: `most` seconds in all.

    Where it is not worked on, such as in a status that nobody knows, and nothing changes, it is
    waited for no longer than `patience`.
    """

    most: float
    patience: float
    name: str
    state: BatchState | None = None
    _since: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    _changed: float = 0.0

    def look(self, state: BatchState) -> None:
        """Note the state of the batch. Raises JudgmentFailed where it was waited for too long."""
        now = asyncio.get_running_loop().time()
        if self.state is None or (state.status, state.done) != (self.state.status, self.state.done):
            self._changed = now
        self.state = state
        if now - self._since > self.most:
            self._end(self.most, "llm.batch_wait")
        if not state.is_worked_on and now - self._changed > self.patience:
            self._end(self.patience, "llm.patience")

    def _end(self, seconds: float, setting: str) -> None:
        waited = f"waited for {seconds:.0f} s ({setting}) in vain"
        raise JudgmentFailed("stopped", f"{self}; {waited}; {GO_ON}")

    def __str__(self) -> str:
        return f"{self.name}: {self.state or 'nothing is known of it yet'}"


@dataclass(slots=True)
class Retry:
    """Retries for `patience` seconds. An endpoint that cannot be reached at first is not retried.

    The first answer is waited for only `first_answer` seconds, if that is less.
    """

    patience: float
    notify: Callable[[str], None]
    first_answer: float = math.inf
    where: str = ""
    _has_answered: bool = False
    _why: str = NO_ANSWER

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return what `work` returns.

        Where patience ends it raises JudgmentFailed, where there never was an answer ModelError.
        """
        with reported(self.notify, lambda: f"waiting for {self.where}: {self._why}"):
            try:
                return await self._run(work)
            finally:
                self._why = NO_ANSWER

    async def _run(self, work: Callable[[], Awaitable[T]]) -> T:
        loop = asyncio.get_running_loop()
        since, pause = loop.time(), FIRST_PAUSE
        while True:
            try:
                found = await work()
            except Fault as fault:
                if not self._may_pass(fault):
                    raise
                self._has_answered = self._has_answered or fault.status > 0
                passed = loop.time() - since
                self._give_up(passed, fault)
                self._why = str(fault)
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
