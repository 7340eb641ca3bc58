"""Words that are written as one or as two: Wi-Fi, WiFi, wi fi; totalRevenue, total revenue."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence, Set
from functools import lru_cache
from operator import add

from trecjudge.text.forms import word_form

# "CO2" is one word: a part begins with a capital after two small letters.
_HUMP = re.compile(r"(?<=[a-z][a-z])(?=[A-Z][a-z])")
# The same without a look-behind, which would be tried at every place.
_HUMPED = re.compile(r"[a-z][a-z][A-Z][a-z]")
_SHORTEST = 2
# "E-mail", "x-ray", "t-shirt": the only parts of one letter.
_LETTERS = frozenset("ext")
_SHORTEST_WHOLE = 4
_LONGEST_WHOLE = 30  # letters; a longer text without spaces is hardly a word


def has_humps(text: str) -> bool:
    """Return whether a text may have words such as "totalRevenue": a fast test."""
    return _HUMPED.search(text) is not None


def parts_of(written: Sequence[str]) -> Iterator[str]:
    """Yield the forms of the parts of all words that have some: "totalRevenue", "WiFi"."""
    for word in written:
        if not word.islower() and _HUMPED.search(word):
            yield from filter(None, map(word_form, _HUMP.split(word)))


def in_two(
    written: str, forms: Set[str], neighbours: Collection[tuple[str, str]]
) -> tuple[str, str] | None:
    """Return the two forms, neighbours in a text, into which a word can be cut: "smartphone"."""
    heads, halves = _halves(written)
    if forms.isdisjoint(heads):
        return None
    for head, rest in halves:
        if head in forms and (head, tail := word_form(rest)) in neighbours:
            return head, tail
    return None


# Cached, since many sentences have the same words.
@lru_cache(maxsize=1 << 14)
def _halves(written: str) -> tuple[Set[str], Sequence[tuple[str, str]]]:
    """Return the beginnings at which a word can be cut, then these with the rest of the word."""
    word = written.lower()
    if not (_SHORTEST_WHOLE <= len(word) <= _LONGEST_WHOLE and word.isascii() and word.isalpha()):
        return frozenset(), ()
    halves: list[tuple[str, str]] = []
    for cut in range(1 if word[0] in _LETTERS else _SHORTEST, len(word) - _SHORTEST + 1):
        head = word[:cut]
        if head[-1] == "y":  # its form ends in "i": "policymaker"
            head = word_form(head)
        halves.append((head, word[cut:]))
    return frozenset([head for head, _ in halves]), tuple(halves)


def wholes(written: Sequence[str], forms: Sequence[str]) -> frozenset[str]:
    """Return all that `in_one` may find for two neighbours of these words."""
    found = list(map(add, map(str.lower, written), forms[1:]))
    return frozenset(found + [whole[:-1] for whole in found if whole[-1] == "e"])


def in_one(first: str, second: str, form: str, forms: Collection[str]) -> str | None:
    """Return the form of two written words as one where a text has it: "wi fi" for "WiFi".

    `form` is that of the second. The form of the whole is not worked out, which would be slow: it
    is nearly always the first word with that form behind it.
    """
    head = first.lower()
    if (len(head) < _SHORTEST and head not in _LETTERS) or len(form) < _SHORTEST:
        return None
    whole = head + form
    if whole in forms:
        return whole if head.isalpha() and second.isalpha() else None
    return whole[:-1] if whole[-1] == "e" and whole[:-1] in forms else None
