"""A sentence beside the part of a near copy that is most like it: what differs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from trecjudge.judging.offline.prepared import PassageSpan, Prepared
from trecjudge.judging.offline.wording import SHIPPED, Term, Wording
from trecjudge.text.amounts import differing_times
from trecjudge.text.forms import neighbours_in, word_form
from trecjudge.text.frequencies import ENGLISH
from trecjudge.text.numbers import MEASURED, other_quantity, quantities
from trecjudge.text.qualifiers import QUALIFIERS
from trecjudge.text.tokens import read_forms
from trecjudge.text.word_relations import (
    COMPARING,
    RELATING,
    SYMMETRIC,
    alike_in_time,
    is_capitalised,
    is_verb,
    opposites_of,
    rivals,
    stands_in,
)

# Whether two texts put the same things on the other sides of what relates them.
_BE = frozenset(map(word_form, "is are was were be been being".split()))  # noqa: SIM905
_BY_WITHIN = 3
# What follows such a word did not do what the verb says.
_ASIDE = frozenset(
    map(
        word_form,
        "of than against from to over behind after before with despite under for and ahead"  # noqa: SIM905
        " while using in".split(),
    )
)


_CLAUSES = frozenset(map(word_form, "after while when and but because before until as".split()))  # noqa: SIM905


class RelationSides(NamedTuple):
    """What stands before and after a word, without grammar; whether the word is passive."""

    before: list[str]
    after: list[str]
    passive: bool


def turned_round(
    text: str, segment: str, forms: Sequence[str], row: str
) -> tuple[str | None, bool]:
    """Return the word whose two sides the segment has exchanged, and whether none surely is.

    "Peru beat Chile" for "Chile beat Peru", "A is taller than B" for "B is taller than A", "Arsenal
    won" for "City won, ahead of Arsenal". Not where one side is passive and the other is not.
    `forms` are those of the segment, `row` those of the document in a row.
    """
    own_written, own_forms = read_forms(text)
    found = _by_comparison(own_forms, forms)
    if found is not None:
        return (found or None), not found
    # A doer that does it elsewhere in the document, too, is not exchanged.
    together = neighbours_in(row, own_forms)
    places = [
        place for place in _verbs(own_written, own_forms) if place and not together[place - 1]
    ]
    if not places:
        return None, False
    pair = own_written, own_forms, read_forms(segment)[0], forms
    return _by_verb(*pair, places) or _of_another(*pair, places), False


def _by_comparison(ours: Sequence[str], theirs: Sequence[str]) -> str | None:
    """Return the word of comparison if its two sides are exchanged or it is turned; "" if neither.

    None where that cannot be told.
    """
    cue = next((form for form in ours if form in COMPARING), None)
    if cue is None:
        return None
    turned = opposites_of(cue)
    other = next((form for form in theirs if form == cue or form in turned), None)
    if other is None or ours.count(cue) > 1 or theirs.count(other) > 1:
        return None
    mine, its = _sides(ours, ours.index(cue)), _sides(theirs, theirs.index(other))
    if not mine.before or not mine.after:
        return None
    exchanged = _swaps_sides(mine, its)
    if exchanged is None:
        return None
    # Of "more than" the degree turns it, of "before" the word itself.
    opposite = other != cue
    for form in ours:
        if form != cue and form in RELATING and form not in COMPARING and form not in theirs:
            opposite ^= not set(opposites_of(form)).isdisjoint(theirs)
    return cue if exchanged != opposite else ""


def _sides(forms: Sequence[str], place: int, passive: bool = False) -> RelationSides:
    kept = [
        [f for f in part if f not in ENGLISH and f not in RELATING]
        for part in (forms[:place], forms[place + 1 :])
    ]
    return RelationSides(kept[0], kept[1], passive)


def _swaps_sides(mine: RelationSides, its: RelationSides) -> bool | None:
    """Return whether all that tells the sides apart is exchanged; None if it is not clear."""
    ours = set(mine.before) - set(mine.after), set(mine.after) - set(mine.before)
    theirs = set(its.before) - set(its.after), set(its.after) - set(its.before)
    moved = bool((ours[0] - theirs[0]) & theirs[1]), bool((ours[1] - theirs[1]) & theirs[0])
    if all(moved):
        return True
    return False if ours[0] & theirs[0] and ours[1] & theirs[1] and not any(moved) else None


def _verbs(written: Sequence[str], forms: Sequence[str]) -> Iterator[int]:
    for place, word in enumerate(written):
        if (is_verb(word) or _does(written, forms, place)) and forms[place] not in SYMMETRIC:
            yield place


def _does(written: Sequence[str], forms: Sequence[str], place: int) -> bool:
    """Return whether a word in "s" stands after a name, and before grammar or a name: "flows"."""
    word = written[place]
    if not (word.islower() and word.endswith("s") and not word.endswith("ss") and len(word) > 3):
        return False
    if not 0 < place < len(forms) - 1 or forms[place] in ENGLISH:
        return False
    following = forms[place + 1] in ENGLISH or written[place + 1].istitle()
    return written[place - 1].istitle() and forms[place - 1] not in ENGLISH and following


def _passive(written: Sequence[str], forms: Sequence[str], place: int) -> bool:
    by = "by" in forms[place + 1 : place + 1 + _BY_WITHIN]
    return by or not _BE.isdisjoint(forms[max(0, place - 2) : place])


def _names(written: Sequence[str], forms: Sequence[str], start: int, stop: int) -> list[str]:
    return [
        forms[i]
        for i in range(max(0, start), min(stop, len(forms)))
        if written[i][0].isupper() and forms[i] not in ENGLISH
    ]


def _by_verb(
    own_written: Sequence[str],
    ours: Sequence[str],
    written: Sequence[str],
    theirs: Sequence[str],
    places: Sequence[int],
) -> str | None:
    """Return the verb of which subject and object are exchanged."""
    for place in places:
        if theirs.count(ours[place]) != 1 or ours.count(ours[place]) != 1:
            continue
        there = theirs.index(ours[place])
        if _passive(own_written, ours, place) != _passive(written, theirs, there):
            continue
        mine, its = _sides(ours, place), _sides(theirs, there)
        named = RelationSides(
            _names(own_written, ours, 0, place),
            _names(own_written, ours, place + 1, len(ours)),
            False,
        )
        if named.before and named.after:
            mine = named
        # The object may stand there, too, as long as the doer is another.
        same = set(mine.before) & set(its.before)
        if not named.before or not named.after:
            same |= set(mine.after) & set(its.after)
        if _swaps_sides(mine, its) and not same:
            return own_written[place]
    return None


def _of_another(
    own_written: Sequence[str],
    ours: Sequence[str],
    written: Sequence[str],
    theirs: Sequence[str],
    places: Sequence[int],
) -> str | None:
    """Return the name that does what in the segment another one does."""
    for place in places:
        actor = _actor(own_written, ours, place)
        if not actor or any(name not in theirs for name in actor):
            continue
        for there, form in enumerate(theirs):
            if form != ours[place] and not alike_in_time(form, ours[place]):
                continue
            doer = _actor(written, theirs, there)
            if not doer or set(doer) & set(actor):
                return None
            at = theirs.index(actor[0])
            if at > there and _is_aside(theirs, there, at):
                return " ".join(w for w, f in zip(own_written, ours, strict=True) if f in actor)
            between = set(theirs[at:there])
            if at < there and not between.isdisjoint(_CLAUSES):
                return " ".join(w for w, f in zip(own_written, ours, strict=True) if f in actor)
    return None


def _actor(written: Sequence[str], forms: Sequence[str], place: int) -> list[str]:
    """Return the names that do what the verb at a place says: before it, or after its "by"."""
    if _passive(written, forms, place):
        if "by" not in forms[place + 1 : place + 1 + _BY_WITHIN]:
            return []
        at = forms.index("by", place + 1) + 1
        while at < len(forms) and forms[at] in ENGLISH:
            at += 1
        stop = at
        while stop < len(forms) and written[stop][0].isupper() and forms[stop] not in ENGLISH:
            stop += 1
        return _names(written, forms, at, stop)
    stop = place
    while stop and forms[stop - 1] in ENGLISH and not written[stop - 1][0].isupper():
        stop -= 1
        if forms[stop] in _ASIDE or place - stop > 2:
            return []
    start = stop
    while start and written[start - 1][0].isupper() and forms[start - 1] not in ENGLISH:
        start -= 1
    return _names(written, forms, start, stop)


def _is_aside(forms: Sequence[str], verb: int, at: int) -> bool:
    return any(form in _ASIDE or form == "by" for form in forms[max(verb + 1, at - 3) : at])


# Words of a sentence that a near copy of it replaces by others of the same kind.
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
    inside = document.text[passage.start : passage.end]
    times = differing_times(wording.text, inside) if numbered else []
    of_times = {form for time in times for form in time.forms}
    idle = sum([t.weight for t in absent if t in candidates or t.form in of_times])
    if not (candidates or numbered) or passage.weight < _SHARE_OF_A_NEAR_COPY * (total - idle):
        return tuple(found)
    segments = _segments(document, range(passage.first, passage.last + 1))
    others = (_replacement(t, wording, document, segments, in_place) for t in candidates)
    found += filter(None, others)
    if not found:
        found += [time.written for time in times]
    if numbered and not found:
        found += other_quantities(wording.text, inside)
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


# A sentence laid beside the part of a near copy that is most like it: what differs, and how.
_NEAR_COPY = 0.8
"""Part of the sentence's words that stand in the same order in one segment."""
# With fewer of its words in common a segment is not laid beside the sentence.
_IN_COMMON = 0.5
_SAME_MATTER = 0.75
_LONGEST_STRETCH = 2
_MOST_DIFFERENT = 2
_LONGEST_SENTENCE = 60
# Commoner words often stand for each other: "goal" and "target", "allow" and "enable".
_TELLING = 0.7
_SPELLED_ALIKE = 0.7


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
        text = document.text[passage.start : passage.end]
        quantities = tuple(other_quantities(wording.text, text))
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
    cue, consistent = turned_round(wording.text, segment, beside.forms, document.row)
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
    """Yield the telling words in whose place the segment has others that are as telling."""
    for number, (kind, start, stop, first, last) in enumerate(blocks):
        if kind != "replace" or stop - start > _LONGEST_STRETCH or last - first > _LONGEST_STRETCH:
            continue
        if not _is_framed_by_matches(blocks, number):
            continue
        instead = {form for form in theirs[first:last] if form not in ENGLISH}
        for form in ours[start:stop]:
            term = lacking.get(form)
            if term is None or not term.meaningful or form in RELATING or term.weight < _TELLING:
                continue
            others = [one for one in instead if one not in ours and _is_another(form, one)]
            if others and not stands_in(form, inside):
                yield term


def _is_another(form: str, other: str) -> bool:
    """Return whether a word is as telling as one, and no other spelling of it: "flavour"."""
    if SHIPPED.weight(other, other) < _TELLING:
        return False
    return SequenceMatcher(None, form, other, autojunk=False).ratio() < _SPELLED_ALIKE


def _is_framed_by_matches(blocks: Sequence[Block], number: int) -> bool:
    """Return whether the same words stand on both sides of a stretch, or at one of an edge."""
    around = [*blocks[max(0, number - 1) : number], *blocks[number + 1 : number + 2]]
    return all(block[0] == "equal" for block in around)
