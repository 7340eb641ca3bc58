"""Negation and direction: whether a sentence and a passage say the opposite of each other."""

from __future__ import annotations

from trecjudge.judging.offline.passages import PassageSpan
from trecjudge.judging.offline.prepared import Prepared
from trecjudge.judging.offline.wording import Term, Wording
from trecjudge.text.directions import DIRECTED, is_antonym


def direction_differs_in(wording: Wording, document: Prepared, passage: PassageSpan) -> bool:
    """Return whether the passage has the opposite of a word of direction, and not the word."""
    directed = [term.form for term in wording.terms if term.form in DIRECTED]
    if not directed:
        return False
    inside = document.forms_between(passage.first, passage.last)
    return any(form not in inside and is_antonym(form, inside) for form in directed)


def negation_differs_in(wording: Wording, document: Prepared, passage: PassageSpan) -> bool:
    """Return whether only one of sentence and passage negates one of the sentence's words."""
    return any(
        _negated_otherwise(term, wording, document, passage)
        for term in wording.terms
        if term.form in document.segments_of
    )


def _negated_otherwise(
    term: Term, wording: Wording, document: Prepared, passage: PassageSpan
) -> bool:
    """Return whether only one of sentence and passage negates a content word.

    The other side must have no word of denial near it: "lacks proof" agrees with "no proof".
    """
    negated = document.negated_in.get(term.form, frozenset())
    if not term.content or not (term.negated or negated):
        return False
    inside = [s for s in document.segments_of[term.form] if passage.first <= s <= passage.last]
    if term.negated:
        affirmed = term.form in document.affirmed
        return bool(inside) and (affirmed or document.denying.isdisjoint(inside))
    return not wording.denies and bool(inside) and negated.issuperset(inside)
