"""BM25 over posting lists that are kept as bytes, in segments: the same in every database.

A segment holds some chunks, ascending by number, and for each of their terms a posting list: the
places of the chunks in the segment (2 bytes each), then how often each has the term (1 byte each).
It is written once. Removed chunks are noted beside it; they count in nothing.

SQLite's FTS5 takes 20 times the CPU for a question of 60 words at 100,000 chunks: it scores every
match of every word in turn, where a posting list is one step of numpy.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trecjudge.baseline.index.records import Hits, Numbers, SegmentRow
from trecjudge.baseline.index.store import Store
from trecjudge.inputs.documents.index_file import DamagedIndex

K1, B = 0.9, 0.4
"""How much repetition and length count in BM25, as Anserini sets them."""
MOST_PLACES = 1 << 16
"""Chunks that a segment can have."""
MOST_COUNTED = 255
"""A term that a chunk has more often counts as often as this."""
MOST_CHUNKS = 1 << 14
"""Chunks of a segment: one is held in memory while it is written. At most 65,536."""
MOST_TOKENS, MOST_TERMS = 1 << 22, 1 << 19
"""Terms in all chunks of a segment, and different ones: more than whole segments of prose have."""
FAN = 8
"""So many segments of about one size become one."""
Scores = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class PostingSegment:
    """A segment in memory, without its posting lists. `lengths` are in terms."""

    segment: int
    chunks: Numbers
    lengths: NDArray[np.uint32]
    there: Mask
    is_whole: bool
    """Whether none of its chunks was removed."""

    @classmethod
    def of(cls, row: SegmentRow) -> PostingSegment:
        """Return the segment of a row. Raises DamagedIndex for values that cannot be."""
        chunks = _numbers(row.chunks, "<i8").astype(np.int64)
        lengths, gone = _numbers(row.lengths, "<u4"), _numbers(row.gone, "<u2")
        if not 0 < len(chunks) == len(lengths) <= MOST_PLACES or not _ascends(chunks):
            raise DamagedIndex(f"segment {row.segment} has chunks that cannot be")
        if not _ascends(gone) or (len(gone) and gone[-1] >= len(chunks)):
            raise DamagedIndex(f"segment {row.segment} lacks chunks that it never had")
        there = np.ones(len(chunks), np.bool_)
        there[gone] = False
        return cls(row.segment, chunks, lengths, there, not len(gone))

    def postings(self, data: bytes) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
        """Return places and counts of a posting list. Raises DamagedIndex for what cannot be."""
        size = len(_numbers(data, "V3"))
        places = np.frombuffer(data, "<u2", size)
        counts = np.frombuffer(data, np.uint8, offset=2 * size)
        if not size or not _ascends(places) or places[-1] >= len(self.chunks):
            raise DamagedIndex(f"a term of segment {self.segment} is in chunks that are not there")
        if not counts.all() or (counts > self.lengths[places]).any():
            raise DamagedIndex(
                f"a term of segment {self.segment} is counted more often than it can be"
            )
        if self.is_whole:
            return places, counts
        kept = self.there[places]
        return places[kept], counts[kept]


def _numbers(data: Any, kind: str) -> NDArray[Any]:
    """Return the numbers of a blob. Raises DamagedIndex for what is no blob of whole numbers."""
    if not isinstance(data, bytes | memoryview) or len(data) % np.dtype(kind).itemsize:
        raise DamagedIndex("numbers are cut, or are none")
    return np.frombuffer(data, kind)


def _ascends(numbers: NDArray[Any]) -> bool:
    """Return whether no number is negative, and each is above the one before."""
    return not len(numbers) or bool(numbers[0] >= 0 and (numbers[1:] > numbers[:-1]).all())


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """The chunks of all segments at one state of the index, searched by BM25.

    The arrays have a place for each chunk: `starts` is where a segment begins in them. `norms` are
    k1 (1 - b + b length / mean length).
    """

    segments: Mapping[int, PostingSegment]
    starts: Mapping[int, int]
    chunks: Numbers
    there: Mask
    norms: Scores
    count: int
    """How many chunks are there."""
    sizes: dict[str, int] = field(default_factory=dict)
    """How many chunks have a term, of those that were looked up."""

    @classmethod
    def of(cls, rows: Iterable[SegmentRow]) -> Postings:
        """Return the posting lists of these segments."""
        segments = [PostingSegment.of(row) for row in rows]
        starts = np.cumsum([0, *(len(segment.chunks) for segment in segments)])[:-1].tolist()
        chunks = _concatenate([segment.chunks for segment in segments], np.int64)
        there = _concatenate([segment.there for segment in segments], np.bool_)
        lengths = _concatenate([segment.lengths for segment in segments], np.float64)
        mean = float(lengths[there].mean()) if there.any() else 1.0
        norms = K1 * (1 - B + B * lengths / (mean or 1.0))
        named = {segment.segment: segment for segment in segments}
        present = int(np.count_nonzero(there))
        return cls(named, dict(zip(named, starts, strict=True)), chunks, there, norms, present)

    @property
    def present(self) -> Numbers:
        """The numbers of the chunks that are there, ascending."""
        return np.sort(self.chunks[self.there], kind="stable")

    def check(self, chunks: int, next_chunk: int) -> None:
        """Raise DamagedIndex unless so many chunks are there, each once, below `next_chunk`."""
        there = self.present
        if len(there) != chunks or (there[1:] == there[:-1]).any():
            raise DamagedIndex(f"its words are of {len(there)} chunks, and it has {chunks}")
        if len(there) and there[-1] >= next_chunk:
            raise DamagedIndex("its words are of chunks that are not there")

    def best(
        self, store: Store, terms: Mapping[str, float], most: int, allowed: Numbers | None = None
    ) -> Hits:
        """Return the best chunks by BM25; only `allowed` ones, if these are given.

        Of each term: weight * idf * tf / (tf + norm). Robertson and Zaragoza 2009, without the
        factor k1 + 1, which changes no order.
        """
        # An array over all chunks is cheaper than a table of those met: common words meet most.
        scores: Scores = np.zeros(len(self.chunks), np.float64)
        lists = self._lists(store, terms)
        for term, weight in terms.items():
            value = weight * idf(self.count, self.sizes[term])
            for places, counts in lists.get(term, ()):
                # The places of a term are distinct, so each is added to once.
                scores[places] += value * counts / (counts + self.norms[places])
        kept = scores > 0
        if allowed is not None:
            kept &= np.isin(self.chunks, allowed)
        return best_of(scores, kept, self.chunks, most)

    def idf(self, store: Store, terms: Iterable[str]) -> dict[str, float]:
        """Return how rare each term is: ln(1 + (N - n + 0.5) / (n + 0.5))."""
        wanted = dict.fromkeys(terms)
        if new := [term for term in wanted if term not in self.sizes]:
            self._lists(store, new)
        return {term: idf(self.count, self.sizes[term]) for term in wanted}

    def _lists(
        self, store: Store, terms: Collection[str]
    ) -> dict[str, list[tuple[NDArray[np.intp], Scores]]]:
        """Return the posting lists of terms, only of chunks that are there, by segment."""
        lists: dict[str, dict[int, tuple[NDArray[np.intp], Scores]]] = defaultdict(dict)
        for number, term, data in store.postings(list(self.segments), terms):
            places, counts = self.segments[number].postings(data)
            moved = places.astype(np.intp) + self.starts[number]
            lists[term][number] = moved, counts.astype(np.float64)
        for term in terms:
            self.sizes[term] = sum(len(places) for places, _ in lists.get(term, {}).values())
        # In order of the segments, whatever the order of a database is: sums are then equal.
        return {term: [parts[n] for n in sorted(parts)] for term, parts in lists.items()}


def _concatenate(parts: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, kind), *parts]).astype(kind, copy=False)


def idf(chunks: int, having: int) -> float:
    """Return ln(1 + (N - n + 0.5) / (n + 0.5)) for N chunks of which n have a term."""
    return math.log(1 + (chunks - having + 0.5) / (having + 0.5))


def best_of(scores: NDArray[Any], kept: Mask, chunks: Numbers, most: int) -> Hits:
    """Return (chunk, score) of the best that are `kept`; of equal ones the lower chunk first."""
    places: NDArray[np.intp] = np.flatnonzero(kept)
    if most <= 0:
        return []
    if len(places) > most:
        held = scores[places]
        least = np.partition(held, len(held) - most)[len(held) - most]
        places = places[held >= least]
    order = np.lexsort((chunks[places], -scores[places]))[:most]
    return [(int(chunks[p]), float(scores[p])) for p in places[order]]


class SegmentWriter:
    """Gathers the terms of new chunks, and writes a segment whenever one is full."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._next = 1 + max((row.segment for row in store.segments()), default=0)
        self._begin()

    def _begin(self) -> None:
        self._chunks, self._lengths, self._tokens = array("q"), array("I"), array("I")
        self._ids: defaultdict[str, int] = defaultdict(count().__next__)

    def add(self, chunk: int, terms: Sequence[str]) -> None:
        """Add a chunk, with a higher number than those before."""
        self._chunks.append(chunk)
        self._lengths.append(len(terms))
        self._tokens.extend(map(self._ids.__getitem__, terms))
        most = len(self._tokens) >= MOST_TOKENS or len(self._ids) >= MOST_TERMS
        if most or len(self._chunks) >= MOST_CHUNKS:
            self.flush()

    def flush(self) -> None:
        """Write what is left."""
        if not self._chunks:
            return
        lengths = np.frombuffer(self._lengths, np.uint32)
        places = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
        # A term and a place in one number: one sort then groups and counts all of them.
        keys = (np.frombuffer(self._tokens, np.uint32).astype(np.int64) << 16) | places
        keys, counts = np.unique(keys, return_counts=True)
        chunks = np.frombuffer(self._chunks, np.int64)
        self.write(chunks, lengths, list(self._ids), keys, counts)
        self._begin()

    def write(
        self,
        chunks: Numbers,
        lengths: NDArray[np.uint32],
        terms: Sequence[str],
        keys: Numbers,
        counts: Numbers,
    ) -> None:
        """Write a segment. `keys`, ascending, are 65,536 times a place in `terms`, plus a place in
        `chunks`; `counts` has how often that chunk has that term.
        """
        row = SegmentRow(
            self._next, chunks.astype("<i8").tobytes(), lengths.astype("<u4").tobytes()
        )
        self._next += 1
        self._store.write_segment(row, _packed_lists(terms, keys, counts))


