"""A file of zstd frames, read at any place: only the frame that has the place is unpacked."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO

LONGEST_HEAD = 18
LARGEST = 16 << 20
"""Bytes of text in a frame, at most; a larger one would have to be unpacked again and again."""
MOST_FRAMES = 100_000
"""Frames whose places are held, each of a few hundred bytes."""
RLE = 1
"""The kind of block that is one byte, repeated."""


class FramesReader(io.RawIOBase):
    """Reads the text of small frames by its places. Raises ValueError for a damaged frame."""

    def __init__(self, file: BinaryIO, frames: list[tuple[int, int, int]]) -> None:
        import zstandard  # only where there is such a file

        self._file = file
        self._frames = frames
        self._starts = [0]
        """Where the text of each frame begins, and where that of the last one ends."""
        for *_, size in frames:
            self._starts.append(self._starts[-1] + size)
        self._unpacker = zstandard.ZstdDecompressor()
        self._error = zstandard.ZstdError
        self._place = 0
        self._number, self._text = -1, b""

    @classmethod
    def of(cls, file: BinaryIO) -> FramesReader | None:
        """Return a reader of a file; None where its frames are too large or many, or cut."""
        frames = list(islice(_frames(file), MOST_FRAMES + 1))
        if len(frames) > MOST_FRAMES:
            return None
        whole = sum(packed for _, packed, _ in frames) == file.seek(0, io.SEEK_END)
        return cls(file, frames) if whole else None

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place of the text; return it."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._starts[-1]}[whence]
        self._place = max(0, base + offset)
        return self._place

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` from the frame at the place; return the number of bytes, 0 at the end."""
        number = bisect_right(self._starts, self._place) - 1
        if number >= len(self._frames):
            return 0
        if number != self._number:
            self._number, self._text = number, self._unpacked(number)
        start = self._place - self._starts[number]
        found = self._text[start : start + len(buffer)]
        buffer[: len(found)] = found
        self._place += len(found)
        return len(found)

    def close(self) -> None:
        """Close the file too."""
        self._file.close()
        super().close()

    def _unpacked(self, number: int) -> bytes:
        begin, packed, size = self._frames[number]
        self._file.seek(begin)
        try:
            text: bytes = self._unpacker.decompress(self._file.read(packed))
        except self._error as error:
            raise ValueError(str(error)) from error
        if len(text) != size:
            raise ValueError(f"a frame holds {len(text)} bytes, not {size}")
        return text


def _frames(file: BinaryIO) -> Iterator[tuple[int, int, int]]:
    """Yield (where it begins, its bytes, bytes of its text) of each small frame, up to any other.

    Only the heads of frames and blocks are read.
    """
    import zstandard

    begin = 0
    while True:
        file.seek(begin)
        head = file.read(LONGEST_HEAD)
        try:
            found = zstandard.get_frame_parameters(head)
            end = begin + zstandard.frame_header_size(head)
        except zstandard.ZstdError:
            return
        if not 0 < found.content_size <= LARGEST:
            return
        is_last = False
        while not is_last:
            file.seek(end)
            block = int.from_bytes(file.read(3), "little")
            is_last = bool(block & 1)
            end += 3 + (1 if block >> 1 & 3 == RLE else block >> 3)
            if not block:  # the file is cut here
                return
        end += 4 * found.has_checksum
        yield begin, end - begin, found.content_size
        begin = end
