"""The tables of an index in one SQLite file, which may be one that somebody sent."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from trecjudge.baseline.chunking import Span
from trecjudge.baseline.index.filters import Condition, fields_of
from trecjudge.baseline.index.postings import Postings, best_of
from trecjudge.baseline.index.records import Hits, IndexSource, Numbers, State, parse_state
from trecjudge.baseline.index.store import (
    AllowedChunks,
    DocumentDigests,
    IndexedDocument,
    Store,
    ascending,
    check_span,
    embedded_text,
)
from trecjudge.baseline.records import Chunk
from trecjudge.errors import OutputError, why
from trecjudge.inputs.documents.index_file import (
    APPLICATION,
    SHAPE,
    TABLES,
    WHOLE,
    DamagedIndex,
    check_header,
    check_tables,
    damaged_index_error,
    document_of_row,
    explain_index_errors,
    further_of,
    open_reader,
)
from trecjudge.inputs.sources.databases import (
    PATIENCE,
    TimedConnection,
    fault_of_files,
    open_database,
    rows_of,
)
from trecjudge.records import Document

MOST_VALUES = 500
"""Values of one statement."""
NO_LENGTH = 0.02
"""How far the length of a vector may be from 1, or from 0."""
CHUNK = (
    "SELECT documents.number, first_chunk, documents.chunks, start, end, id, title, url, date,"
    " version, metadata, sha256, record, text FROM chunks"
    " JOIN documents ON documents.number = chunks.document"
    " LEFT JOIN texts ON texts.document = chunks.document WHERE chunks.number = ?"
)
WITHOUT_VECTORS = (
    "SELECT chunks.number, title, text, start, end FROM chunks"
    " JOIN documents ON documents.number = chunks.document"
    " JOIN texts ON texts.document = chunks.document"
    " WHERE chunks.number > (SELECT coalesce(max(chunk), -1) FROM vectors)"
    " ORDER BY chunks.number LIMIT ?"
)


class SqliteStore(Store):
    """The tables of an index in a file, through a connection that reads or one that writes."""

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        self.path, self.where = path, str(path)
        self._database = database
        self._numbers: Numbers = np.zeros(0, np.int64)
        self._matrix: Any = None
        """The vectors of the chunks of `_numbers`, a row each, at one stamp of the state."""
        self._vectors_of = ""
        self._sound: set[int] = set()
        """The documents whose digests were compared, at one stamp of the state."""
        self._sound_of = ""

    @contextmanager
    def reading(self) -> Iterator[None]:
        with explain_index_errors(self.path):
            self._database.execute("BEGIN")
            try:
                yield
            finally:
                self._database.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[SqliteStore]:
        with explain_index_errors(self.path), _open_writer(self.path) as database:
            check_tables(database, self.path)
            store = SqliteStore(self.path, database)
            store._check_counts()
            yield store

    def _check_counts(self) -> None:
        """Raise DamagedIndex where the documents or chunks are not those that the state counts."""
        state = self.state()
        Postings.of(self.segments()).check(state.chunks, state.next_chunk)
        wanted = ((state.documents, state.next_document), (state.chunks, state.next_chunk))
        for table, (count, following) in zip(("documents", "chunks"), wanted, strict=True):
            query = f"SELECT (SELECT count(*) FROM {table}), coalesce(max(number), -1) FROM {table}"
            found, last = self._database.execute(query).fetchone()
            if found != count or not last < following:
                have = f"it has {found} {table} up to {last}"
                raise DamagedIndex(f"{have}, and not {count} below {following}")

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        yield from rows_of(self._database, query, values)

    def rows_among(
        self, query: str, values: Collection[Any], before: Sequence[Any] = ()
    ) -> Iterator[Any]:
        every = list(values)
        for start in range(0, len(every), MOST_VALUES):
            part = every[start : start + MOST_VALUES]
            # Written into the statement as marks, since SQLite has no arrays.
            among = f"IN ({_marks(len(part))})"
            yield from self._database.execute(query.format(among=among), (*before, *part))

    def write(self, query: str, values: Sequence[Any] = ()) -> None:
        self._database.execute(query, values)

    def insert(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        columns = {"segments": 4, "postings": 3, "chunks": 4, "fields": 3, "vectors": 2}
        statement = f"INSERT INTO {table} VALUES ({_marks(columns[table])})"
        self._database.executemany(statement, rows)

    def storable(self, text: str) -> str:
        return text

    def state(self) -> State:
        rows = self._database.execute("SELECT state FROM state LIMIT 2").fetchall()
        if len(rows) != 1:
            raise damaged_index_error(self.path, f"it has {len(rows) or 'no'} states")
        return parse_state(rows[0][0], self.where)

    def numbers_within(self, condition: Condition) -> set[Any]:
        query = "SELECT document FROM fields WHERE name = ? AND value >= ? AND value <= ?"
        each = (self._database.execute(query, (condition.name, *b)) for b in condition.bounds)
        return {row[0] for rows in each for row in rows}

    def add(
        self,
        source: IndexSource,
        digests: DocumentDigests,
        place: IndexedDocument,
        spans: Sequence[Span],
    ) -> None:
        document, number = source.document, place.number
        metadata = orjson.dumps(dict(source.metadata)).decode()
        described = (document.title, document.url, document.date, document.version, metadata)
        row = (number, document.doc_id, *digests, *described, place.first_chunk, place.chunks)
        self.write(f"INSERT INTO documents VALUES ({_marks(len(row))})", row)
        self.write("INSERT INTO texts VALUES (?, ?)", (number, document.text))
        chunks = zip(place.numbers, spans, strict=True)
        self.insert("chunks", ((chunk, number, *span) for chunk, span in chunks))
        fields = dict.fromkeys(fields_of(document, source.metadata))
        self.insert("fields", ((name, value, number) for name, value in fields))

    def drop(self, known: IndexedDocument) -> None:
        number = known.number
        # By their whole key: there is no index of the fields by document.
        document, metadata = self._read_description(number)
        self._database.executemany(
            "DELETE FROM fields WHERE name = ? AND value = ? AND document = ?",
            ((name, value, number) for name, value in fields_of(document, metadata)),
        )
        self.write("DELETE FROM documents WHERE number = ?", (number,))
        self.write("DELETE FROM texts WHERE document = ?", (number,))
        bounds = (known.numbers.start, known.numbers.stop)
        for table, column in (("chunks", "number"), ("vectors", "chunk")):
            self.write(f"DELETE FROM {table} WHERE {column} >= ? AND {column} < ?", bounds)

    def _read_description(self, number: int) -> tuple[Document, dict[str, str]]:
        """Return a document without its text, and its further fields."""
        query = "SELECT id, title, url, date, version, metadata FROM documents WHERE number = ?"
        row = self._database.execute(query, (number,)).fetchone()
        if row is None or not all(isinstance(value, str) for value in row):
            raise DamagedIndex("a field of a document is no text")
        return Document(row[0], "", *row[1:-1]), further_of(row[-1])

    def without_vectors(self, most: int) -> list[tuple[int, str]]:
        rows = self._database.execute(WITHOUT_VECTORS, (most,))
        return [(row[0], embedded_text(*row[1:])) for row in rows]

    def write_vectors(self, chunks: Sequence[int], vectors: Any) -> None:
        rows = np.asarray(vectors, dtype="<f4")
        self.insert("vectors", ((c, row.tobytes()) for c, row in zip(chunks, rows, strict=True)))

    def check_vectors(self, state: State) -> None:
        if self._vectors_of != _stamp(state):
            self._numbers, self._matrix = self._read_matrix(state)
            self._vectors_of = _stamp(state)

    def nearest(self, vector: Any, most: int, allowed: AllowedChunks | None, state: State) -> Hits:
        self.check_vectors(state)
        chunks, matrix = self._numbers, self._matrix
        kept = np.ones(len(chunks), np.bool_)
        if allowed is not None:
            kept = np.isin(chunks, allowed.chunks)
        return best_of(matrix @ vector, kept, chunks, most)

    def _read_matrix(self, state: State) -> tuple[Numbers, Any]:
        """Return the numbers of the chunks, and their vectors, a row each. Raises DamagedIndex."""
        assert state.vectors is not None
        # One buffer for all: a list of arrays would take the memory twice.
        chunks, vectors, dimensions = [], bytearray(), state.vectors.dimensions
        query = "SELECT chunk, vector FROM vectors ORDER BY chunk"
        for chunk, vector in ascending(self.rows(query)):
            if type(vector) is not bytes or len(vector) != 4 * dimensions:
                raise DamagedIndex(f"the vector of chunk {chunk} is not of {dimensions} numbers")
            chunks.append(chunk)
            vectors += vector
        numbers = np.array(chunks, np.int64)
        matrix = np.frombuffer(vectors, "<f4").reshape(len(chunks), dimensions)
        if not np.array_equal(numbers, Postings.of(self.segments()).present):
            raise DamagedIndex("its vectors are not those of its chunks")
        lengths = np.einsum("ij,ij->i", matrix, matrix)  # of numbers that are none it is none
        if not ((abs(lengths - 1) < NO_LENGTH) | (lengths < NO_LENGTH)).all():
            raise DamagedIndex("a vector is not of length 1")
        return numbers, matrix

    def chunks(self, numbers: Sequence[int]) -> list[Chunk]:
        if self._sound_of != (stamp := _stamp(self.state())):
            self._sound_of, self._sound = stamp, set()
        return [self._chunk(int(number)) for number in numbers]

    def _chunk(self, number: int) -> Chunk:
        row = self._database.execute(CHUNK, (number,)).fetchone()
        if row is None:
            raise KeyError(number)
        owner, first, count, start, end, *row = row
        if not (type(first) is type(count) is int and first <= number < first + count):
            raise DamagedIndex(f"chunk {number} is of another document")
        document, metadata = document_of_row(*row, sound=owner in self._sound)
        self._sound.add(owner)
        whole = document.full_text
        check_span(whole, start, end)
        return Chunk(replace(document, text=""), start, end, whole[start:end], row[6], metadata)

    def document(self, doc_id: str) -> Chunk | None:
        row = self._database.execute(WHOLE, (doc_id,)).fetchone()
        if row is None:
            return None
        document, metadata = document_of_row(*row)
        text = document.full_text
        return Chunk(replace(document, text=""), 0, len(text), text, row[6], metadata)

    def close(self) -> None:
        self._database.close()


def _marks(count: int) -> str:
    return ", ".join("?" * count)


def _stamp(state: State) -> str:
    """Return what changes with every refresh, for what was read before."""
    return f"{state.generation} {state.content}"


def open_sqlite(path: Path) -> SqliteStore:
    """Return the index in a file. Raises InputError where there is none."""
    return SqliteStore(path, open_reader(path))


def make_sqlite(path: Path, state: State) -> SqliteStore:
    """Return the index in a file, made anew where there is none.

    Raises InputError for a file of another kind: it is not changed.
    """
    if not path.absolute().parent.is_dir():
        raise OutputError(f"{path}: there is no such folder; make it, or give another path")
    try:
        is_new = not path.exists() or path.stat().st_size == 0
        fault = fault_of_files(path) if is_new else ""
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {why(error)}; give another path") from error
    if fault:
        raise OutputError(f"{path}: cannot be written: {fault}; give another path")
    if not is_new:
        # Opened to read first: what is not ours must stay as it is, byte for byte.
        check_header(path)
        with explain_index_errors(path), closing(open_database(path, "mode=ro")) as database:
            if not _is_empty(database):
                check_tables(database, path)
    with explain_index_errors(path), _open_writer(path) as database:
        if _is_empty(database):
            database.execute(f"PRAGMA application_id = {APPLICATION}")
            database.execute(f"PRAGMA user_version = {SHAPE}")
            for table in TABLES:
                database.execute(table)
            database.execute("INSERT INTO state VALUES (?)", (state.as_json(),))
    return open_sqlite(path)


def _is_empty(database: TimedConnection) -> bool:
    return database.execute("SELECT 1 FROM sqlite_master").fetchone() is None


@contextmanager
def _open_writer(path: Path) -> Iterator[TimedConnection]:
    """Yield a connection with a transaction begun; it is written at the end, or not at all."""
    database = open_database(path, "mode=rwc", PATIENCE, to_write=True)
    try:
        # Readers go on with what was there while a refresh writes.
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("BEGIN IMMEDIATE")
        try:
            yield database
        except BaseException:
            database.rollback()
            raise
        database.execute("COMMIT")
        # One file has it all, where no reader is in the way.
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        database.close()
