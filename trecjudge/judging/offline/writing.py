"""The words of a sentence as the document writes them: WiFi for Wi-Fi, 108 m for 355 feet."""

from __future__ import annotations

from dataclasses import replace

from trecjudge.judging.offline.prepared import Prepared
from trecjudge.judging.offline.wording import Term, Wording
from trecjudge.text.compounds import in_one, in_two
from trecjudge.text.quantities import Quantity, convertible, quantities, same_converted
from trecjudge.text.tokens import read_forms


def as_the_document_writes(wording: Wording, document: Prepared) -> Wording:
    """Return the sentence with compounds that the document lacks in the document's own writing.

    A word that it has in two takes the forms of these, two words that it has in one that of it,
    and a quantity that it has in another unit those of that.
    """
    found = _converted(wording, document)
    places = document.segments_of
    for index, term in enumerate(wording.terms):
        if term.form in places or not term.meaningful or not term.form.isalpha():
            continue
        written = wording.text[term.start : term.end]
        if pair := in_two(written, places, document.neighbours):
            found[term.form] = pair
        elif whole := _joined(index, wording, document):
            found[term.form] = (whole,)
    if not found:
        return wording
    terms = tuple(
        [
            t._replace(form=max(found[t.form], key=len)) if t.form in found else t
            for t in wording.terms
        ]
    )
    forms = [form for own in wording.forms for form in found.get(own, (own,))]
    return replace(wording, terms=terms, forms=tuple(forms))


def _converted(wording: Wording, document: Prepared) -> dict[str, tuple[str, ...]]:
    """Return the forms of the document for the numbers and units that it has converted."""
    absent = {t.form for t in wording.terms if t.number and t.form not in document.segments_of}
    if not absent:
        return {}
    ours = [one for one in quantities(wording.text) if one.number in absent and convertible(one)]
    theirs = list(quantities(document.text)) if ours else []
    found: dict[str, tuple[str, ...]] = {}
    for mine in ours:
        for other in theirs:
            if same_converted(mine, other):
                for own, its in zip(_both(mine), _both(other), strict=True):
                    found[own] = (its,)
                break
    return found


def _both(one: Quantity) -> tuple[str, str]:
    """Return the forms of a number and of its unit."""
    return one.number, read_forms(one.written)[1][-1]


def _joined(index: int, wording: Wording, document: Prepared) -> str | None:
    """Return the form that the document has for a term and the one beside it, as one word."""
    terms, text = wording.terms, wording.text
    for first, second in ((index, index + 1), (index - 1, index)):
        if first < 0 or second >= len(terms):
            continue
        one, other = terms[first], terms[second]
        if other.start - one.end == 1 and (
            whole := in_one(_written(one, text), _written(other, text), document.segments_of)
        ):
            return whole
    return None


def _written(term: Term, text: str) -> str:
    return text[term.start : term.end]
