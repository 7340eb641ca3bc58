"""Words of direction, such as rise and fall: the ones deny the others."""

from __future__ import annotations

from collections.abc import Collection

from trecjudge.text.forms import word_form

# Each row: words of one direction, words of the other.
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
    ("before earlier", "after later"),
    ("majority most", "minority few"),
    ("highest largest biggest maximum", "lowest smallest minimum"),
    ("more above exceed exceeds", "less fewer below under"),
)


def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for one, other in _PAIRS:
        ups, downs = (set(map(word_form, words.split())) for words in (one, other))
        for form in ups:
            found.setdefault(form, set()).update(downs)
        for form in downs:
            found.setdefault(form, set()).update(ups)
    return {form: frozenset(forms) for form, forms in found.items()}


_OPPOSITES = _opposites()
DIRECTED = frozenset(_OPPOSITES)
"""The forms of all words of direction."""


def opposed(form: str, others: Collection[str]) -> bool:
    """Tell if one of the forms denies `form`."""
    return not _OPPOSITES[form].isdisjoint(others) if form in _OPPOSITES else False
