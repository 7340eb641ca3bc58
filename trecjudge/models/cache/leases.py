"""Leases: of the processes that share a cache, one asks a request and the others wait for it.

A lease is a lock on a range of bytes in a file beside the cache: a claim costs microseconds and no
transaction. The length of the lock shows which process holds it. The leases of a killed process are
gone at once; those of one that has stopped are ignored after some seconds.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from trecjudge.models.cache.holders import Holder
from trecjudge.models.patience import reported

FILE = "leases"
WIDTH = 1024
"""Bytes of a range: more than there are places, so that two ranges never touch."""
LEVELS = 16
"""Ranges of a request: where a stopped process holds the first one, the next one counts."""
LOOK = 0.05
"""Seconds between two looks at what is waited for; more where the look itself takes long."""
LARGEST_SHARE = 0.05
"""The share of the time that looking may take."""


class AskedElsewhere(Exception):
    """Raised for a request that another process is asking, or has asked meanwhile."""


@dataclass(eq=False)
class Leases:
    """The leases of one client; they are opened when the first is wanted.

    Without leases (a file system without locks) every claim is granted, and `notify` gets one
    message; it is also told of a long wait for other processes. `is_over` is called while a request
    waits, and returns whether that became pointless.
    """

    path: Path
    notify: Callable[[str], None]
    is_over: Callable[[], bool] = lambda: False
    _holder: Holder | None = None
    _is_open: bool = False
    _held: dict[str, int] = field(default_factory=dict)
    _waiting: dict[str, list[asyncio.Future[None]]] = field(default_factory=dict)
    _look: asyncio.TimerHandle | None = None
    _told: ExitStack = field(default_factory=ExitStack)

    def _opened(self) -> Holder | None:
        if not self._is_open:
            self._is_open = True
            try:
                self._holder = Holder(self.path)
            except OSError as error:
                self._fails(error)
        return self._holder

    def _fails(self, error: OSError) -> None:
        """Go on without leases."""
        if self._holder is not None:
            self._holder.close()
        self._holder = None
        self._held.clear()
        reason = error.strerror or error
        self.notify(f"{self.path}: {reason}; jobs at the same time may pay twice for a request")

    def claim(self, key: str) -> bool:
        """Return whether the request with this key is ours to ask; it is until it is released."""
        holder = self._opened()
        if holder is None or key in self._held:
            return True
        start, length = _start(key), 1 + holder.place
        try:
            for level in range(LEVELS):
                while not holder.locks.take(start + level * WIDTH, length):
                    other = holder.locks.holder(start + level * WIDTH, WIDTH)
                    if other is None:  # released in this moment
                        continue
                    if holder.runs(other - 1):
                        return False
                    break
                else:
                    self._held[key] = start + level * WIDTH
                    return True
        except OSError as error:
            self._fails(error)
        return True

    def was_by_itself(self) -> bool:
        """Return whether no other process shared the cache since this one began."""
        return self._holder is None or self._holder.was_by_itself()

    def is_elsewhere(self, key: str) -> bool:
        """Return whether another process that still runs has the lease of this key."""
        holder = self._holder
        # `is_first` may be out of date: then the claim finds out that another process came.
        if holder is None or holder.is_first or key in self._held:
            return False
        start = _start(key)
        try:
            for level in range(LEVELS):
                other = holder.locks.holder(start + level * WIDTH, WIDTH)
                if other is None:
                    return False
                if holder.runs(other - 1):
                    return True
        except OSError as error:
            self._fails(error)
        return False

    def release(self, key: str) -> None:
        """Give a lease back, if it is ours."""
        start = self._held.pop(key, None)
        if start is None or self._holder is None:
            return
        try:
            self._holder.locks.give_back(start, 1 + self._holder.place)
        except OSError as error:
            self._fails(error)

    async def freed(self, key: str) -> None:
        """Return when no other process has the lease of this key, or when waiting is pointless."""
        if self.is_over() or not self.is_elsewhere(key):
            return
        if not self._waiting:
            whom = f"waiting for another job that shares the cache {self.path.parent}"
            self._told.enter_context(reported(self.notify, lambda: whom))
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append(place)
        self._look_later(LOOK)
        await place

    def _look_later(self, seconds: float) -> None:
        if self._look is None:
            self._look = asyncio.get_running_loop().call_later(seconds, self._look_now)

    def _look_now(self) -> None:
        """Wake those who wait for a lease that is free now."""
        self._look = None
        began, is_over = time.perf_counter(), self.is_over()
        for key, places in list(self._waiting.items()):
            waiting = [place for place in places if not place.done()]
            if waiting and not is_over and self.is_elsewhere(key):
                self._waiting[key] = waiting
                continue
            del self._waiting[key]
            for place in waiting:
                place.set_result(None)
        if self._waiting:
            self._look_later(max(LOOK, (time.perf_counter() - began) / LARGEST_SHARE))
        else:
            self._told.close()

    @asynccontextmanager
    async def held(self, key: str) -> AsyncIterator[None]:
        """Hold a lease, when its turn has come."""
        while not (self.claim(key) or self.is_over()):
            await self.freed(key)
        try:
            yield
        finally:
            self.release(key)

    def close(self) -> None:
        """Give up all leases: requests that wait for them may be asked."""
        self._told.close()
        if self._look is not None:
            self._look.cancel()
        if self._holder is not None:
            self._holder.close()
            self._holder = None


def _start(key: str) -> int:
    """Return the first byte of the ranges of a request."""
    return int(key[:12], 16) * WIDTH * LEVELS
