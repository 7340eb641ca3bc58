"""Asynchronous work for callers without `await`, in a notebook too."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import threading
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

    It is done in a thread of its own: in a notebook an event loop runs in the caller's, and an
    interrupt breaks off what it finds there. If it is interrupted, it first ends what it began.
    """

    @functools.wraps(work)
    def call(*arguments: P.args, **options: P.kwargs) -> T:
        return _in_a_thread(work(*arguments, **options))

    return call


def _in_a_thread(work: Coroutine[Any, Any, T]) -> T:
    interrupted = threading.Event()
    begun: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def follow() -> T:
        begun.append((asyncio.get_running_loop(), cast(Any, asyncio.current_task())))
        if interrupted.is_set():
            work.close()
            raise asyncio.CancelledError
        return await work

    caller = None
    with suppress(RuntimeError):  # no loop runs here
        caller = asyncio.current_task()
    with ThreadPoolExecutor(1, thread_name_prefix="trecjudge") as pool:
        # The context is copied: context variables of the caller hold in the thread too.
        future = pool.submit(contextvars.copy_context().run, asyncio.run, follow())
        try:
            # Where `asyncio.run` began the caller's loop, an interrupt only cancels the caller.
            while not wait([future], LOOK).done:
                if caller is not None and caller.cancelling():
                    raise asyncio.CancelledError
            return future.result()
        except (KeyboardInterrupt, asyncio.CancelledError):
            interrupted.set()
            for loop, task in begun:
                with suppress(RuntimeError):  # that loop has just ended
                    loop.call_soon_threadsafe(task.cancel)
            raise
