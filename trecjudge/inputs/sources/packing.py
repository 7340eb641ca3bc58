"""Files that are unpacked as they are read, by their first bytes: gzip, bzip2, xz, zstd, UTF-16."""

from __future__ import annotations

import bz2
import codecs
import hashlib
import io
import lzma
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from os import fspath
from pathlib import Path
from typing import IO, Any, Protocol, cast

from trecjudge.files import open_regular
from trecjudge.settings.limits import limits

CHUNK = 1 << 20
FEW = 1 << 16
"""Packed bytes taken at a time: each of many empty frames hands on what follows it."""
BEGINNING = 512
"""Bytes that show what a file is."""
MOST_MEMORY = 128 << 20
"""Bytes that unpacking may take; `xz -9` writes what takes 65 MB."""
TAR = b"ustar"
ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""What workbooks of Excel begin with: .xlsx and .xlsb, and .xls."""
UNREADABLE = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
SKIPPED_FRAMES = range(0x184D2A50, 0x184D2A60)
"""The first four bytes of a frame that holds no data, as a number."""
SIZE_OF_SIZE, SIZE_OF_DICTIONARY = (0, 2, 4, 8), (0, 1, 2, 4)
"""Bytes of a frame's size, and of its dictionary's id, by their flags."""
RLE = 1
"""The kind of block that is one byte, repeated."""


class ZstdFrame:
    """Unpacks one frame of zstd block by block, as the standard library's decompressors do.

    A block holds at most 128 KB, even of a zip bomb.
    """

    # The decompressor of zstandard unpacks all that it is given: 32 KB may become a gigabyte. Its
    # reader ends without an error where a frame breaks off.

    def __init__(self, decompressor: Any) -> None:
        self._library = decompressor.decompressobj()
        self._held, self._at = b"", 0
        self._has_data = True
        self._parts = self._sizes()
        self._wanted = next(self._parts)
        self.eof, self.needs_input = False, True

    @property
    def unused_data(self) -> bytes:
        """What follows the frame."""
        return self._held[self._at :] if self.eof else b""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return the data unpacked, not much more than `max_length` bytes at a time.

        Raises ValueError where they are no zstd.
        """
        self._held, self._at = self._held[self._at :] + data, 0
        found: list[bytes] = []
        size, self.needs_input = 0, False
        while size < max_length and not self.eof:
            if self._at + self._wanted > len(self._held):
                self.needs_input = True
                break
            part = self._held[self._at : self._at + self._wanted]
            self._at += self._wanted
            try:
                self._wanted = self._parts.send(part)
            except StopIteration:
                self.eof = True
            if self._has_data:
                found.append(self._unpack_part(part))
                size += len(found[-1])
        return b"".join(found)

    def _unpack_part(self, part: bytes) -> bytes:
        import zstandard

        try:
            return bytes(self._library.decompress(part)) if part else b""
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error

    def _sizes(self) -> Generator[int, bytes, None]:
        """Yield how many bytes each part of a frame has; each is sent back when it is there."""
        number = _number((yield 4))
        if number in SKIPPED_FRAMES:
            self._has_data = False
            left = _number((yield 4))
            while left:
                left -= len((yield min(left, CHUNK)))
            return
        flags = (yield 1)[0]
        has_window = not flags >> 5 & 1
        size = SIZE_OF_SIZE[flags >> 6] or int(not has_window)
        yield has_window + SIZE_OF_DICTIONARY[flags & 3] + size
        is_last = False
        while not is_last:
            block = _number((yield 3))
            is_last = bool(block & 1)
            yield 1 if block >> 1 & 3 == RLE else block >> 3
        if flags >> 2 & 1:
            yield 4  # a checksum


def _number(part: bytes) -> int:
    return int.from_bytes(part, "little")


def _zstd_frames() -> Callable[[], ZstdFrame]:
    import zstandard  # only where there is such a file

    # One for all frames of a file: there may be a million.
    return partial(ZstdFrame, zstandard.ZstdDecompressor())


