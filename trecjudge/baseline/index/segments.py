"""Segments of posting lists written, merged, and noted as partly gone."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from trecjudge.baseline.index.postings import (
    Numbers,
    Segment,
    SegmentRow,
    Tables,
    packed,
    unpacked,
)

MOST_CHUNKS = 1 << 14
"""Chunks of a segment: one is held in memory while it is written. At most 65,536."""
MOST_TOKENS, MOST_TERMS = 1 << 22, 1 << 19
"""Terms in all chunks of a segment, and different ones: more than whole segments of prose have."""
FAN = 8
"""So many segments of about one size become one."""


class Writer:
    """Gathers the terms of new chunks, and writes a segment whenever one is full."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._next = 1 + max((row.segment for row in tables.segments()), default=0)
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
        keys = (np.frombuffer(self._tokens, np.uint32).astype(np.int64) << 16) | places
        keys, counts = np.unique(keys, return_counts=True)
        chunks = np.frombuffer(self._chunks, np.int64)
        self.write(chunks, lengths, list(self._ids), keys >> 16, keys & 0xFFFF, counts)
        self._begin()

    def write(
        self,
        chunks: Numbers,
        lengths: NDArray[np.uint32],
        terms: Sequence[str],
        ids: NDArray[np.int64],
        places: NDArray[np.int64],
        counts: NDArray[np.int64],
    ) -> None:
        """Write a segment: `ids` (places in `terms`), ascending, with a place and a count each."""
        row = SegmentRow(
            self._next, chunks.astype("<i8").tobytes(), lengths.astype("<u4").tobytes()
        )
        self._next += 1
        self._tables.write_segment(row, _lists(terms, ids, places, counts))


def _lists(
    terms: Sequence[str],
    ids: NDArray[np.int64],
    places: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> Iterator[tuple[str, bytes]]:
    """Yield the posting list of each term, in order of the terms."""
    ends = np.searchsorted(ids, np.arange(len(terms)), side="right").tolist()
    starts = [0, *ends]
    # In order of its key a database writes a row beside the one before.
    for number in sorted(range(len(terms)), key=terms.__getitem__):
        start, end = starts[number], ends[number]
        if end > start:
            yield terms[number], packed(places[start:end], counts[start:end])


def remove(tables: Tables, chunks: Iterable[int]) -> None:
    """Note that chunks went."""
    gone = np.unique(np.fromiter(chunks, np.int64))
    if not len(gone):
        return
    for row in tables.segments():
        segment = Segment.of(row)
        places = segment.places(gone)
        if len(places):
            segment.there[places] = False
            left = np.flatnonzero(~segment.there).astype("<u2")
            tables.write_gone(segment.segment, left.tobytes())


def merge(tables: Tables) -> None:
    """Merge segments of about one size where there are many, and rewrite those half gone."""
    while True:
        chosen = _chosen([Segment.of(row) for row in tables.segments()])
        if not chosen or not _merge(tables, chosen):
            return
        for segment in chosen:
            tables.drop_segment(segment.segment)


def _chosen(segments: Sequence[Segment]) -> list[Segment]:
    """Return segments that should become one; none where all is well."""
    tiers: defaultdict[int, list[Segment]] = defaultdict(list)
    for segment in segments:
        there = int(np.count_nonzero(segment.there))
        if there * 2 < len(segment.chunks):
            return [segment]
        tiers[int(math.log(max(there, 1), FAN))].append(segment)
    for tier, alike in sorted(tiers.items()):
        if len(alike) >= FAN and FAN ** (tier + 1) < MOST_CHUNKS:
            return alike[:FAN]
    return []


def _merge(tables: Tables, segments: Sequence[Segment]) -> bool:
    """Write what is there of some segments as one new segment; False where it would be too large.

    Then they stay: it has more terms than are held in memory.
    """
    chunks = np.concatenate([s.chunks[s.there] for s in segments])
    if not len(chunks):
        return True
    lengths = np.concatenate([s.lengths[s.there] for s in segments])
    order = np.argsort(chunks)
    ids: defaultdict[str, int] = defaultdict(count().__next__)
    keys, counts = array("q"), array("q")
    for segment in segments:
        moved = np.searchsorted(chunks[order], segment.chunks)
        for term, postings in tables.postings_of(segment.segment):
            places, often = unpacked(postings, segment)
            kept = segment.there[places]
            if kept.any():
                keys.frombytes(((ids[term] << 16) | moved[places[kept]]).tobytes())
                counts.frombytes(often[kept].astype(np.int64).tobytes())
            if len(ids) > 2 * MOST_TERMS or len(keys) > 4 * MOST_TOKENS:
                return False
    every = np.frombuffer(keys, np.int64)
    by_key = np.argsort(every)
    every = every[by_key]
    often_by_key = np.frombuffer(counts, np.int64)[by_key]
    found = (list(ids), every >> 16, every & 0xFFFF, often_by_key)
    Writer(tables).write(chunks[order], lengths[order], *found)
    return True
