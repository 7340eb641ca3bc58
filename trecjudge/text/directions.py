"""Pairs of antonyms of direction (rise/fall).

Converses such as before and after are not antonyms here: they swap with the order of their sides.
"""

from __future__ import annotations

from collections.abc import Collection

from trecjudge.text.forms import word_form

# A row has words of one direction, then words of the other.
_PAIRS = (
    (
        "rise rises rising rose risen increase increases grow grows grew growth climb surge soar",
        "fall falls falling fell fallen decrease declines drop drops shrink shrank plunge decline",
    ),
    ("raise raises raised strengthen", "lower lowers lowered cut cuts reduce reduces weaken"),
    ("improve improves improvement better", "worsen worsens deteriorate worse"),
    ("gain gains gained win wins won", "lose loses lost loss losses"),
    ("expand expands expansion widen", "contract contracts contraction narrow"),
    ("accelerate accelerates speed", "slow slows slowed slowdown decelerate"),
    ("import imports imported", "export exports exported"),
    ("ban bans banned forbid forbids prohibit", "allow allows allowed permit permits legalize"),
    ("accept accepts accepted approve approves", "reject rejects rejected refuse refuses"),
    ("highest largest biggest maximum", "lowest smallest minimum"),
)


_SIDES = [tuple(frozenset(map(word_form, words.split())) for words in pair) for pair in _PAIRS]


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


def is_antonym(form: str, others: Collection[str]) -> bool:
    """Return whether one of the forms is an antonym of `form`, and none a synonym."""
    if form not in _OPPOSITES or not _ALIKE[form].isdisjoint(others):
        return False
    return not _OPPOSITES[form].isdisjoint(others)


def same_direction(form: str) -> frozenset[str]:
    """Return the forms of the words of one direction with `form`."""
    return _ALIKE.get(form, frozenset())
