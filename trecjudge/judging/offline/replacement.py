"""Words of a sentence that a near copy of it replaces by others of the same kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

from trecjudge.judging.offline.passages import PassageSpan
from trecjudge.judging.offline.prepared import Prepared
from trecjudge.judging.offline.wording import Term, Wording
from trecjudge.text.kinds import is_capitalised, rivals, stands_in
from trecjudge.text.quantities import MEASURED, other_quantity, quantities
from trecjudge.text.tokens import read_forms

SINGLE_FACT = 6.0
"""Telling words, at most, of a sentence that is taken for one fact."""

_SHARE_OF_A_NEAR_COPY = 0.75
# What must be there whatever is replaced, and the terms that may be absent.
_SHARE_OF_THE_SAME_MATTER = 0.35
_MOST_ABSENT = 6
_FEWEST = 2
SegmentWords = tuple[Sequence[str], Sequence[str]]
"""The words of a segment as written, and their forms."""


def replacements(
    wording: Wording, absent: Sequence[Term], document: Prepared, passage: PassageSpan, total: float
) -> tuple[str, ...]:
    """Return the words in whose place a near copy of the rest of the sentence has others.

    A word of a kind is replaced by another of it, one that is denied by a prefix by the other, a
    name by a name, a number by a number, and that of a single fact by the same one of another unit
    or bound. Of a longer sentence, and for names and numbers, the two must stand between the same
    words. `total` is the weight of the sentence.
    """
    if (
        not passage.weight
        or passage.weight < _SHARE_OF_THE_SAME_MATTER * total
        or len(absent) > _MOST_ABSENT
    ):
        return ()
    in_place = wording.size > SINGLE_FACT
    found = [] if in_place else list(_elsewhere(wording, absent, document))
    candidates = [term for term in absent if _replaceable(term, wording, document)]
    numbered = not in_place and any(term.number for term in wording.terms)
    idle = sum([term.weight for term in candidates])
    if not (candidates or numbered) or passage.weight < _SHARE_OF_A_NEAR_COPY * (total - idle):
        return tuple(found)
    segments = _segments(document, range(passage.first, passage.last + 1))
    others = (_replacement(t, wording, document, segments, in_place) for t in candidates)
    found += filter(None, others)
    if numbered and not found:
        start, end = document.spans[passage.first][0], document.spans[passage.last][1]
        found += other_quantities(wording.text, document.text[start:end])
    return tuple(found)


def _elsewhere(wording: Wording, absent: Sequence[Term], document: Prepared) -> Iterator[str]:
    """Yield the words that the document has, but of another thing.

    Of a single fact one sentence has all the other content words, with another of the kind, or
    another number in its place, and none of these has the word.
    """
    meaningful = wording.meaningful
    if len(meaningful) < _FEWEST or any(term.meaningful for term in absent):
        return
    for term in meaningful:
        if not (term.number or _rivals(term, wording.text, document)):
            continue
        others = [document.segments_of[t.form] for t in meaningful if t is not term]
        together = set(others[0]).intersection(*others[1:])
        if together and together.isdisjoint(document.segments_of[term.form]):
            segments = _segments(document, sorted(together))
            if other := _replacement(term, wording, document, segments, in_place=True):
                yield other


def _segments(document: Prepared, indexes: Iterable[int]) -> list[SegmentWords]:
    return [read_forms(document.text[slice(*document.spans[index])]) for index in indexes]


def _replaceable(term: Term, wording: Wording, document: Prepared) -> bool:
    """Return whether something can stand in the place of a word that makes it another statement."""
    if term.form[0].isdigit() or _is_name(term, wording.text):
        return True
    return bool(_rivals(term, wording.text, document))


def _is_name(term: Term, text: str) -> bool:
    # The first word has a capital whatever it is: a common one is no name.
    name = _has_name_shape(text[term.start : term.end])
    return name and (term.named or not term.listed)


def _has_name_shape(written: str) -> bool:
    # "US" and "CO2" are written in too many ways to be compared.
    return len(written) > 2 and written.isalpha() and written.istitle()


def _rivals(term: Term, text: str, document: Prepared) -> Collection[str]:
    """Return the forms in the document that exclude a term."""
    if is_capitalised(term.form) and not text[term.start].isupper():
        return ()
    return rivals(term.form, document.segments_of)


def _replacement(
    term: Term,
    wording: Wording,
    document: Prepared,
    segments: Sequence[SegmentWords],
    in_place: bool,
) -> str | None:
    """Return a term as written if something else stands for it in one of the segments.

    With `in_place` between the same words; a word that excludes the term otherwise anywhere.
    """
    if stands_in(term.form, {form for _, forms in segments for form in forms}):
        return None
    excluding = _rivals(term, wording.text, document)
    for written, forms in segments:
        for place, form in enumerate(forms):
            if form in wording.forms:
                continue
            if form in excluding:
                fits = written[place][0].isupper() or not is_capitalised(form)
                fits &= not in_place or _same_place(term, wording, forms, place)
            elif term.form[0].isdigit():
                same = _same_place if term.number else _same_thing
                fits = form[0].isdigit() and same(term, wording, forms, place)
            else:
                # A first word may be a name, but only of another first word.
                name = place > 0 or not term.named
                name &= _has_name_shape(written[place]) and _is_name(term, wording.text)
                fits = name and _same_place(term, wording, forms, place)
            if fits:
                return wording.text[term.start : term.end]
    return None


def _same_thing(term: Term, wording: Wording, forms: Sequence[str], place: int) -> bool:
    """Return whether the word after two counts is the same, and they stand in the same place."""
    ours = wording.forms[wording.forms.index(term.form) + 1 :][:1]
    same = bool(ours) and list(ours) == list(forms[place + 1 : place + 2])
    return same and _same_place(term, wording, forms, place)


def _same_place(term: Term, wording: Wording, forms: Sequence[str], place: int) -> bool:
    """Return whether two words have the same neighbours: one on each side, or two on one."""
    ours = _around(wording.forms, wording.forms.index(term.form))
    theirs = _around(forms, place)
    both = [own if own == other else None for own, other in zip(ours, theirs, strict=True)]
    shared = [pair for pair in pairwise(both) if None not in pair and any(pair)]
    if wording.size <= SINGLE_FACT:
        return bool(shared)
    meaningful_forms = wording.meaningful_forms
    return any(not meaningful_forms.isdisjoint(pair) for pair in shared)


def _around(forms: Sequence[str], place: int) -> tuple[str, str, str, str]:
    """Return two forms before a place and two after it; "" beyond the ends."""
    padded = ("", "", *forms[max(0, place - 2) : place])[-2:]
    after = (*forms[place + 1 : place + 3], "", "")[:2]
    return padded[0], padded[1], after[0], after[1]


def other_quantities(sentence: str, passage: str) -> Iterator[str]:
    """Yield the numbers that the passage has of other units, or with the opposite bound, only."""
    ours = [mine for mine in quantities(sentence) if mine.unit in MEASURED or mine.bound]
    theirs = list(quantities(passage)) if ours else []
    for mine in ours:
        same = [one for one in theirs if one.number == mine.number]
        if same and all(other_quantity(mine, one) for one in same):
            yield mine.written
