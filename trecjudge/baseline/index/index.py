"""Chunks of documents, searched by words and by vectors, wherever they lie."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from trecjudge.baseline.index.filters import OWN, Condition, conditions_of
from trecjudge.baseline.index.postings import Postings
from trecjudge.baseline.index.protocol import (
    Changes,
    Filter,
    Hits,
    IndexFacts,
    IndexSource,
    Numbers,
    VectorMaker,
)
from trecjudge.baseline.index.refreshing import Refresh
from trecjudge.baseline.index.state import State
from trecjudge.baseline.index.store import AllowedChunks, Store
from trecjudge.baseline.records import Chunk
from trecjudge.errors import InputError, unknown
from trecjudge.inputs.documents.index_file import DamagedIndex


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
