"""Files unpacked: plain, gzip, bzip2, xz or zstd, each known by its first bytes; as lines."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any

import orjson

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


class _Readable(io.RawIOBase):
    """What can be read of packed data: it ends where they break off, and `error` then tells why."""

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
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open `path` for reading, unpacking what is packed.

    Where packed data break off, they can be read up to there; the error is raised at the end.
    """
    with path.open("rb") as file:
        first = file.read(8)
        file.seek(0)
        unpack = next((u for magic, u in UNPACKERS.items() if first.startswith(magic)), None)
        if unpack is None:
            yield file
            return
        with unpack(file) as unpacked:
            readable = _Readable(unpacked)
            yield io.BufferedReader(readable, CHUNK)
            if readable.error is not None:
                raise readable.error


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, text) of every line that is not blank.

    Lines end at LF alone, so U+2028 inside a string splits none; a byte order mark is dropped.
    Raises InputError if the file cannot be read; where packed data break off, after what could be.
    """
    number = 0
    try:
        with open_bytes(path) as file:
            for number, line in enumerate(file, 1):
                if line[-1:] != b"\n" and _breaks_off(file) and not _is_json(line):
                    number -= 1
                    break
                text = line.removeprefix(BOM) if number == 1 else line
                if text.strip():
                    yield number, text.strip(b" \r\n")  # a tab may stand for an empty column
    except UNREADABLE as error:
        raise _unreadable(path, number, error) from error


def _breaks_off(file: IO[bytes]) -> bool:
    return getattr(getattr(file, "raw", None), "error", None) is not None


def _is_json(text: bytes) -> bool:
    """Return whether a line that has no end is whole all the same."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def head(path: Path, count: int) -> list[bytes]:
    """Return the first few lines that are not blank, as far as the file can be read."""
    found: list[bytes] = []
    with suppress(InputError):
        found.extend(line for _, line in islice(lines(path), count))
    return found


def chunks(path: Path, size: int = CHUNK) -> Iterator[bytes]:
    """Yield the unpacked bytes of a file. Raises InputError as `lines`."""
    number = 0
    try:
        with open_bytes(path) as file:
            for chunk in iter(lambda: file.read(size), b""):
                number += chunk.count(b"\n")
                yield chunk
    except UNREADABLE as error:
        raise _unreadable(path, number, error) from error


def _unreadable(path: Path, number: int, error: Exception) -> InputError:
    where = f" beyond line {number}" if number else ""
    return InputError(f"{path}: cannot be read{where}: {error}")


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
