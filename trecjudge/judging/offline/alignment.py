"""A sentence laid beside the part of a near copy that is most like it: what differs, and how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from trecjudge.judging.offline.passages import PassageSpan
from trecjudge.judging.offline.prepared import Prepared
from trecjudge.judging.offline.relations import turned_round
from trecjudge.judging.offline.replacement import other_quantities
from trecjudge.judging.offline.wording import Term, Wording
from trecjudge.text.function_words import ENGLISH
from trecjudge.text.kinds import stands_in
from trecjudge.text.relations import RELATING, opposites_of
from trecjudge.text.telling import QUALIFIERS

_NEAR_COPY = 0.8
"""Part of the sentence's words that stand in the same order in one segment."""
# With fewer of its words in common a segment is not laid beside the sentence.
_IN_COMMON = 0.5
_SAME_MATTER = 0.75
_LONGEST_STRETCH = 2
_MOST_DIFFERENT = 2
_LONGEST_SENTENCE = 60


@dataclass(frozen=True, slots=True)
class Differences:
    """What a near copy says otherwise: words in whose place it has others, words that it lacks.

    `exchanged` are those that say the opposite relation there, or what stands on the other side
    of one.
    """

    other: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    exchanged: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.other or self.added or self.exchanged)


SAME = Differences()


Block = tuple[str, int, int, int, int]


class Beside(NamedTuple):
    """A segment, its forms, how they align with the sentence's, and the part that is kept."""

    segment: int
    forms: Sequence[str]
    blocks: list[Block]
    kept: float


def differences(
    wording: Wording, absent: Sequence[Term], document: Prepared, passage: PassageSpan
) -> Differences:
    """Return what is otherwise in the segment of the passage that is most like the sentence."""
    if len(wording.forms) > _LONGEST_SENTENCE:
        return SAME
    beside = _likest(wording.forms, document, passage)
    if beside is None:
        return SAME
    exchanged = _find_swapped_relation(wording, beside, document)
    copied = (
        beside.kept >= _NEAR_COPY and len([t for t in absent if t.meaningful]) <= _MOST_DIFFERENT
    )
    if not copied:
        return Differences(exchanged=exchanged)
    lacking = {term.form: term for term in absent}
    inside = document.forms_between(passage.first, passage.last)
    quantities: tuple[str, ...] = ()
    others = _others(wording.forms, beside.forms, beside.blocks, lacking, inside)
    if any(term.number for term in wording.terms):
        start, end = document.spans[passage.first][0], document.spans[passage.last][1]
        quantities = tuple(other_quantities(wording.text, document.text[start:end]))
    added = _find_added_qualifiers(wording.forms, beside.blocks, lacking, inside)
    return Differences(
        (*_terms_as_written(wording, others), *quantities),
        _terms_as_written(wording, added),
        exchanged,
    )


def _terms_as_written(wording: Wording, terms: Iterable[Term]) -> tuple[str, ...]:
    return tuple(wording.text[term.start : term.end] for term in terms)


def _find_swapped_relation(wording: Wording, beside: Beside, document: Prepared) -> tuple[str, ...]:
    """Return the word of relation that is turned, or has its two sides exchanged."""
    telling = wording.meaningful_forms
    if len(telling.intersection(beside.forms)) < _SAME_MATTER * len(telling):
        return ()
    segment = document.text[slice(*document.spans[beside.segment])]
    cue, consistent = turned_round(wording.text, segment, beside.forms, document.neighbours)
    if cue or consistent:
        return (cue,) if cue else ()
    return tuple(_find_opposite_relations(wording.forms, beside.forms, beside.blocks))


def _find_added_qualifiers(
    ours: Sequence[str], blocks: Sequence[Block], lacking: Mapping[str, Term], inside: Set[str]
) -> Iterator[Term]:
    """Yield the telling words that stand between words that are neighbours there."""
    for kind, start, stop, *_ in blocks:
        if kind == "delete" and stop - start <= _LONGEST_STRETCH:
            for form in ours[start:stop]:
                if form in lacking and form in QUALIFIERS and not stands_in(form, inside):
                    yield lacking[form]


def _likest(forms: Sequence[str], document: Prepared, passage: PassageSpan) -> Beside | None:
    """Return the likest segment of the passage, aligned; None if none has half of the words."""
    best: Beside | None = None
    own = set(forms)
    for index in range(passage.first, passage.last + 1):
        theirs = document.forms[index]
        common = own.intersection(theirs)
        if len(common) < _IN_COMMON * len(own):
            continue
        # No more words than those in common can be kept.
        if best and len([f for f in forms if f in common]) <= best.kept * len(forms):
            continue
        blocks: list[Block] = list(
            SequenceMatcher(None, forms, theirs, autojunk=False).get_opcodes()
        )
        kept = sum([block[2] - block[1] for block in blocks if block[0] == "equal"]) / len(forms)
        if best is None or kept > best.kept:
            best = Beside(index, theirs, blocks, kept)
    return best


def _find_opposite_relations(
    ours: Sequence[str], theirs: Sequence[str], blocks: Sequence[Block]
) -> Iterator[str]:
    """Yield the words of relation in whose place the segment has the opposite."""
    for kind, start, stop, first, last in blocks:
        if kind == "replace" and stop - start <= _LONGEST_STRETCH >= last - first:
            for form in ours[start:stop]:
                if form in RELATING and not set(opposites_of(form)).isdisjoint(theirs[first:last]):
                    yield form


def _others(
    ours: Sequence[str],
    theirs: Sequence[str],
    blocks: Sequence[Block],
    lacking: Mapping[str, Term],
    inside: Set[str],
) -> Iterator[Term]:
    """Yield the content words in whose place the segment has others that mean something else."""
    for number, (kind, start, stop, first, last) in enumerate(blocks):
        if kind != "replace" or stop - start > _LONGEST_STRETCH or last - first > _LONGEST_STRETCH:
            continue
        if not _is_framed_by_matches(blocks, number):
            continue
        instead = {form for form in theirs[first:last] if form not in ENGLISH}
        for form in ours[start:stop]:
            term = lacking.get(form)
            if term is None or not term.meaningful or form in RELATING:
                continue
            if instead.difference(ours) and not stands_in(form, inside):
                yield term


def _is_framed_by_matches(blocks: Sequence[Block], number: int) -> bool:
    """Return whether the same words stand on both sides of a stretch, or at one of an edge."""
    around = [*blocks[max(0, number - 1) : number], *blocks[number + 1 : number + 2]]
    return all(block[0] == "equal" for block in around)
