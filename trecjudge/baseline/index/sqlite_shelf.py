"""Reads and writes the tables of an index in SQLite, in the transaction under way."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from trecjudge.baseline.chunking import Span
from trecjudge.baseline.index.digests import Digests
from trecjudge.baseline.index.fields import fields_of
from trecjudge.baseline.index.postings import SegmentRow
from trecjudge.baseline.index.protocol import Source
from trecjudge.baseline.index.refreshing import Known
from trecjudge.inputs.documents.index_file import Damaged, further_of
from trecjudge.inputs.sources.databases import rows_of
from trecjudge.records import Document

MOST_VALUES = 500
"""Values of one statement."""


def marks(values: Collection[object]) -> str:
    """Return `?, ?, …` for values."""
    return ", ".join("?" * len(values))


def in_parts(values: Iterable[str]) -> Iterator[list[str]]:
    """Yield values, a few at a time."""
    held = list(values)
    for start in range(0, len(held), MOST_VALUES):
        yield held[start : start + MOST_VALUES]


def ascending(rows: Iterable[Any], kind: type = int) -> Iterator[Any]:
    """Yield rows by their first value, of this type, each above the one before.

    Raises Damaged: pages that lead round in a circle give the same rows for ever.
    """
    last: Any = None
    for row in rows:
        if type(row[0]) is not kind or (last is not None and row[0] <= last):
            raise Damaged(f"rows are out of order at {str(row[0])[:40]!r}")
        yield row
        last = row[0]


def check_span(whole: str, start: Any, end: Any) -> None:
    """Raise Damaged for a chunk that is not within its document."""
    if not (type(start) is type(end) is int and 0 <= start < end <= len(whole)):
        raise Damaged("a chunk is not within its document")


@dataclass(frozen=True, slots=True)
class SqliteTables:
    """The segments of posting lists."""

    database: sqlite3.Connection

    def segments(self) -> list[SegmentRow]:
        """Return all segments, in order of their numbers. Raises Damaged."""
        query = "EXISTS (SELECT 1 FROM postings WHERE segment = number)"
        rows = rows_of(self.database, f"SELECT *, {query} FROM segments ORDER BY number")
        found = []
        for *row, has_terms in ascending(rows):
            found.append(SegmentRow(*row))
            if not has_terms and isinstance(row[2], bytes) and any(row[2]):
                raise Damaged(f"segment {row[0]} has no terms")
        return found

    def postings(self, terms: Collection[str]) -> Iterator[tuple[int, str, bytes]]:
        """Yield (segment, term, posting list) wherever a segment has one of these terms."""
        numbers = "SELECT number FROM segments"
        for part in in_parts(terms):
            yield from self.database.execute(
                f"SELECT segment, term, list FROM postings WHERE segment IN ({numbers})"
                f" AND term IN ({marks(part)})",
                part,
            )

    def postings_of(self, segment: int) -> Iterator[tuple[str, bytes]]:
        """Yield every posting list of a segment."""
        query = "SELECT term, list FROM postings WHERE segment = ? ORDER BY term"
        yield from ascending(rows_of(self.database, query, (segment,)), str)

    def write_segment(self, row: SegmentRow, postings: Iterable[tuple[str, bytes]]) -> None:
        """Write a new segment."""
        self.database.execute(
            "INSERT INTO segments VALUES (?, ?, ?, ?)",
            (row.segment, row.chunks, row.lengths, row.gone),
        )
        self.database.executemany(
            "INSERT INTO postings VALUES (?, ?, ?)",
            ((row.segment, term, data) for term, data in postings),
        )

    def write_gone(self, segment: int, gone: bytes) -> None:
        """Replace the places of the chunks that went from a segment."""
        self.database.execute("UPDATE segments SET gone = ? WHERE number = ?", (gone, segment))

    def drop_segment(self, segment: int) -> None:
        """Remove a segment and its posting lists."""
        self.database.execute("DELETE FROM segments WHERE number = ?", (segment,))
        self.database.execute("DELETE FROM postings WHERE segment = ?", (segment,))


@dataclass(frozen=True, slots=True)
class SqliteShelf:
    """The documents, chunks and vectors."""

    database: sqlite3.Connection

    @property
    def tables(self) -> SqliteTables:
        """Where the posting lists are."""
        return SqliteTables(self.database)

    def known(self, doc_ids: Sequence[str]) -> Mapping[str, Known]:
        """Return those of these documents that are there, by id."""
        found: dict[str, Known] = {}
        for part in in_parts(doc_ids):
            rows = self.database.execute(
                "SELECT id, number, record, first_chunk, chunks FROM documents"
                f" WHERE id IN ({marks(part)})",
                part,
            )
            found |= {row[0]: Known(*row[1:]) for row in rows}
        return found

    def all_known(self) -> Iterator[Known]:
        """Yield all documents that are there."""
        query = "SELECT number, record, first_chunk, chunks FROM documents ORDER BY number"
        for row in ascending(rows_of(self.database, query)):
            yield Known(*row)

    def add(self, source: Source, digests: Digests, place: Known, spans: Sequence[Span]) -> None:
        """Write a document, and its chunks, under the numbers of `place`."""
        document, number = source.document, place.number
        metadata = orjson.dumps(dict(source.metadata)).decode()
        described = (document.title, document.url, document.date, document.version, metadata)
        self.database.execute(
            f"INSERT INTO documents VALUES ({marks(range(11))})",
            (number, document.doc_id, *digests, *described, place.first_chunk, place.chunks),
        )
        self.database.execute("INSERT INTO texts VALUES (?, ?)", (number, document.text))
        self.database.executemany(
            "INSERT INTO chunks VALUES (?, ?, ?, ?)",
            ((chunk, number, *span) for chunk, span in zip(place.numbers, spans, strict=True)),
        )
        self.database.executemany(
            "INSERT OR IGNORE INTO fields VALUES (?, ?, ?)",
            ((name, value, number) for name, value in fields_of(document, source.metadata)),
        )

    def drop(self, known: Known) -> None:
        """Remove a document, its chunks and their vectors."""
        number = known.number
        document, metadata = self.described(number)
        self.database.executemany(
            "DELETE FROM fields WHERE name = ? AND value = ? AND document = ?",
            ((name, value, number) for name, value in fields_of(document, metadata)),
        )
        self.database.execute("DELETE FROM documents WHERE number = ?", (number,))
        self.database.execute("DELETE FROM texts WHERE document = ?", (number,))
        bounds = (known.numbers.start, known.numbers.stop)
        for table, column in (("chunks", "number"), ("vectors", "chunk")):
            delete = f"DELETE FROM {table} WHERE {column} >= ? AND {column} < ?"
            self.database.execute(delete, bounds)

    def described(self, number: int) -> tuple[Document, dict[str, str]]:
        """Return a document without its text, and its further fields."""
        query = "SELECT id, title, url, date, version, metadata FROM documents WHERE number = ?"
        row = self.database.execute(query, (number,)).fetchone()
        if row is None or not all(isinstance(value, str) for value in row):
            raise Damaged("a field of a document is no text")
        return Document(row[0], "", *row[1:-1]), further_of(row[-1])

    def without_vectors(self, most: int) -> list[tuple[int, str]]:
        """Return (number, title and text) of chunks that have no vector yet."""
        rows = self.database.execute(
            "SELECT chunks.number, title, text, start, end FROM chunks"
            " JOIN documents ON documents.number = chunks.document"
            " JOIN texts ON texts.document = chunks.document"
            " WHERE chunks.number > (SELECT coalesce(max(chunk), -1) FROM vectors)"
            " ORDER BY chunks.number LIMIT ?",
            (most,),
        )
        return [(row[0], embedded_text(*row[1:])) for row in rows]

    def write_vectors(self, chunks: Sequence[int], vectors: Any) -> None:
        """Write the vectors of chunks: float32, a row each."""
        rows = np.asarray(vectors, dtype="<f4")
        self.database.executemany(
            "INSERT INTO vectors VALUES (?, ?)",
            ((chunk, row.tobytes()) for chunk, row in zip(chunks, rows, strict=True)),
        )


def embedded_text(title: str, text: str, start: int, end: int) -> str:
    """Return what is embedded of a chunk: the title of its document, and its text."""
    whole = Document("", text, title).full_text
    check_span(whole, start, end)
    return whole if start == 0 else "\n".join(filter(None, (title, whole[start:end])))
