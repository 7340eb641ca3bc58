"""A refresh of an index, in any database: only what changed is chunked and embedded again."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Protocol

from trecjudge.baseline.chunking import Span, chunk_spans
from trecjudge.baseline.index.digests import (
    Digests,
    digested,
    with_record,
    without_record,
)
from trecjudge.baseline.index.postings import Tables
from trecjudge.baseline.index.protocol import Changes, Embeds, Source
from trecjudge.baseline.index.segments import Writer, merge, remove
from trecjudge.baseline.index.state import State, check_model, named
from trecjudge.baseline.index.terms import chunk_terms
from trecjudge.errors import InputError
from trecjudge.inputs.documents.index_file import Damaged

BATCH = 500
"""Documents that are looked up at a time."""
EMBEDDED = 256
"""Chunks that are embedded at a time."""
PAGE = 1 << 12
"""Documents that are noted together as seen."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Known:
    """A document that an index holds: its number, its digest, and its chunks' numbers.

    Raises Damaged for values that cannot be.
    """

    number: int
    record: str
    first_chunk: int
    chunks: int

    def __post_init__(self) -> None:
        numbers = (self.number, self.first_chunk, self.chunks)
        if not all(type(number) is int and number >= 0 for number in numbers):
            raise Damaged("a document or its chunks have no number")
        if not isinstance(self.record, str) or not _DIGEST.fullmatch(self.record):
            raise Damaged(f"document {self.number} has no digest")

    @property
    def numbers(self) -> range:
        """The numbers of its chunks."""
        return range(self.first_chunk, self.first_chunk + self.chunks)


class Shelf(Protocol):
    """Where documents and chunks are kept, in one transaction that is under way."""

    @property
    def tables(self) -> Tables:
        """Where the posting lists are."""

    def known(self, doc_ids: Sequence[str]) -> Mapping[str, Known]:
        """Return those of these documents that are there, by id."""

    def all_known(self) -> Iterable[Known]:
        """Return all documents that are there."""

    def add(self, source: Source, digests: Digests, place: Known, spans: Sequence[Span]) -> None:
        """Write a document, and its chunks, under the numbers of `place`."""

    def drop(self, known: Known) -> None:
        """Remove a document, its chunks and their vectors."""

    def without_vectors(self, most: int) -> Sequence[tuple[int, str]]:
        """Return (number, title and text) of chunks that have no vector yet."""

    def write_vectors(self, chunks: Sequence[int], vectors: Any) -> None:
        """Write the vectors of chunks: float32, a row each."""


def _page() -> bytearray:
    return bytearray(PAGE)


@dataclass(slots=True)
class Refresh:
    """One refresh: `shelf` as it was in `state`. `where` is the index, for messages."""

    shelf: Shelf
    state: State
    where: str
    done: Counter[str] = field(default_factory=Counter)
    """How many documents, or chunks, by the field of `Changes`."""
    _gone: deque[range] = field(default_factory=deque)
    _seen: dict[int, bytearray] = field(default_factory=lambda: defaultdict(_page))
    """Whether each document that was there was met, by number; pages of them."""
    _first_new: int = 0
    """Documents from this number on are of this refresh."""
    _left: int = 0
    """How many of those that were there were not met."""

    @property
    def changes(self) -> Changes:
        """What was done so far."""
        return Changes(**self.done)

    async def run(
        self, sources: Iterable[Source], embeds: Embeds | None, remove_others: bool
    ) -> State:
        """Make the shelf hold these documents, and return its new state."""
        check_model(self.state, embeds, self.where)
        before = self.state
        self._left = before.documents
        self._first_new = before.next_document
        writer = Writer(self.shelf.tables)
        for source, digests, known in self._looked_up(sources):
            self._take(source, digests, known, writer)
        writer.flush()
        if remove_others:
            self._remove_others()
        remove(self.shelf.tables, (number for numbers in self._gone for number in numbers))
        merge(self.shelf.tables)
        if embeds is not None:
            await self._embed(embeds)
        if self.state != before:
            self.state = replace(self.state, generation=before.generation + 1)
        return self.state

    def _looked_up(
        self, sources: Iterable[Source]
    ) -> Iterator[tuple[Source, Digests, Known | None]]:
        """Yield each document once, the first of its id, its digests, and what is known of it."""
        stream = map(digested, sources)
        while batch := list(islice(stream, BATCH)):
            first: dict[str, tuple[Source, Digests]] = {}
            for source, digests in batch:
                first.setdefault(source.document.doc_id, (source, digests))
            known = self.shelf.known(list(first))
            for doc_id, (source, digests) in first.items():
                found = known.get(doc_id)
                if found is None or self._is_new(found.number):
                    yield source, digests, found

    def _is_new(self, number: int) -> bool:
        """Return whether a document that is there was not met in this refresh, and note it."""
        if number >= self._first_new or self._is_seen(number):
            return False
        self._seen[number // PAGE][number % PAGE] = 1
        self._left -= 1
        return True

    def _is_seen(self, number: int) -> bool:
        return bool(self._seen[number // PAGE][number % PAGE])

    def _take(self, source: Source, digests: Digests, known: Known | None, writer: Writer) -> None:
        if known is not None and known.record == digests.record:
            self.done["kept"] += 1
            return
        if known is not None:
            self._drop(known)
        self.done["added" if known is None else "changed"] += 1
        self._add(source, digests, writer)

    def _add(self, source: Source, digests: Digests, writer: Writer) -> None:
        document, state = source.document, self.state
        text, first = document.full_text, state.next_chunk
        spans = list(chunk_spans(document, state.chunking))
        place = Known(state.next_document, digests.record, first, len(spans))
        self.shelf.add(source, digests, place, spans)
        for number, (start, end) in enumerate(spans, first):
            writer.add(number, chunk_terms(document.title, text[start:end]))
        self.done["chunks"] += len(spans)
        self.state = replace(
            state,
            documents=state.documents + 1,
            chunks=state.chunks + len(spans),
            next_chunk=first + len(spans),
            next_document=state.next_document + 1,
            content=with_record(state.content, digests.record),
        )

    def _drop(self, known: Known) -> None:
        state = self.state
        if known.chunks > state.chunks or known.numbers.stop > state.next_chunk:
            raise Damaged(f"document {known.number} has chunks that are not there")
        self.shelf.drop(known)
        self._gone.append(known.numbers)
        self.state = replace(
            state,
            documents=state.documents - 1,
            chunks=state.chunks - known.chunks,
            content=without_record(state.content, known.record),
        )

    def _remove_others(self) -> None:
        """Remove the documents that were there before, and were not met."""
        for known in list(self._unseen()):
            self._drop(known)
            self.done["removed"] += 1

    def _unseen(self) -> Iterator[Known]:
        if self._left:
            for known in self.shelf.all_known():
                if known.number < self._first_new and not self._is_seen(known.number):
                    yield known

    async def _embed(self, embeds: Embeds) -> None:
        """Give a vector to each chunk that has none."""
        while batch := self.shelf.without_vectors(EMBEDDED):
            numbers, texts = zip(*batch, strict=True)
            vectors = await embeds.embed(texts)
            if vectors.shape != (len(numbers), embeds.model.dimensions):
                wanted = f"{len(numbers)} vectors of {embeds.model.dimensions} numbers"
                raise InputError(f"{named(embeds.model)} gave {vectors.shape} instead of {wanted}")
            self.shelf.write_vectors(numbers, vectors)
        self.state = replace(self.state, vectors=embeds.model)
