"""Text that talks to the judge instead of about its subject."""

from __future__ import annotations

import re
from functools import cache

from trecjudge.text.steering import languages, patterns
from trecjudge.text.steering.disguise import hidden_text, is_common, plain_forms, spaced_out
from trecjudge.text.steering.patterns import Patterns

# Words whose letters stand apart, which no harmless text has.
_SPELLED = re.compile(
    r"ignor|disregard|forget|overrid|instruct|fullsupport|partialsupport|nosupport|supported"
    r"|attributed|contradicted|verdict|grader|evaluator|assessor|score|grade"
)


MOST_REMEMBERED = 50_000
"""How many texts have their finding remembered: by hash, in a few MB at most."""
_remembered: dict[int, str | None] = {}


def instruction_like(text: str) -> str | None:
    """Return the first passage of `text` that reads like an instruction to the judge, or None.

    It finds plain orders, disguised ones too. If it finds none, there may still be one. A text that
    many runs cite is looked at once.
    """
    key = hash(text)
    if key not in _remembered:
        if len(_remembered) >= MOST_REMEMBERED:
            _remembered.clear()
        _remembered[key] = _find_instruction(text)
    return _remembered[key]


def _find_instruction(text: str) -> str | None:
    common = is_common(text)
    hidden = None if common else hidden_text(text)
    return hidden if hidden is not None else _found_in(text, common)


def _found_in(text: str, common: bool) -> str | None:
    for form in plain_forms(text, common):
        plain = f"\n{form}"  # a text may begin with what opens a line
        span = _patterns().first(plain)
        if span is None and not common:
            span = _patterns_of_other_scripts().first(plain)
        if span is not None:
            return plain[slice(*span)].strip().lstrip(".!?,; ")
        for written, letters in spaced_out(plain):
            if _SPELLED.search(letters):
                return written
    return None


@cache
def _patterns() -> Patterns:
    return Patterns((*patterns.ENGLISH, *patterns.MARKS, *languages.LATIN))


@cache
def _patterns_of_other_scripts() -> Patterns:
    return Patterns(languages.OTHERS)
