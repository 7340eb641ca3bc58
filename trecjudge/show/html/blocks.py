"""Blocks: JSON arrays deflated while they grow, decoded by the page when they are looked at."""

from __future__ import annotations

import base64
import io
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import orjson

LEVEL = 6  # zlib's own default: higher levels take much longer and save little


@dataclass(frozen=True, slots=True)
class Packed:
    """A closed block as base64, made while it is iterated over; `len` is its size in bytes."""

    spool: BinaryIO
    pieces: Sequence[tuple[int, int]]
    """Where the deflated bytes lie in the spool: (begin, size) of each piece."""

    def __len__(self) -> int:
        return 4 * -(-sum(size for _, size in self.pieces) // 3)

    def __iter__(self) -> Iterator[bytes]:
        rest = b""
        for begin, size in self.pieces:
            self.spool.seek(begin)
            piece = rest + self.spool.read(size)
            whole = len(piece) - len(piece) % 3  # base64 takes three bytes at a time
            rest = piece[whole:]
            yield base64.b64encode(piece[:whole])
        yield base64.b64encode(rest)


class Block:
    """A JSON array that is deflated as it grows (raw deflate, RFC 1951), into a spool.

    Several blocks may share one.
    """

    def __init__(self, spool: BinaryIO | None = None) -> None:
        self._deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._spool = io.BytesIO() if spool is None else spool
        self._pieces: list[tuple[int, int]] = []
        self.size = 0
        """Entries so far."""

    def add(self, entry: Any) -> None:
        """Append one entry."""
        # Deflated entry by entry: the plain JSON of a large job would not fit in memory.
        text = (b"," if self.size else b"[") + orjson.dumps(entry, option=orjson.OPT_NON_STR_KEYS)
        self._keep(self._deflate.compress(text))
        self.size += 1

    def packed(self) -> Packed:
        """Close the array and return it."""
        end = self._deflate.compress(b"]" if self.size else b"[]")
        self._keep(end + self._deflate.flush())
        return Packed(self._spool, self._pieces)

    def _keep(self, deflated: bytes) -> None:
        if deflated:
            self._pieces.append((self._spool.seek(0, io.SEEK_END), len(deflated)))
            self._spool.write(deflated)


@dataclass(slots=True)
class Blocks:
    """The blocks of a page: one for each kind and topic, named by kind and number of the topic."""

    topics: Sequence[str]
    spool: BinaryIO = field(default_factory=io.BytesIO)
    """The file that holds the deflated bytes until the page is written."""
    _open: dict[str, Block] = field(default_factory=dict)
    _numbers: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self._numbers = {topic_id: number for number, topic_id in enumerate(self.topics)}

    def add(self, kind: str, topic_id: str | None, entry: Any) -> None:
        """Append an entry to the block of a kind and topic; `None` is the block of no topic.

        An entry on a topic that the page does not have is left out.
        """
        if topic_id is None:
            name = kind
        elif topic_id in self._numbers:
            name = f"{kind}-{self._numbers[topic_id]}"
        else:
            return
        if name not in self._open:
            self._open[name] = Block(self.spool)
        self._open[name].add(entry)

    def packed(self) -> dict[str, Packed]:
        """Return every block by name; none can grow after that."""
        names = list(self._open)
        return {name: self._open.pop(name).packed() for name in names}