def _packed_lists(
    terms: Sequence[str], keys: Numbers, counts: Numbers
) -> Iterator[tuple[str, bytes]]:
    """Yield the posting list of each term, in order of the terms."""
    ends = np.searchsorted(keys >> 16, np.arange(len(terms)), side="right").tolist()
    starts = [0, *ends]
    places = (keys & 0xFFFF).astype("<u2")
    few = np.minimum(counts, MOST_COUNTED).astype("u1")
    # In order of its key a database writes a row beside the one before.
    for number in sorted(range(len(terms)), key=terms.__getitem__):
        own = slice(starts[number], ends[number])
        if own.stop > own.start:
            yield terms[number], places[own].tobytes() + few[own].tobytes()


def remove_chunks(store: Store, chunks: Iterable[int]) -> None:
    """Note beside each segment which of its chunks were removed."""
    gone = np.unique(np.fromiter(chunks, np.int64))
    if not len(gone):
        return
    for row in store.segments():
        segment = PostingSegment.of(row)
        touched = np.isin(segment.chunks, gone)
        if touched.any():
            left = np.flatnonzero(touched | ~segment.there).astype("<u2")
            store.write_gone(segment.segment, left.tobytes())


def merge_segments(store: Store) -> None:
    """Merge segments of about one size where there are many, and rewrite those half gone."""
    while True:
        chosen = _to_merge([PostingSegment.of(row) for row in store.segments()])
        if not chosen or not _merge(store, chosen):
            return
        for segment in chosen:
            store.drop_segment(segment.segment)


