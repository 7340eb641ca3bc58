"""The nearest vectors in PostgreSQL: by looking at each, or by an approximate index of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trecjudge.baseline.index.records import Hits
from trecjudge.baseline.index.store import AllowedChunks

if TYPE_CHECKING:
    from psycopg import Connection

MOST_LOOKED_AT = 200_000
"""Chunks up to which each vector is looked at: that takes 0.1 s, and finds the nearest for sure."""
MOST_DIMENSIONS = 2000
"""What the approximate index can hold."""
LARGEST_SEARCH = 1000
"""The most candidates that an approximate search can have."""
CANDIDATES = 4
"""How many times as many candidates as results."""
NEW = 0.2
"""The share of chunks that are not in the approximate index, from which on it is built again."""
ITERATIVE = (0, 8)
"""The first version of the extension that goes on searching where a filter leaves too few."""
NAMES = ("chunks_by_vector", "chunks_by_vector_2")
"""What the approximate index may be called: the one is there until the other is built."""
_NEAREST = (
    "SELECT id, -(embedding <#> %(query)s::vector) AS score FROM chunks"
    " WHERE embedding IS NOT NULL {filter} ORDER BY score DESC, id LIMIT %(most)s"
)
"""It orders by an expression that no approximate index can serve."""


@dataclass(frozen=True, slots=True)
class VectorSearch:
    """The vectors of an index, in the transaction under way. All have length 1, or are zeros."""

    connection: Connection[Any]
    dimensions: int
    most_looked_at: int = MOST_LOOKED_AT

    def nearest(self, unit: Any, most: int, allowed: AllowedChunks | None) -> Hits:
        """Return the best (chunk, cosine), of the documents that are allowed."""
        values: dict[str, Any] = {"query": f"[{','.join(map(repr, unit.tolist()))}]", "most": most}
        condition = ""
        if allowed is not None:
            values["documents"] = allowed.documents
            condition = (
                "AND document_id IN (SELECT id FROM documents WHERE number = ANY(%(documents)s))"
            )
        covered = self._index_coverage()[1]
        is_possible = covered is not None and CANDIDATES * most <= LARGEST_SEARCH
        if is_possible and (allowed is None or self._may_go_on(allowed)):
            found = self._approximate(values, most, condition, covered or 0)
            if len(found) == most:
                return found
        return self.connection.execute(_NEAREST.format(filter=condition), values).fetchall()

    def _index_coverage(self) -> tuple[int, int | None]:
        """Return how many chunks the approximate index had, and the last; None without one."""
        row = self.connection.execute("SELECT indexed, indexed_to FROM state").fetchone()
        return row or (0, None)

    def _approximate(
        self, values: dict[str, Any], most: int, condition: str, covered: int
    ) -> list[tuple[int, float]]:
        """Return what the approximate index finds, and the best of the chunks that it never saw.

        Fewer than `most` where it finds too few.
        """
        search = min(LARGEST_SEARCH, max(100, CANDIDATES * most))
        self.connection.execute(f"SET LOCAL hnsw.ef_search = {search}")
        if condition:
            self.connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
        distance = "embedding <#> %(query)s::vector"
        query = (
            f"SELECT id, -({distance}) FROM chunks WHERE true {condition}"
            f" ORDER BY {distance} LIMIT %(most)s"
        )
        found = dict(self.connection.execute(query, values).fetchall())
        # What came after the approximate index was built is found for sure.
        since = f"AND id > {covered} {condition}"
        found |= dict(self.connection.execute(_NEAREST.format(filter=since), values).fetchall())
        best = sorted(found.items(), key=lambda hit: (-hit[1], hit[0]))
        return best[:most]

    def _may_go_on(self, allowed: AllowedChunks) -> bool:
        """Return whether an approximate search may serve a filter.

        It must be able to go on where the filter leaves too few, and those that are kept be many.
        """
        many = len(allowed.chunks) > self.most_looked_at
        return many and version_of(self.connection) >= ITERATIVE

    def keep_index(self, chunks: int, next_chunk: int) -> None:
        """Build the approximate index, or build it again, where there are so many chunks."""
        indexed, covered = self._index_coverage()
        if chunks <= self.most_looked_at or self.dimensions > MOST_DIMENSIONS:
            if covered is not None:
                self._drop(self._names())
            return
        if covered is None or self._differs(chunks, indexed, covered) > NEW * chunks:
            self._build(chunks, next_chunk)

    def _differs(self, chunks: int, indexed: int, covered: int) -> int:
        """Return how many chunks came and went since the approximate index was built."""
        query = "SELECT count(*) FROM chunks WHERE id > %s"
        row = self.connection.execute(query, (covered,)).fetchone()
        new = row[0] if row else 0
        gone = indexed - (chunks - new)
        return int(new + gone)

    def _build(self, chunks: int, next_chunk: int) -> None:
        old = self._names()
        name = next(name for name in NAMES if name not in old)
        self.connection.execute(
            f"CREATE INDEX {name} ON chunks USING hnsw (embedding vector_ip_ops)"
        )
        # Only now: from here to the end of the refresh nobody else can search.
        self._drop(old)
        values = (next_chunk - 1, chunks)
        self.connection.execute("UPDATE state SET indexed_to = %s, indexed = %s", values)

    def _names(self) -> list[str]:
        query = (
            "SELECT indexname FROM pg_indexes"
            " WHERE schemaname = current_schema() AND indexname = ANY(%s)"
        )
        return [row[0] for row in self.connection.execute(query, (list(NAMES),))]

    def _drop(self, names: Sequence[str]) -> None:
        for name in names:
            self.connection.execute(f"DROP INDEX {name}")
        self.connection.execute("UPDATE state SET indexed_to = NULL, indexed = 0")


def version_of(connection: Connection[Any]) -> tuple[int, ...]:
    """Return the version of the extension."""
    query = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
    row = connection.execute(query).fetchone()
    return tuple(int(part) for part in str(row[0] if row else 0).split(".") if part.isdecimal())
