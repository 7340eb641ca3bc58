"""Asynchronous work for callers without `await`, in a notebook too."""

from __future__ import annotations

import asyncio
import contextvars
import functools
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")
LOOK = 0.1
"""Seconds between two checks whether the caller is cancelled."""


def blocking(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Return a function that runs `work` to its end, for callers without `await`.

    Where an event loop runs in the caller's thread, as in a notebook, it is done in a thread of its
    own. If it is interrupted, it first ends what it began.
    """

    @functools.wraps(work)
    def call(*arguments: P.args, **options: P.kwargs) -> T:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            begin: Callable[[Coroutine[Any, Any, T]], T] = asyncio.run
        else:
            begin = _in_a_thread
        return begin(work(*arguments, **options))

    return call


def _in_a_thread(work: Coroutine[Any, Any, T]) -> T:
    begun: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def followed() -> T:
        begun.append((asyncio.get_running_loop(), cast(Any, asyncio.current_task())))
        return await work

    caller = asyncio.current_task()
    with ThreadPoolExecutor(1, thread_name_prefix="trecjudge") as pool:
        # The context is copied: context variables of the caller hold in the thread too.
        future = pool.submit(contextvars.copy_context().run, asyncio.run, followed())
        try:
            # Where `asyncio.run` began the caller's loop, an interrupt only cancels the caller.
            while not wait([future], LOOK).done:
                if caller is not None and caller.cancelling():
                    raise asyncio.CancelledError
            return future.result()
        except (KeyboardInterrupt, asyncio.CancelledError):
            for loop, task in begun:
                with suppress(RuntimeError):  # that loop has just ended
                    loop.call_soon_threadsafe(task.cancel)
            raise