class Unpacker(Protocol):
    """Unpacks one frame, or stream, as the standard library's decompressors do."""

    @property
    def eof(self) -> bool:
        """Whether the end was reached."""

    @property
    def unused_data(self) -> bytes:
        """What follows the end."""

    @property
    def needs_input(self) -> bool:
        """Whether more data are needed to unpack more."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """Return the data unpacked, not much more than `max_length` bytes at a time."""


class PackedReader:
    """Unpacks frames, a little at a time, since a few bytes can stand for gigabytes."""

    def __init__(self, file: IO[bytes], new: Callable[[], Unpacker]) -> None:
        self._file, self._new = file, new
        self._frame = new()
        self._ready = self._packed = b""

    def read1(self, size: int) -> bytes:
        """Return some bytes, none at the end.

        Raises EOFError where the last frame breaks off, ValueError for data of no such format.
        """
        while not self._ready and self._fill():
            pass
        found, self._ready = self._ready[:size], self._ready[size:]
        return found

    def _fill(self) -> bool:
        """Unpack some more; return False at the end."""
        if self._frame.eof:
            self._packed = self._frame.unused_data.lstrip(b"\0") or self._file.read(FEW)
            if not self._packed:
                return False
            self._frame = self._new()
        elif self._frame.needs_input:
            self._packed = self._file.read(FEW)
            if not self._packed:
                raise EOFError("the data break off")
        packed, self._packed = self._packed, b""
        try:
            self._ready = self._frame.decompress(packed, CHUNK)
        except MemoryError as error:
            raise ValueError("needs more memory to unpack than the limit allows") from error
        return True


class Utf16Reader:
    """Reads UTF-16 with a byte order mark as UTF-8: what `Readable` needs of a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._texts = codecs.getreader("utf-16")(file)

    def read1(self, size: int) -> bytes:
        """Return some bytes, none at the end. Raises ValueError for what is not UTF-16."""
        return self._texts.read(size // 2).encode()  # two bytes become three at most


class Refused(ValueError):
    """A file that holds no data that are read: an archive, or what swells beyond the limit."""


def refuse_archive(path: Path, beginning: bytes) -> None:
    """Raise Refused for a workbook or an archive of files, by its first bytes."""
    if beginning.startswith((OLE, ZIP)) and path.is_file():  # no member of an archive
        with open_regular(path) as file:  # the list of a zip's files stands at its end
            file.seek(-min(CHUNK, file.seek(0, io.SEEK_END)), io.SEEK_END)
            sheets = beginning.startswith(OLE) or b"xl/" in file.read()
        what = "an Excel workbook; save it as CSV" if sheets else "a zip archive; unpack it"
        raise Refused(f"is {what}")
    if is_tar(beginning):
        raise Refused("is a tar archive; unpack it")


def is_tar(beginning: bytes) -> bool:
    """Return whether a file that begins so, unpacked, is a tar archive."""
    return beginning[257:262] == TAR


class _GzipFrame:
    """Unpacks one member of a gzip file, in larger pieces than the standard library's reader."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(zlib.MAX_WBITS | 16)

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)


def _xz() -> Unpacker:
    return lzma.LZMADecompressor(memlimit=MOST_MEMORY)


# By content, not by name: browsers unpack a download, whose name keeps its `.gz`.
UNPACKERS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda file: nullcontext(PackedReader(file, _GzipFrame)),
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lambda file: nullcontext(PackedReader(file, _xz)),
    b"\x28\xb5\x2f\xfd": lambda file: nullcontext(PackedReader(file, _zstd_frames())),
    codecs.BOM_UTF16_LE: lambda file: nullcontext(Utf16Reader(file)),
    codecs.BOM_UTF16_BE: lambda file: nullcontext(Utf16Reader(file)),
}


class Readable(io.RawIOBase):
    """The readable part of packed data: where they break off, it ends, and has the `error`.

    It ends too where they become more than `file` may, which holds them.
    """

    def __init__(self, unpacked: Any, file: io.BufferedReader) -> None:
        self._unpacked, self._file = unpacked, file
        self._size = 0
        self.error: Exception | None = None

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer`; return the number of bytes, 0 at the end."""
        if self.error is not None:
            return 0
        try:
            found = self._unpacked.read1(len(buffer))
            self._size += len(found)
            if excess := limits().excess_of_unpacked(self._size, self._file.tell()):
                raise Refused(excess)
        except UNREADABLE as error:
            self.error = error.with_traceback(None)  # its frames would hold the file open
            return 0
        buffer[: len(found)] = found
        return len(found)

    def tell(self) -> int:
        """Return how many bytes were read."""
        return self._size


@contextmanager
def unpacking(file: io.BufferedReader, archive: bool = False) -> Iterator[IO[bytes]]:
    """Yield a file to read from, unpacked if it is packed; an `archive` may be tar.

    Where packed data break off, they can be read up to there; the error is raised at the end.
    """
    first = file.peek(8)
    unpack = next((u for magic, u in UNPACKERS.items() if first.startswith(magic)), None)
    if unpack is None:
        yield file
        if error := error_of(file):
            raise error
        return
    with unpack(file) as unpacked:
        found = io.BufferedReader(Readable(unpacked, file), CHUNK)
        second = found.peek(BEGINNING)
        if is_tar(second) and not archive:
            raise Refused("is a tar archive; unpack it")
        in_utf16 = second.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        if is_packed(second) and not in_utf16:
            raise Refused("is packed twice; unpack it once")
        yield io.BufferedReader(Readable(Utf16Reader(found), file), CHUNK) if in_utf16 else found
        if error := error_of(found):
            raise error


def is_packed(first: bytes) -> bool:
    """Return whether a file that begins so is packed."""
    return first.startswith(tuple(UNPACKERS))


def error_of(unpacked: IO[bytes] | None) -> Exception | None:
    """Return why packed data turned out to break off, None where they did not so far."""
    error: Exception | None = getattr(getattr(unpacked, "raw", None), "error", None)
    return error


# Checksums of input files, taken while the files are read, so that none is read twice.


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
