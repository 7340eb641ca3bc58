"""Work under way by key: equal work is done once, and goes on when its callers are gone."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class _Work(Generic[T]):
    """Work in a task of its own, and the places of those that wait for its result."""

    task: asyncio.Task[T]
    places: list[asyncio.Future[T]] = field(default_factory=list)

    async def result(self) -> T:
        """Return the result; a caller that is cancelled gives up only its own place.

        A future for each caller takes fewer turns of the event loop than `asyncio.shield`.
        """
        place: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.places.append(place)
        return await place


@dataclass(eq=False, slots=True)
class UnderWay(Generic[T]):
    """Work by key, from its beginning until there is a result."""

    _works: dict[str, _Work[T]] = field(default_factory=dict)

    def __contains__(self, key: str) -> bool:
        return key in self._works

    async def joined(self, key: str) -> T:
        """Return the result of the work with this key, which is under way."""
        return await self._works[key].result()

    async def begun(self, key: str, work: Coroutine[Any, Any, T]) -> T:
        """Begin work with this key, which is not under way; return its result."""
        # A task of its own: its first caller may be cancelled while others wait for the result.
        task = asyncio.create_task(work)
        self._works[key] = _Work(task)
        task.add_done_callback(partial(self._over, key))
        return await self.joined(key)

    def _over(self, key: str, task: asyncio.Task[T]) -> None:
        """Pass the result, or the error, to all that still wait for it."""
        error = None if task.cancelled() else task.exception()
        for place in self._works.pop(key).places:
            if place.done():  # its caller was cancelled
                continue
            if task.cancelled():
                place.cancel()
            elif error is not None:
                place.set_exception(error)
            else:
                place.set_result(task.result())

    async def settle(self, seconds: float) -> None:
        """Wait so long for what is under way."""
        tasks = [work.task for work in self._works.values()]
        if tasks and seconds:
            await asyncio.wait(tasks, timeout=seconds)

    async def close(self) -> None:
        """Give up what is under way."""
        tasks = [work.task for work in self._works.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
