"""The words of a sentence as the document writes them: WiFi for Wi-Fi, 108 m for 355 feet."""

from __future__ import annotations

from dataclasses import replace

from trecjudge.judging.offline.prepared import Prepared
from trecjudge.judging.offline.wording import Wording
from trecjudge.text.compounds import in_one, in_two
from trecjudge.text.quantities import CONVERTIBLE, Quantity, convertible, quantities, same_converted
from trecjudge.text.tokens import read_forms


def as_the_document_writes(wording: Wording, document: Prepared) -> Wording:
    """Return the sentence with compounds that the document lacks in the document's own writing.

    A word that it has in two takes the forms of these, two words that it has in one that of it,
    and a quantity that it has in another unit those of that.
    """
    found: dict[str, tuple[str, ...]] = {}
    places = document.segments_of
    forms, text = places.keys(), wording.text
    may_be_one = not forms.isdisjoint(wording.wholes)
    converted = False
    for index, term in enumerate(wording.terms):
        if term.form in places or not term.meaningful:
            continue
        if term.number and not converted:
            found |= _converted_forms(wording, document)
            converted = True
        if term.form in found:
            continue
        if pair := in_two(text[term.start : term.end], forms, document.neighbours):
            found[term.form] = pair
        elif may_be_one and (whole := _joined_form(index, wording, document)):
            found[term.form] = (whole,)
    if not found:
        return wording
    terms = tuple(
        [
            t._replace(form=max(found[t.form], key=len)) if t.form in found else t
            for t in wording.terms
        ]
    )
    rewritten = [form for own in wording.forms for form in found.get(own, (own,))]
    return replace(wording, terms=terms, forms=tuple(rewritten))


def _converted_forms(wording: Wording, document: Prepared) -> dict[str, tuple[str, ...]]:
    """Return the forms of the document for the numbers and units that it has converted."""
    places = document.segments_of.keys()
    if CONVERTIBLE.isdisjoint(wording.forms) or places.isdisjoint(CONVERTIBLE):
        return {}
    absent = {t.form for t in wording.terms if t.number and t.form not in places}
    ours = [one for one in quantities(wording.text) if one.number in absent and convertible(one)]
    theirs = quantities(document.text) if ours else ()
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


def _joined_form(index: int, wording: Wording, document: Prepared) -> str | None:
    """Return the form that the document has for a term and the one beside it, as one word."""
    terms, text = wording.terms, wording.text
    term = terms[index]
    if index + 1 < len(terms) and terms[index + 1].start - term.end == 1:
        after = terms[index + 1]
        whole = in_one(
            text[term.start : term.end],
            text[after.start : after.end],
            after.form,
            document.segments_of,
        )
        if whole:
            return whole
    if index and term.start - terms[index - 1].end == 1:
        before = terms[index - 1]
        return in_one(
            text[before.start : before.end],
            text[term.start : term.end],
            term.form,
            document.segments_of,
        )
    return None
