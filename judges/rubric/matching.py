"""A rubric compared by words: short answers with a report, questions with questions."""

from __future__ import annotations

import re

from trecjudge import (
    PARTLY,
    STATED,
    GoldAnswer,
    Nugget,
    contradiction,
    mean_cosine,
    stated,
    vector_of,
    weighed_forms,
)

from .scoring import (
    COMPOUND,
    CONTRADICTS,
    DIFFERENT,
    IN_PART,
    MET,
    NOTHING,
    SIMILAR,
    SINGLE,
    SUPPORTS,
    UNMET,
    VERY_DIFFERENT,
    VERY_SIMILAR,
)

VERY_LIKE, LIKE, UNLIKE = 0.75, 0.45, 0.1
"""Cosines from which on two questions are very similar, similar, different."""
_ASKING = "who|whom|whose|what|when|where|why|how|which"
_HELPING = "is|are|was|were|do|does|did|has|have|had|can|could|will|would|should"
_SEVERAL = re.compile(
    rf"\?.*\?|(?:[,;]|\band\b|\bor\b)\s+(?:also\s+)?(?:{_ASKING}|{_HELPING})\b",
    re.IGNORECASE | re.DOTALL,
)
_ASKED_FOR = re.compile(rf"\b(?:{_ASKING})\b", re.IGNORECASE)
_SAME = {"which": "what", "whom": "who"}


def assess_answer(report: str, question: Nugget, answer: GoldAnswer) -> tuple[str, str]:
    """Return (label, reason): whether a report supports a short answer, as far as words show it."""
    claim = f"{question.text} {answer.text}" if question.is_question else answer.text
    for statement in dict.fromkeys((claim, answer.text)):
        # What contradicts counts, also where another sentence supports the answer.
        if against := contradiction(statement, report):
            return CONTRADICTS, against
    found = stated(report, question, answer)
    return {STATED: SUPPORTS, PARTLY: IN_PART}.get(found.label, NOTHING), found.reason


def verdict(report: str, criterion: Nugget, answer: GoldAnswer) -> tuple[str, str]:
    """Return (label, reason): whether a report meets a criterion, as far as words show it."""
    label, reason = assess_answer(report, criterion, answer)
    return {SUPPORTS: MET, IN_PART: IN_PART}.get(label, UNMET), reason


def form_of(question: str) -> tuple[str, str]:
    """Return (label, reason): whether a question is several in one, as far as words show it."""
    several = _SEVERAL.search(question.strip())
    if several is None:
        return SINGLE, "it asks once"
    return COMPOUND, "it asks more than once"


def likeness(rubric_question: str, question: str) -> tuple[str, str]:
    """Return (label, reason): how like two questions are, as far as words show it."""
    vectors = [vector_of(weighed_forms(text)) for text in (rubric_question, question)]
    cosine = mean_cosine(vectors)
    reason = f"cosine of their words {cosine:.2f}"
    first, second = (_asked_for(text) for text in (rubric_question, question))
    if cosine >= LIKE and first and second and first != second:
        return DIFFERENT, f"{reason}, but one asks {first!r} and the other {second!r}"
    label = VERY_SIMILAR if cosine >= VERY_LIKE else SIMILAR if cosine >= LIKE else DIFFERENT
    return (label if cosine >= UNLIKE else VERY_DIFFERENT), reason


def _asked_for(question: str) -> str:
    """Return the word that a question asks by, such as `when`; empty where it has none."""
    found = _ASKED_FOR.search(question)
    word = found[0].casefold() if found else ""
    return _SAME.get(word, word)
