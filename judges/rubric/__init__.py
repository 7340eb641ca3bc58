"""Rubric: which short answers of a rubric a report supports (DRAGUN), which criteria it meets."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from trecjudge import (
    InputError,
    Item,
    Judgment,
    JudgmentFailed,
    LeaderboardSpec,
    Model,
    Nugget,
    Program,
    ReplyLength,
    Response,
    Sentence,
    Topic,
    WholeResponse,
    judgment_of,
)
from trecjudge.errors import unknown
from trecjudge.inputs.labels.vocabulary import label_among
from trecjudge.judging.attest import AttesterName
from trecjudge.judging.judge import ask_together, asks_model, charge_first, unjudged
from trecjudge.judging.nuggets import nuggets_given
from trecjudge.records import AskedNugget, GoldAnswer, Usage
from trecjudge.settings.fields import check_ranges, ranged

from .scoring import (
    ALIGNMENTS,
    ASSESSMENTS,
    CONTRADICTORY_SCORE,
    FORMS,
    NO_RUBRIC,
    NOTHING,
    QUESTION_SCORE,
    SUPPORTIVE_SCORE,
    UNMET,
    VERDICTS,
    VERY_DIFFERENT,
    assess_answer,
    axes_in,
    axis_measures,
    best_or_worst,
    best_or_worst_question,
    check_criterion,
    compare_questions,
    form_of_question,
    plain_axis,
)

ASSESS = Program(
    "assess_answers", f"{__package__}.program:AssessAnswers", "answers", ReplyLength(15, each=25)
)
CRITERIA = Program(
    "check_criteria", f"{__package__}.program:CheckCriteria", "criteria", ReplyLength(15, each=25)
)
CHECK = Program(
    "check_questions", f"{__package__}.program:CheckQuestions", "questions", ReplyLength(15, each=8)
)
ALIGN = Program(
    "align_questions", f"{__package__}.program:AlignQuestions", "questions", ReplyLength(15, each=8)
)
Asked = tuple[int | None, AskedNugget | None]
"""What is decided: the index of a sentence, None for the whole report, and what it is held to."""


@dataclass(frozen=True, slots=True)
class RubricJudge:
    """Which short answers of a rubric a report supports or contradicts, or criteria it meets.

    `task` is what the responses are: `report`, or `questions`, of which each sentence is one, held
    to those of the rubric. `assessor` decides: `lexical`, `llm`, or `auto`: the model where one is
    used. A model is asked about `window` answers at a time, with the whole report. `axes` are those
    of weighted criteria that have a measure: where none are given, a job takes those of the bank.
    """

    task: Literal["report", "questions"] = "report"
    assessor: AttesterName = "auto"
    window: int = ranged(50, 1)
    axes: list[str] = field(default_factory=list)
    programs: ClassVar[tuple[Program, ...]] = (ASSESS, CRITERIA, CHECK, ALIGN)
    needs: ClassVar[tuple[str, ...]] = ("nuggets",)

    def __post_init__(self) -> None:
        check_ranges(self)

    @property
    def needs_model(self) -> bool:
        """Whether the settings ask for a model."""
        return self.assessor == "llm"

    def fitted(self, nuggets: Sequence[Nugget], cited: object) -> RubricJudge:
        """Return the judge with the axes of the banks, where none are given.

        Raises InputError for one that the banks do not have.
        """
        known = axes_in(nuggets)
        for axis in self.axes:
            if plain_axis(axis) not in map(plain_axis, known):
                raise InputError(unknown("axis of the banks", axis, known))
        return self if self.axes else replace(self, axes=known)

    @property
    def measures(self) -> LeaderboardSpec:
        """The supportive and the contradictory score and those of axes, or that of questions."""
        if self.task == "questions":
            return LeaderboardSpec((QUESTION_SCORE,), fill=best_or_worst_question)
        columns = (SUPPORTIVE_SCORE, CONTRADICTORY_SCORE, *axis_measures(self.axes))
        return LeaderboardSpec(columns, sort_by="SUPPORTIVE_SCORE", fill=best_or_worst)

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the whole response as one item."""
        yield WholeResponse.of(topic, response)

    async def judge(self, item: Item, model: Model) -> list[Judgment]:
        """Return a judgment on each answer, or on each question and each pair of questions.

        Raises JudgmentFailed where the topic has no rubric.
        """
        assert isinstance(item, WholeResponse)
        rubric = self._rubric_of(item.topic)
        if not rubric:
            return [judgment_of(item, label=NO_RUBRIC, reason="the topic's rubric has no answers")]
        held_to, weighted = self._held_to(rubric), any(q.weight is not None for q in rubric)
        if not item.has_text:  # asked about nothing, a model believes anything
            nothing = NOTHING if self.task == "report" else VERY_DIFFERENT
            known = {"label": UNMET if weighted else nothing, "reason": "the response is empty"}
            return [judgment_of(item, nugget=nugget, **known) for nugget in held_to]
        by_model = asks_model(self.assessor, model)
        if self.task == "questions":
            return await self._questions(item, rubric, model if by_model else None)
        if not by_model:
            return [by_words(item, q, a) for q in rubric for a in q.gold_answers]
        asking = RubricModel(item, model, CRITERIA if weighted else ASSESS, self.window)
        return await asking.judge(
            of_whole_report(held_to), topic=item.topic.title, report=item.text
        )

    async def _questions(
        self, item: WholeResponse, rubric: Sequence[Nugget], model: Model | None
    ) -> list[Judgment]:
        """Return whether each question is compound, and how like it is to each of the rubric."""
        sentences = questions_in(item.response)
        if model is None:
            forms = [
                rubric_judgment(item, (s.index, None), *form_of_question(s.text), "lexical")
                for s in sentences
            ]
            pairs = [
                rubric_judgment(item, (s.index, q), *compare_questions(q.text, s.text), "lexical")
                for q in self._held_to(rubric)
                for s in sentences
            ]
            return [*forms, *pairs]
        texts = {s.index: s.text for s in sentences}
        check = RubricModel(item, model, CHECK, len(texts), texts)
        align = replace(check, program=ALIGN)
        work = [check.judge([(i, None) for i in texts])]
        for question in self._held_to(rubric):
            asked: list[Asked] = [(i, question) for i in texts]
            work.append(align.judge(asked, rubric_question=question.text))
        return [judgment for part in await asyncio.gather(*work) for judgment in part]

    def asked(self, item: Item) -> list[Asked]:
        """Return what is labelled: answers, or a run's questions and pairs of them with others.

        Raises JudgmentFailed where the topic has no rubric.
        """
        assert isinstance(item, WholeResponse)
        held_to = self._held_to(self._rubric_of(item.topic))
        if self.task == "report":
            return of_whole_report(held_to)
        indexes = [sentence.index for sentence in questions_in(item.response)]
        return [(i, None) for i in indexes] + [(i, nugget) for nugget in held_to for i in indexes]

    def given_nugget(self, item: Item, nugget: AskedNugget | None, label: str) -> Judgment:
        """Return the judgment that somebody else's label makes.

        Raises JudgmentFailed for what is no label of the task.
        """
        labels: Sequence[str] = FORMS if nugget is None else ALIGNMENTS
        if self.task == "report":
            labels = VERDICTS if nugget and nugget.weight is not None else ASSESSMENTS
        known = label_among(label, labels)
        if known is None:
            raise JudgmentFailed("parse", f"label {label!r} is none of {', '.join(labels)}")
        return judgment_of(item, label=known, attester="given", nugget=nugget)

    def _rubric_of(self, topic: Topic) -> list[Nugget]:
        """Return the questions of a topic's rubric that have an answer, or its criteria.

        Raises JudgmentFailed where it has no rubric, or, of questions, one of criteria.
        """
        found = nuggets_given(topic, "rubric", weighted=self.task == "report")
        return [question for question in found if question.answerable]

    def _held_to(self, rubric: Sequence[Nugget]) -> list[AskedNugget]:
        """Return the answers of a rubric, or its questions, called by their rank."""
        if self.task == "report":
            return [asked_answer(question, a) for question in rubric for a in question.gold_answers]
        return [
            AskedNugget(q.nugget_id, q.text, q.importance, answer_id=f"rank-{rank_of(q, place)}")
            for place, q in enumerate(rubric, 1)
        ]


