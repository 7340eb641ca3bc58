"""Words that exclude one another, such as colours, and synonyms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container, Iterator
from functools import cache
from pathlib import Path

from trecjudge.text.directions import same_direction
from trecjudge.text.forms import word_form

_FOLDER = Path(__file__).parent
# "Unsafe" denies "safe", but "come" is no denial of "income": short words are left out.
_DENYING = ("un", "in", "im", "ir", "il", "dis", "non")
_DENIED = 5
# Letters that two forms must share to be of one stem; six where neither begins with the other.
_STEM = 5
_LONG_STEM = 6


def _lines(name: str) -> Iterator[str]:
    for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line


Kind = dict[str, int]
"""The forms of a kind; synonyms have the same number."""


@cache
def _kinds() -> tuple[dict[str, list[Kind]], set[str]]:
    """Return the kinds of each form, and the forms that have a capital in every kind."""
    kinds_of: dict[str, list[Kind]] = defaultdict(list)
    written: dict[bool, set[str]] = {True: set(), False: set()}
    for line in _lines("kinds.txt"):
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
    for line in _lines("synonyms.txt"):
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
