"""Chunks of documents, searched by words and by vectors: an index opened, made and filled."""

from __future__ import annotations

import importlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from trecjudge.baseline.chunking import ChunkSettings, chunk_spans
from trecjudge.baseline.index.filters import OWN, Condition, conditions_of
from trecjudge.baseline.index.postings import Postings, SegmentWriter, merge_segments, remove_chunks
from trecjudge.baseline.index.records import (
    Changes,
    Filter,
    Hits,
    IndexFacts,
    IndexSource,
    Numbers,
    State,
    VectorMaker,
    add_digest,
)
from trecjudge.baseline.index.sqlite import make_sqlite, open_sqlite
from trecjudge.baseline.index.store import AllowedChunks, DocumentDigests, IndexedDocument, Store
from trecjudge.baseline.index.vectors import open_embeds
from trecjudge.baseline.records import Chunk
from trecjudge.baseline.terms import chunk_terms
from trecjudge.errors import InputError, unknown
from trecjudge.inputs.documents.index_file import DamagedIndex, digests_of, index_address
from trecjudge.models.opening import ModelOptions
from trecjudge.records import Document

BATCH = 500
"""Documents that are looked up at a time."""
EMBEDDED = 256
"""Chunks that are embedded at a time."""


def digest_source(source: IndexSource) -> tuple[IndexSource, DocumentDigests]:
    """Return a document with its digests; characters that no file can hold become `?`."""
    try:
        return source, DocumentDigests(*digests_of(source.document, source.metadata))
    except UnicodeEncodeError:  # half of a surrogate pair
        mended = _mend_surrogates(source)
        return mended, DocumentDigests(*digests_of(mended.document, mended.metadata))


def _mend_surrogates(source: IndexSource) -> IndexSource:
    own = source.document
    doc_id, text, title = map(_encodable, (own.doc_id, own.text, own.title))
    url, date, version = map(_encodable, (own.url, own.date, own.version))
    fields = {_encodable(name): _encodable(value) for name, value in source.metadata.items()}
    return IndexSource(Document(doc_id, text, title, url, date, version), fields)


def _encodable(text: str) -> str:
    return text.encode(errors="replace").decode()


