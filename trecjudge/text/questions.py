"""Questions: the kind of a query, by the words that ask, and a query without these words."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from trecjudge.text.tables import read_words
from trecjudge.text.tokens import is_spaceless

WHETHER: Final = "whether"
"""A question without such a word: its answer is yes or no."""
NO_QUESTION: Final = "other"
"""A query that asks nothing in so many words, such as a title."""
_CLAUSE = re.compile(r"[^\n.!?？。؟]+[?？؟]?")
_OPENING = re.compile(r"[\W_]*")


@cache
def _kinds() -> dict[str, str]:
    """Return the kind of question that each word, or run of words, makes."""
    lists = read_words(Path(__file__).with_suffix(".txt"))
    return {word.replace("_", " "): kind for kind, words in lists.items() for word in words}


@cache
def _asking() -> re.Pattern[str]:
    # Of "how many" and "how" the longer one; without spaces, a word may stand inside a run.
    longest = sorted(_kinds(), key=len, reverse=True)
    alternatives = (
        re.escape(word) if is_spaceless(word) else rf"\b{re.escape(word)}\b" for word in longest
    )
    return re.compile("|".join(alternatives), re.IGNORECASE)


@lru_cache(maxsize=1024)
def question_kind(text: str) -> str:
    """Return who, when, where, why, how many, how, what, WHETHER or NO_QUESTION.

    The first clause that begins with a word that asks decides; else the first that ends in a
    question mark, by the first such word in it.
    """
    clauses = _CLAUSE.findall(text)
    for clause in clauses:
        opening = _OPENING.match(clause)
        first = _asking().match(clause, opening.end() if opening else 0)
        if first and not _is_acronym(first[0]):
            return _kinds()[first[0].lower()]
    for clause in (clause for clause in clauses if clause[-1] in "?？؟"):
        words = (found[0] for found in _asking().finditer(clause) if not _is_acronym(found[0]))
        return _kinds().get(next(words, "").lower(), WHETHER)
    return NO_QUESTION


def _is_acronym(word: str) -> bool:
    return word.isupper() and len(word) > 1


def blank_question_words(text: str) -> str:
    """Return a text with spaces in place of words that ask: offsets stay. Capitals ("WHO") stay."""

    def blank(found: re.Match[str]) -> str:
        return found[0] if _is_acronym(found[0]) else " " * len(found[0])

    return _asking().sub(blank, text)
