"""An index in PostgreSQL with the extension pgvector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trecjudge.baseline.index.fields import OWN
from trecjudge.baseline.index.postgres_address import Address
from trecjudge.baseline.index.postgres_database import Database
from trecjudge.baseline.index.postgres_fields import narrowing
from trecjudge.baseline.index.postgres_shelf import PostgresShelf, PostgresTables, kept
from trecjudge.baseline.index.postgres_vectors import MOST_LOOKED_AT, Vectors
from trecjudge.baseline.index.postings import Mask, Postings
from trecjudge.baseline.index.protocol import (
    Changes,
    Embeds,
    Found,
    IndexFacts,
    Only,
    Source,
    VectorModel,
)
from trecjudge.baseline.index.refreshing import Refresh
from trecjudge.baseline.index.state import State
from trecjudge.baseline.records import Chunk
from trecjudge.errors import InputError, unknown
from trecjudge.records import Document

DESCRIBED = "documents.id, title, url, date, version, documents.metadata, sha256"
CHUNKS = (
    f"SELECT chunks.id, {DESCRIBED}, span_start, span_end, chunks.content"
    " FROM chunks JOIN documents ON number = document_id WHERE chunks.id = ANY(%s)"
)
WHOLE = f"SELECT {DESCRIBED}, content FROM documents WHERE id = %s"


def open_postgres(url: str) -> PostgresIndex:
    """Return the index at an address. Raises InputError where there is none."""
    address = Address.of(url)
    return PostgresIndex(address, Database.opened(address))


def make_postgres(url: str, state: State) -> PostgresIndex:
    """Return the index at an address, made anew where there is none. Raises OutputError too."""
    address = Address.of(url)
    return PostgresIndex(address, Database.made(address, state))


@dataclass(slots=True)
class PostgresIndex:
    """An index in PostgreSQL. It sees each refresh, of any process, whole or not at all.

    Of more than `most_looked_at` chunks the nearest vectors are found by an approximate index.
    """

    address: Address
    _database: Database = field(repr=False)
    most_looked_at: int = MOST_LOOKED_AT
    _state: State | None = field(init=False, default=None, repr=False)
    _postings: Postings = field(init=False, repr=False)

    @property
    def facts(self) -> IndexFacts:
        """What the index says of itself, now."""
        with self._connected().reading():
            return self._database.state().facts

    def _connected(self) -> Database:
        """Return the database, connected again where the connection was lost."""
        if self._database.connection.closed:
            self._database = Database.opened(self.address)
        return self._database

    async def refresh(
        self, sources: Iterable[Source], embeds: Embeds | None = None, remove_others: bool = True
    ) -> Changes:
        """Make the index hold these documents, all or nothing; see `Index.refresh`."""
        # A connection of its own: this one goes on to be searched.
        database = Database.opened(self.address)
        try:
            with database.writing():
                before = database.state()
                shelf = PostgresShelf(database.connection)
                refresh = Refresh(shelf, before, self.address.shown)
                state = await refresh.run(sources, embeds, remove_others)
                shelf.flush()
                if state != before:
                    query = "UPDATE state SET state = %s"
                    database.connection.execute(query, (state.as_json(),))
                if state.vectors is not None:
                    vectors = self._vectors(database, state.vectors)
                    vectors.keep_index(state.chunks, state.next_chunk)
        finally:
            database.close()
        return refresh.changes

    @contextmanager
    def _reading(self) -> Iterator[Postings]:
        """Yield the posting lists as they are now; the index stays as it is meanwhile."""
        with self._connected().reading():
            state = self._database.state()
            if self._state is None or state.generation != self._state.generation:
                self._postings = Postings.of(self._tables.segments())
                self._state = state
            yield self._postings

    @property
    def _tables(self) -> PostgresTables:
        return PostgresTables(self._database.connection)

    def by_words(self, terms: Mapping[str, float], most: int, only: Only | None = None) -> Found:
        """Return the chunks that BM25 finds for weighted terms."""
        with self._reading() as postings:
            allowed = self._allowed(only, postings)
            return postings.best(self._tables, terms, most, allowed)

    def by_vector(self, vector: Any, most: int, only: Only | None = None) -> Found:
        """Return the chunks nearest to a vector by cosine. Raises InputError without vectors."""
        with self._reading():
            model, shown = self._state.vectors if self._state else None, self.address.shown
            if model is None:
                raise InputError(f"{shown}: has no vectors; index the documents with --vectors")
            query = np.asarray(vector, np.float32).ravel()
            if len(query) != model.dimensions:
                message = f"has vectors of {model.dimensions} numbers, the question {len(query)}"
                raise InputError(f"{shown}: {message}; embed it with the index's model")
            narrowed = narrowing(only)
            found = self._vectors(self._database, model).nearest(query, most, narrowed)
            if narrowed and not found:
                self._check_fields(narrowed.names)
            return found

    def _vectors(self, database: Database, model: VectorModel) -> Vectors:
        return Vectors(database.connection, model.dimensions, self.most_looked_at)

    def idf(self, terms: Iterable[str]) -> dict[str, float]:
        """Return how rare each term is among the chunks: ln(1 + (N - n + 0.5) / (n + 0.5))."""
        with self._reading() as postings:
            return postings.idf(self._tables, terms)

    def _allowed(self, only: Only | None, postings: Postings) -> Mask | None:
        """Return which places hold chunks of documents that a search may find; None for all."""
        narrowed = narrowing(only)
        if narrowed is None:
            return None
        query = f"SELECT first_chunk, chunks FROM documents WHERE number IN ({narrowed.query})"
        rows = self._database.connection.execute(query, narrowed.values).fetchall()
        if not rows:
            self._check_fields(narrowed.names)
        numbers = [np.arange(first, first + count) for first, count in rows]
        return postings.mask(np.concatenate([np.zeros(0, np.int64), *numbers]))

    def _check_fields(self, wanted: Sequence[str]) -> None:
        """Raise InputError for a field that no document has."""
        rows = self._database.connection.execute("SELECT DISTINCT name FROM fields")
        names = {row[0] for row in rows} | set(OWN)
        for name in wanted:
            if kept(name) not in names:
                raise InputError(f"{self.address.shown}: {unknown('field', name, names)}")

    def chunks(self, numbers: Sequence[int]) -> list[Chunk]:
        """Return chunks by number, in this order. Raises KeyError for one that is gone."""
        with self._connected().reading():
            rows = self._database.connection.execute(CHUNKS, (list(map(int, numbers)),))
            found = {row[0]: _chunk_of(*row[1:]) for row in rows}
        return [found[number] for number in numbers]

    def document(self, doc_id: str) -> Chunk | None:
        """Return a whole document as one chunk, None where it is not there (any more)."""
        with self._connected().reading():
            row = self._database.connection.execute(WHOLE, (kept(doc_id),)).fetchone()
        if row is None:
            return None
        whole = Document(row[0], row[-1], row[1]).full_text
        return _chunk_of(*row[:-1], 0, len(whole), whole)

    def close(self) -> None:
        """Let go of the connection."""
        self._database.close()


def _chunk_of(*row: Any) -> Chunk:
    """Return the chunk of a row of DESCRIBED, start, end and text."""
    doc_id, title, url, date, version, metadata, digest, start, end, text = row
    document = Document(doc_id, "", title, url, date, version)
    return Chunk(document, start, end, text, digest, metadata)
