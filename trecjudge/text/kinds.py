"""Words that exclude one another, such as colours, and words that stand for one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path

from trecjudge.text.directions import same_direction
from trecjudge.text.forms import word_form

_FOLDER = Path(__file__).parent
# "Unsafe" denies "safe", but "come" is no denial of "income": short words are left out.
_DENYING = ("un", "in", "im", "ir", "il", "dis", "non")
_DENIED = 5
_STEM = 5
_LONG_STEM = 6


def _lines(name: str) -> Iterator[str]:
    for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line


def _read_kinds() -> tuple[dict[str, set[str]], dict[str, set[str]], set[str]]:
    """Return, by form, the words of its kinds and those for the same; and what has a capital."""
    others: dict[str, set[str]] = defaultdict(set)
    same: dict[str, set[str]] = defaultdict(set)
    written: dict[bool, set[str]] = {True: set(), False: set()}
    for line in _lines("kinds.txt"):
        members = [member.split("/") for member in line.partition(": ")[2].split()]
        forms = [frozenset(map(word_form, words)) for words in members]
        for word in (word for words in members for word in words):
            written[word[0].isupper()].add(word_form(word))
        for one in forms:
            for form in one:
                same[form] |= one
                others[form].update(*(other for other in forms if other is not one))
    return others, same, written[True] - written[False]


def _read_synonyms() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for line in _lines("synonyms.txt"):
        forms = set(map(word_form, line.split()))
        for form in forms:
            found[form] |= forms
    return found


_OTHERS, _SAME, _CAPITALS = _read_kinds()
_SYNONYMS = _read_synonyms()


@lru_cache(maxsize=1 << 14)
def rivals(form: str) -> frozenset[str]:
    """Return the forms that exclude this one: the other colours of a colour, "unsafe" of "safe"."""
    kind = _OTHERS.get(form, set()) - _SAME.get(form, set())
    if len(form) < _DENIED or not form.isalpha():
        return frozenset(kind)
    denied = {form.removeprefix(prefix) for prefix in _DENYING} - {form}
    denied = {bare for bare in denied if len(bare) >= _DENIED}
    return frozenset({*kind, *denied, *(prefix + form for prefix in _DENYING)})


def is_capitalised(form: str) -> bool:
    """Return whether a word of a kind counts only where it has a capital: "May", "Turkey"."""
    return form in _CAPITALS


def stands_in(form: str, others: Collection[str]) -> bool:
    """Tell if one of the forms says what `form` does: a synonym, or a word of the same stem."""
    known = _SYNONYMS.get(form, set()) | _SAME.get(form, set()) | same_direction(form)
    if not known.isdisjoint(others):
        return True
    return form not in _OTHERS and any(_akin(form, other) for other in others)


def _akin(one: str, other: str) -> bool:
    """Tell if two forms are of one stem: "music" and "musician", "nation" and "nationalist"."""
    short, long = sorted((one, other), key=len)
    if len(short) < _STEM or not short.isalpha() or short[:_STEM] != long[:_STEM]:
        return False
    return long.startswith(short) or long[:_LONG_STEM] == short[:_LONG_STEM]
