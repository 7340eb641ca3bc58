"""Blocks: JSON arrays deflated while they grow, decoded by the page when they are looked at."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

LEVEL = 9


class Block:
    """A JSON array of which only the deflated bytes are held (raw deflate, RFC 1951)."""

    def __init__(self) -> None:
        self._deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._parts: list[bytes] = []
        self.size = 0
        """Entries so far."""

    def add(self, entry: Any) -> None:
        """Append one entry."""
        text = (b"," if self.size else b"[") + orjson.dumps(entry)
        self._parts.append(self._deflate.compress(text))
        self.size += 1

    def packed(self) -> bytes:
        """Close the array and return it deflated, as base64."""
        end = self._deflate.compress(b"]" if self.size else b"[]") + self._deflate.flush()
        return base64.b64encode(b"".join([*self._parts, end]))


@dataclass(slots=True)
class Blocks:
    """The blocks of a page by name: `topic-3` holds the responses on the fourth topic."""

    _open: dict[str, Block] = field(default_factory=dict)

    def add(self, name: str, entry: Any) -> None:
        """Append an entry to a block, which begins with its first."""
        if name not in self._open:
            self._open[name] = Block()
        self._open[name].add(entry)

    def packed(self) -> Iterator[tuple[str, bytes]]:
        """Yield each block by name, deflated, as base64; each is dropped then."""
        while self._open:
            name = next(iter(self._open))
            yield name, self._open.pop(name).packed()
