"""Blocks: JSON arrays deflated while they grow, decoded by the page when they are looked at."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

LEVEL = 6


class Block:
    """A JSON array of which only the deflated bytes are held (raw deflate, RFC 1951)."""

    def __init__(self) -> None:
        self._deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._parts: list[bytes] = []
        self.size = 0
        """Entries so far."""

    def add(self, entry: Any) -> None:
        """Append one entry."""
        # Deflated entry by entry: the plain JSON of a large job would not fit in memory.
        text = (b"," if self.size else b"[") + orjson.dumps(entry, option=orjson.OPT_NON_STR_KEYS)
        self._parts.append(self._deflate.compress(text))
        self.size += 1

    def packed(self) -> bytes:
        """Close the array and return it deflated, as base64."""
        end = self._deflate.compress(b"]" if self.size else b"[]") + self._deflate.flush()
        return base64.b64encode(b"".join([*self._parts, end]))


@dataclass(slots=True)
class Blocks:
    """The blocks of a page: one for each kind and topic, named by kind and number of the topic."""

    topics: Sequence[str]
    _open: dict[str, Block] = field(default_factory=dict)
    _numbers: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self._numbers = {topic_id: number for number, topic_id in enumerate(self.topics)}

    def add(self, kind: str, topic_id: str | None, entry: Any) -> None:
        """Append an entry to the block of a kind and topic; `None` is the block of no topic.

        What is on a topic that the page does not have is left out.
        """
        if topic_id is None:
            name = kind
        elif topic_id in self._numbers:
            name = f"{kind}-{self._numbers[topic_id]}"
        else:
            return
        if name not in self._open:
            self._open[name] = Block()
        self._open[name].add(entry)

    def packed(self) -> dict[str, bytes]:
        """Return every block by name, deflated, as base64; none can grow after that."""
        names = list(self._open)
        return {name: self._open.pop(name).packed() for name in names}
