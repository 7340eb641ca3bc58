"""A refresh of an index, in any database: only what changed is chunked and embedded again."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from trecjudge.baseline.chunking import chunk_spans
from trecjudge.baseline.index.postings import SegmentWriter, merge_segments, remove_chunks
from trecjudge.baseline.index.records import Changes, IndexSource, VectorMaker
from trecjudge.baseline.index.state import State, add_digest
from trecjudge.baseline.index.store import DocumentDigests, IndexedDocument, Store
from trecjudge.baseline.terms import chunk_terms
from trecjudge.errors import InputError
from trecjudge.inputs.documents.index_file import DamagedIndex, digests_of
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
