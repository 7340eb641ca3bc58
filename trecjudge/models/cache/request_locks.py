"""Leases: of the processes that share a cache, one asks a request and the others wait for it.

A lease is a lock on one byte of a file beside the cache: a claim costs microseconds and no
transaction, and the system frees it when the process ends, in any way. A process that is only
stopped keeps its locks: so nobody waits for a lease longer than a request may take.
"""

from __future__ import annotations

import asyncio
import errno
import os
import struct
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from trecjudge.files import NO_LINKS, make_private
from trecjudge.models.pace import report_waiting

try:
    import fcntl
except ImportError:  # not on every system
    fcntl = None  # type: ignore[assignment]

FILE = "leases"
STEP = 14
"""Bits between the bytes of two requests: earlier versions lock ranges there."""
# Polled, since the system tells nobody that a lock is free without a thread that waits for it.
LOOK = 0.05
"""Seconds between two looks at a request that is waited for."""
MANY = 50
"""Requests that are waited for at once, from which on each is looked at less often."""
LONGEST = 240.0
"""Seconds that another process is waited for: about two tries of a request."""
TURNS = 30
"""How many times as long the turn of another process is waited for, which may upload a file."""

_DARWIN = sys.platform == "darwin"
_LOCK = struct.Struct("@qqihh" if _DARWIN else "@hhqqi4x")


class InFlightElsewhere(Exception):
    """Raised for a request that another process is asking, or has asked meanwhile."""


class LockFile:
    """An open file whose bytes processes lock. Raises OSError where there are no locks."""

    def __init__(self, path: Path) -> None:
        if fcntl is None:
            raise OSError(errno.ENOSYS, "no locks on this system")
        # These locks belong to this opening of the file: closing it elsewhere does not free them.
        self._set = getattr(fcntl, "F_OFD_SETLK", fcntl.F_SETLK)
        self._get = getattr(fcntl, "F_OFD_GETLK", fcntl.F_GETLK)
        make_private(path)
        self._file = os.open(path, os.O_RDWR | NO_LINKS)
        try:
            self.is_taken(0)
        except OSError as error:
            if error.errno != errno.EINVAL:  # a system that knows the older locks only
                os.close(self._file)
                raise
            self._set, self._get = fcntl.F_SETLK, fcntl.F_GETLK

    def _change(self, kind: int, place: int) -> None:
        fcntl.fcntl(self._file, self._set, _lock(kind, place))

    def take(self, place: int) -> bool:
        """Lock a byte; return False where another process has it."""
        try:
            self._change(fcntl.F_WRLCK, place)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            return False
        return True

    def give_back(self, place: int) -> None:
        """Unlock a byte."""
        self._change(fcntl.F_UNLCK, place)

    def is_taken(self, place: int) -> bool:
        """Return whether another process has locked a byte."""
        asked = _lock(fcntl.F_WRLCK, place)
        found = _LOCK.unpack(fcntl.fcntl(self._file, self._get, asked))
        kind: int = found[3] if _DARWIN else found[0]
        return kind != fcntl.F_UNLCK

    def close(self) -> None:
        """Free all locks."""
        os.close(self._file)


def _lock(kind: int, place: int) -> bytes:
    return _LOCK.pack(*((place, 1, 0, kind, 0) if _DARWIN else (kind, 0, place, 1, 0)))


@dataclass(eq=False)
class RequestLocks:
    """The leases of one client; the file is opened when the first is wanted.

    Without leases (a file system without locks) every claim is granted, and `notify` gets one
    message; it is also told of a long wait for other processes. `is_over` is called while a request
    waits, and returns whether that became pointless. `longest` is how many seconds another process
    is waited for: then the request is asked, as if that process had been killed.
    """

    path: Path
    notify: Callable[[str], None]
    is_over: Callable[[], bool] = lambda: False
    longest: float = LONGEST
    clock: Callable[[], float] = time.monotonic
    _file: LockFile | None = None
    _is_open: bool = False
    _held: set[str] = field(default_factory=set)
    _taken_since: dict[str, float] = field(default_factory=dict)
    """When a lease of another process was first met."""
    _turns: set[str] = field(default_factory=set)
    _waiting: int = 0
    _told: ExitStack = field(default_factory=ExitStack)

    def _open_file(self) -> LockFile | None:
        if not self._is_open:
            self._is_open = True
            try:
                self._file = LockFile(self.path)
            except OSError as error:
                self._fails(error)
        return self._file

    def _fails(self, error: OSError) -> None:
        """Go on without leases."""
        if self._file is not None:
            self._file.close()
        self._file = None  # what others hold is not seen any more: better paid twice than not asked
        self._held.clear()
        reason = error.strerror or error
        self.notify(f"{self.path}: {reason}; jobs at the same time may pay twice for a request")

    def claim(self, key: str) -> bool:
        """Return whether the request with this key is ours to ask; it is until it is released."""
        file = self._open_file()
        if file is None or key in self._held:
            return True
        try:
            if file.take(_place(key)):
                self._held.add(key)
                self._taken_since.pop(key, None)
                return True
        except OSError as error:
            self._fails(error)
            return True
        return self._is_overdue(key)

    def _is_overdue(self, key: str) -> bool:
        """Return whether another process has had the lease for longer than it is waited for."""
        now = self.clock()
        longest = TURNS * self.longest if key in self._turns else self.longest
        return now - self._taken_since.setdefault(key, now) > longest

    def is_elsewhere(self, key: str) -> bool:
        """Return whether another process has the lease of this key, and is to be waited for."""
        if self._file is None or key in self._held:
            return False
        try:
            if self._file.is_taken(_place(key)):
                return not self._is_overdue(key)
        except OSError as error:
            self._fails(error)
        self._taken_since.pop(key, None)
        return False

    def release(self, key: str) -> None:
        """Give a lease back, if it is ours."""
        if key not in self._held or self._file is None:
            return
        self._held.remove(key)
        try:
            self._file.give_back(_place(key))
        except OSError as error:
            self._fails(error)

    async def wait_until_free(self, key: str) -> None:
        """Return when no other process is waited for with this key, or waiting is pointless."""
        if self.is_over() or not self.is_elsewhere(key):
            return
        with self._reporting():
            while self.is_elsewhere(key) and not self.is_over():
                # Looking takes a small share of the time, however many wait.
                await asyncio.sleep(LOOK * (1 + self._waiting / MANY))

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Tell of a long wait for other processes, once for all that wait."""
        if not self._waiting:
            whom = f"waiting for another job that shares the cache {self.path.parent}"
            self._told.enter_context(report_waiting(self.notify, lambda: whom))
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._told.close()

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncIterator[None]:
        """Hold the lease of a turn, when it has come."""
        self._turns.add(key)
        while not (self.claim(key) or self.is_over()):
            await self.wait_until_free(key)
        try:
            yield
        finally:
            self.release(key)

    def close(self) -> None:
        """Give up all leases: requests that wait for them may be asked."""
        self._told.close()
        if self._file is not None:
            self._file.close()
            self._file = None


def _place(key: str) -> int:
    """Return the byte of a request."""
    # 48 bits of a hash: two requests hardly ever share a byte, and one would only wait.
    return int(key[:12], 16) << STEP
