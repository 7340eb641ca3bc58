"""The passage of a document that has the most of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trecjudge.judging.offline.prepared import Prepared
from trecjudge.judging.offline.wording import Term

LENGTH = 3
"""Segments in a passage."""
LONG = 300
"""Tokens of a document from which on only its best passages count."""
MOST_PASSAGES = 2
"""So many of these."""

# A segment at the edge of the passage is dropped as evidence if it adds less than this share.
_LEAST_ADDED = 0.1


class PassageSpan(NamedTuple):
    """Segments `first` to `last` (inclusive), their character offsets, and the weight found."""

    first: int
    last: int
    start: int
    end: int
    weight: float


NO_PASSAGE = PassageSpan(0, -1, 0, 0, 0.0)


def passage_weights(present: Sequence[tuple[Term, float]], document: Prepared) -> list[float]:
    """Return the weight of the terms in each passage of three segments, by its first segment."""
    weights = [0.0] * len(document.spans)
    for term, weight in present:
        uncovered = 0
        for segment in document.segments_of[term.form]:
            first = segment - LENGTH + 1
            for start in range(first if first > uncovered else uncovered, segment + 1):
                weights[start] += weight
            uncovered = segment + 1  # a passage counts a term once, however often it has it
    return weights


def best_part(terms: Sequence[Term], document: Prepared) -> Prepared:
    """Return a long document as its best passages only: all of it has every word somewhere.

    The first is the heaviest, each next one that which adds most to those before, until so many
    words are taken or none adds anything.
    """
    present = [(term, term.weight) for term in terms if term.form in document.segments_of]
    wanted: set[int] = set()
    left = present
    for _ in range(MOST_PASSAGES):
        if not left:
            break
        weights = passage_weights(left, document)
        best = max(weights)
        if best <= 0.0:
            break
        first = weights.index(best)
        wanted.update(range(first, min(first + LENGTH, len(weights))))
        left = [
            (term, weight)
            for term, weight in left
            if wanted.isdisjoint(document.segments_of[term.form])
        ]
    return document.within(sorted(wanted), [term.form for term in terms])


def best_passage(present: Sequence[tuple[Term, float]], document: Prepared) -> PassageSpan:
    """Return the first of the heaviest passages of three segments, without edges that add little.

    Linear in the segments that have a term. `present` are terms of the document, at least one.
    """
    weights = passage_weights(present, document)
    best = max(weights)
    first = weights.index(best)  # of equal passages the first, so that evidence never changes
    last = min(first + LENGTH, len(weights)) - 1
    first, last = _trim_passage(first, last, best, present, document)
    return PassageSpan(first, last, document.spans[first][0], document.spans[last][1], best)


def _trim_passage(
    first: int, last: int, best: float, present: Sequence[tuple[Term, float]], document: Prepared
) -> tuple[int, int]:
    # The weight of the terms by the set of segments that have them, a bit for each segment.
    of_set = [0.0] * (1 << (last - first + 1))
    begin = first
    for term, weight in present:
        segments = document.segments_of[term.form]
        bits = 0
        for segment in range(first, last + 1):
            if segment in segments:
                bits |= 1 << (segment - begin)
        of_set[bits] += weight

    def within(start: int, stop: int) -> float:
        wanted = (1 << (stop - begin + 1)) - (1 << (start - begin))
        return sum([weight for bits, weight in enumerate(of_set) if bits & wanted])

    enough = best * (1 - _LEAST_ADDED)
    while first < last and within(first + 1, last) >= enough:
        first += 1
    while first < last and within(first, last - 1) >= enough:
        last -= 1
    return first, last
