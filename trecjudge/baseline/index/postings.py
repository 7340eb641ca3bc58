"""BM25 over posting lists that are kept as bytes, in segments: the same in every database.

A segment holds some chunks, ascending by number, and for each of their terms a posting list: the
places of the chunks in the segment (2 bytes each), then how often each has the term (1 byte each).
It is written once. Chunks that went are noted beside it; they count in nothing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trecjudge.baseline.index.protocol import Found
from trecjudge.inputs.documents.index_file import Damaged

K1, B = 0.9, 0.4
"""How much repetition and length count in BM25, as Anserini sets them."""
MOST_PLACES = 1 << 16
"""Chunks that a segment can have."""
MOST_COUNTED = 255
"""A term that a chunk has more often counts as often as this."""
Numbers = NDArray[np.int64]
Scores = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """A segment as a database has it: `chunks` are int64, `lengths` uint32, `gone` uint16.

    `gone` are the places of the chunks that went.
    """

    segment: int
    chunks: bytes
    lengths: bytes
    gone: bytes = b""


class Tables(Protocol):
    """Where segments are kept. Each method works in the transaction under way."""

    def segments(self) -> Iterable[SegmentRow]:
        """Return all segments, in order of their numbers."""

    def postings(self, terms: Collection[str]) -> Iterable[tuple[int, str, bytes]]:
        """Return (segment, term, posting list) wherever a segment has one of these terms."""

    def postings_of(self, segment: int) -> Iterable[tuple[str, bytes]]:
        """Return every posting list of a segment."""

    def write_segment(self, row: SegmentRow, postings: Iterable[tuple[str, bytes]]) -> None:
        """Write a new segment."""

    def write_gone(self, segment: int, gone: bytes) -> None:
        """Replace the places of the chunks that went from a segment."""

    def drop_segment(self, segment: int) -> None:
        """Remove a segment and its posting lists."""


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """A segment in memory, without its posting lists. `lengths` are in terms."""

    segment: int
    chunks: Numbers
    lengths: NDArray[np.uint32]
    there: Mask

    @classmethod
    def of(cls, row: SegmentRow) -> Segment:
        """Return the segment of a row. Raises Damaged for values that cannot be."""
        chunks = _numbers(row.chunks, "<i8").astype(np.int64)
        lengths, gone = _numbers(row.lengths, "<u4"), _numbers(row.gone, "<u2")
        if not 0 < len(chunks) == len(lengths) <= MOST_PLACES or not _ascends(chunks, 0):
            raise Damaged(f"segment {row.segment} has chunks that cannot be")
        if not _ascends(gone, 0) or (len(gone) and gone[-1] >= len(chunks)):
            raise Damaged(f"segment {row.segment} lacks chunks that it never had")
        there = np.ones(len(chunks), np.bool_)
        there[gone] = False
        return cls(row.segment, chunks, lengths, there)

    @property
    def is_whole(self) -> bool:
        """Whether no chunk went."""
        return bool(self.there.all())

    def places(self, chunks: Numbers) -> NDArray[np.intp]:
        """Return the places of those of these chunks that the segment has."""
        if not len(self.chunks):
            return np.zeros(0, np.intp)
        places = np.minimum(np.searchsorted(self.chunks, chunks), len(self.chunks) - 1)
        found: NDArray[np.intp] = places[self.chunks[places] == chunks]
        return found


def _numbers(data: Any, kind: str) -> NDArray[Any]:
    """Return the numbers of a blob. Raises Damaged for what is no blob of whole numbers."""
    if not isinstance(data, bytes | memoryview) or len(data) % np.dtype(kind).itemsize:
        raise Damaged("numbers are cut, or are none")
    return np.frombuffer(data, kind)


def _ascends(numbers: NDArray[Any], least: int) -> bool:
    """Return whether each number is above the one before, and the first is not below `least`."""
    return not len(numbers) or bool(numbers[0] >= least and (numbers[1:] > numbers[:-1]).all())


def packed(places: NDArray[Any], counts: NDArray[Any]) -> bytes:
    """Return a posting list as bytes."""
    few = np.minimum(counts, MOST_COUNTED)
    return b"".join((places.astype("<u2").tobytes(), few.astype("u1").tobytes()))


def unpacked(postings: bytes, segment: Segment) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """Return the places and the counts of a posting list. Raises Damaged for what cannot be."""
    size = len(_numbers(postings, "V3"))
    places = np.frombuffer(postings, "<u2", size)
    counts = np.frombuffer(postings, np.uint8, offset=2 * size)
    if not size or not _ascends(places, 0) or places[-1] >= len(segment.chunks):
        raise Damaged(f"a term of segment {segment.segment} is in chunks that are not there")
    if not counts.all() or (counts > segment.lengths[places]).any():
        raise Damaged(f"a term of segment {segment.segment} is counted more often than it can be")
    return places, counts


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """The chunks of all segments at one state of the index, searched by BM25.

    The arrays have a place for each chunk: `starts` is where a segment begins in them. `norms` are
    k1 (1 - b + b length / mean length).
    """

    segments: Mapping[int, Segment]
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
        segments = [Segment.of(row) for row in rows]
        sizes = [len(segment.chunks) for segment in segments]
        starts = np.cumsum([0, *sizes])[:-1].tolist()
        chunks = _joined([segment.chunks for segment in segments], np.int64)
        there = _joined([segment.there for segment in segments], np.bool_)
        lengths = _joined([segment.lengths for segment in segments], np.float64)
        mean = float(lengths[there].mean()) if there.any() else 1.0
        norms = K1 * (1 - B + B * lengths / (mean or 1.0))
        named = {segment.segment: segment for segment in segments}
        count = int(np.count_nonzero(there))
        return cls(named, dict(zip(named, starts, strict=True)), chunks, there, norms, count)

    def mask(self, chunks: Numbers) -> Mask:
        """Return which places hold one of these chunks."""
        allowed: Mask = np.isin(self.chunks, chunks)
        return allowed

    def best(
        self, tables: Tables, terms: Mapping[str, float], most: int, allowed: Mask | None = None
    ) -> Found:
        """Return the best chunks by BM25, of those that are `allowed` (places of all chunks).

        Of each term: weight * idf * tf / (tf + norm). Robertson and Zaragoza 2009, without the
        factor k1 + 1, which changes no order.
        """
        scores: Scores = np.zeros(len(self.chunks), np.float64)
        found = self._lists(tables, terms)
        for term, weight in terms.items():
            parts = found.get(term, ())
            value = weight * idf(self.count, self.sizes[term])
            for places, counts in parts:
                # The places of a term are distinct, so each is added to once.
                scores[places] += value * counts / (counts + self.norms[places])
        kept = scores > 0 if allowed is None else (scores > 0) & allowed
        return best_of(scores, kept, self.chunks, most)

    def idf(self, tables: Tables, terms: Iterable[str]) -> dict[str, float]:
        """Return how rare each term is: ln(1 + (N - n + 0.5) / (n + 0.5))."""
        wanted = dict.fromkeys(terms)
        if new := [term for term in wanted if term not in self.sizes]:
            self._lists(tables, new)
        return {term: idf(self.count, self.sizes[term]) for term in wanted}

    def _lists(
        self, tables: Tables, terms: Collection[str]
    ) -> dict[str, list[tuple[NDArray[np.intp], NDArray[np.float64]]]]:
        """Return the posting lists of terms, only of chunks that are there, by segment."""
        lists: dict[str, dict[int, tuple[NDArray[np.intp], NDArray[np.float64]]]]
        lists = defaultdict(dict)
        for number, term, postings in tables.postings(terms):
            segment = self.segments[number]
            places, counts = unpacked(postings, segment)
            if not segment.is_whole:
                kept = segment.there[places]
                places, counts = places[kept], counts[kept]
            start = self.starts[number]
            lists[term][number] = places.astype(np.intp) + start, counts.astype(np.float64)
        for term in terms:
            self.sizes[term] = sum(len(places) for places, _ in lists.get(term, {}).values())
        # In order of the segments, whatever the order of a database is: sums are then equal.
        return {term: [parts[n] for n in sorted(parts)] for term, parts in lists.items()}


def _joined(parts: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, kind), *parts]).astype(kind, copy=False)


def idf(count: int, having: int) -> float:
    """Return ln(1 + (N - n + 0.5) / (n + 0.5)) for N chunks of which n have a term."""
    return math.log(1 + (count - having + 0.5) / (having + 0.5))


def best_of(scores: NDArray[Any], kept: Mask, chunks: Numbers, most: int) -> Found:
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
