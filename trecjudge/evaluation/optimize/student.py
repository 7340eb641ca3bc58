"""A judge as a DSPy module: one of its programs is the predictor that an optimiser changes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import cache
from typing import Any

from trecjudge.errors import ModelError, TrecJudgeError
from trecjudge.evaluation.optimize.bounds import ENDING, SPENT, Bounds, Stopped
from trecjudge.evaluation.optimize.ledger import Ledger
from trecjudge.evaluation.optimize.people import People, right, told
from trecjudge.evaluation.optimize.questions import Question, answered
from trecjudge.judging.judge import Judge
from trecjudge.models.client import Client
from trecjudge.models.dspy_lm import judging_adapter
from trecjudge.models.model import Prediction, Program
from trecjudge.models.prompt import Prompts
from trecjudge.models.signatures import dspy_module
from trecjudge.records import ModelCall, Usage


@dataclass(frozen=True, slots=True, eq=False)
class Desk:
    """What a judge needs beside its prompt; copies of a module share it."""

    judge: Judge
    program: Program
    people: People
    client: Client
    loop: asyncio.AbstractEventLoop
    bounds: Bounds
    ledger: Ledger

    def __deepcopy__(self, memo: object) -> Desk:
        return self


@dataclass(frozen=True, slots=True)
class Asked:
    """A model in a thread: a module's predictor answers for one program, the client for others."""

    desk: Desk
    predictor: Any
    available: bool = True
    in_flight: int = 1

    @property
    def prompts(self) -> Prompts:
        """The prompts of the client."""
        return self.desk.client.prompts

    async def predict(self, program: Program, **inputs: Any) -> Prediction:
        """Return the predictor's prediction, or the client's. It blocks its thread."""
        desk = self.desk
        if program.name != desk.program.name:
            work = desk.client.predict(program, **inputs)
            return asyncio.run_coroutine_threadsafe(work, desk.loop).result()
        with dspy_module().context(adapter=judging_adapter(program)):
            fields = dict(self.predictor(**inputs))
        return Prediction(fields, ModelCall(program.name, [], "", Usage()))

    def spent(self) -> dict[str, Any]:
        """Return what the client spent."""
        return self.desk.client.spent()

    def record(self) -> dict[str, Any] | None:
        """Return None: the client has the record."""
        return None


@cache
def _student_class() -> Any:
    dspy = dspy_module()

    class Student(dspy.Module):  # type: ignore[misc,name-defined]
        """Judges a question; the prediction has its score, and in words what was wrong."""

        def __init__(self, desk: Desk, predictor: Any) -> None:
            super().__init__()
            self.desk, self.predictor = desk, predictor

        def forward(self, question: Question) -> Any:
            desk, predictor = self.desk, self.predictor
            with desk.bounds.question():
                judgments = _answered_here(desk, question, predictor)
            score = right(desk.people, judgments) or 0.0
            if dspy.settings.lm.kwargs.get("rollout_id") is None:
                desk.ledger.note(predictor.signature, predictor.demos, question, score)
            return dspy.Prediction(score=score, feedback=told(desk.people, judgments))

    return Student


def student(desk: Desk, signature: Any, demos: Any) -> Any:
    """Return the module of a judge whose program has this signature and these demonstrations."""
    dspy = dspy_module()
    predictor = dspy.Predict(signature)
    predictor.demos = [dspy.Example(**demo) for demo in demos]
    return _student_class()(desk, predictor)


def _answered_here(desk: Desk, question: Question, predictor: Any) -> Any:
    """Return the judgments on a question, worked out in this thread."""
    try:
        judgments = asyncio.run(answered(desk.judge, question, Asked(desk, predictor)))
    except TrecJudgeError as error:  # no other question would fare better
        desk.bounds.stop(str(error), error)
        raise Stopped(str(error)) from error
    for failure in (judgment.failure for judgment in judgments if judgment.failure):
        if failure.kind == "budget":
            desk.bounds.stop(SPENT)
        elif failure.kind in ENDING:
            desk.bounds.stop(failure.message, ModelError(failure.message))
    if desk.bounds.why:
        raise Stopped(desk.bounds.why)
    return judgments


def metric(example: Any, prediction: Any, trace: Any = None, *more: Any) -> Any:
    """Return the score of a prediction; as DSPy asks: with feedback, or whether it can teach.

    A demonstration is taken only of a question that is all right.
    """
    if more:
        return dspy_module().Prediction(score=prediction.score, feedback=prediction.feedback)
    return prediction.score if trace is None else prediction.score >= 1.0
