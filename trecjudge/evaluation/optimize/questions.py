"""Labelled questions of a judge: gold labels, programs that are asked, topics held out."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from trecjudge.errors import PLANNED, InputError, JudgmentFailed, unknown
from trecjudge.evaluation.label_sets import LabelledItem, LabelSet, apart
from trecjudge.inputs.labels import key_of
from trecjudge.inputs.labels.vocabulary import SUPPORT, support_label
from trecjudge.judging.judge import Judge, group_size, programs_of
from trecjudge.judging.panel import NamedJudge
from trecjudge.judging.runner import Runner, groups_of
from trecjudge.models.adapters import load_signature
from trecjudge.models.model import Model, NoModel, Prediction, Program
from trecjudge.records import GRADES, Item, Judgment, Response, Topic

SHARE = 0.3
"""The share of topics that is held out unless another is asked for."""
ENOUGH = 6
"""So many are held out, of twice as many: with fewer no test can show a difference."""
FEWEST = 3
"""Topics that are needed: to learn from, to choose by, and held out."""
DECIDING = frozenset({"label", "verdict", "grade"})
"""Fields of a reply that are what a judgment is made of."""


@dataclass(frozen=True, slots=True)
class GoldLabels:
    """The labels of people by item, in whatever form `agree` reads.

    `kind` is `qrels`, `judgments` or `labels`, as a `LabelSet` has it.
    """

    name: str
    kind: str
    in_support: bool = False
    """Whether their labels are called full, partial and no support."""
    labels: dict[LabelledItem, str] = field(default_factory=dict, repr=False)
    _covered: set[LabelledItem] = field(default_factory=set, repr=False)

    @classmethod
    def of(cls, side: LabelSet) -> GoldLabels:
        """Return the labels of a side."""
        named = side.people.naming if side.people is not None else side.naming
        gold = cls(side.name, side.kind, named is not None and named.target == SUPPORT)
        for topic_id, run_id in side.groups:
            for item, label, _, _ in side.rows((topic_id, run_id)):
                gold.labels[topic_id, run_id, *item] = label
                gold._covered.update(((topic_id, run_id), (topic_id, run_id, *item[:2])))
        return gold

    def label(self, judgment: Judgment) -> str | None:
        """Return the label of people on the item of a judgment, None where there is none."""
        return next((self.labels[key] for key in self._keys(judgment) if key in self.labels), None)

    def label_in_words(self, judgment: Judgment) -> str | None:
        """Return the label of a judgment in the words of people; None where it is unjudged."""
        if judgment.label is None:
            return None
        if self.kind == "qrels":
            return str(GRADES.get(judgment.label, judgment.label))
        if judgment.nugget is not None:  # such labels stand for themselves
            return judgment.label
        return (self.in_support and support_label(judgment.label)) or judgment.label

    def covers(self, item: Item) -> bool:
        """Return whether people may have labelled an item, or something in it."""
        topic_id, run_id = item.topic.topic_id, item.run_id
        doc_id = item.citation.doc_id if item.citation else None
        if self.kind == "qrels":
            doc_id = item.document.doc_id if item.document and doc_id is None else doc_id
            return any((topic_id, run, doc_id) in self.labels for run in (run_id, ""))
        if item.sentence_index is None:
            return (topic_id, run_id) in self._covered
        return (topic_id, run_id, item.sentence_index, doc_id) in self._covered

    def _keys(self, judgment: Judgment) -> Sequence[LabelledItem]:
        topic_id, run_id = judgment.topic_id, judgment.run_id
        if self.kind == "qrels":
            return [(topic_id, run, judgment.doc_id) for run in (run_id, "")]
        key = key_of(judgment)
        if self.kind == "judgments":
            return [(*key, apart(judgment))]
        names = judgment.nugget.names if judgment.nugget else ()
        return [key, *((*key[:4], name) for name in names)]


def accuracy(gold: GoldLabels, judgments: Sequence[Judgment]) -> float | None:
    """Return the share of labelled judgments with the label of people; None without any.

    One that is unjudged is not right.
    """
    labelled = [(label, j) for j in judgments if (label := gold.label(j)) is not None]
    if not labelled:
        return None
    return sum(gold.label_in_words(j) == label for label, j in labelled) / len(labelled)


def feedback(gold: GoldLabels, judgments: Sequence[Judgment]) -> str:
    """Return in words how judgments compare with the labels of people."""
    lines = []
    for judgment in judgments:
        if (label := gold.label(judgment)) is None:
            continue
        said = gold.label_in_words(judgment)
        about = f" on {judgment.about}" if judgment.about else ""
        if said == label:
            lines.append(f"Right{about}: people say {label} too.")
        elif said is None:
            lines.append(f"Wrong{about}: people say {label}, the reply could not be used.")
        else:
            lines.append(f"Wrong{about}: people say {label}, the reply leads to {said}.")
    return "\n".join(lines) or "No label of people is on it."


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """Items of a response that are judged together, by one request or one after another."""

    items: tuple[Item, ...]
    response: Response = field(repr=False)

    @property
    def topic_id(self) -> str:
        """The topic of its items."""
        return self.items[0].topic.topic_id

    def __repr__(self) -> str:
        first = self.items[0]
        return f"{first.topic.topic_id}, {first.run_id}, sentence {first.sentence_index}"


def questions_on(
    judge: Judge, pairs: Iterable[tuple[Topic, Response]], gold: GoldLabels, singly: str = ""
) -> Iterator[Question]:
    """Yield the questions of a judge on whose items people have labels.

    `singly` is why none are judged together, else empty.
    """
    for topic, response in pairs:
        pool = [item for item in judge.pool(topic, response) if gold.covers(item)]
        for places in groups_of(judge, pool, group_size(judge, singly)):
            yield Question(tuple(pool[place] for place in places), response)


async def answer(judge: Judge, question: Question, model: Model) -> list[Judgment]:
    """Return the judgments on a question, as a job has them; unjudged where the judge fails."""
    named = NamedJudge("", judge)
    runner = Runner([named], model)
    judged = await runner.judge_item(named, list(question.items), question.response)
    return [judgment for item in judged for judgment in item.judgments]


async def answer_all(
    judge: Judge, questions: Sequence[Question], model: Model
) -> list[list[Judgment]]:
    """Return the judgments on each question, in order."""
    return await asyncio.gather(*(answer(judge, question, model) for question in questions))


class Probe(NoModel):
    """A model that answers nothing, and notes which programs are asked, and what."""

    available = True

    def __init__(self) -> None:
        self.asked: dict[str, list[Mapping[str, Any]]] = {}

    async def predict(self, program: Program, **inputs: Any) -> Prediction:
        """Note the program with its inputs and raise JudgmentFailed."""
        self.asked.setdefault(program.name, []).append(inputs)
        raise JudgmentFailed(PLANNED, "not asked yet")


async def select_asked(
    judge: Judge, questions: Sequence[Question], instead: str = ""
) -> list[Question]:
    """Return the questions for which a model is asked at all.

    Those are left out for which it is asked only by the program `instead`.
    """
    found = []
    for question in questions:
        probe = Probe()
        await answer(judge, question, probe)
        if probe.asked.keys() - {instead}:
            found.append(question)
    return found


@dataclass(frozen=True, slots=True)
class TrainDevSplit:
    """Questions to learn from, to choose by, and held out; each topic is in one part only."""

    training: list[Question]
    validation: list[Question]
    held_out: list[Question]

    def topics(self) -> dict[str, list[str]]:
        """Return the topics of each part."""
        parts = {"learnt_from": self.training, "chosen_by": self.validation}
        parts |= {"held_out": self.held_out}
        return {name: _topics(part) for name, part in parts.items()}


def split_topics(
    questions: Sequence[Question], hold_out: str, seed: int, most: int
) -> TrainDevSplit:
    """Return the questions parted by whole topics; at most `most` each to learn from and choose by.

    `hold_out` is `topics`, a share such as 0.3, a number of topics, or ids with commas: `301,`.
    Raises InputError.
    """
    topics = _topics(questions)
    if len(topics) < FEWEST:
        message = f"labels are on {len(topics)} topics: {FEWEST} are needed, some to be held out"
        raise InputError(f"{message}; without topics in the labels nothing can be held out")
    shuffled = random.Random(seed).sample(topics, len(topics))
    held = _held_out(hold_out, topics, shuffled)
    rest = [topic for topic in shuffled if topic not in held]
    if len(rest) < 2:
        message = f"leaves {len(rest)} of {len(topics)} topics to learn from and to choose by"
        hint = f"hold out fewer; for the topic of that id write {hold_out.strip()},"
        raise InputError(f"--hold-out {hold_out}: {message}; {hint}")
    learnt = set(rest[: (len(rest) + 1) // 2])
    chosen = set(rest) - learnt
    parts = [[q for q in questions if q.topic_id in part] for part in (learnt, chosen)]
    training, validation = (_sample(part, most, seed) for part in parts)
    return TrainDevSplit(training, validation, [q for q in questions if q.topic_id in held])


def _held_out(asked: str, topics: Sequence[str], shuffled: Sequence[str]) -> set[str]:
    text = asked.strip()
    if text == "topics":
        return set(shuffled[: max(round(SHARE * len(topics)), min(ENOUGH, len(topics) // 2))])
    try:
        number = float(text)
    except ValueError:
        return set(_topics_by_id(text, topics))
    if 0 < number < 1:
        return set(shuffled[: max(1, round(number * len(topics)))])
    if number >= 1 and number % 1 == 0:
        return set(shuffled[: int(number)])
    raise InputError(f"--hold-out {asked}: give a share between 0 and 1, a number, or topics")


def _topics_by_id(text: str, topics: Sequence[str]) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise InputError(f"--hold-out {text}: names no topic; there are: {', '.join(topics)}")
    for name in names:
        if name not in topics:
            raise InputError(f"--hold-out: {unknown('topic', name, topics)}")
    return names


def _sample(questions: list[Question], most: int, seed: int) -> list[Question]:
    """Return at most so many, in a random order that the seed decides: topics are mixed."""
    return random.Random(seed).sample(questions, min(most, len(questions)))


def _topics(questions: Sequence[Question]) -> list[str]:
    return sorted({question.topic_id for question in questions})


def find_program(judge: Judge, name: str) -> Program:
    """Return a program of a judge; without a name the one that decides on labels.

    Of one for single items and one for groups, it is that which the judge as it is set asks. Raises
    InputError.
    """
    programs = programs_of(judge)
    if not programs:
        raise InputError("the judge has no prompt: it asks no model")
    if name:
        if name not in programs:
            raise InputError(f"--program: {unknown('program', name, programs)}")
        return programs[name]
    deciding = [program for program in programs.values() if _decides(program)]
    grouped = group_size(judge) > 1
    fitting = [program for program in deciding if bool(program.aligned_with) == grouped]
    return next(iter(fitting or deciding or programs.values()))


def sibling_of(judge: Judge, program: Program) -> Program | None:
    """Return the program for single items of one for groups, or the reverse; None without one."""
    others = programs_of(judge).values()
    return program.each or next((other for other in others if other.each == program), None)


def _decides(program: Program) -> bool:
    outputs = load_signature(program.reference).output_fields.items()
    return any(name in DECIDING or DECIDING & set(_inner(f.annotation)) for name, f in outputs)


def _inner(annotation: Any) -> Iterator[str]:
    if get_origin(annotation) is list:
        for entry in get_args(annotation):
            if isinstance(entry, type) and issubclass(entry, BaseModel):
                yield from entry.model_fields
