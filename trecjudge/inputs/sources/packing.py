"""Packed files, unpacked as they are read: gzip, bzip2, xz or zstd, by their first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

CHUNK = 1 << 20
UNREADABLE = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)


class ZstdReader(io.RawIOBase):
    """Unpacks zstd frames. Raises EOFError where the last one breaks off, ValueError on nonsense.

    The library's own reader ends without a word where a frame breaks off.
    """

    def __init__(self, file: IO[bytes]) -> None:
        import zstandard  # only where there is such a file

        self._file = file
        self._error = zstandard.ZstdError
        self._new = zstandard.ZstdDecompressor().decompressobj
        self._frame = self._new()
        self._ready = self._packed = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer`; return the number of bytes, 0 at the end."""
        while not self._ready and self._fill():
            pass
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def _fill(self) -> bool:
        """Unpack some more; return False at the end."""
        packed = self._packed or self._file.read(CHUNK)
        if not packed:
            if not self._frame.eof:
                raise EOFError("the data break off")
            return False
        if self._frame.eof:
            self._frame = self._new()
        try:
            self._ready = self._frame.decompress(packed)
        except self._error as error:
            raise ValueError(str(error)) from error
        self._packed = self._frame.unused_data if self._frame.eof else b""
        return True


# By content, not by name: browsers unpack a download and leave it its `.gz`.
UNPACKERS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": lambda file: io.BufferedReader(ZstdReader(file), CHUNK),
}


class _Readable(io.RawIOBase):
    """What can be read of packed data: it ends where they break off, and `error` is then why."""

    def __init__(self, unpacked: Any) -> None:
        self._unpacked = unpacked
        self.error: Exception | None = None

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer`; return the number of bytes, 0 at the end."""
        try:
            found = self._unpacked.read1(len(buffer))
        except UNREADABLE as error:
            self.error = error
            return 0
        buffer[: len(found)] = found
        return len(found)


@contextmanager
def unpacking(file: io.BufferedReader) -> Iterator[IO[bytes]]:
    """Give what a file holds, unpacked where it is packed.

    Where packed data break off, they can be read up to there; the error is raised at the end.
    """
    first = file.peek(8)
    unpack = next((u for magic, u in UNPACKERS.items() if first.startswith(magic)), None)
    if unpack is None:
        yield file
        return
    with unpack(file) as unpacked:
        readable = _Readable(unpacked)
        yield io.BufferedReader(readable, CHUNK)
        if readable.error is not None:
            raise readable.error


def is_packed(first: bytes) -> bool:
    """Return whether a file that begins so is packed."""
    return first.startswith(tuple(UNPACKERS))


def breaks_off(unpacked: IO[bytes] | None) -> bool:
    """Return whether packed data turned out to break off."""
    return getattr(getattr(unpacked, "raw", None), "error", None) is not None