def _to_merge(segments: Sequence[PostingSegment]) -> list[PostingSegment]:
    """Return segments that should become one; none where all is well."""
    tiers: defaultdict[int, list[PostingSegment]] = defaultdict(list)
    for segment in segments:
        there = int(np.count_nonzero(segment.there))
        if there * 2 < len(segment.chunks):
            # More would be read for each question than is there.
            return [segment]
        tiers[int(math.log(max(there, 1), FAN))].append(segment)
    for tier, alike in sorted(tiers.items()):
        if len(alike) >= FAN and FAN ** (tier + 1) < MOST_CHUNKS:
            return alike[:FAN]
    return []


def _merge(store: Store, segments: Sequence[PostingSegment]) -> bool:
    """Write what is there of some segments as one new segment.

    Returns False, and they stay, where that would have more terms than are held in memory.
    """
    chunks = np.concatenate([s.chunks[s.there] for s in segments])
    if not len(chunks):
        return True
    lengths = np.concatenate([s.lengths[s.there] for s in segments])
    # Numbers of segments that were merged at different times interleave.
    order = np.argsort(chunks)
    ids: defaultdict[str, int] = defaultdict(count().__next__)
    keys, counts = array("q"), array("q")
    for segment in segments:
        moved = np.searchsorted(chunks[order], segment.chunks)
        for term, data in store.postings_of(segment.segment):
            places, often = segment.postings(data)
            if len(places):
                keys.frombytes(((ids[term] << 16) | moved[places]).tobytes())
                counts.frombytes(often.astype(np.int64).tobytes())
            if len(ids) > 2 * MOST_TERMS or len(keys) > 4 * MOST_TOKENS:
                return False
    every = np.frombuffer(keys, np.int64)
    by_key = np.argsort(every)
    often_by_key = np.frombuffer(counts, np.int64)[by_key]
    writer = SegmentWriter(store)
    writer.write(chunks[order], lengths[order], list(ids), every[by_key], often_by_key)
    return True