def rank_of(question: Nugget, place: int) -> int:
    """Return the rank of a rubric's question: the number that its id ends with, else its place."""
    _, dash, end = question.nugget_id.rpartition("-")
    return int(end) if dash and end.isascii() and end.isdecimal() else place


def questions_in(response: Response) -> list[Sentence]:
    """Return the questions of a response: its sentences that have text."""
    return [sentence for sentence in response.sentences if sentence.has_text]


def asked_answer(question: Nugget, answer: GoldAnswer) -> AskedNugget:
    """Return what a judgment keeps of a short answer, or of a criterion."""
    named = question.nugget_id, question.text, question.importance, answer.text, answer.answer_id
    return AskedNugget(*named, weight=question.weight, group=question.group)


def by_words(item: WholeResponse, question: Nugget, answer: GoldAnswer) -> Judgment:
    """Return the judgment on a short answer or a criterion, as far as words show it."""
    decide = assess_answer if question.weight is None else check_criterion
    asked = (None, asked_answer(question, answer))
    return rubric_judgment(item, asked, *decide(item.text, question, answer), "lexical")


def of_whole_report(nuggets: Sequence[AskedNugget]) -> list[Asked]:
    """Return nuggets as held to the whole report."""
    return [(None, nugget) for nugget in nuggets]


