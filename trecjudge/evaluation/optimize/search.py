"""The search for a better prompt: DSPy's optimisers, the judge as their student, their bounds."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TextIO

import orjson

from trecjudge.errors import JudgmentFailed, ModelError, PluginError, TrecJudgeError
from trecjudge.evaluation.optimize.questions import (
    GoldLabels,
    Question,
    accuracy,
    answer,
    feedback,
)
from trecjudge.judging.judge import Judge
from trecjudge.models.adapters import dspy_module
from trecjudge.models.client import Client
from trecjudge.models.dspy_lm import judging_adapter
from trecjudge.models.model import NoModel, Prediction, Program
from trecjudge.models.prompt import Prompts
from trecjudge.models.spending import Budget
from trecjudge.records import Judgment, ModelCall, Usage

SPENT = "the budget is spent, but for the evaluation"
ENDING = ("stopped", "interrupted", "account", "offline")
"""Kinds of failure after which no other question fares better."""
GROWTH = 2.0
"""A prompt found may be this much longer than the one before: demonstrations are added."""
MOST_FAILED = 3
"""After so many proposals in a row that failed, no further one is asked for."""
MOST_DEMOS = 4
"""Demonstrations in a prompt."""
MINIBATCH = 3
"""Questions that GEPA reflects on at a time."""
NOISY = ("dspy", "optuna", "gepa", "LiteLLM", "httpx")
"""Loggers of libraries that tell of their progress."""


class Stopped(BaseException):
    """The optimiser must end now. No `except Exception` of a library keeps it."""


@dataclass(slots=True)
class SearchBounds:
    """The budget of a command, and what of it is kept for the evaluation at the end.

    `calls`, `tokens` and `cost` are reserved; `each` is about how many calls a question takes.
    """

    budget: Budget
    calls: float = 0.0
    tokens: float = 0.0
    cost: float = 0.0
    each: float = 1.0
    why: str = ""
    """Why the optimiser was stopped."""
    error: Exception | None = None
    """The error that stopped it, if one did."""
    proposed: int = 0
    """Replies of the model that proposes prompts."""
    unproposed: int = 0
    """How many of its requests failed, `refusal` why the last of them did."""
    refusal: str = ""
    under_way: int = 0
    """Questions that were begun and are not answered yet."""
    _over: bool = False
    _in_a_row: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def reserve(self, before: tuple[float, float, float], questions: int) -> None:
        """Reserve what an evaluation takes, by (calls, tokens, cost) of the one before."""
        calls, tokens, cost = before
        self.calls, self.tokens, self.cost = calls, GROWTH * tokens, GROWTH * cost
        self.each = max(1.0, calls / max(1, questions))

    def stop(self, why: str, error: Exception | None = None) -> None:
        """Let no further question begin."""
        self.why, self.error = self.why or why, self.error or error

    def close(self) -> None:
        """Let no further question begin, since nobody waits for the answer."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def proposal(self, failed: JudgmentFailed | ModelError | None) -> None:
        """Count a request for a proposal; after too many that failed, stop."""
        if failed is None:
            self.proposed, self._in_a_row = self.proposed + 1, 0
            return
        kind = failed.kind if isinstance(failed, JudgmentFailed) else ENDING[0]
        if kind == "budget":
            self.stop(SPENT)
            return
        self.unproposed, self._in_a_row = self.unproposed + 1, self._in_a_row + 1
        self.refusal = str(failed)
        if self._in_a_row == MOST_FAILED or kind in ENDING:
            self.stop(f"no prompt is proposed: {self.refusal}", self.unable())

    def unable(self) -> ModelError | None:
        """Return the error that no proposal came at all; None where one came, or none failed."""
        if self.proposed or not self.unproposed:
            return None
        return ModelError(f"no prompt could be proposed: {self.refusal}")

    def check(self, more: int = 1) -> None:
        """Raise Stopped where so many further questions may take what is reserved."""
        if not self._fits(more):
            self.stop(SPENT)
        if self.why:
            raise Stopped(self.why)

    def _fits(self, more: int) -> bool:
        budget = self.budget
        calls = (self.under_way + more) * self.each
        return all(
            most is None or spent + wanted <= most
            for spent, wanted, most in (
                (budget.calls, calls + self.calls, budget.max_calls),
                (budget.tokens, budget.reserved_tokens + self.tokens, budget.max_tokens),
                (budget.cost, budget.reserved_cost + self.cost, budget.max_cost),
            )
        )

    @contextmanager
    def question(self) -> Iterator[None]:
        """Within it a question is under way. Raises Stopped where there is no room for one.

        Room that others may need is waited for: they may have been paid for already, or be kept.
        """
        with self._changed:
            while self.under_way and not (self.why or self._over or self._fits(1)):
                self._changed.wait()
            if self._over:
                raise Stopped("the optimiser has ended")
            self.check()
            self.under_way += 1
        try:
            yield
        finally:
            with self._changed:
                self.under_way -= 1
                self._changed.notify_all()


