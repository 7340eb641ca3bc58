"""A document, indexed once for comparison with many sentences."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trecjudge.text.negation import denials, negated_positions
from trecjudge.text.sentences import sentence_spans
from trecjudge.text.tokens import Token, tokenize

# Tables and lists have no stops: a "sentence" longer than this is cut.
_LONGEST_SEGMENT = 60
SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
"""The forms of words that multiply a number, and the zeros that each adds."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The token index of a text.

    A segment is a sentence, or a line or 60 tokens of one. `spans[i]` are the character offsets
    of segment i; `segments_of[form]` the ascending indexes of the segments that have the form;
    `negated_in[form]` those of them where it stands under a negation; `denying` the segments
    with any word of denial.
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    segments_of: Mapping[str, list[int]]
    negated_in: Mapping[str, frozenset[int]]
    denying: frozenset[int]


def prepare(text: str) -> Prepared:
    """Return the index of a document. Any text will do, also the empty one."""
    segments = list(_segments(text))
    segments_of: dict[str, list[int]] = {}
    for index, tokens in enumerate(segments):
        for form in {token[0] for token in tokens}:
            segments_of.setdefault(form, []).append(index)
    denying = frozenset(
        index for form in denials(segments_of.keys()) for index in segments_of[form]
    )
    negated = _negated(segments, denying)
    if not SCALES.keys().isdisjoint(segments_of):
        _add_written_out(segments, segments_of)
    spans = tuple((tokens[0].start, tokens[-1].end) for tokens in segments)
    return Prepared(text, spans, segments_of, negated, denying)


def _negated(segments: Sequence[list[Token]], denying: frozenset[int]) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for index in denying:
        for position in negated_positions(segments[index]):
            found.setdefault(segments[index][position].form, set()).add(index)
    return {form: frozenset(indexes) for form, indexes in found.items()}


def _add_written_out(segments: Sequence[list[Token]], segments_of: dict[str, list[int]]) -> None:
    """Add "1500000" to the index for "1.5 million"."""
    for index, tokens in enumerate(segments):
        for number, scale in pairwise(tokens):
            written_out = scaled(number.form, scale.form)
            if written_out and index not in segments_of.setdefault(written_out, []):
                insort(segments_of[written_out], index)


def scaled(number: str, scale: str) -> str:
    """Return the number form of `number` times the scale word, "" if that is none."""
    whole, _, decimals = number.partition(".")
    zeros = SCALES.get(scale, -1) - len(decimals)
    if zeros < 0 or not (whole + decimals).isdecimal():
        return ""
    return (whole + decimals + "0" * zeros).lstrip("0")


def _segments(text: str) -> Iterator[list[Token]]:
    """Yield the tokens of every segment; segments have at least one token."""
    tokens = tokenize(text)
    begin = 0
    for end in _segment_ends(text):
        stop = begin
        while stop < len(tokens) and tokens[stop].start < end:
            stop += 1
        for first in range(begin, stop, _LONGEST_SEGMENT):
            yield tokens[first : min(first + _LONGEST_SEGMENT, stop)]
        begin = stop


def _segment_ends(text: str) -> Iterator[int]:
    for start, end in sentence_spans(text):
        position = text.find("\n", start, end)
        while position >= 0:
            yield position
            position = text.find("\n", position + 1, end)
        yield end