def rubric_judgment(item: Item, asked: Asked, label: str, reason: str, by: str) -> Judgment:
    """Return the judgment on an answer, a question, or a pair of questions."""
    sentence, nugget = asked
    return judgment_of(
        item, sentence_index=sentence, nugget=nugget, label=label, reason=reason, attester=by
    )


@dataclass(frozen=True, slots=True)
class RubricModel:
    """Asks a model about a response, `window` things at a time.

    `texts` are the run's questions by their place, where these are asked about.
    """

    item: WholeResponse
    model: Model
    program: Program
    window: int
    texts: Mapping[int, str] = field(default_factory=dict)

    async def judge(self, asked: Sequence[Asked], **fixed: str) -> list[Judgment]:
        """Return a judgment on each; `fixed` are the other inputs of the program."""

        async def ask(part: Sequence[Asked]) -> tuple[Sequence[Any], Usage]:
            listed = [
                word_answer(nugget) if index is None else self.texts[index]
                for index, nugget in part
            ]
            inputs = {**fixed, self.program.aligned_with: listed}
            prediction = await self.model.predict(self.program, **inputs)
            (answers,) = prediction.fields.values()
            return answers, prediction.call.usage

        found = []
        for part, answers, usage in await ask_together(asked, self.window, ask):
            pairs = zip(part, answers, strict=True)
            found += charge_first([_by_model(self.item, *pair) for pair in pairs], usage)
        return found


def _by_model(item: WholeResponse, asked: Asked, given: Any) -> Judgment:
    if isinstance(given, JudgmentFailed):
        sentence, nugget = asked
        return replace(unjudged(item, given), sentence_index=sentence, nugget=nugget)
    return rubric_judgment(item, asked, given.label, getattr(given, "reason", ""), "llm")


def word_answer(nugget: AskedNugget | None) -> str:
    """Return a short answer as a model is asked about it: behind its question."""
    assert nugget is not None
    return f"{nugget.text} {nugget.answer}" if nugget.answer != nugget.text else nugget.text
