"""Rows held packed, group by group: a million of them take little more than a file of them does."""

from __future__ import annotations

import marshal
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

Group = tuple[str, ...]
"""(topic_id, run_id), (run_id, topic_id), (topic_id,): whatever the rows are grouped by."""
FASTEST = 1


@dataclass(slots=True)
class PackedRows:
    """Rows of plain values by group; only the group that is asked for is unpacked."""

    size: int = 0
    """Rows of all groups."""
    _packed: dict[Group, bytes] = field(default_factory=dict)

    def put(self, group: Group, rows: Iterable[Any]) -> None:
        """Add rows to a group."""
        held = self.rows(group)
        every = [*held, *rows]
        self.size += len(every) - len(held)
        # A response's rows have much in common, such as the beginning of every document's id.
        if every:
            self._packed[group] = zlib.compress(marshal.dumps(every), FASTEST)

    def rows(self, group: Group) -> list[Any]:
        """Return the rows of a group, in the order they came."""
        packed = self._packed.get(group)
        return [] if packed is None else list(marshal.loads(zlib.decompress(packed)))

    def __iter__(self) -> Iterator[Group]:
        """Yield the groups, in the order they came."""
        return iter(self._packed)

    def __contains__(self, group: object) -> bool:
        return group in self._packed
