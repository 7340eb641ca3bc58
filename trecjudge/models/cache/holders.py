"""Processes that share a cache: each has a place in a file there, and shows that it runs.

The system frees the locks of a process when it ends, in any way; SQLite needs such locks too. But a
process that is only stopped keeps its locks. So each process has a thread that counts up at its
place while it runs; a process whose number stays the same has stopped.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from trecjudge.files import NO_LINKS, make_private

try:
    import fcntl
except ImportError:  # not on every system
    fcntl = None  # type: ignore[assignment]

PLACES = 1000
"""Processes that may share a cache."""
PLACES_FROM = 1 << 62
"""The first byte of their locks: after the ranges of all requests."""
ARRIVALS = 8 * PLACES
"""The place in the file where the processes that came are counted."""
BEAT = 0.5
DEAD_AFTER = 5.0
"""Seconds without a beat after which a process counts as stopped."""

_DARWIN = sys.platform == "darwin"
_LOCK = struct.Struct("@qqihh" if _DARWIN else "@hhqqi4x")
_NUMBER = struct.Struct("<Q")


@dataclass(slots=True)
class _Pulse:
    """The last beat of a process, when it was looked at, and how long it has not changed."""

    beat: int
    seen: float
    silent: float = 0.0


class Locks:
    """Locks on bytes of an open file. Raises OSError where there are none."""

    def __init__(self, file: int) -> None:
        self._file = file
        # These locks belong to this opening of the file: closing it elsewhere does not free them.
        self._set = getattr(fcntl, "F_OFD_SETLK", fcntl.F_SETLK)
        self._get = getattr(fcntl, "F_OFD_GETLK", fcntl.F_GETLK)
        try:
            self.holder(0, 1)
        except OSError as error:
            if error.errno != errno.EINVAL:  # a system that knows the older ones only
                raise
            self._set, self._get = fcntl.F_SETLK, fcntl.F_GETLK
            self.holder(0, 1)

    def take(self, start: int, length: int) -> bool:
        """Return whether the bytes are free, and lock them."""
        try:
            fcntl.fcntl(self._file, self._set, _lock(fcntl.F_WRLCK, start, length))
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            return False
        return True

    def give_back(self, start: int, length: int) -> None:
        """Unlock bytes."""
        fcntl.fcntl(self._file, self._set, _lock(fcntl.F_UNLCK, start, length))

    def holder(self, start: int, length: int) -> int | None:
        """Return the length of a lock that another process has on these bytes, None for none."""
        asked = _lock(fcntl.F_WRLCK, start, length)
        found = _LOCK.unpack(fcntl.fcntl(self._file, self._get, asked))
        if _DARWIN:
            return None if found[3] == fcntl.F_UNLCK else int(found[1])
        return None if found[0] == fcntl.F_UNLCK else int(found[3])


def _lock(kind: int, start: int, length: int) -> bytes:
    return _LOCK.pack(*((start, length, 0, kind, 0) if _DARWIN else (kind, 0, start, length, 0)))


class Holder:
    """One process among those that share a file of leases. Raises OSError where it cannot be."""

    def __init__(self, path: Path) -> None:
        if fcntl is None:
            raise OSError(errno.ENOSYS, "no locks on this system")
        make_private(path)
        self._file = os.open(path, os.O_RDWR | NO_LINKS)
        try:
            self.locks = Locks(self._file)
            self.place = self._settled()
            # In this order, of two processes that come at once, one sees the other or its arrival.
            self._arrivals = self._number(ARRIVALS) + 1
            self._write(ARRIVALS, self._arrivals)
            self.is_first = self.locks.holder(PLACES_FROM, PLACES) is None
            self._beat = self._number(8 * self.place)
            self.beat()
        except BaseException:
            os.close(self._file)
            raise
        self._pulses: dict[int, _Pulse] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._beats, name="leases", daemon=True)
        self._thread.start()

    def _settled(self) -> int:
        free = (place for place in range(PLACES) if self.locks.take(PLACES_FROM + place, 1))
        if (place := next(free, None)) is None:
            raise OSError(errno.EUSERS, "too many processes")
        return place

    def _number(self, position: int) -> int:
        found = os.pread(self._file, _NUMBER.size, position)
        return int(_NUMBER.unpack(found)[0]) if len(found) == _NUMBER.size else 0

    def _write(self, position: int, number: int) -> None:
        os.pwrite(self._file, _NUMBER.pack(number % (1 << 64)), position)

    def beat(self) -> None:
        """Show that this process runs."""
        self._beat += 1
        self._write(8 * self.place, self._beat)

    def _beats(self) -> None:
        # In a thread: a process whose event loop is busy has not stopped.
        while not self._end.wait(BEAT):
            try:
                self.beat()
            except OSError:  # no space: others then ask themselves, which does no harm
                continue

    def was_by_itself(self) -> bool:
        """Return whether no other process has shared the file since this one came."""
        if self.is_first and self._number(ARRIVALS) != self._arrivals:
            self.is_first = False
        return self.is_first

    def runs(self, place: int) -> bool:
        """Return whether the process at a place runs, judged by its beats; to be called often."""
        beat, now = self._number(8 * place), time.monotonic()
        pulse = self._pulses.get(place)
        if pulse is None or pulse.beat != beat:
            self._pulses[place] = _Pulse(beat, now)
            return True
        # A long gap between two looks counts little: this process itself may have been stopped.
        pulse.silent += min(now - pulse.seen, BEAT)
        pulse.seen = now
        return pulse.silent < DEAD_AFTER

    def close(self) -> None:
        """Give up all leases, and the place."""
        self._end.set()
        self._thread.join()
        os.close(self._file)
