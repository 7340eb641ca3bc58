"""An event loop whose clock jumps: what would sleep for an hour is done at once."""

from __future__ import annotations

import asyncio
import gc
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
MOST = 10_000.0
"""Seconds of the loop's time after which a test has failed."""
TURN = 1e-6
"""Seconds that each turn of the loop takes: time never stands still."""
GLANCE = 0.001
"""Seconds in which the sockets and pipes of this process have delivered what was on its way."""


class Jumping(selectors.DefaultSelector):
    """Waits for sockets; where none has anything, the clock jumps to the next timer."""

    loop: InstantLoop

    def select(self, timeout: float | None = None) -> Any:
        self.loop.now += TURN
        if timeout is not None and timeout <= 0:
            return super().select(0)
        began = time.monotonic()
        busy = timeout is None or self.loop.threads > 0
        events = super().select(0.02 if busy else GLANCE)
        if not events and timeout is not None:
            self.loop.now += time.monotonic() - began if busy else timeout
        return events


class InstantLoop(asyncio.SelectorEventLoop):
    """Time passes only where everything waits for it; a thread at work is waited for."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.threads = 0
        selector = Jumping()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.now

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> Any:
        self.threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._one_less)
        return future

    def _one_less(self, _: object) -> None:
        self.threads -= 1


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return what `work` returns; fail where the event loop has anything to complain of."""
    complaints: list[str] = []
    gc.freeze()  # what is there already need not be looked through below
    with asyncio.Runner(loop_factory=InstantLoop) as runner:
        loop = runner.get_loop()
        loop.set_exception_handler(lambda _, context: complaints.append(repr(context)))
        try:
            return runner.run(_in_time(work))
        finally:
            gc.collect()  # a task that nobody looked at complains when it goes
            gc.unfreeze()
            assert complaints == []


async def _in_time(work: Coroutine[Any, Any, T]) -> T:
    async with asyncio.timeout(MOST):
        return await work


def now() -> float:
    """Return the loop's time in seconds."""
    return asyncio.get_running_loop().time()
