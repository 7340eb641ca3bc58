"""An index in one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from trecjudge.baseline.index.fields import DOC_ID, OWN, Condition, conditions_of
from trecjudge.baseline.index.postings import Mask, Postings, best_of
from trecjudge.baseline.index.protocol import (
    Changes,
    Embeds,
    Found,
    IndexFacts,
    Only,
    Source,
)
from trecjudge.baseline.index.refreshing import Refresh
from trecjudge.baseline.index.sqlite_file import make, open_writer, read_state
from trecjudge.baseline.index.sqlite_shelf import SqliteShelf, SqliteTables, in_parts, marks
from trecjudge.baseline.index.state import State
from trecjudge.baseline.records import Chunk
from trecjudge.errors import InputError, unknown
from trecjudge.inputs.documents.index_file import check_tables, open_reader, understood
from trecjudge.records import Document

CHUNK = (
    "SELECT id, title, url, date, version, metadata, sha256, text, start, end FROM chunks"
    " JOIN documents ON documents.number = chunks.document"
    " JOIN texts ON texts.document = chunks.document WHERE chunks.number = ?"
)
WHOLE = (
    "SELECT id, title, url, date, version, metadata, sha256, text, 0, -1 FROM documents"
    " JOIN texts ON texts.document = documents.number WHERE id = ?"
)


@dataclass(slots=True)
class SqliteIndex:
    """An index in one file. It sees each refresh, of any process, whole or not at all."""

    path: Path
    _database: sqlite3.Connection = field(init=False, repr=False)
    _state: State | None = field(init=False, default=None, repr=False)
    _postings: Postings = field(init=False, repr=False)
    _matrix: tuple[Any, Any] | None = field(init=False, default=None, repr=False)
    _places: Any = field(init=False, default=None, repr=False)
    """Number, first chunk and count of chunks of each document, a row each."""

    def __post_init__(self) -> None:
        self._database = open_reader(self.path)

    @classmethod
    def made(cls, path: Path, state: State) -> SqliteIndex:
        """Return the index at this path, made anew where there is none."""
        make(path, state)
        return cls(path)

    @property
    def facts(self) -> IndexFacts:
        """What the index says of itself, now."""
        with understood(self.path):
            return read_state(self._database, self.path).facts

    async def refresh(
        self, sources: Iterable[Source], embeds: Embeds | None = None, remove_others: bool = True
    ) -> Changes:
        """Make the index hold these documents, all or nothing; see `Index.refresh`."""
        with understood(self.path), open_writer(self.path) as database:
            check_tables(database, self.path)
            before = read_state(database, self.path)
            refresh = Refresh(SqliteShelf(database), before, str(self.path))
            state = await refresh.run(sources, embeds, remove_others)
            if state != before:
                database.execute("UPDATE state SET state = ?", (state.as_json(),))
        return refresh.changes

    @contextmanager
    def _reading(self) -> Iterator[Postings]:
        """Yield the posting lists as they are now; the file stays as it is meanwhile."""
        with understood(self.path):
            self._database.execute("BEGIN")
            try:
                state = read_state(self._database, self.path)
                if self._state is None or state.generation != self._state.generation:
                    self._postings = Postings.of(SqliteTables(self._database).segments())
                    self._matrix = self._places = None
                    self._state = state
                yield self._postings
            finally:
                self._database.execute("ROLLBACK")

    def by_words(self, terms: Mapping[str, float], most: int, only: Only | None = None) -> Found:
        """Return the chunks that BM25 finds for weighted terms."""
        with self._reading() as postings:
            allowed = self._allowed(only, postings)
            return postings.best(SqliteTables(self._database), terms, most, allowed)

    def by_vector(self, vector: Any, most: int, only: Only | None = None) -> Found:
        """Return the chunks nearest to a vector by cosine. Raises InputError without vectors."""
        with self._reading() as postings:
            chunks, matrix = self._vectors()
            query = np.asarray(vector, np.float32).ravel()
            if len(query) != matrix.shape[1]:
                message = f"has vectors of {matrix.shape[1]} numbers, the question {len(query)}"
                raise InputError(f"{self.path}: {message}; embed it with the index's model")
            allowed = np.ones(len(chunks), np.bool_)
            if (mask := self._allowed(only, postings)) is not None:
                allowed = np.isin(chunks, postings.chunks[mask])
            length = float(np.linalg.norm(query)) or 1.0
            return best_of(matrix @ (query / length), allowed, chunks, most)

    def _vectors(self) -> tuple[Any, Any]:
        """Return the numbers of the chunks, and their vectors, a row each."""
        if self._state is None or self._state.vectors is None:
            raise InputError(f"{self.path}: has no vectors; index the documents with --vectors")
        if self._matrix is None:
            rows = self._database.execute("SELECT chunk, vector FROM vectors ORDER BY chunk")
            chunks, vectors = [], bytearray()
            for chunk, vector in rows:
                chunks.append(chunk)
                vectors += vector
            shape = (len(chunks), self._state.vectors.dimensions)
            self._matrix = np.array(chunks, np.int64), np.frombuffer(vectors, "<f4").reshape(shape)
        return self._matrix

    def idf(self, terms: Iterable[str]) -> dict[str, float]:
        """Return how rare each term is among the chunks: ln(1 + (N - n + 0.5) / (n + 0.5))."""
        with self._reading() as postings:
            return postings.idf(SqliteTables(self._database), terms)

    def _allowed(self, only: Only | None, postings: Postings) -> Mask | None:
        """Return which places hold chunks of documents that a search may find; None for all."""
        conditions = conditions_of(only) if only else []
        if not conditions:
            return None
        kept = set.intersection(*(self._matching(condition) for condition in conditions))
        if self._places is None:
            rows = self._database.execute("SELECT number, first_chunk, chunks FROM documents")
            self._places = np.array(rows.fetchall(), np.int64).reshape(-1, 3)
        places = self._places[np.isin(self._places[:, 0], np.fromiter(kept, np.int64))]
        chunks = [np.arange(first, first + count) for _, first, count in places.tolist()]
        return postings.mask(np.concatenate([np.zeros(0, np.int64), *chunks]))

    def _matching(self, condition: Condition) -> set[int]:
        """Return the numbers of the documents that fulfil a condition."""
        found: set[int] = set()
        if condition.name == DOC_ID:
            for part in in_parts(value for value, _ in condition.bounds):
                query = f"SELECT number FROM documents WHERE id IN ({marks(part)})"
                found |= {row[0] for row in self._database.execute(query, part)}
            return found
        query = "SELECT document FROM fields WHERE name = ? AND value >= ? AND value <= ?"
        for bounds in condition.bounds:
            found |= {row[0] for row in self._database.execute(query, (condition.name, *bounds))}
        if not found and condition.name not in OWN:
            self._check_field(condition.name)
        return found

    def _check_field(self, name: str) -> None:
        """Raise InputError for a field that no document has."""
        rows = self._database.execute("SELECT DISTINCT name FROM fields")
        names = {row[0] for row in rows} | set(OWN)
        if name not in names:
            raise InputError(f"{self.path}: {unknown('field', name, names)}")

    def chunks(self, numbers: Sequence[int]) -> list[Chunk]:
        """Return chunks by number, in this order. Raises KeyError for one that is gone."""
        with understood(self.path):
            self._database.execute("BEGIN")
            try:
                return [self._chunk(number) for number in numbers]
            finally:
                self._database.execute("ROLLBACK")

    def _chunk(self, number: int) -> Chunk:
        row = self._database.execute(CHUNK, (int(number),)).fetchone()
        if row is None:
            raise KeyError(number)
        return _chunk_of(*row)

    def document(self, doc_id: str) -> Chunk | None:
        """Return a whole document as one chunk, None where it is not there (any more)."""
        with understood(self.path):
            row = self._database.execute(WHOLE, (doc_id,)).fetchone()
        return _chunk_of(*row) if row else None

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()


def _chunk_of(
    doc_id: str,
    title: str,
    url: str,
    date: str,
    version: str,
    metadata: str,
    digest: str,
    text: str,
    start: int,
    end: int,
) -> Chunk:
    """Return a chunk of a row; `end` is -1 for the whole document."""
    whole = Document(doc_id, text, title).full_text
    end = len(whole) if end < 0 else end
    document = Document(doc_id, "", title, url, date, version)
    return Chunk(document, start, end, whole[start:end], digest, orjson.loads(metadata))
