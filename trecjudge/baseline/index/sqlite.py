"""An index in one SQLite file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

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
from trecjudge.baseline.index.sqlite_shelf import (
    SqliteShelf,
    SqliteTables,
    ascending,
    check_span,
    in_parts,
    marks,
)
from trecjudge.baseline.index.state import State
from trecjudge.baseline.records import Chunk
from trecjudge.errors import InputError, unknown
from trecjudge.inputs.documents.index_file import (
    WHOLE,
    Damaged,
    check_tables,
    document_of_row,
    open_reader,
    understood,
)
from trecjudge.inputs.sources.databases import Watched, rows_of

CHUNK = (
    "SELECT documents.number, first_chunk, documents.chunks, start, end, id, title, url, date,"
    " version, metadata, sha256, record, text FROM chunks"
    " JOIN documents ON documents.number = chunks.document"
    " LEFT JOIN texts ON texts.document = chunks.document WHERE chunks.number = ?"
)
NO_LENGTH = 0.02
"""How far the length of a vector may be from 1, or from 0."""


@dataclass(slots=True)
class SqliteIndex:
    """An index in one file. It sees each refresh, of any process, whole or not at all."""

    path: Path
    _database: Watched = field(init=False, repr=False)
    _state: State | None = field(init=False, default=None, repr=False)
    _postings: Postings = field(init=False, repr=False)
    _matrix: tuple[Any, Any] | None = field(init=False, default=None, repr=False)
    _places: Any = field(init=False, default=None, repr=False)
    """Number, first chunk and count of chunks of each document, a row each."""
    _sound: set[int] = field(init=False, default_factory=set, repr=False)
    """The numbers of documents whose digests were compared."""

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
            _check_counts(database, before)
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
                    self._postings = _postings(self._database, state)
                    self._matrix = self._places = None
                    self._sound.clear()
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
            chunks, matrix = self._vectors(postings)
            query = np.asarray(vector, np.float32).ravel()
            if len(query) != matrix.shape[1]:
                message = f"has vectors of {matrix.shape[1]} numbers, the question {len(query)}"
                raise InputError(f"{self.path}: {message}; embed it with the index's model")
            allowed = np.ones(len(chunks), np.bool_)
            if (mask := self._allowed(only, postings)) is not None:
                allowed = np.isin(chunks, postings.chunks[mask])
            length = float(np.linalg.norm(query)) or 1.0
            return best_of(matrix @ (query / length), allowed, chunks, most)

    def _vectors(self, postings: Postings) -> tuple[Any, Any]:
        """Return the numbers of the chunks, and their vectors, a row each."""
        if self._state is None or self._state.vectors is None:
            raise InputError(f"{self.path}: has no vectors; index the documents with --vectors")
        if self._matrix is None:
            rows = rows_of(self._database, "SELECT chunk, vector FROM vectors ORDER BY chunk")
            chunks, vectors, dimensions = [], bytearray(), self._state.vectors.dimensions
            for chunk, vector in ascending(rows):
                if type(vector) is not bytes or len(vector) != 4 * dimensions:
                    raise Damaged(f"the vector of chunk {chunk} is not of {dimensions} numbers")
                chunks.append(chunk)
                vectors += vector
            matrix = np.frombuffer(vectors, "<f4").reshape(len(chunks), dimensions)
            self._matrix = np.array(chunks, np.int64), matrix
            if not np.array_equal(self._matrix[0], np.sort(postings.chunks[postings.there])):
                raise Damaged("its vectors are not those of its chunks")
            lengths = np.einsum("ij,ij->i", matrix, matrix)  # of numbers that are none it is none
            if not ((abs(lengths - 1) < NO_LENGTH) | (lengths < NO_LENGTH)).all():
                raise Damaged("a vector is not of length 1")
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
        if self._places is None and self._state is not None:
            self._places = _places(self._database, self._state, postings)
        places = self._places[np.isin(self._places[:, 0], np.fromiter(kept, np.int64))]
        if len(places) != len(kept):
            raise Damaged("a field is of a document that is not there")
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
        if not all(type(number) is int for number in found):
            raise Damaged("a field is of a document that is not there")
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
            self._check_gone(number)
            raise KeyError(number)
        owner, first, count, start, end, *row = row
        if not (type(first) is type(count) is int and first <= number < first + count):
            raise Damaged(f"chunk {number} is of another document")
        document, metadata = document_of_row(*row, sound=owner in self._sound)
        self._sound.add(owner)
        whole = document.full_text
        check_span(whole, start, end)
        return Chunk(replace(document, text=""), start, end, whole[start:end], row[6], metadata)

    def _check_gone(self, number: int) -> None:
        """Raise Damaged where a chunk is missing that no refresh took away."""
        known, now = self._state, read_state(self._database, self.path)
        if known is None or known.generation != now.generation:
            return
        if number in self._postings.chunks[self._postings.there]:
            raise Damaged(f"chunk {number} has no text")

    def document(self, doc_id: str) -> Chunk | None:
        """Return a whole document as one chunk, None where it is not there (any more)."""
        with understood(self.path):
            row = self._database.execute(WHOLE, (doc_id,)).fetchone()
            if row is None:
                return None
            document, metadata = document_of_row(*row)
        text = document.full_text
        return Chunk(replace(document, text=""), 0, len(text), text, row[6], metadata)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()


def _postings(database: Watched, state: State) -> Postings:
    """Return the posting lists of an index. Raises Damaged where its chunks are not all there."""
    postings = Postings.of(SqliteTables(database).segments())
    there = np.sort(postings.chunks[postings.there], kind="stable")
    if len(there) != state.chunks or (there[1:] == there[:-1]).any():
        raise Damaged(f"its words are of {len(there)} chunks, and it has {state.chunks}")
    if len(there) and there[-1] >= state.next_chunk:
        raise Damaged("its words are of chunks that are not there")
    return postings


def _check_counts(database: Watched, state: State) -> None:
    """Raise Damaged where the documents or chunks are not those that the state counts."""
    _postings(database, state)
    wanted = ((state.documents, state.next_document), (state.chunks, state.next_chunk))
    for table, (count, following) in zip(("documents", "chunks"), wanted, strict=True):
        query = f"SELECT (SELECT count(*) FROM {table}), coalesce(max(number), -1) FROM {table}"
        found, last = database.execute(query).fetchone()
        if found != count or not last < following:
            raise Damaged(f"it has {found} {table} up to {last}, and not {count} below {following}")


def _places(database: Watched, state: State, postings: Postings) -> Any:
    """Return number, first chunk and count of chunks of each document. Raises Damaged."""
    query = "SELECT number, first_chunk, chunks FROM documents ORDER BY number LIMIT ?"
    rows = database.execute(query, (state.documents + 1,)).fetchall()
    places = np.array(rows or np.zeros((0, 3), np.int64))
    if len(rows) != state.documents or places.dtype != np.int64 or (places < 0).any():
        raise Damaged(f"it has {len(rows)} documents, and not {state.documents}")
    first, counts = places[:, 1], places[:, 2]
    if (counts > state.chunks).any() or counts.sum() != state.chunks:
        raise Damaged(f"its documents have not {state.chunks} chunks")
    chunks = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(state.chunks)
    if not np.array_equal(np.sort(chunks), np.sort(postings.chunks[postings.there])):
        raise Damaged("the chunks of its documents are not those that are there")
    return places
