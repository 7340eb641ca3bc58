"""Chunks of documents, searched by words and by vectors: an index opened, made and filled."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from trecjudge.baseline.chunking import ChunkSettings
from trecjudge.baseline.index.filters import OWN, Condition, conditions_of
from trecjudge.baseline.index.postings import Postings
from trecjudge.baseline.index.records import (
    Changes,
    Filter,
    Hits,
    IndexFacts,
    IndexSource,
    Numbers,
    VectorMaker,
)
from trecjudge.baseline.index.refreshing import Refresh
from trecjudge.baseline.index.sqlite import make_sqlite, open_sqlite
from trecjudge.baseline.index.state import State
from trecjudge.baseline.index.store import AllowedChunks, Store
from trecjudge.baseline.index.vectors import open_embeds
from trecjudge.baseline.records import Chunk
from trecjudge.errors import InputError, unknown
from trecjudge.inputs.documents.index_file import DamagedIndex
from trecjudge.models.opening import ModelOptions


class Index:
    """An index in a database. It sees each refresh, of any process, whole or not at all."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._state: State | None = None
        self._postings = Postings.of(())
        self._places: Numbers | None = None

    @property
    def facts(self) -> IndexFacts:
        """What the index says of itself, now."""
        with self.store.reading():
            return self.store.state().facts

    async def refresh(
        self,
        sources: Iterable[IndexSource],
        embeds: VectorMaker | None = None,
        remove_others: bool = True,
    ) -> Changes:
        """Make the index hold these documents: only what changed is chunked and embedded again.

        `remove_others` drops the documents that are not among them. All or nothing: after an error
        or a kill, what was there before is there.
        """
        with self.store.writing() as store:
            before = store.state()
            refresh = Refresh(store, before)
            state = await refresh.run(sources, embeds, remove_others)
            if state != before:
                store.finish(state)
        return refresh.changes

    def by_words(self, terms: Mapping[str, float], most: int, only: Filter | None = None) -> Hits:
        """Return the chunks that BM25 finds for weighted terms (stems)."""
        with self._reading() as (postings, _):
            allowed = self._filter(only)
            return postings.best(self.store, terms, most, allowed.chunks if allowed else None)

    def by_vector(self, vector: Any, most: int, only: Filter | None = None) -> Hits:
        """Return the chunks nearest to a vector by cosine. Raises InputError without vectors."""
        with self._reading() as (_, state):
            if state.vectors is None:
                message = "has no vectors; index the documents with --vectors"
                raise InputError(f"{self.store.where}: {message}")
            self.store.check_vectors(state)
            query, held = np.asarray(vector, np.float32).ravel(), state.vectors.dimensions
            if len(query) != held:
                message = f"has vectors of {held} numbers, the question {len(query)}"
                raise InputError(f"{self.store.where}: {message}; embed it with the index's model")
            allowed = self._filter(only)
            if most <= 0:
                return []
            unit = query / (float(np.linalg.norm(query)) or 1.0)
            return self.store.nearest(unit, most, allowed, state)

    def idf(self, terms: Iterable[str]) -> dict[str, float]:
        """Return how rare each term is among the chunks: ln(1 + (N - n + 0.5) / (n + 0.5))."""
        with self._reading() as (postings, _):
            return postings.idf(self.store, terms)

    def chunks(self, numbers: Sequence[int]) -> list[Chunk]:
        """Return chunks by number, in this order. Raises KeyError for one that is gone."""
        with self.store.reading():
            try:
                return self.store.chunks(numbers)
            except KeyError as gone:
                # Taken away by a refresh, or lost: only the first is a reason to search again.
                self._check_gone(gone.args[0])
                raise

    def document(self, doc_id: str) -> Chunk | None:
        """Return a whole document as one chunk, None where it is not there (any more)."""
        with self.store.reading():
            return self.store.document(doc_id)

    def close(self) -> None:
        """Let go of the file or connection."""
        self.store.close()

    @contextmanager
    def _reading(self) -> Iterator[tuple[Postings, State]]:
        """Yield the posting lists and the state as they are now; they stay so meanwhile."""
        with self.store.reading():
            state = self.store.state()
            # Another process may have refreshed it since the last question.
            if self._state is None or state.generation != self._state.generation:
                postings = Postings.of(self.store.segments())
                postings.check(state.chunks, state.next_chunk)
                self._postings, self._places, self._state = postings, None, state
            yield self._postings, self._state

    def _filter(self, only: Filter | None) -> AllowedChunks | None:
        """Return what a filter lets through, None for all."""
        conditions = conditions_of(only) if only else []
        if not conditions:
            return None
        kept = set.intersection(*(self._matching(condition) for condition in conditions))
        if self._places is None:
            self._places = self._read_places()
        places = self._places[np.isin(self._places[:, 0], np.fromiter(kept, np.int64))]
        if len(places) != len(kept):
            raise DamagedIndex("a field is of a document that is not there")
        chunks = [np.arange(first, first + count) for _, first, count in places.tolist()]
        return AllowedChunks(
            places[:, 0].tolist(), np.concatenate([np.zeros(0, np.int64), *chunks])
        )

    def _matching(self, condition: Condition) -> set[int]:
        found = self.store.matching(condition)
        if not found and condition.name not in OWN:
            names = self.store.field_names() | set(OWN)
            if self.store.storable(condition.name) not in names:
                message = unknown("field", condition.name, names)
                raise InputError(f"{self.store.where}: {message}")
        return found

    def _read_places(self) -> Numbers:
        """Return number, first chunk and count of chunks of each document. Raises Damaged."""
        state = self._state
        assert state is not None
        query = "SELECT number, first_chunk, chunks FROM documents ORDER BY number LIMIT ?"
        rows = [tuple(row) for row in self.store.rows(query, (state.documents + 1,))]
        places = np.array(rows or np.zeros((0, 3), np.int64))
        if len(rows) != state.documents or places.dtype != np.int64 or (places < 0).any():
            raise DamagedIndex(f"it has {len(rows)} documents, and not {state.documents}")
        first, counts = places[:, 1], places[:, 2]
        # Before anything is repeated: a file that lies about its counts must not fill the memory.
        if (counts > state.chunks).any() or counts.sum() != state.chunks:
            raise DamagedIndex(f"its documents have not {state.chunks} chunks")
        chunks = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(state.chunks)
        if not np.array_equal(np.sort(chunks), self._postings.present):
            raise DamagedIndex("the chunks of its documents are not those that are there")
        return places

    def _check_gone(self, number: int) -> None:
        """Raise Damaged where a chunk is missing that no refresh took away."""
        known, now = self._state, self.store.state()
        if known is None or known.generation != now.generation:
            return
        if number in self._postings.present:
            raise DamagedIndex(f"chunk {number} has no text")