@dataclass(slots=True)
class Refresh:
    """One refresh: `store` as it was in `state`."""

    store: Store
    state: State
    done: Counter[str] = field(default_factory=Counter)
    """How many documents, or chunks, by the field of `Changes`."""
    _gone: deque[range] = field(default_factory=deque)
    _seen: set[int] = field(default_factory=set)
    """The numbers of the documents that were there, and were met."""
    _first_new: int = 0
    """Documents from this number on are of this refresh."""

    @property
    def changes(self) -> Changes:
        """What was done so far."""
        return Changes(**self.done)

    async def run(
        self, sources: Iterable[IndexSource], embeds: VectorMaker | None, remove_others: bool
    ) -> State:
        """Make the store hold these documents, and return its new state."""
        self.state.check_model(embeds, self.store.where)
        before = self.state
        self._first_new = before.next_document
        writer = SegmentWriter(self.store)
        for source, digests, known in self._new_ones(sources):
            self._take(source, digests, known, writer)
        writer.flush()
        if remove_others:
            self._remove_others(before)
        # At the end, in one go: what is gone of a segment is then written once.
        remove_chunks(self.store, (number for numbers in self._gone for number in numbers))
        merge_segments(self.store)
        if embeds is not None:
            await self._embed(embeds)
        if self.state != before:
            self.state = replace(self.state, generation=before.generation + 1)
        return self.state

    def _new_ones(
        self, sources: Iterable[IndexSource]
    ) -> Iterator[tuple[IndexSource, DocumentDigests, IndexedDocument | None]]:
        """Yield each document once, the first of its id, its digests, and what is known of it."""
        stream = map(digest_source, sources)
        while batch := list(islice(stream, BATCH)):
            first: dict[str, tuple[IndexSource, DocumentDigests]] = {}
            for source, digests in batch:
                first.setdefault(source.document.doc_id, (source, digests))
            known = self.store.find_documents(list(first))
            for doc_id, (source, digests) in first.items():
                found = known.get(doc_id)
                if found is None or self._is_first_sight(found.number):
                    yield source, digests, found

    def _is_first_sight(self, number: int) -> bool:
        """Return whether an indexed document was not seen in this refresh, and note it."""
        if number >= self._first_new or number in self._seen:
            return False
        self._seen.add(number)
        return True

    def _take(
        self,
        source: IndexSource,
        digests: DocumentDigests,
        known: IndexedDocument | None,
        writer: SegmentWriter,
    ) -> None:
        if known is not None and known.record == digests.record:
            self.done["kept"] += 1
            return
        if known is not None:
            self._drop(known)
        self.done["added" if known is None else "changed"] += 1
        self._add(source, digests, writer)

    def _add(self, source: IndexSource, digests: DocumentDigests, writer: SegmentWriter) -> None:
        document, state = source.document, self.state
        text, first = document.full_text, state.next_chunk
        spans = list(chunk_spans(document, state.chunking))
        place = IndexedDocument(state.next_document, digests.record, first, len(spans))
        self.store.add(source, digests, place, spans)
        for number, (start, end) in enumerate(spans, first):
            writer.add(number, chunk_terms(document.title, text[start:end]))
        self.done["chunks"] += len(spans)
        self.state = replace(
            state,
            documents=state.documents + 1,
            chunks=state.chunks + len(spans),
            next_chunk=first + len(spans),
            next_document=state.next_document + 1,
            content=add_digest(state.content, digests.record),
        )

    def _drop(self, known: IndexedDocument) -> None:
        state = self.state
        if known.chunks > state.chunks or known.numbers.stop > state.next_chunk:
            raise DamagedIndex(f"document {known.number} has chunks that are not there")
        self.store.drop(known)
        self._gone.append(known.numbers)
        self.state = replace(
            state,
            documents=state.documents - 1,
            chunks=state.chunks - known.chunks,
            content=add_digest(state.content, known.record, -1),
        )

    def _remove_others(self, before: State) -> None:
        """Remove the documents that were there before, and were not met."""
        if len(self._seen) == before.documents:
            return
        # A list: what is dropped meanwhile must not move the rows that are still to come.
        for known in list(self.store.all_documents()):
            if known.number < self._first_new and known.number not in self._seen:
                self._drop(known)
                self.done["removed"] += 1

    async def _embed(self, embeds: VectorMaker) -> None:
        """Give a vector to each chunk that has none."""
        while batch := self.store.without_vectors(EMBEDDED):
            numbers, texts = zip(*batch, strict=True)
            vectors = await embeds.embed(texts)
            if vectors.shape != (len(numbers), embeds.model.dimensions):
                wanted = f"{len(numbers)} vectors of {embeds.model.dimensions} numbers"
                raise InputError(f"{embeds.model} gave {vectors.shape} instead of {wanted}")
            self.store.write_vectors(numbers, vectors)
        self.state = replace(self.state, vectors=embeds.model)


# Chunks of documents, searched by words and by vectors, wherever they lie.
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
        """Return number, first chunk and count of chunks of each document. Raises DamagedIndex."""
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
        """Raise DamagedIndex where a chunk is missing that no refresh took away."""
        known, now = self._state, self.store.state()
        if known is None or known.generation != now.generation:
            return
        if number in self._postings.present:
            raise DamagedIndex(f"chunk {number} has no text")


# Opens an index by what the user names: a file, or an address of PostgreSQL.
POSTGRES = "trecjudge.baseline.index.postgres"


def open_index(where: str) -> Index:
    """Return an index that is there, to be searched or refreshed.

    Raises InputError if none is, or one that was never filled: nothing would be found in it.
    """
    if address := index_address(where):
        index = Index(importlib.import_module(POSTGRES).open_postgres(address))
    else:
        index = Index(open_sqlite(Path(where)))
    try:
        if not index.facts.documents:
            again = "what was to fill it did not end; run `rag index` again"
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
    if address := index_address(where):
        index = Index(importlib.import_module(POSTGRES).make_postgres(address, state))
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


# An index made to hold documents: opened or made, refreshed, closed.
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
