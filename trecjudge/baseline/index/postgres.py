"""The tables of an index in PostgreSQL, a schema each, with the extension pgvector."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from trecjudge.baseline.chunking import Span
from trecjudge.baseline.index.filters import Condition, fields_of
from trecjudge.baseline.index.postgres_vectors import MOST_LOOKED_AT, VectorSearch
from trecjudge.baseline.index.records import Hits, IndexSource, State, VectorModel, parse_state
from trecjudge.baseline.index.store import (
    AllowedChunks,
    DocumentDigests,
    IndexedDocument,
    Store,
    embedded_text,
)
from trecjudge.baseline.records import Chunk
from trecjudge.errors import InputError, OutputError
from trecjudge.inputs.documents.index_file import AGAIN
from trecjudge.models.documents.postgres import EXTRA, PostgresAddress, psycopg, storable
from trecjudge.records import Document

if TYPE_CHECKING:
    from psycopg import Connection


SHAPE = 2
"""The version of the tables: in 1 a chunk had the number of its document, not its id."""
PATIENCE = "10s"
"""How long a refresh waits for another one."""
MEMORY = "256MB"
"""The memory in which an index of vectors is built."""
START = 100
"""Characters of a value that are in the index of the fields."""
DESCRIBES = ("title", "url", "date", "version")
"""What the metadata of a chunk have of its document, beside further fields of its record."""
TABLES = (
    "CREATE TABLE state (shape integer NOT NULL, state text NOT NULL,"
    " embedding_model text, embedding_dimensions integer, embedding_digest text,"
    " indexed_to bigint, indexed integer NOT NULL DEFAULT 0)",
    "CREATE TABLE documents (number bigint PRIMARY KEY, id text NOT NULL UNIQUE,"
    " sha256 text NOT NULL, record text NOT NULL, title text NOT NULL, url text NOT NULL,"
    " date text NOT NULL, version text NOT NULL, metadata jsonb NOT NULL,"
    " first_chunk bigint NOT NULL, chunks integer NOT NULL, content text NOT NULL)",
    # As tables of vectors usually are, so that other programs can read it.
    "CREATE TABLE chunks (id bigint PRIMARY KEY, document_id text NOT NULL,"
    " chunk_index integer NOT NULL, span_start integer NOT NULL, span_end integer NOT NULL,"
    " content text NOT NULL, metadata jsonb NOT NULL, embedding vector,"
    " created_at timestamptz NOT NULL DEFAULT now(), UNIQUE (document_id, chunk_index))",
    "CREATE INDEX chunks_by_metadata ON chunks USING gin (metadata jsonb_path_ops)",
    # Texts lie apart, so that looking through the vectors does not read them.
    "ALTER TABLE chunks ALTER COLUMN content SET STORAGE EXTERNAL",
    # By code points, as in any other database.
    'CREATE TABLE fields (name text NOT NULL, value text COLLATE "C" NOT NULL,'
    " document bigint NOT NULL)",
    # Of a long value the beginning: an entry of an index has an end.
    f"CREATE INDEX fields_by_value ON fields (name, left(value, {START}))",
    "CREATE INDEX fields_by_document ON fields (document)",
    "CREATE TABLE segments (number integer PRIMARY KEY, chunks bytea NOT NULL,"
    " lengths bytea NOT NULL, gone bytea NOT NULL)",
    'CREATE TABLE postings (segment integer NOT NULL, term text COLLATE "C" NOT NULL,'
    " list bytea NOT NULL, PRIMARY KEY (segment, term))",
)
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "documents": {
        "number": "int8",
        **dict.fromkeys(("id", "sha256", "record", "title", "url", "date", "version"), "text"),
        "metadata": "jsonb",
        "first_chunk": "int8",
        "chunks": "int4",
        "content": "text",
    },
    "chunks": {
        "id": "int8",
        "document_id": "text",
        **dict.fromkeys(("chunk_index", "span_start", "span_end"), "int4"),
        "content": "text",
        "metadata": "jsonb",
    },
    "fields": {"name": "text", "value": "text", "document": "int8"},
    "segments": {"number": "int4", **dict.fromkeys(("chunks", "lengths", "gone"), "bytea")},
    "postings": {"segment": "int4", "term": "text", "list": "bytea"},
    "new_vectors": {"chunk": "int8", "vector": "bytea"},
}
"""The columns that are written, with their types."""
_THERE = (
    "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = ? AND tablename = 'state'),"
    " (SELECT nspname FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace"
    " WHERE extname = 'vector')"
)
_WITHIN = (
    f"SELECT document FROM fields WHERE name = ? AND left(value, {START})"
    f" BETWEEN left(?, {START}) AND left(?, {START}) AND value BETWEEN ? AND ?"
)
_DESCRIBED = "documents.id, title, url, date, version, documents.metadata, sha256"
_CHUNKS = (
    f"SELECT chunks.id, {_DESCRIBED}, span_start, span_end, chunks.content"
    " FROM chunks JOIN documents ON documents.id = document_id WHERE chunks.id {among}"
)
_WHOLE = f"SELECT {_DESCRIBED}, content FROM documents WHERE id = ?"
_WITHOUT_VECTORS = (
    "SELECT chunks.id, title, documents.content, span_start, span_end FROM chunks"
    " JOIN documents ON documents.id = document_id WHERE chunks.id > ? ORDER BY chunks.id LIMIT ?"
)


class PostgresStore(Store):
    """The tables of an index in a schema, through one connection.

    What is added is held until it is looked for. Of more than `most_looked_at` chunks the nearest
    vectors are found by an approximate index.
    """

    def __init__(self, address: PostgresAddress, most_looked_at: int = MOST_LOOKED_AT) -> None:
        self.address, self.where = address, address.shown
        self.most_looked_at = most_looked_at
        self._connection: Connection[Any] = address.connect()
        self._held: dict[str, list[Sequence[Any]]] = {"documents": [], "chunks": [], "fields": []}
        self._embedded_to: int | None = None

    @contextmanager
    def reading(self) -> Iterator[None]:
        if self._connection.closed:  # it was lost
            self._connection = self.address.connect()
        with self.address.translate_errors(), self._connection.transaction():
            # One snapshot for all queries of a question, as SQLite gives it.
            self.write("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            self._check()
            yield

    @contextmanager
    def writing(self) -> Iterator[PostgresStore]:
        # A connection of its own: this one goes on to be searched.
        other = PostgresStore(self.address, self.most_looked_at)
        try:
            with self.address.translate_errors(), other._connection.transaction():
                other._lock()
                # An endpoint may take hours for the vectors.
                other.write("SET LOCAL idle_in_transaction_session_timeout = 0")
                other.write(f"SET LOCAL maintenance_work_mem = '{MEMORY}'")
                other._check()
                yield other
        finally:
            other.close()

    def _lock(self) -> None:
        """Wait until no other process refreshes the index; to the end of the transaction."""
        # Not of a table: the first refresh has none yet, and whoever searches is not to wait.
        digest = hashlib.sha256(f"trecjudge index {self.address.name}".encode()).digest()
        number = int.from_bytes(digest[:8], "big", signed=True)
        # Of this index only: others in the same database may be refreshed meanwhile.
        self.write(f"SET LOCAL lock_timeout = '{PATIENCE}'")
        self.write("SELECT pg_advisory_xact_lock(?)", (number,))
        self.write("SET LOCAL lock_timeout = 0")

    def _check(self) -> None:
        if not self._settle():
            raise self.address.no_index()

    def _settle(self) -> bool:
        """Make names mean the tables of this index; return whether they are there."""
        name = self.address.name
        ((is_there, extension),) = self.rows(_THERE, (name,))
        # For this transaction only: a pool may give the connection to another program afterwards.
        path = ", ".join(f'"{part}"' for part in (name, extension, "public") if part)
        self.write("SELECT set_config('search_path', ?, true)", (path,))
        return bool(is_there)

    def make_tables(self, state: State) -> None:
        """Make the tables, unless they are there. Raises OutputError."""
        with self.address.translate_errors(), self._connection.transaction():
            self._lock()
            if self._settle():
                return
            self._make_extension()
            self.write(f'CREATE SCHEMA IF NOT EXISTS "{self.address.name}"')
            self._settle()
            for table in TABLES:
                self.write(table)
            row = (SHAPE, state.as_json())
            self.write("INSERT INTO state (shape, state) VALUES (?, ?)", row)

    def _make_extension(self) -> None:
        errors = psycopg().errors
        missing, denied = (errors.FeatureNotSupported, errors.UndefinedFile), ""
        try:
            with self._connection.transaction():
                self.write("CREATE EXTENSION IF NOT EXISTS vector")
        except missing:
            denied = f"the server has no extension `vector` ({EXTRA}); install it there"
        except errors.InsufficientPrivilege:
            denied = (
                "this user may not create the extension `vector`; ask an administrator for"
                " CREATE EXTENSION vector"
            )
        if denied:
            raise OutputError(f"{self.where}: {denied}")

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        written = query.replace("?", "%s")
        # As text, each byte of a posting list would come as two.
        yield from self._connection.execute(written, values, binary=True)

    def rows_among(
        self, query: str, values: Collection[Any], before: Sequence[Any] = ()
    ) -> Iterator[Any]:
        yield from self.rows(query.format(among="= ANY(?)"), (*before, list(values)))

    def write(self, query: str, values: Sequence[Any] = ()) -> None:
        self._connection.execute(query.replace("?", "%s"), values)

    def insert(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        columns = COLUMNS[table]
        # Not by INSERT, which takes a message for each of what may be millions of rows.
        with self._connection.cursor() as cursor:
            statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)"
            with cursor.copy(statement) as copy:
                copy.set_types(list(columns.values()))
                for row in rows:
                    copy.write_row(row)

    def storable(self, text: str) -> str:
        return storable(text)

    def state(self) -> State:
        row = next(self.rows("SELECT shape, state FROM state"), None)
        if row is None:
            raise InputError(f"{self.where}: is damaged: it has no state; {AGAIN}")
        if row[0] != SHAPE:
            message = f"is of version {row[0]}, and this program reads {SHAPE}"
            again = f'DROP SCHEMA "{self.address.name}" CASCADE, and index the documents again'
            raise InputError(f"{self.where}: {message}; {again}")
        return parse_state(row[1], self.where)

    def find_documents(self, doc_ids: Sequence[str]) -> Mapping[str, IndexedDocument]:
        self._flush()
        return super().find_documents(doc_ids)

    def all_documents(self) -> Iterator[IndexedDocument]:
        self._flush()
        yield from super().all_documents()

    def numbers_within(self, condition: Condition) -> set[Any]:
        name = self.storable(condition.name)
        found: set[Any] = set()
        for low, high in condition.bounds:
            bounds = (self.storable(low), self.storable(high))
            found |= {row[0] for row in self.rows(_WITHIN, (name, *bounds, *bounds))}
        return found

    def add(
        self,
        source: IndexSource,
        digests: DocumentDigests,
        place: IndexedDocument,
        spans: Sequence[Span],
    ) -> None:
        document, number, kept = source.document, place.number, self.storable
        own = (document.doc_id, *digests, document.title, document.url, document.date)
        further = {kept(name): kept(value) for name, value in source.metadata.items()}
        last = (place.first_chunk, place.chunks, kept(document.text))
        self._held["documents"].append(
            (number, *map(kept, (*own, document.version)), further, *last)
        )
        text, doc_id = kept(document.full_text), kept(document.doc_id)
        # What describes a document is with each chunk: SQL can filter by it without a join.
        described = {name: kept(getattr(document, name)) for name in DESCRIBES}
        shown = {name: value for name, value in described.items() if value} | further
        self._held["chunks"] += [
            (chunk, doc_id, index, start, end, text[start:end], shown)
            for index, (chunk, (start, end)) in enumerate(zip(place.numbers, spans, strict=True))
        ]
        fields = dict.fromkeys(fields_of(document, source.metadata))
        self._held["fields"] += [(kept(name), kept(value), number) for name, value in fields]

    def _flush(self) -> None:
        """Write what was added."""
        if self._held["documents"]:
            for table, rows in self._held.items():
                self.insert(table, rows)
                rows.clear()

    def drop(self, known: IndexedDocument) -> None:
        self._flush()
        self.write("DELETE FROM fields WHERE document = ?", (known.number,))
        self.write("DELETE FROM documents WHERE number = ?", (known.number,))
        bounds = (known.numbers.start, known.numbers.stop)
        self.write("DELETE FROM chunks WHERE id >= ? AND id < ?", bounds)

    def without_vectors(self, most: int) -> list[tuple[int, str]]:
        self._flush()
        if self._embedded_to is None:
            # Vectors are given in the order of the numbers.
            query = "SELECT coalesce(max(id), -1) FROM chunks WHERE embedding IS NOT NULL"
            ((self._embedded_to,),) = self.rows(query)
        rows = self.rows(_WITHOUT_VECTORS, (self._embedded_to, most))
        return [(row[0], embedded_text(*row[1:])) for row in rows]

    def write_vectors(self, chunks: Sequence[int], vectors: Any) -> None:
        rows = np.asarray(vectors, dtype=">f4")
        head = np.array([rows.shape[1], 0], dtype=">u2").tobytes()
        # By way of a table: COPY adds rows, and cannot fill a column of those that are there.
        self.write(
            "CREATE TEMPORARY TABLE IF NOT EXISTS new_vectors (chunk bigint, vector vector)"
            " ON COMMIT DROP"
        )
        self.write("TRUNCATE new_vectors")
        # In the form in which the extension receives a vector.
        data = ((c, head + row.tobytes()) for c, row in zip(chunks, rows, strict=True))
        self.insert("new_vectors", data)
        self.write("UPDATE chunks SET embedding = vector FROM new_vectors WHERE id = chunk")
        self._embedded_to = max(chunks)

    def finish(self, state: State) -> None:
        self._flush()
        super().finish(state)
        if state.vectors is not None:
            self._pin(state.vectors)
            self._vectors(state).keep_index(state.chunks, state.next_chunk)

    def _pin(self, model: VectorModel) -> None:
        """Give the column of the vectors their dimension, and name the model that made them."""
        query = "SELECT embedding_dimensions FROM state"
        if next(self.rows(query)) != (model.dimensions,):
            # A refresh by another model is refused: there are no vectors of another dimension.
            self.write(f"ALTER TABLE chunks ALTER embedding TYPE vector({model.dimensions})")
        self.write(
            "UPDATE state SET embedding_model = ?, embedding_dimensions = ?, embedding_digest = ?",
            (model.name, model.dimensions, model.digest),
        )

    def nearest(self, vector: Any, most: int, allowed: AllowedChunks | None, state: State) -> Hits:
        return self._vectors(state).nearest(vector, most, allowed)

    def _vectors(self, state: State) -> VectorSearch:
        assert state.vectors is not None
        return VectorSearch(self._connection, state.vectors.dimensions, self.most_looked_at)

    def chunks(self, numbers: Sequence[int]) -> list[Chunk]:
        rows = self.rows_among(_CHUNKS, list(map(int, numbers)))
        found = {row[0]: _chunk_of(*row[1:]) for row in rows}
        return [found[number] for number in numbers]

    def document(self, doc_id: str) -> Chunk | None:
        row = next(self.rows(_WHOLE, (self.storable(doc_id),)), None)
        if row is None:
            return None
        whole = Document(row[0], row[-1], row[1]).full_text
        return _chunk_of(*row[:-1], 0, len(whole), whole)

    def close(self) -> None:
        self._connection.close()


def _chunk_of(*row: Any) -> Chunk:
    """Return the chunk of a row of _DESCRIBED, start, end and text."""
    doc_id, title, url, date, version, metadata, digest, start, end, text = row
    document = Document(doc_id, "", title, url, date, version)
    return Chunk(document, start, end, text, digest, metadata)


def open_postgres(url: str) -> PostgresStore:
    """Return the index at an address. Raises InputError where there is none."""
    store = PostgresStore(PostgresAddress.of(url))
    try:
        with store.reading():
            store.state()
    except BaseException:
        store.close()
        raise
    return store


def make_postgres(url: str, state: State) -> PostgresStore:
    """Return the index at an address, made anew where there is none. Raises OutputError too."""
    store = PostgresStore(PostgresAddress.of(url))
    try:
        store.make_tables(state)
    except BaseException:
        store.close()
        raise
    return store
