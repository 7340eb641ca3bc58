"""Checksums of input files, taken while the files are read, so that none is read twice."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from os import fspath
from pathlib import Path
from typing import Any, cast

from trecjudge.files import open_regular


@dataclass(slots=True)
class Checksums:
    """The sha256 of files as they lie on disk; it is known for files that were read to the end."""

    found: dict[str, str] = field(default_factory=dict)

    def of(self, path: Path) -> str:
        """Return the sha256 of a file; one that was not read yet is read. Raises OSError."""
        if fspath(path) not in self.found:
            with open_regular(path) as file:
                self.found[fspath(path)] = hashlib.file_digest(file, "sha256").hexdigest()
        return self.found[fspath(path)]


_TAKEN: ContextVar[Checksums | None] = ContextVar("checksums", default=None)


@contextmanager
def taking_checksums() -> Iterator[Checksums]:
    """Yield the checksums; files that are read within the context add theirs."""
    checksums = Checksums()
    token = _TAKEN.set(checksums)
    try:
        yield checksums
    finally:
        _TAKEN.reset(token)


def open_summed(path: Path) -> io.BufferedReader:
    """Open a file for reading; where checksums are taken, reading to its end adds its own."""
    file = cast(io.FileIO, open_regular(path).detach())
    checksums = _TAKEN.get()
    return io.BufferedReader(file if checksums is None else _Summed(file, path, checksums))


class _Summed(io.RawIOBase):
    """Passes the bytes of a file on, and takes their checksum."""

    def __init__(self, file: io.FileIO, path: Path, checksums: Checksums) -> None:
        self._file, self._path, self._checksums = file, fspath(path), checksums
        self._sum = hashlib.sha256()
        self._position = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return how many bytes were read."""
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer`; return the number of bytes, 0 at the end."""
        count = self._file.readinto(buffer) or 0
        self._sum.update(memoryview(buffer)[:count])
        self._position += count
        if not count:
            self._checksums.found[self._path] = self._sum.hexdigest()
        return count

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()
