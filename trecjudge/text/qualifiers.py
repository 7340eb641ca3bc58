"""Words that qualify a statement: negations, hedges, keys with yes or no, and others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

from trecjudge.text.forms import word_form
from trecjudge.text.tables import read_words
from trecjudge.text.tokens import Token

_WORDS = read_words(Path(__file__).with_name("qualifiers.txt"))
HEDGES = frozenset(map(word_form, _WORDS["hedges"]))
"""The forms of the words that hedge."""


QUALIFIERS = frozenset(map(word_form, _WORDS["changing"]))
"""The forms of these words."""


# Keys of JSON that a value says yes or no to: "petFriendly": false.
_SAID = re.compile(
    r"""["']?(?P<key>[A-Za-z][\w -]{1,60}?)["']?\s*:\s*["']?(?:u['"])?"""
    r"""(?:(?P<yes>true|yes)|(?P<no>false|no|none|null))\b["']*\s*(?=[,}\]\n]|$)""",
    re.IGNORECASE,
)
_SIGN = re.compile(r":\s*[\"']?(?:u['\"])?(?:true|yes|false|no|none|null)\b", re.IGNORECASE)


def said_of_keys(text: str) -> list[tuple[int, str, bool]]:
    """Return (offset, key, whether the value affirms it) of each key with a value of yes or no."""
    if not _SIGN.search(text):
        return []
    return [(m.start(), m["key"], m["yes"] is not None) for m in _SAID.finditer(text)]


# Which words of a sentence stand under a negation.
_CUES = frozenset(map(word_form, _WORDS["negations"]))
_DENYING = _CUES | frozenset(map(word_form, _WORDS["denials"]))
# Characters that negate what follows (Chinese), and endings that negate what precedes.
_NEGATING = frozenset("不没沒未無无非")
_NEGATED_BEFORE = frozenset(
    {"ない", "せん", "지않", "않는", "않다", "않았", "없다", "없는", "없었"}
)
# "Not only ... but" asserts.
_NOT_A_NEGATION_BEFORE = frozenset(map(word_form, ("only", "just", "merely", "simply", "nur")))
_SCOPE = 3  # forms that a negation reaches


def negated_positions(forms: Sequence[str]) -> Iterator[int]:
    """Yield the indexes of forms at most three after a negation (before it, in Japanese).

    A window of words instead of a parse, as NegEx does it (Chapman et al., 2001).
    """
    for index, form in enumerate(forms):
        if form in _CUES:
            following = forms[index + 1] if index + 1 < len(forms) else ""
            # "No 1" is a number, and what is "not only" so is so.
            if following not in _NOT_A_NEGATION_BEFORE and not following[:1].isdigit():
                yield from range(index + 1, min(index + 1 + _SCOPE, len(forms)))
        elif not form.isascii():
            yield from _negated_by_characters(form, index, len(forms))


def has_negation(tokens: Sequence[Token]) -> bool:
    """Return whether a word of negation is among the tokens; "not only" does not count."""
    # An empty form at the end, so that a negation there has something to negate.
    something_after = ""
    forms = [token.form for token in tokens]
    return any(True for _ in negated_positions([*forms, something_after]))


def denials(forms: Set[str]) -> set[str]:
    """Return those of the forms which may turn a statement into its contrary."""
    found = _DENYING & forms
    for form in forms:
        if not form.isascii() and (form in _NEGATED_BEFORE or not _NEGATING.isdisjoint(form)):
            found |= {form}
    return set(found)


def _negated_by_characters(form: str, index: int, count: int) -> range:
    if form in _NEGATED_BEFORE:
        return range(max(0, index - _SCOPE), index)
    # The bigram that begins with the negation ("不支"); the next one is the word ("支持").
    if form[0] in _NEGATING:
        return range(index + 1, min(index + _SCOPE, count))
    return range(0)
