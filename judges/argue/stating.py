"""Judgments on answers that sentences state, and on the nuggets of a bank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trecjudge import (
    NOT_STATED,
    PARTLY,
    STATED,
    AskedNugget,
    GoldAnswer,
    Judgment,
    Nugget,
    Sentence,
    WholeResponse,
    judgment_of,
)

UNANSWERABLE = "UNANSWERABLE"
"""The label of a question without answers."""
NOBODY_KNOWS = "nobody knows, or it is not so"
"""What stands for the answer to such a question."""


def pair_judgment(
    item: WholeResponse, sentence: Sentence, nugget: Nugget, answer: str, **decision: Any
) -> Judgment:
    """Return the judgment on whether a sentence states an answer to a nugget."""
    asked = AskedNugget(nugget.nugget_id, nugget.text, nugget.importance, answer)
    return judgment_of(item, sentence_index=sentence.index, nugget=asked, **decision)


def confirms(judgment: Judgment) -> bool:
    """Return whether it is on a sentence and a question that has no answer."""
    asked = judgment.nugget
    return judgment.sentence_index is not None and asked is not None and not asked.answer


def bank_judgment(item: WholeResponse, nugget: Nugget, pairs: Sequence[Judgment]) -> Judgment:
    """Return the judgment on a nugget: whether the response states it, in whatever sentences.

    It carries all answers with their documents, so that measures need no bank.
    """
    answers = gold_answers(nugget)
    together = nugget.together
    asked = AskedNugget(
        nugget.nugget_id, nugget.text, nugget.importance, answers=answers, together=together
    )
    if not answers:
        reason = "it has no answer: a negative assertion may confirm it"
        return judgment_of(item, label=UNANSWERABLE, reason=reason, nugget=asked)
    own = [pair for pair in pairs if pair.nugget and pair.nugget.nugget_id == nugget.nugget_id]
    stated = {pair.nugget.answer for pair in own if pair.nugget and pair.label == STATED}
    label = _label(answers, stated, together)
    failed = next((pair.failure for pair in own if pair.failure), None)
    if failed and label != STATED:
        return judgment_of(item, failure=failed, nugget=asked)
    attester = next((pair.attester for pair in own), "")
    reason = _reason(answers, stated, own)
    return judgment_of(item, label=label, reason=reason, attester=attester, nugget=asked)


def gold_answers(nugget: Nugget) -> tuple[GoldAnswer, ...]:
    """Return the distinct answers of a nugget; one without documents has the nugget's own."""
    found: dict[str, GoldAnswer] = {}
    for answer in nugget.gold_answers:
        documents = answer.documents or nugget.documents
        found.setdefault(answer.text, GoldAnswer(answer.text, documents, answer.answer_id))
    return tuple(found.values())


def _label(answers: Sequence[GoldAnswer], stated: set[str], together: bool) -> str:
    if not stated:
        return NOT_STATED
    return PARTLY if together and len(stated) < len(answers) else STATED


def _reason(answers: Sequence[GoldAnswer], stated: set[str], pairs: Sequence[Judgment]) -> str:
    if not stated:
        return "no sentence states it"
    numbers = sorted({j.sentence_index + 1 for j in pairs if j.sentence_index is not None})
    return f"{len(stated)} of {len(answers)} answers, in sentence {', '.join(map(str, numbers))}"
