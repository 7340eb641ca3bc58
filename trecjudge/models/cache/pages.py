"""Reads the rows of a damaged SQLite file from each page, without the pages that lead to it.

Replies lie in trees without row ids: their pages, inner ones too, hold whole rows. Format:
https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import InitVar, dataclass, field
from io import SEEK_END, BytesIO
from pathlib import Path
from typing import Any, BinaryIO

PAGE_SIZES = [1 << power for power in range(9, 17)]
USUAL = 4096
INNER, LEAF, OTHERS = 2, 10, (5, 13)
"""First bytes of pages: inner ones and leaves of such a tree, and those of other trees."""
LONGEST_ROW = 64 * 1024 * 1024
WAL_HEADER, FRAME_HEADER = 32, 24
NUMBERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Bytes of an integer, by its type."""

Values = tuple[Any, ...]


def records(path: Path) -> Iterator[tuple[Values, bool]]:
    """Yield every row that can be read, and whether it lies in the newest copy of its page.

    Older copies of a page come before newer ones.
    """
    wal = path.with_name(f"{path.name}-wal")
    log = wal.read_bytes() if wal.is_file() else b""
    with path.open("rb") if path.is_file() else BytesIO() as file:
        pages = Pages(file, BytesIO(log), page_size(file, log), log)
        for number, source, start, is_newest in pages.copies():
            for values in pages.rows(number, _read(source, start, pages.size)):
                yield values, is_newest


def page_size(file: BinaryIO, log: bytes) -> int:
    """Return the size of a page: of the sizes that the headers may give, the one that fits best."""
    head = _read(file, 0, 256 * USUAL)
    written = [int.from_bytes(head[16:18], "big"), int.from_bytes(log[8:12], "big"), USUAL]
    known = [65536 if size == 1 else size for size in written]
    return max((size for size in known if size in PAGE_SIZES), key=lambda size: _fit(head, size))


def _fit(head: bytes, size: int) -> int:
    """Return how many bytes at the start of a file look like pages of this size."""
    return size * sum(head[start] in (INNER, LEAF) for start in range(size, len(head), size))


@dataclass
class Pages:
    """The pages of a file and of its write-ahead log."""

    file: BinaryIO
    log: BinaryIO
    size: int
    frames_in: InitVar[bytes]
    _frames: list[tuple[int, int]] = field(init=False)
    _newest: dict[int, int] = field(init=False)
    _length: int = field(init=False)

    def __post_init__(self, frames_in: bytes) -> None:
        self._frames = [(number, start) for number, start, _ in frames(frames_in, self.size)]
        self._newest = dict(self._frames)
        self._length = self.file.seek(0, SEEK_END)

    def copies(self) -> Iterator[tuple[int, BinaryIO, int, bool]]:
        """Yield every copy of a page: its number, where it is, and whether it is the newest."""
        for start in range(0, self._length, self.size):
            number = start // self.size + 1
            yield number, self.file, start, number not in self._newest
        for number, start in self._frames:
            yield number, self.log, start, self._newest[number] == start

    def rows(self, number: int, page: bytes) -> Iterator[Values]:
        """Yield the rows of a page; what cannot be read is left out."""
        head = 100 if number == 1 else 0
        if len(page) < head + 8 or page[head] in OTHERS:
            return
        child = 4 if page[head] == INNER else 0
        count = int.from_bytes(page[head + 3 : head + 5], "big")
        first = head + 8 + child
        for place in range(first, min(first + 2 * count, len(page) - 1), 2):
            cell = int.from_bytes(page[place : place + 2], "big")
            if cell < first:
                continue
            try:
                yield values_of(self._payload(page, cell + child))
            except (IndexError, ValueError, struct.error):
                continue

    def _payload(self, page: bytes, at: int) -> bytes:
        """Return the bytes of a row, those on further pages too."""
        length, at = varint(page, at)
        if not 2 <= length <= LONGEST_ROW:
            raise ValueError(length)
        most, least = (self.size - 12) * 64 // 255 - 23, (self.size - 12) * 32 // 255 - 23
        if length <= most:
            return _exactly(page[at : at + length], length)
        room = self.size - 4
        local = least + (length - least) % room
        local = local if local <= most else least
        parts, left = [_exactly(page[at : at + local], local)], length - local
        following = int.from_bytes(page[at + local : at + local + 4], "big")
        while left > 0:
            page = self._page(following)
            parts.append(_exactly(page[4 : 4 + min(left, room)], min(left, room)))
            left -= room
            following = int.from_bytes(page[:4], "big")
        return b"".join(parts)

    def _page(self, number: int) -> bytes:
        if number in self._newest:
            return _read(self.log, self._newest[number], self.size)
        if number < 2:
            raise ValueError(number)
        return _read(self.file, (number - 1) * self.size, self.size)


def frames(log: bytes, size: int) -> Iterator[tuple[int, int, bool]]:
    """Yield page number, start of the page, and whether a transaction ends there, of each frame.

    Only those of the log's latest round, unless its own header is damaged.
    """
    salts = log[16:24] if header_is_sound(log[:WAL_HEADER]) else None
    for start in range(WAL_HEADER, len(log) - FRAME_HEADER - size + 1, FRAME_HEADER + size):
        number, pages_after = struct.unpack_from(">II", log, start)
        if number and salts in (None, log[start + 8 : start + 16]):
            yield number, start + FRAME_HEADER, pages_after > 0


def header_is_sound(header: bytes) -> bool:
    """Return whether the header of a write-ahead log has its checksum."""
    if len(header) < WAL_HEADER or header[:3] != b"\x37\x7f\x06" or header[3] not in (0x82, 0x83):
        return False
    words = struct.unpack(">6I" if header[3] == 0x83 else "<6I", header[:24])
    one = other = 0
    for first, second in zip(words[::2], words[1::2], strict=True):
        one = (one + first + other) & 0xFFFFFFFF
        other = (other + second + one) & 0xFFFFFFFF
    return (one, other) == struct.unpack(">2I", header[24:32])


def values_of(payload: bytes) -> Values:
    """Return the values of a row. Raises ValueError, IndexError or struct.error for none."""
    size, at = varint(payload, 0)
    kinds = []
    while at < size:
        kind, at = varint(payload, at)
        kinds.append(kind)
    values: list[Any] = []
    for kind in kinds:
        value, at = _value(kind, payload, at)
        values.append(value)
    if at != len(payload):
        raise ValueError(at)
    return tuple(values)


def _value(kind: int, payload: bytes, at: int) -> tuple[Any, int]:
    if kind in (0, 8, 9):
        return (None, 0, 1)[(0, 8, 9).index(kind)], at
    if kind == 7:
        return struct.unpack_from(">d", payload, at)[0], at + 8
    if kind in NUMBERS:
        end = at + NUMBERS[kind]
        return int.from_bytes(_exactly(payload[at:end], end - at), "big", signed=True), end
    if kind < 12:
        raise ValueError(kind)
    end = at + (kind - 12) // 2
    value = _exactly(payload[at:end], end - at)
    return (value.decode() if kind % 2 else value), end


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return an integer of one to nine bytes, and where the next value begins."""
    value = 0
    for step in range(8):
        byte = data[at + step]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + step + 1
    return value << 8 | data[at + 8], at + 9


def _exactly(part: bytes, length: int) -> bytes:
    if len(part) != length:
        raise ValueError(length)
    return part


def _read(file: BinaryIO, start: int, length: int) -> bytes:
    file.seek(start)
    return file.read(length)
