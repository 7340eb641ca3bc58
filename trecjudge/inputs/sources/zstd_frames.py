"""Frames of zstd, unpacked block by block: a block holds at most 128 KB, even of a zip bomb."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any

SKIPPED = range(0x184D2A50, 0x184D2A60)
"""The first four bytes of a frame that holds no data, as a number."""
SIZE_OF_SIZE = (0, 2, 4, 8)
SIZE_OF_DICTIONARY = (0, 1, 2, 4)
"""Bytes of a frame's size, and of its dictionary's id, by their flags."""
RLE = 1
"""The kind of block that is one byte, repeated."""
MOST = 1 << 20


class ZstdFrame:
    """Unpacks one frame, with the interface of the standard library's decompressors.

    The decompressor of zstandard unpacks all that it is given: 32 KB may become a gigabyte. Its
    reader ends without an error where a frame breaks off.
    """

    def __init__(self, decompressor: Any) -> None:
        self._library = decompressor.decompressobj()
        self._held = b""
        self._at = 0
        self._has_data = True
        self._parts = self._sizes()
        self._wanted = next(self._parts)
        self.eof = False
        self.needs_input = True

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
                found.append(self._unpacked(part))
                size += len(found[-1])
        return b"".join(found)

    def _unpacked(self, part: bytes) -> bytes:
        import zstandard

        try:
            return bytes(self._library.decompress(part)) if part else b""
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error

    def _sizes(self) -> Generator[int, bytes, None]:
        """Yield how many bytes each part of a frame has; each is sent back when it is there."""
        number = _number((yield 4))
        if number in SKIPPED:
            self._has_data = False
            left = _number((yield 4))
            while left:
                left -= len((yield min(left, MOST)))
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


def frames() -> Callable[[], ZstdFrame]:
    """Return what makes the frames of one file, one after another: there may be a million."""
    import zstandard  # only where there is such a file

    return partial(ZstdFrame, zstandard.ZstdDecompressor())


def _number(part: bytes) -> int:
    return int.from_bytes(part, "little")
