"""Rows held compressed, by group, beyond a few megabytes in a temporary file."""

from __future__ import annotations

import marshal
import struct
import tempfile
import weakref
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, Any

Group = tuple[str, ...]
"""What rows are grouped by, such as (topic_id, run_id), (run_id, topic_id) or (topic_id,)."""
FASTEST = 1
"""The fastest level of zlib."""
MOST_OPEN = 50_000
"""Rows of all groups that wait to be packed: few enough to take little, enough to pack well."""
SPOOLED = 2_000_000
"""Bytes of packed rows that are held in memory; beyond, a file without a name holds them."""
HEAD = struct.Struct("<qI")
"""Before each part: where the part of its group before it begins, and its size in bytes."""
NOWHERE = -1


@dataclass
class PackedRows:
    """Rows of plain values by group; only the group that is asked for is unpacked."""

    size: int = 0
    """Rows of all groups."""
    largest: int = 0
    """Rows of the largest group, as far as it is in several parts."""
    _last: dict[Group, int] = field(default_factory=dict)
    """Where the last part of each group begins: the others are found from there."""
    _open: dict[Group, list[Any]] = field(default_factory=dict)
    _more: dict[Group, int] = field(default_factory=dict)
    """Rows of each group that is in several parts, without the first."""
    _waiting: int = 0
    _end: int = 0

    def add(self, group: Group, row: Any) -> None:
        """Add one row to a group; its next one may come much later."""
        self._last.setdefault(group, NOWHERE)
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

    def pack(self) -> None:
        """Pack the rows of all groups that still wait: no more are to come soon."""
        self._close()

    def rows(self, group: Group) -> list[Any]:
        """Return the rows of a group, in the order they came."""
        parts = [*self._parts(group)][::-1]
        held = [row for part in parts for row in marshal.loads(zlib.decompress(part))]
        return [*held, *self._open.get(group, ())]

    def _parts(self, group: Group) -> Iterator[bytes]:
        """Yield the packed parts of a group, the last one first."""
        begin = self._last.get(group, NOWHERE)
        while begin != NOWHERE:
            self._spool.seek(begin)
            begin, size = HEAD.unpack(self._spool.read(HEAD.size))
            yield self._spool.read(size)

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self._last)

    def __iter__(self) -> Iterator[Group]:
        """Yield the groups, in the order they came."""
        return iter(self._last)

    def __contains__(self, group: object) -> bool:
        return group in self._last

    def _close(self, *groups: Group) -> None:
        for group in groups or tuple(self._open):
            rows = self._open.pop(group, ())
            if rows:
                # Packed together: rows of a response are alike, as in the start of document ids.
                part = zlib.compress(marshal.dumps(rows), FASTEST)
                if self._last[group] != NOWHERE:
                    self._more[group] = self._more.get(group, 0) + len(rows)
                    self.largest = max(self.largest, self._more[group])
                self._spool.seek(self._end)
                self._spool.write(HEAD.pack(self._last[group], len(part)) + part)
                self._last[group] = self._end
                self._end += HEAD.size + len(part)
                self._waiting -= len(rows)

    @cached_property
    def _spool(self) -> IO[bytes]:
        spool = tempfile.SpooledTemporaryFile(SPOOLED)  # noqa: SIM115 (closed with the rows)
        weakref.finalize(self, spool.close)
        return spool
