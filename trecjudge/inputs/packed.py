"""Rows held compressed, by group: a million take about as much memory as in a packed file."""

from __future__ import annotations

import marshal
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

Group = tuple[str, ...]
"""What rows are grouped by, such as (topic_id, run_id), (run_id, topic_id) or (topic_id,)."""
FASTEST = 1
"""The fastest level of zlib."""
MOST_OPEN = 50_000
"""Rows of all groups that wait to be packed: few enough to take little, enough to pack well."""


@dataclass(slots=True)
class PackedRows:
    """Rows of plain values by group; only the group that is asked for is unpacked."""

    size: int = 0
    """Rows of all groups."""
    _packed: dict[Group, list[bytes]] = field(default_factory=dict)
    """The rows of each group, in parts."""
    _open: dict[Group, list[Any]] = field(default_factory=dict)
    _waiting: int = 0

    def add(self, group: Group, row: Any) -> None:
        """Add one row to a group; its next one may come much later."""
        self._packed.setdefault(group, [])
        self._open.setdefault(group, []).append(row)
        self.size += 1
        self._waiting += 1
        if self._waiting >= MOST_OPEN:
            self._close()

    def put(self, group: Group, rows: Iterable[Any]) -> None:
        """Add the rows of a group that come together, and pack them."""
        for row in rows:
            self.add(group, row)
        self._close(group)

    def rows(self, group: Group) -> list[Any]:
        """Return the rows of a group, in the order they came."""
        parts = self._packed.get(group, ())
        held = [row for part in parts for row in marshal.loads(zlib.decompress(part))]
        return [*held, *self._open.get(group, ())]

    def __iter__(self) -> Iterator[Group]:
        """Yield the groups, in the order they came."""
        return iter(self._packed)

    def __contains__(self, group: object) -> bool:
        return group in self._packed

    def _close(self, *groups: Group) -> None:
        """Pack what waits, of all groups or of these."""
        for group in groups or tuple(self._open):
            rows = self._open.pop(group, ())
            if rows:
                # Packed together: rows of a response are alike, as in the start of document ids.
                part = zlib.compress(marshal.dumps(rows), FASTEST)
                self._packed[group].append(part)
                self._waiting -= len(rows)
