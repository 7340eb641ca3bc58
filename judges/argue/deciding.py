"""Who decides on sentences, words or a model, and the judgments that decisions become."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from trecjudge import (
    Judgment,
    JudgmentFailed,
    Model,
    Nugget,
    Program,
    ReplyLength,
    Sentence,
    WholeResponse,
    judgment_of,
)
from trecjudge.judging.judge import unjudged
from trecjudge.judging.nuggets import (
    NEEDS_CITATION,
    NEEDS_NONE,
    NEGATIVE,
    NOT_STATED,
    PARTLY,
    REPEATED,
    STATED,
    leaves_open,
    stated,
    uncited_by_words,
)
from trecjudge.records import AskedNugget, GoldAnswer, Usage


def within(limit: int, sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """Return the sentences that end within so many characters; all of them where it is 0.

    Counted as RAGTIME does it: after NFKC, sentences joined by spaces.
    """
    if not limit:
        return sentences
    size = -1
    for count, sentence in enumerate(sentences):
        size += 1 + len(unicodedata.normalize("NFKC", sentence.text))
        if size > limit:
            return sentences[:count]
    return sentences


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


STATE_ANSWERS = Program(
    "state_answers",
    f"{__package__}.program:StateAnswers",
    "questions",
    ReplyLength(fixed=15, each=30),
)
UNCITED = Program("judge_uncited", f"{__package__}.program:JudgeUncited", length=ReplyLength(60))


class Decider(Protocol):
    """Decides what the tree asks about one sentence."""

    async def judge_uncited(
        self, item: WholeResponse, sentence: Sentence, earlier: Sequence[Sentence]
    ) -> Judgment:
        """Return what an uncited sentence is. Raises JudgmentFailed."""

    async def judge_answers(
        self, item: WholeResponse, sentence: Sentence, nuggets: Sequence[Nugget]
    ) -> list[Judgment]:
        """Return a judgment on each answer that a sentence states, or that is undecided."""


@dataclass(frozen=True, slots=True)
class ByWords:
    """Decides by words and rules."""

    async def judge_uncited(
        self, item: WholeResponse, sentence: Sentence, earlier: Sequence[Sentence]
    ) -> Judgment:
        """Return what an uncited sentence is."""
        if not sentence.has_text:
            return judgment_of(item, label=NEEDS_NONE, reason="the sentence has no text")
        found = uncited_by_words(sentence.text, [s.text for s in earlier])
        return judgment_of(item, label=found.label, reason=found.reason, attester="lexical")

    async def judge_answers(
        self, item: WholeResponse, sentence: Sentence, nuggets: Sequence[Nugget]
    ) -> list[Judgment]:
        """Return a judgment on each answer that a sentence states."""
        found = []
        for nugget in nuggets:
            answers = gold_answers(nugget)
            for answer in answers:
                match = stated(sentence.text, nugget, answer)
                if match.label == STATED:
                    decision = {"label": STATED, "reason": match.reason, "attester": "lexical"}
                    found.append(pair_judgment(item, sentence, nugget, answer.text, **decision))
            if not answers and not sentence.citations and leaves_open(sentence.text, nugget.text):
                reason = "it has most of the question's words"
                decision = {"label": STATED, "reason": reason, "attester": "lexical"}
                found.append(pair_judgment(item, sentence, nugget, "", **decision))
        return found


@dataclass(frozen=True, slots=True)
class ByModel:
    """Asks a model: all about an uncited sentence at once, `window` questions at a time."""

    model: Model
    topic: str
    window: int

    async def judge_uncited(
        self, item: WholeResponse, sentence: Sentence, earlier: Sequence[Sentence]
    ) -> Judgment:
        """Return what an uncited sentence is."""
        if not sentence.has_text:
            return judgment_of(item, label=NEEDS_NONE, reason="the sentence has no text")
        before = "\n".join(s.text for s in earlier)
        prediction = await self.model.predict(UNCITED, earlier=before, sentence=sentence.text)
        given = prediction.fields
        label: str = NEEDS_CITATION
        if given["negative"]:
            label = NEGATIVE
        elif not given["needs_citation"]:
            label = NEEDS_NONE
        elif earlier and not given["first"]:  # the first sentence cannot say something again
            label = REPEATED
        usage, reason = prediction.call.usage, given.get("reason", "")
        return judgment_of(item, label=label, reason=reason, attester="llm", usage=usage)

    async def judge_answers(
        self, item: WholeResponse, sentence: Sentence, nuggets: Sequence[Nugget]
    ) -> list[Judgment]:
        """Return a judgment on each answer that a sentence states, or that is undecided.

        Whether it confirms what nobody knows is asked only of an uncited sentence.
        """
        asked = [n for n in nuggets if n.answerable or not sentence.citations]
        windows = [asked[i : i + self.window] for i in range(0, len(asked), self.window)]
        found = await asyncio.gather(*(self._ask_answers(item, sentence, part) for part in windows))
        return [judgment for part in found for judgment in part]

    async def _ask_answers(
        self, item: WholeResponse, sentence: Sentence, nuggets: Sequence[Nugget]
    ) -> list[Judgment]:
        """Ask about all questions at once and, where the reply does not fit them, one by one."""
        questions = [question_of(nugget) for nugget in nuggets]
        try:
            prediction = await self.model.predict(
                STATE_ANSWERS, topic=self.topic, sentence=sentence.text, questions=questions
            )
        except JudgmentFailed as failed:
            if len(nuggets) > 1 and failed.kind in ("parse", "cut"):
                singly = (self._ask_answers(item, sentence, [nugget]) for nugget in nuggets)
                return [judgment for part in await asyncio.gather(*singly) for judgment in part]
            return [
                j for nugget in nuggets for j in unjudged_answers(item, sentence, nugget, failed)
            ]
        found = []
        for nugget, given in zip(nuggets, prediction.fields["stated"], strict=True):
            found += answer_judgments(item, sentence, nugget, given.answers, given.reason)
        return _charge_first(found, prediction.call.usage)


def answer_judgments(
    item: WholeResponse, sentence: Sentence, nugget: Nugget, numbers: Sequence[int], reason: str
) -> list[Judgment]:
    """Return a judgment on each answer by its number; none is decided where one does not exist."""
    answers = [answer.text for answer in gold_answers(nugget)] or [""]
    if any(not 0 < number <= len(answers) for number in numbers):
        shown = ", ".join(map(str, numbers))
        message = f"the model names answers {shown} of a question that has {len(answers)}"
        return unjudged_answers(item, sentence, nugget, JudgmentFailed("parse", message))
    decision = {"label": STATED, "reason": reason, "attester": "llm"}
    named = [answers[number - 1] for number in sorted(set(numbers))]
    return [pair_judgment(item, sentence, nugget, answer, **decision) for answer in named]


def unjudged_answers(
    item: WholeResponse, sentence: Sentence, nugget: Nugget, failed: JudgmentFailed
) -> list[Judgment]:
    """Return an unjudged judgment on each answer to a nugget."""
    failure = unjudged(item, failed).failure
    answers = [answer.text for answer in gold_answers(nugget)] or [""]
    return [pair_judgment(item, sentence, nugget, answer, failure=failure) for answer in answers]


def question_of(nugget: Nugget) -> str:
    """Return a nugget as a model is asked about it: the question with its numbered answers."""
    answers = [answer.text for answer in gold_answers(nugget)] or [NOBODY_KNOWS]
    listed = "; ".join(f"({number}) {text}" for number, text in enumerate(answers, 1))
    return f"{nugget.text} {listed}" if nugget.is_question else listed


def _charge_first(judgments: list[Judgment], usage: Usage) -> list[Judgment]:
    """Return the judgments, the first with what the request for them cost."""
    return [replace(judgments[0], usage=usage), *judgments[1:]] if judgments else []
