"""Work under way by its key: equal work is done once, and goes on when whoever waits is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class _Work(Generic[T]):
    """Work in a task of its own, and the places of those that wait for its result."""

    task: asyncio.Task[None] | None = None
    places: list[asyncio.Future[T]] = field(default_factory=list)

    async def result(self) -> T:
        """Wait; cancelled, only this place is given up.

        A place of one's own costs one turn of the event loop, `asyncio.shield` three.
        """
        place: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.places.append(place)
        return await place

    @property
    def waiting(self) -> list[asyncio.Future[T]]:
        """The places that nobody gave up."""
        return [place for place in self.places if not place.done()]


@dataclass(eq=False, slots=True)
class UnderWay(Generic[T]):
    """Work by key, from its beginning until there is a result."""

    _works: dict[str, _Work[T]] = field(default_factory=dict)

    def __contains__(self, key: str) -> bool:
        return key in self._works

    async def joined(self, key: str) -> T:
        """Return the result of the work with this key, which is under way."""
        return await self._works[key].result()

    async def begun(self, key: str, do: Callable[[], Awaitable[T]]) -> T:
        """Begin work with this key, which is not under way; return its result."""
        work = self._works[key] = _Work()
        work.task = asyncio.create_task(self._done(key, work, do))
        return await work.result()

    async def _done(self, key: str, work: _Work[T], do: Callable[[], Awaitable[T]]) -> None:
        """Do work and hand out its result."""
        try:
            found = await do()
        except Exception as error:
            for place in work.waiting:
                place.set_exception(error)
        except BaseException:
            for place in work.waiting:
                place.cancel()
            raise
        else:
            for place in work.waiting:
                place.set_result(found)
        finally:
            del self._works[key]

    async def close(self, seconds: float = 0.0) -> None:
        """Wait so long for what is under way, then give it up."""
        works = list(self._works.values())
        tasks = [work.task for work in works if work.task is not None]
        if tasks and seconds:
            await asyncio.wait(tasks, timeout=seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for place in (place for work in works for place in work.waiting):  # of tasks never begun
            place.cancel()
        self._works.clear()
