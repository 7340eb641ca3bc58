"""A document, indexed once to be compared with many sentences, and its passages."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from trecjudge.text.forms import has_humps, join_forms, parts_of
from trecjudge.text.numbers import has_other_writings, other_writings
from trecjudge.text.qualifiers import HEDGES, denials, negated_positions, said_of_keys
from trecjudge.text.sentences import sentence_spans
from trecjudge.text.tokens import read_forms, scripts, tokenize

# A document, indexed once for comparison with many sentences.
# Tables and lists have no stops: a "sentence" longer than this is cut.
_LONGEST_SEGMENT = 60


class Segment(NamedTuple):
    """A stretch of the text (character offsets), its tokens as written, and their forms."""

    start: int
    end: int
    written: Sequence[str]
    forms: Sequence[str]


@dataclass(frozen=True, slots=True)
class Prepared:
    """The token index of a text.

    A segment is a sentence, or a line or 60 tokens of one. `spans[i]` are the character offsets
    of segment i, `forms[i]` its forms as it is written; `segments_of[form]` the ascending indexes
    of the segments that have the form, be it in another writing; `row` all forms as they follow
    each other, for `neighbours_in`; `tokens` counts them all. `negated_in[form]` are those of the
    segments where it stands under a negation; `denying` and `hedging` the segments with any word
    of denial, of doubt; `affirmed` the forms of JSON keys whose value is true.
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    segments_of: Mapping[str, Sequence[int]]
    row: str
    tokens: int
    negated_in: Mapping[str, frozenset[int]]
    denying: frozenset[int]
    hedging: frozenset[int]
    forms: Sequence[Sequence[str]]
    affirmed: frozenset[str] = frozenset()

    def within(self, wanted: Sequence[int], forms: Iterable[str]) -> Prepared:
        """Return the document as if it had only the segments `wanted`, in their order.

        `forms` are what is looked for: of these other writings are kept.
        """
        segments_of: dict[str, tuple[int, ...]] = {}
        for index in wanted:
            _add_segment(segments_of, self.forms[index], index)
        chosen = set(wanted)
        for form in self.segments_of.keys() & forms:
            if own_segments := tuple([i for i in self.segments_of[form] if i in chosen]):
                segments_of[form] = own_segments
        rows = [self.forms[index] for index in wanted]
        return Prepared(
            *(self.text, self.spans, segments_of, join_forms(rows), sum(map(len, rows))),
            self.negated_in,
            *(self.denying, self.hedging, self.forms, self.affirmed),
        )

    def forms_between(self, first: int, last: int) -> frozenset[str]:
        """Return the forms of the segments `first` to `last`, inclusive."""
        return frozenset().union(*self.forms[first : last + 1])


# Runs on one topic cite the same documents, and several judges look into them.
@lru_cache(maxsize=1024)
def prepared_text(text: str) -> Prepared:
    """Return the index of a document, remembered."""
    return prepare(text)


@lru_cache(maxsize=1024)
def scripts_of(text: str) -> frozenset[str]:
    """Return the writing systems of a document, remembered."""
    return scripts(text)


def prepare(text: str) -> Prepared:
    """Return the index of a document. Any text will do, also the empty one."""
    segments = list(_segments(text))
    segments_of: dict[str, tuple[int, ...]] = {}
    for index, segment in enumerate(segments):
        _add_segment(segments_of, segment.forms, index)
    # Before other writings are added: those are no words of the text.
    denying = _segments_with(denials(segments_of.keys()), segments_of)
    hedging = _segments_with(HEDGES & segments_of.keys(), segments_of)
    negated = _negated_forms(segments, denying)
    affirmed, denied = _keys(text, segments)
    for form, indexes in denied.items():
        negated[form] = negated.get(form, frozenset()) | indexes
        denying |= indexes
    forms = [segment.forms for segment in segments]
    _add_other_writings(text, segments, segments_of)
    spans = tuple((segment.start, segment.end) for segment in segments)
    return Prepared(
        *(text, spans, segments_of, join_forms(forms), sum(map(len, forms))),
        *(negated, denying, hedging, forms),
        affirmed=affirmed,
    )


def _add_segment(segments_of: dict[str, tuple[int, ...]], forms: Iterable[str], index: int) -> None:
    # The words of a segment that no other has, which are most, share one tuple.
    only: tuple[int, ...] = (index,)
    found = dict.fromkeys(forms, only)
    for form in found.keys() & segments_of.keys():
        found[form] = (*segments_of[form], index)
    segments_of.update(found)


def _keys(
    text: str, segments: Sequence[Segment]
) -> tuple[frozenset[str], dict[str, frozenset[int]]]:
    """Return the forms of keys with a value of yes; those with no, and the segments they are in."""
    affirmed: set[str] = set()
    denied: dict[str, frozenset[int]] = {}
    said = said_of_keys(text)
    for offset, key, yes in said:
        written, forms = read_forms(key.replace("_", " "))
        found = {*forms, *parts_of(written)}
        if yes:
            affirmed |= found
            continue
        at = bisect_right(segments, offset + len(key), key=lambda segment: segment.start) - 1
        for form in found:
            denied[form] = denied.get(form, frozenset()) | {max(at, 0)}
    return frozenset(affirmed), {form: at for form, at in denied.items() if form not in affirmed}


