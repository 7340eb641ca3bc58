"""Words that qualify a statement: negations, hedges, keys with yes or no, and others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set

from trecjudge.text.forms import word_form
from trecjudge.text.tokens import Token

_WORDS = """
may might could possibly perhaps maybe likely probably suggest suggests appear appears seem seems
potential potentially alleged allegedly reportedly claim claims believe believed estimate estimated
может возможно вероятно ربما قد vielleicht möglicherweise könnte peut-être quizás podría
"""
HEDGES = frozenset(map(word_form, _WORDS.split()))
"""The forms of the words that hedge."""


_CHANGING_WORDS = """
world federal supreme royal imperial sole former ex deputy vice honorary
permanently permanent temporarily temporary secretly secret illegally illegal unlawful
mandatory compulsory voluntary optional exclusively exclusive solely entirely completely
nearly almost hardly barely scarcely never twice thrice double triple half
stolen fake counterfeit forged defective faulty contaminated banned experimental failed attempted
unsuccessful proposed cancelled postponed abandoned
endangered extinct invasive domesticated hereditary congenital pregnant elderly adopted disabled
blind deaf homeless nuclear quantum amphibious unarmed anonymous solo unanimous unanimously
red blue green yellow orange purple pink brown black white grey gray golden
wooden marble bronze
"""
QUALIFIERS = frozenset(map(word_form, _CHANGING_WORDS.split()))
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
# English (also "n't"), German, Romance and Dutch, Russian, Arabic, Hindi.
_NEGATIONS = """
not no never without none neither nor cannot
nicht kein keine keinen keiner nie niemals ohne
ne jamais sans nunca jamás sin não sem non senza niet geen
не нет ни никогда без
لا لم لن ليس ليست دون بدون
नहीं मत
"""
_CUES = frozenset(map(word_form, _NEGATIONS.split()))
# Words that deny without a negation: "lacks evidence" means "has no evidence".
_DENIALS = """
lack fail except rather instead unlike unlikely avoid prevent deny reject oppose little few hardly
barely unable absence impossible refute debunk ban prohibit forbid free false unclear inaction
nobody nothing although though despite
"""
_DENYING = _CUES | frozenset(map(word_form, _DENIALS.split()))
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
            if following not in _NOT_A_NEGATION_BEFORE:
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
