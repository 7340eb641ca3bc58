"""Words and others: synonyms, words that exclude one another, antonyms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container
from functools import cache
from pathlib import Path

from trecjudge.text.forms import word_form
from trecjudge.text.tables import read_entries, read_rows, read_words

_FOLDER = Path(__file__).parent
# Pairs of antonyms of direction (rise/fall).
_SIDES = [
    tuple(frozenset(map(word_form, words)) for words in sides)
    for sides in read_rows(_FOLDER / "directions.txt", " : ")
]


def _of_each(own: int) -> dict[str, frozenset[str]]:
    """Return, by form, the words of its own direction (0) or of the other (1)."""
    found: dict[str, set[str]] = {}
    for sides in _SIDES:
        for number, forms in enumerate(sides):
            for form in forms:
                found.setdefault(form, set()).update(sides[number ^ own])
    return {form: frozenset(forms) for form, forms in found.items()}


_ALIKE, _OPPOSITES = _of_each(0), _of_each(1)
DIRECTED = frozenset(_OPPOSITES)
"""The forms of all words of direction."""


# Converses such as before and after are not antonyms here: they swap with the order of their
# sides.
def is_antonym(form: str, others: Collection[str]) -> bool:
    """Return whether one of the forms is an antonym of `form`, and none a synonym."""
    if form not in _OPPOSITES or not _ALIKE[form].isdisjoint(others):
        return False
    return not _OPPOSITES[form].isdisjoint(others)


def same_direction(form: str) -> frozenset[str]:
    """Return the forms of the words of one direction with `form`."""
    return _ALIKE.get(form, frozenset())


# Words that exclude one another, such as colours, and synonyms.
# "Unsafe" denies "safe", but "come" is no denial of "income": short words are left out.
_DENYING = ("un", "in", "im", "ir", "il", "dis", "non")
_DENIED = 5
# Letters that two forms must share to be of one stem; six where neither begins with the other.
_STEM = 5
_LONG_STEM = 6


Kind = dict[str, int]
"""The forms of a kind; synonyms have the same number."""


@cache
def _kinds() -> tuple[dict[str, list[Kind]], set[str]]:
    """Return the kinds of each form, and the forms that have a capital in every kind."""
    kinds_of: dict[str, list[Kind]] = defaultdict(list)
    written: dict[bool, set[str]] = {True: set(), False: set()}
    for line in read_entries(_FOLDER / "kinds.txt"):
        kind: Kind = {}
        for number, member in enumerate(line.partition(": ")[2].split()):
            for word in member.split("/"):
                form = word_form(word)
                kind[form] = number
                written[word[0].isupper()].add(form)
        for form in kind:
            kinds_of[form].append(kind)
    return kinds_of, written[True] - written[False]


@cache
def _synonyms() -> dict[str, list[set[str]]]:
    """Return the groups of synonyms that each form is in."""
    found: dict[str, list[set[str]]] = defaultdict(list)
    for line in read_entries(_FOLDER / "synonyms.txt"):
        forms = set(map(word_form, line.split()))
        for form in forms:
            found[form].append(forms)
    return found


def rivals(form: str, present: Container[str]) -> list[str]:
    """Return the present forms that exclude a form: other colours, or "unreal" for "real"."""
    kinds = _kinds()[0].get(form, ())
    found = [f for kind in kinds for f in kind if kind[f] != kind[form] and f in present]
    if len(form) >= _DENIED:
        found += [denied for prefix in _DENYING if (denied := prefix + form) in present]
        for prefix in _DENYING:
            bare = form.removeprefix(prefix)
            if _DENIED <= len(bare) < len(form) and bare in present:
                found.append(bare)
    return found


def is_capitalised(form: str) -> bool:
    """Return whether a word of a kind counts only where it has a capital: "May", "Turkey"."""
    return form in _kinds()[1]


def alike_in_time(form: str, other: str) -> bool:
    """Return whether two forms are of one verb by the table of synonyms: wrote, written."""
    return form[:1] == other[:1] and any(other in group for group in _synonyms().get(form, ()))


def stands_in(form: str, others: Collection[str]) -> bool:
    """Return whether one of the forms is a synonym of `form`, or has the same stem."""
    if not same_direction(form).isdisjoint(others):
        return True
    if any(not group.isdisjoint(others) for group in _synonyms().get(form, ())):
        return True
    kinds = _kinds()[0].get(form, ())
    if any(kind[f] == kind[form] and f in others for kind in kinds for f in kind):
        return True
    return not kinds and any(_akin(form, other) for other in others)


def _akin(one: str, other: str) -> bool:
    """Return whether two forms have one stem: "music", "musician"; "nation", "nationalist"."""
    short, long = sorted((one, other), key=len)
    if len(short) < _STEM or not short.isalpha() or short[:_STEM] != long[:_STEM]:
        return False
    return long.startswith(short) or long[:_LONG_STEM] == short[:_LONG_STEM]


# Words that relate two things, and their opposites: more and less, before and after.
# What follows these is compared with what precedes them.
COMPARING = frozenset(map(word_form, ("than", "before", "after", "ahead", "behind")))
_VERBS = read_words(_FOLDER / "verbs.txt")
SYMMETRIC = frozenset(map(word_form, _VERBS["mutual"]))
"""Verbs that mean the same with their two sides exchanged."""
_IRREGULAR = frozenset(_VERBS["irregular"])


def _read() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for sides in read_rows(_FOLDER / "relations.txt", " : "):
        one, other = (set(map(word_form, side)) for side in sides)
        for ours, theirs in ((one, other), (other, one)):
            for form in ours:
                found.setdefault(form, set()).update(theirs)
    return {form: frozenset(forms) for form, forms in found.items()}


_OPPOSITES_OF = _read()
RELATING = frozenset(_OPPOSITES_OF) | COMPARING
"""The forms of all such words."""


def opposites_of(form: str) -> Collection[str]:
    """Return the forms that say the opposite relation."""
    return _OPPOSITES_OF.get(form, ())


def is_verb(written: str) -> bool:
    """Return whether a word between two things is surely a verb that relates them."""
    return written.islower() and (written.endswith("ed") or written in _IRREGULAR)
