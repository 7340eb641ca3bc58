"""Reads and writes the tables of an index in PostgreSQL, in the transaction under way."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from trecjudge.baseline.chunking import Span
from trecjudge.baseline.index.digests import Digests
from trecjudge.baseline.index.fields import fields_of
from trecjudge.baseline.index.postings import SegmentRow
from trecjudge.baseline.index.protocol import Source
from trecjudge.baseline.index.refreshing import Known
from trecjudge.baseline.index.sqlite_shelf import embedded_text

if TYPE_CHECKING:
    from psycopg import Connection

NUL, IN_ITS_PLACE = "\x00", "\ufffd"
DOCUMENTS = {
    "number": "int8",
    **dict.fromkeys(("id", "sha256", "record", "title", "url", "date", "version"), "text"),
    "metadata": "jsonb",
    "first_chunk": "int8",
    "chunks": "int4",
    "content": "text",
}
CHUNKS = {
    **dict.fromkeys(("id", "document_id"), "int8"),
    **dict.fromkeys(("chunk_index", "span_start", "span_end"), "int4"),
    "content": "text",
    "metadata": "jsonb",
}
FIELDS = {"name": "text", "value": "text", "document": "int8"}
POSTINGS = {"segment": "int4", "term": "text", "list": "bytea"}
Row = Sequence[Any]


def kept(text: str) -> str:
    """Return a text as PostgreSQL can keep it: it takes any character but NUL.

    Half of a surrogate pair, which a command line may have, becomes `?`.
    """
    text = text.replace(NUL, IN_ITS_PLACE) if NUL in text else text
    return text if text.isascii() else text.encode(errors="replace").decode()


def copied(
    connection: Connection[Any], table: str, columns: Mapping[str, str], rows: Iterable[Row]
) -> None:
    """Write rows into the columns of a table, whose types are given."""
    with connection.cursor() as cursor:
        names = ", ".join(columns)
        with cursor.copy(f"COPY {table} ({names}) FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(list(columns.values()))
            for row in rows:
                copy.write_row(row)


@dataclass(frozen=True, slots=True)
class PostgresTables:
    """The segments of posting lists."""

    connection: Connection[Any]

    def segments(self) -> list[SegmentRow]:
        """Return all segments, in order of their numbers."""
        query = "SELECT number, chunks, lengths, gone FROM segments ORDER BY number"
        return [SegmentRow(*row) for row in self.connection.execute(query, binary=True)]

    def postings(self, terms: Collection[str]) -> Iterator[tuple[int, str, bytes]]:
        """Yield (segment, term, posting list) wherever a segment has one of these terms."""
        query = (
            "SELECT segment, term, list FROM postings WHERE segment = ANY(%s) AND term = ANY(%s)"
        )
        numbers = [row[0] for row in self.connection.execute("SELECT number FROM segments")]
        values = (numbers, list(map(kept, terms)))
        yield from self.connection.execute(query, values, binary=True)

    def postings_of(self, segment: int) -> list[tuple[str, bytes]]:
        """Return every posting list of a segment."""
        query = "SELECT term, list FROM postings WHERE segment = %s"
        return self.connection.execute(query, (segment,), binary=True).fetchall()

    def write_segment(self, row: SegmentRow, postings: Iterable[tuple[str, bytes]]) -> None:
        """Write a new segment."""
        self.connection.execute(
            "INSERT INTO segments VALUES (%s, %s, %s, %s)",
            (row.segment, row.chunks, row.lengths, row.gone),
        )
        # Made before: they may be read over the same connection.
        rows = [(row.segment, kept(term), data) for term, data in postings]
        copied(self.connection, "postings", POSTINGS, rows)

    def write_gone(self, segment: int, gone: bytes) -> None:
        """Replace the places of the chunks that went from a segment."""
        self.connection.execute("UPDATE segments SET gone = %s WHERE number = %s", (gone, segment))

    def drop_segment(self, segment: int) -> None:
        """Remove a segment and its posting lists."""
        self.connection.execute("DELETE FROM segments WHERE number = %s", (segment,))
        self.connection.execute("DELETE FROM postings WHERE segment = %s", (segment,))


@dataclass(slots=True)
class PostgresShelf:
    """The documents, chunks and vectors. What is added is held until it is looked for."""

    connection: Connection[Any]
    _documents: list[Row] = field(default_factory=list)
    _chunks: list[Row] = field(default_factory=list)
    _fields: list[Row] = field(default_factory=list)
    _embedded_to: int | None = None

    @property
    def tables(self) -> PostgresTables:
        """Where the posting lists are."""
        return PostgresTables(self.connection)

    def known(self, doc_ids: Sequence[str]) -> Mapping[str, Known]:
        """Return those of these documents that are there, by id."""
        self.flush()
        query = "SELECT id, number, record, first_chunk, chunks FROM documents WHERE id = ANY(%s)"
        asked = {kept(doc_id): doc_id for doc_id in doc_ids}
        rows = self.connection.execute(query, (list(asked),))
        return {asked[row[0]]: Known(*row[1:]) for row in rows}

    def all_known(self) -> Iterator[Known]:
        """Yield all documents that are there."""
        self.flush()
        query = "SELECT number, record, first_chunk, chunks FROM documents"
        for row in self.connection.execute(query):
            yield Known(*row)

    def add(self, source: Source, digests: Digests, place: Known, spans: Sequence[Span]) -> None:
        """Write a document, and its chunks, under the numbers of `place`."""
        document, number = source.document, place.number
        own = (document.doc_id, *digests, document.title, document.url, document.date)
        further = {kept(name): kept(value) for name, value in source.metadata.items()}
        last = (place.first_chunk, place.chunks, kept(document.text))
        row = (number, *map(kept, (*own, document.version)), further, *last)
        self._documents.append(row)
        text = kept(document.full_text)
        self._chunks += [
            (chunk, number, index, start, end, text[start:end], further)
            for index, (chunk, (start, end)) in enumerate(zip(place.numbers, spans, strict=True))
        ]
        found = dict.fromkeys(fields_of(document, source.metadata))
        self._fields += [(kept(name), kept(value), number) for name, value in found]

    def flush(self) -> None:
        """Write what was added."""
        if self._documents:
            copied(self.connection, "documents", DOCUMENTS, self._documents)
            copied(self.connection, "chunks", CHUNKS, self._chunks)
            copied(self.connection, "fields", FIELDS, self._fields)
            self._documents, self._chunks, self._fields = [], [], []

    def drop(self, known: Known) -> None:
        """Remove a document, its chunks and their vectors."""
        self.flush()
        for table, column in (("fields", "document"), ("documents", "number")):
            query = f"DELETE FROM {table} WHERE {column} = %s"
            self.connection.execute(query, (known.number,))
        bounds = (known.numbers.start, known.numbers.stop)
        self.connection.execute("DELETE FROM chunks WHERE id >= %s AND id < %s", bounds)

    def without_vectors(self, most: int) -> list[tuple[int, str]]:
        """Return (number, title and text) of chunks that have no vector yet."""
        self.flush()
        if self._embedded_to is None:
            # Vectors are given in the order of the numbers.
            query = "SELECT max(id) FROM chunks WHERE embedding IS NOT NULL"
            row = self.connection.execute(query).fetchone()
            self._embedded_to = -1 if row is None or row[0] is None else row[0]
        query = (
            "SELECT chunks.id, title, documents.content, span_start, span_end FROM chunks"
            " JOIN documents ON number = document_id WHERE chunks.id > %s"
            " ORDER BY chunks.id LIMIT %s"
        )
        rows = self.connection.execute(query, (self._embedded_to, most))
        return [(row[0], embedded_text(*row[1:])) for row in rows]

    def write_vectors(self, chunks: Sequence[int], vectors: Any) -> None:
        """Write the vectors of chunks: float32, a row each."""
        rows = np.asarray(vectors, dtype=">f4")
        head = np.array([rows.shape[1], 0], dtype=">u2").tobytes()
        self.connection.execute(
            "CREATE TEMPORARY TABLE IF NOT EXISTS new_vectors (chunk bigint, vector vector)"
            " ON COMMIT DROP"
        )
        self.connection.execute("TRUNCATE new_vectors")
        # In the form in which the extension receives a vector.
        data = ((c, head + row.tobytes()) for c, row in zip(chunks, rows, strict=True))
        copied(self.connection, "new_vectors", {"chunk": "int8", "vector": "bytea"}, data)
        self.connection.execute(
            "UPDATE chunks SET embedding = vector FROM new_vectors WHERE id = chunk"
        )
        self._embedded_to = max(chunks)