@dataclass(frozen=True, slots=True)
class PromptCandidate:
    """A prompt: DSPy signature and demonstrations, and the score of each question by its place."""

    signature: Any
    demos: tuple[Mapping[str, Any], ...]
    scores: dict[int, float] = field(default_factory=dict)

    def mean(self) -> float:
        """Return the mean score, 0 to 1."""
        return sum(self.scores.values()) / len(self.scores)


@dataclass(slots=True)
class CandidateLog:
    """All prompts tried, in their order; threads write it."""

    questions: Sequence[Question]
    tried: dict[bytes, PromptCandidate] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, signature: Any, demos: Sequence[Any], question: Question, score: float) -> None:
        """Note what a prompt had right of a question; only those to choose by count."""
        place = next((i for i, known in enumerate(self.questions) if known is question), None)
        examples = tuple(dict(demo) for demo in demos)
        key = orjson.dumps([signature.dump_state(), repr(examples)])
        with self._lock:
            found = self.tried.setdefault(key, PromptCandidate(signature, examples))
            if place is not None:
                found.scores[place] = score

    @property
    def complete(self) -> list[PromptCandidate]:
        """The prompts that were asked all questions to choose by."""
        return [tried for tried in self.tried.values() if len(tried.scores) == len(self.questions)]

    def best(self) -> PromptCandidate | None:
        """Return the best of the complete ones; of equals the first, None without any."""
        return max(self.complete, key=PromptCandidate.mean, default=None)


@dataclass(frozen=True, slots=True)
class Target:
    """What is optimised: a program of a judge, by which optimiser, how hard, and the seed."""

    judge: Judge
    program: Program
    optimizer: str
    candidates: int
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class OptimizeContext:
    """What the optimised judge is asked with; copies of its module share it."""

    target: Target
    gold: GoldLabels
    client: Client
    loop: asyncio.AbstractEventLoop
    bounds: SearchBounds
    log: CandidateLog

    def __deepcopy__(self, memo: object) -> OptimizeContext:
        return self


class PredictorModel(NoModel):
    """A model in a thread: a module's predictor answers for one program, the client for others."""

    available = True

    def __init__(self, context: OptimizeContext, predictor: Any) -> None:
        self.context, self.predictor = context, predictor

    @property
    def prompts(self) -> Prompts:
        """The prompts of the client."""
        return self.context.client.prompts

    async def predict(self, program: Program, **inputs: Any) -> Prediction:
        """Return the predictor's prediction, or the client's. It blocks its thread."""
        context = self.context
        if program.name != context.target.program.name:
            work = context.client.predict(program, **inputs)
            return asyncio.run_coroutine_threadsafe(work, context.loop).result()
        with dspy_module().context(adapter=judging_adapter(program)):
            fields = dict(self.predictor(**inputs))
        return Prediction(fields, ModelCall(program.name, [], "", Usage()))


@cache
def _student_class() -> Any:
    dspy = dspy_module()

    class Student(dspy.Module):  # type: ignore[misc,name-defined]
        """Judges a question; the prediction has its score, and in words what was wrong."""

        def __init__(self, context: OptimizeContext, predictor: Any) -> None:
            super().__init__()
            self.context, self.predictor = context, predictor

        def forward(self, question: Question) -> Any:
            context, predictor = self.context, self.predictor
            with context.bounds.question():
                judgments = _answer_here(context, question, predictor)
            score = accuracy(context.gold, judgments) or 0.0
            if dspy.settings.lm.kwargs.get("rollout_id") is None:
                context.log.note(predictor.signature, predictor.demos, question, score)
            return dspy.Prediction(score=score, feedback=feedback(context.gold, judgments))

    return Student


def make_student(context: OptimizeContext, signature: Any, demos: Any) -> Any:
    """Return the judge as a DSPy module: its program has this signature and demonstrations."""
    dspy = dspy_module()
    predictor = dspy.Predict(signature)
    predictor.demos = [dspy.Example(**demo) for demo in demos]
    return _student_class()(context, predictor)


def _answer_here(context: OptimizeContext, question: Question, predictor: Any) -> list[Judgment]:
    bounds, model = context.bounds, PredictorModel(context, predictor)
    try:
        judgments = asyncio.run(answer(context.target.judge, question, model))
    except TrecJudgeError as error:  # no other question would fare better
        bounds.stop(str(error), error)
        raise Stopped(str(error)) from error
    for failure in (judgment.failure for judgment in judgments if judgment.failure):
        if failure.kind == "budget":
            bounds.stop(SPENT)
        elif failure.kind in ENDING:
            bounds.stop(failure.message, ModelError(failure.message))
    if bounds.why:
        raise Stopped(bounds.why)
    return judgments


