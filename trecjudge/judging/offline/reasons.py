"""The reason for a label, in words that cannot contradict the label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from trecjudge.judging.offline.features import Measurements
from trecjudge.judging.offline.wording import Term

Label = Literal["full_support", "partial_support", "no_support"]
_MOST_MISSING = 8
_NEARLY_ALL = 0.9


def reason_of(label: Label, found: Measurements, missing: Sequence[str]) -> str:
    """Return how much of the sentence is in the document, and what speaks against support.

    Full support has most of the sentence there and nothing against it: words that are missing are
    in other words. With any other label the reason lists what is missing or different, if
    anything is.
    """
    share = f"{found.in_document:.0%} of the sentence's weight is in the document"
    if found.in_passage < found.in_document:
        share += f", {found.in_passage:.0%} in one passage"
    if label == "full_support":
        against = list(_reword_notes(found, missing))
    else:
        against = list(_against(found, missing)) or [_reason_undecided(found)]
    return "; ".join((share.replace("%", " %"), *against))


def _against(found: Measurements, missing: Sequence[str]) -> Iterator[str]:
    if found.replaced:
        yield f"another stands there for {_list_words(found.replaced)}"
    if found.differ.exchanged:
        yield f"the other way round there: {_list_words(found.differ.exchanged)}"
    if lacking := [word for word in missing if word not in found.replaced]:
        yield f"missing: {_list_words(lacking)}"
    if found.negation_differs:
        yield "negated on one side only"
    if found.direction_differs:
        yield "says the opposite of a word there"


def _reword_notes(found: Measurements, missing: Sequence[str]) -> Iterator[str]:
    if missing:
        yield f"not word for word: {_list_words(missing)}"
    elif found.in_document < _NEARLY_ALL:
        yield "the rest in other words"


def _reason_undecided(found: Measurements) -> str:
    if found.in_document < _NEARLY_ALL:
        return "for the rest it has other words, which may say the same"
    if found.in_passage < found.in_document:
        return "its words are there, but not in one place"
    return "its words are there, but they say too little to tell"


def _list_words(words: Sequence[str]) -> str:
    return ", ".join(map(repr, words))


def as_written(sentence: str, absent: Sequence[Term]) -> tuple[str, ...]:
    """Return the first of the terms as written; bigrams that overlap are joined."""
    spans: list[tuple[int, int]] = [(term.start, term.end) for term in absent[:1]]
    for before, term in pairwise(absent):
        if term.start < before.end:
            spans[-1] = (spans[-1][0], term.end)
        else:
            spans.append((term.start, term.end))
    return tuple(sentence[start:end] for start, end in spans[:_MOST_MISSING])
