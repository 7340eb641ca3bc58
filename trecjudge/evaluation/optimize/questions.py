"""The questions that a judge asks about labelled items, and topics to learn from or held out."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from trecjudge.errors import PLANNED, InputError, JudgmentFailed, unknown
from trecjudge.evaluation.optimize.people import People
from trecjudge.judging.judge import Judge
from trecjudge.judging.panel import NamedJudge
from trecjudge.judging.runner import Runner, groups_of
from trecjudge.models.model import Model, Prediction, Program
from trecjudge.records import Item, Judgment, Response, Topic

SHARE = 0.3
"""The share of topics that is held out unless another is asked for."""
ENOUGH = 6
"""So many are held out, of twice as many: with fewer no test can show a difference."""
FEWEST = 3
"""Topics that are needed: to learn from, to choose by, and held out."""


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
    judge: Judge, pairs: Iterable[tuple[Topic, Response]], people: People, singly: str = ""
) -> Iterator[Question]:
    """Yield the questions of a judge on whose items people have labels.

    `singly` is why none are judged together, else empty.
    """
    for topic, response in pairs:
        pool = [item for item in judge.pool(topic, response) if people.covers(item)]
        for places in groups_of(judge, pool, singly):
            yield Question(tuple(pool[place] for place in places), response)


async def answered(judge: Judge, question: Question, model: Model) -> list[Judgment]:
    """Return the judgments on a question, as a job has them; unjudged where the judge fails."""
    named = NamedJudge("", judge)
    runner = Runner([named], model)
    judged = await runner.judged(named, list(question.items), question.response)
    return [judgment for item in judged for judgment in item.judgments]


async def all_answered(
    judge: Judge, questions: Sequence[Question], model: Model
) -> list[list[Judgment]]:
    """Return the judgments on each question, in order."""
    return await asyncio.gather(*(answered(judge, question, model) for question in questions))


@dataclass(slots=True)
class Probe:
    """A model that answers nothing, and notes which programs are asked."""

    asked: set[str]
    available: bool = True
    in_flight: int = 1

    async def predict(self, program: Program, **inputs: Any) -> Prediction:
        """Note the program and raise JudgmentFailed."""
        self.asked.add(program.name)
        raise JudgmentFailed(PLANNED, "not asked yet")

    def spent(self) -> dict[str, Any]:
        """Return an empty dict."""
        return {}

    def record(self) -> dict[str, Any] | None:
        """Return None."""
        return None


async def asking(judge: Judge, questions: Sequence[Question], instead: str = "") -> list[Question]:
    """Return the questions for which a model is asked at all.

    Those are left out for which it is asked only by the program `instead`.
    """
    found = []
    for question in questions:
        probe = Probe(set())
        await answered(judge, question, probe)
        if probe.asked - {instead}:
            found.append(question)
    return found


@dataclass(frozen=True, slots=True)
class Split:
    """Questions to learn from, to choose by, and held out; each topic is in one part only."""

    training: list[Question]
    validation: list[Question]
    held_out: list[Question]

    def topics(self) -> dict[str, list[str]]:
        """Return the topics of each part."""
        parts = {"learnt_from": self.training, "chosen_by": self.validation}
        parts |= {"held_out": self.held_out}
        return {name: _topics(part) for name, part in parts.items()}


def split(questions: Sequence[Question], hold_out: str, seed: int, most: int) -> Split:
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
    return Split(training, validation, [q for q in questions if q.topic_id in held])


def _held_out(asked: str, topics: Sequence[str], shuffled: Sequence[str]) -> set[str]:
    text = asked.strip()
    if text == "topics":
        return set(shuffled[: max(round(SHARE * len(topics)), min(ENOUGH, len(topics) // 2))])
    try:
        number = float(text)
    except ValueError:
        return set(_named(text, topics))
    if 0 < number < 1:
        return set(shuffled[: max(1, round(number * len(topics)))])
    if number >= 1 and number % 1 == 0:
        return set(shuffled[: int(number)])
    raise InputError(f"--hold-out {asked}: give a share between 0 and 1, a number, or topics")


def _named(text: str, topics: Sequence[str]) -> list[str]:
    """Return the topics of a list with commas. A number without one is how many, not an id."""
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