def _segments_with(
    forms: Iterable[str], segments_of: Mapping[str, Sequence[int]]
) -> frozenset[int]:
    return frozenset(index for form in forms for index in segments_of[form])


def _negated_forms(
    segments: Sequence[Segment], denying: frozenset[int]
) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for index in denying:
        forms = segments[index].forms
        for position in negated_positions(forms):
            found.setdefault(forms[position], set()).add(index)
    return {form: frozenset(indexes) for form, indexes in found.items()}


def _add_other_writings(
    text: str, segments: Sequence[Segment], segments_of: dict[str, tuple[int, ...]]
) -> None:
    """Add to the index "1500000" for "1.5 million", "percent" for "%", "total" for "totalSum"."""
    numbers, humps = has_other_writings(text, segments_of.keys()), has_humps(text)
    if not (numbers or humps):
        return
    for index, (start, end, written, forms) in enumerate(segments):
        found = list(parts_of(written)) if humps else []
        if numbers:
            found += other_writings(text[max(0, start - 1) : end + 2], written, forms)
        for form in found:
            known = segments_of.get(form, ())
            if index not in known:
                segments_of[form] = tuple(sorted((*known, index)))


def _segments(text: str) -> Iterator[Segment]:
    """Yield the segments that have a token."""
    begin = 0
    for end in _segment_ends(text):
        written, forms = read_forms(text[begin:end])
        if len(forms) > _LONGEST_SEGMENT:
            yield from _cut(text, begin, end)
        elif forms:
            first = text.index(written[0], begin)
            yield Segment(
                first, text.rindex(written[-1], first, end) + len(written[-1]), written, forms
            )
        begin = end


def _cut(text: str, begin: int, end: int) -> Iterator[Segment]:
    """Yield the segments of a stretch that is too long for one."""
    tokens = tokenize(text[begin:end])
    for first in range(0, len(tokens), _LONGEST_SEGMENT):
        part = tokens[first : first + _LONGEST_SEGMENT]
        written = [text[begin + token.start : begin + token.end] for token in part]
        forms = [token.form for token in part]
        yield Segment(begin + part[0].start, begin + part[-1].end, written, forms)


def _segment_ends(text: str) -> Iterator[int]:
    for start, end in sentence_spans(text):
        position = text.find("\n", start, end)
        while position >= 0:
            yield position
            position = text.find("\n", position + 1, end)
        yield end


# The passage of a document that has the most of a sentence.
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


def passage_weights(present: Sequence[tuple[str, float]], document: Prepared) -> list[float]:
    """Return the weight of the forms in each passage of three segments, by its first segment."""
    weights = [0.0] * len(document.spans)
    for form, weight in present:
        uncovered = 0
        for segment in document.segments_of[form]:
            first = segment - LENGTH + 1
            for start in range(first if first > uncovered else uncovered, segment + 1):
                weights[start] += weight
            uncovered = segment + 1  # a passage counts a term once, however often it has it
    return weights


def best_part(wanted: Sequence[tuple[str, float]], document: Prepared) -> Prepared:
    """Return a long document as its best passages only: all of it has every word somewhere.

    The first is the heaviest, each next one that which adds most to those before, until so many
    words are taken or none adds anything. `wanted` are forms with their weights.
    """
    present = [pair for pair in wanted if pair[0] in document.segments_of]
    chosen: set[int] = set()
    left = present
    for _ in range(MOST_PASSAGES):
        if not left:
            break
        weights = passage_weights(left, document)
        best = max(weights)
        if best <= 0.0:
            break
        first = weights.index(best)
        chosen.update(range(first, min(first + LENGTH, len(weights))))
        left = [
            (form, weight) for form, weight in left if chosen.isdisjoint(document.segments_of[form])
        ]
    return document.within(sorted(chosen), [form for form, _ in wanted])


def best_passage(present: Sequence[tuple[str, float]], document: Prepared) -> PassageSpan:
    """Return the first of the heaviest passages of three segments, without edges that add little.

    Linear in the segments that have a term. `present` are forms of the document, at least one.
    """
    weights = passage_weights(present, document)
    best = max(weights)
    first = weights.index(best)  # of equal passages the first, so that evidence never changes
    last = min(first + LENGTH, len(weights)) - 1
    first, last = _trim_passage(first, last, best, present, document)
    return PassageSpan(first, last, document.spans[first][0], document.spans[last][1], best)


def _trim_passage(
    first: int, last: int, best: float, present: Sequence[tuple[str, float]], document: Prepared
) -> tuple[int, int]:
    # The weight of the forms by the set of segments that have them, a bit for each segment.
    of_set = [0.0] * (1 << (last - first + 1))
    begin = first
    for form, weight in present:
        segments = document.segments_of[form]
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
