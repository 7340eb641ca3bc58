"""Files unpacked: plain, gzip, bzip2, xz or zstd, each known by its first bytes; as lines."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from trecjudge.errors import InputError

BOM = b"\xef\xbb\xbf"
ENDINGS = (".gz", ".bz2", ".xz", ".zst")
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


UNPACKERS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": lambda file: io.BufferedReader(ZstdReader(file), CHUNK),
}


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open `path` for reading, unpacking what is packed."""
    with path.open("rb") as file:
        first = file.read(8)
        file.seek(0)
        unpack = next((u for magic, u in UNPACKERS.items() if first.startswith(magic)), None)
        if unpack is None:
            yield file
            return
        with unpack(file) as unpacked:
            yield unpacked


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, text) of every line that is not blank.

    Lines end at LF alone, so U+2028 inside a string splits none; a byte order mark is dropped.
    Raises InputError if the file cannot be read, or packed data break off.
    """
    try:
        with open_bytes(path) as file:
            for number, line in enumerate(file, 1):
                text = line.removeprefix(BOM) if number == 1 else line
                if text.strip():
                    yield number, text.strip(b" \r\n")  # a tab may stand for an empty column
    except UNREADABLE as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def chunks(path: Path, size: int = CHUNK) -> Iterator[bytes]:
    """Yield the unpacked bytes of a file. Raises InputError as `lines`."""
    try:
        with open_bytes(path) as file:
            yield from iter(lambda: file.read(size), b"")
    except UNREADABLE as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def opening(path: Path) -> bytes:
    """Return the first unpacked bytes of a file, at most `CHUNK`. Raises InputError as `lines`."""
    return next(chunks(path), b"").removeprefix(BOM)


def count_lines(path: Path) -> int:
    """Return the number of line ends in a file, 0 if it cannot be read."""
    try:
        return sum(chunk.count(b"\n") for chunk in chunks(path))
    except InputError:
        return 0


def bare_name(path: Path) -> str:
    """Return a file's name without the endings of containers and of JSON: `a.jsonl.gz` -> `a`."""
    name = path.name
    for ending in (*ENDINGS, ".jsonl", ".json"):
        name = name.removesuffix(ending)
    return name
