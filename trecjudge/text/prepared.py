"""A document, indexed once for comparison with many sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from trecjudge.text.negation import negated_positions
from trecjudge.text.sentences import sentence_spans
from trecjudge.text.tokens import Token, tokenize

# Tables and lists have no stops: a "sentence" longer than this is cut.
_LONGEST_SEGMENT = 60
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}


@dataclass(frozen=True, slots=True)
class Prepared:
    """The token index of a text.

    A segment is a sentence, or a line or 60 tokens of one. `spans[i]` are the character offsets
    of segment i; `segments_of[form]` the ascending indexes of the segments that have the form;
    `negated_in[form]` those of them where it stands under a negation.
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    segments_of: Mapping[str, list[int]]
    negated_in: Mapping[str, frozenset[int]]


def prepare(text: str) -> Prepared:
    """Return the index of a document. Any text will do, also the empty one."""
    spans: list[tuple[int, int]] = []
    segments_of: dict[str, list[int]] = {}
    negated: dict[str, set[int]] = {}
    for tokens in _segments(text):
        index = len(spans)
        spans.append((tokens[0].start, tokens[-1].end))
        forms = {token.form for token in tokens}
        forms.update(written_out(tokens))
        for form in forms:
            segments_of.setdefault(form, []).append(index)
        for position in negated_positions(tokens):
            negated.setdefault(tokens[position].form, set()).add(index)
    frozen = {form: frozenset(indexes) for form, indexes in negated.items()}
    return Prepared(text, tuple(spans), segments_of, frozen)


def written_out(tokens: list[Token]) -> Iterator[str]:
    """Yield "1500000" for "1.5 million"."""
    for (form, _, _), (scale, _, _) in pairwise(tokens):
        if scale in _SCALES and form[0].isdigit():
            yield scaled(form, scale)


def scaled(number: str, scale: str) -> str:
    """Return the number form of `number` times the scale word, "" if that is none."""
    whole, _, decimals = number.partition(".")
    zeros = _SCALES.get(scale, -1) - len(decimals)
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