def metric(example: Any, prediction: Any, trace: Any = None, *more: Any) -> Any:
    """Return the score of a prediction; as DSPy asks: with feedback, or whether it can teach.

    A demonstration is taken only of a question that is all right.
    """
    if more:
        return dspy_module().Prediction(score=prediction.score, feedback=prediction.feedback)
    return prediction.score if trace is None else prediction.score >= 1.0


@dataclass(frozen=True, slots=True)
class Lessons:
    """Questions as DSPy's examples, to learn from and to choose by; so many are asked at once."""

    training: list[Any]
    validation: list[Any]
    threads: int

    @classmethod
    def of(
        cls, training: Sequence[Question], validation: Sequence[Question], threads: int
    ) -> Lessons:
        """Return the examples of questions."""
        example = dspy_module().Example
        learnt, chosen = (
            [example(question=question).with_inputs("question") for question in part]
            for part in (training, validation)
        )
        return cls(learnt, chosen, threads)


Optimizer = Callable[[Any, Lessons, Target, Any], None]
"""(module, lessons, target, the `dspy.LM` that proposes instructions): compiles the module"""


def bootstrap(module: Any, lessons: Lessons, target: Target, reflection: Any) -> None:
    """Try demonstrations that the judge itself had right (BootstrapFewShotWithRandomSearch)."""
    dspy_module().BootstrapFewShotWithRandomSearch(
        metric,
        max_bootstrapped_demos=MOST_DEMOS,
        max_labeled_demos=0,
        num_candidate_programs=target.candidates,
        num_threads=lessons.threads,
        max_errors=len(lessons.training) + len(lessons.validation),
    ).compile(module, trainset=_rotate_training(lessons, target), valset=lessons.validation)


def gepa(module: Any, lessons: Lessons, target: Target, reflection: Any) -> None:
    """Let a model reflect on what was wrong, and word the instructions anew (GEPA)."""
    each = len(lessons.validation) + 2 * MINIBATCH
    dspy_module().GEPA(
        metric,
        max_metric_calls=len(lessons.validation) + target.candidates * each,
        reflection_minibatch_size=min(MINIBATCH, len(lessons.training)),
        reflection_lm=reflection,
        num_threads=lessons.threads,
        use_merge=False,
        warn_on_score_mismatch=False,
        seed=target.seed,
    ).compile(module, trainset=lessons.training, valset=lessons.validation)


def mipro(module: Any, lessons: Lessons, target: Target, reflection: Any) -> None:
    """Try proposed instructions together with demonstrations (MIPROv2)."""
    # The proposer would read our own code as the program, and objects as the data.
    dspy_module().MIPROv2(
        metric,
        prompt_model=reflection,
        auto=None,
        num_candidates=max(2, target.candidates),
        max_bootstrapped_demos=MOST_DEMOS,
        max_labeled_demos=0,
        num_threads=lessons.threads,
        max_errors=len(lessons.training) + len(lessons.validation),
        seed=target.seed,
    ).compile(
        module,
        trainset=lessons.training,
        valset=lessons.validation,
        num_trials=2 * max(2, target.candidates),
        minibatch=False,
        program_aware_proposer=False,
        data_aware_proposer=False,
    )


def score_candidate(module: Any, lessons: Lessons) -> None:
    """Ask a module all questions to choose by."""
    dspy_module().Evaluate(
        devset=lessons.validation,
        metric=metric,
        num_threads=lessons.threads,
        max_errors=len(lessons.validation),
        display_progress=False,
    )(module)


def check_installed(optimizer: str) -> None:
    """Raise PluginError where a package is missing that an optimiser needs."""
    if optimizer == "mipro" and importlib.util.find_spec("optuna") is None:
        raise PluginError("--with mipro needs optuna: pip install 'trecjudge[optimize]'")


OPTIMIZERS: Mapping[str, Optimizer] = {"bootstrap": bootstrap, "gepa": gepa, "mipro": mipro}


def _rotate_training(lessons: Lessons, target: Target) -> list[Any]:
    """Return the training examples, begun at a place that the seed decides."""
    start = target.seed % len(lessons.training)
    return [*lessons.training[start:], *lessons.training[:start]]


class _ThreadStream:
    """A stream that writes what one thread writes, and drops what others do.

    Once it is `over` it drops all: what still holds it is a progress bar that was never closed.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._thread = stream, threading.current_thread()
        self.over = False

    def write(self, text: str) -> int:
        """Write a text, if it is of that thread."""
        if threading.current_thread() is self._thread and not self.over:
            return self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def quiet_logging() -> Iterator[None]:
    """Within it, what libraries print, log or warn of in other threads is not shown."""
    loggers = [logging.getLogger(name) for name in NOISY]
    levels = [logger.level for logger in loggers]
    streams = sys.stdout, sys.stderr
    quiet: Any = [_ThreadStream(stream) for stream in streams]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        sys.stdout, sys.stderr = quiet
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.stdout, sys.stderr = streams
        for stream in quiet:
            stream.over = True
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
