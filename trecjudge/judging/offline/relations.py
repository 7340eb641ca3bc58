"""Whether two texts put the same things on the other sides of what relates them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from trecjudge.text.forms import word_form
from trecjudge.text.function_words import ENGLISH
from trecjudge.text.kinds import alike_in_time
from trecjudge.text.relations import COMPARING, RELATING, SYMMETRIC, is_verb, opposites_of
from trecjudge.text.tokens import read_forms

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


class Sides(NamedTuple):
    """What stands before and after a word, without grammar; whether the word is passive."""

    before: list[str]
    after: list[str]
    passive: bool


def turned_round(
    text: str, segment: str, forms: Sequence[str], neighbours: Set[tuple[str, str]]
) -> tuple[str | None, bool]:
    """Return the word whose two sides the segment has exchanged, and whether none surely is.

    "Peru beat Chile" for "Chile beat Peru", "A is taller than B" for "B is taller than A", "Arsenal
    won" for "City won, ahead of Arsenal". Not where one side is passive and the other is not.
    `forms` are those of the segment.
    """
    own_written, own_forms = read_forms(text)
    found = _by_comparison(own_forms, forms)
    if found is not None:
        return (found or None), not found
    # A doer that does it elsewhere in the document, too, is not exchanged.
    places = [
        place
        for place in _verbs(own_written, own_forms)
        if place and (own_forms[place - 1], own_forms[place]) not in neighbours
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


def _sides(forms: Sequence[str], place: int, passive: bool = False) -> Sides:
    kept = [
        [f for f in part if f not in ENGLISH and f not in RELATING]
        for part in (forms[:place], forms[place + 1 :])
    ]
    return Sides(kept[0], kept[1], passive)


def _swaps_sides(mine: Sides, its: Sides) -> bool | None:
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
        named = Sides(
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