ADDRESSES = ("postgresql://", "postgres://")
POSTGRES = "trecjudge.baseline.index.postgres"


def is_address(where: str) -> bool:
    """Return whether an index is named by an address of PostgreSQL, not by a path."""
    return where.startswith(ADDRESSES)


def open_index(where: str) -> Index:
    """Return an index that is there, to be searched or refreshed.

    Raises InputError if none is, or one that was never filled: nothing would be found in it.
    """
    if is_address(where):
        index = Index(importlib.import_module(POSTGRES).open_postgres(where))
    else:
        index = Index(open_sqlite(Path(where)))
    try:
        if not index.facts.documents:
            again = "what was to fill it did not end; run `index` again"
            raise InputError(f"{where}: holds no document: {again}")
    except BaseException:
        index.close()
        raise
    return index


def make_index(where: str, chunking: ChunkSettings | None = None) -> Index:
    """Return an index to be refreshed: the one that is there, else a new and empty one.

    Raises InputError if the one that is there has chunks of other sizes than asked for.
    """
    state = State(chunking or ChunkSettings())
    if is_address(where):
        index = Index(importlib.import_module(POSTGRES).make_postgres(where, state))
    else:
        index = Index(make_sqlite(Path(where), state))
    held = ChunkSettings(**index.facts.chunking)
    if chunking is not None and held != chunking:
        index.close()
        message = f"has chunks of {held.size} words with an overlap of {held.overlap}"
        raise InputError(
            f"{where}: {message};"
            f" give the same, or another file for {chunking.size} and {chunking.overlap}"
        )
    return index


async def build_index(
    where: str,
    chunking: ChunkSettings | None,
    sources: Iterable[IndexSource],
    vectors: str | None,
    options: ModelOptions,
    embeddings: Mapping[str, Any],
    warn: Callable[[str], None],
    remove_others: bool = True,
) -> tuple[Changes, IndexFacts]:
    """Make an index hold these documents; return what changed, and what the index says of itself.

    `vectors` None takes those that the index has; `embeddings` are settings of their endpoint.
    Raises InputError, ModelError, and JudgmentFailed where vectors are missing: the index then
    stays as it was.
    """
    with closing(make_index(where, chunking)) as held:
        opened = open_embeds(vectors, held.facts.vectors, options, embeddings, warn)
        async with opened as embeds:
            changes = await held.refresh(sources, embeds, remove_others)
        return changes, held.facts
