"""The steps of optimising a prompt: measured, optimised, measured again on topics held out."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trecjudge.errors import InputError, ModelError, WorkflowError
from trecjudge.evaluation.optimize.bounds import ENDING, Bounds, Stopped
from trecjudge.evaluation.optimize.figures import Improvement, improvement, rows_of
from trecjudge.evaluation.optimize.ledger import Ledger, Tried
from trecjudge.evaluation.optimize.optimizers import OPTIMIZERS, Effort, Lessons, hushed, score_all
from trecjudge.evaluation.optimize.people import People
from trecjudge.evaluation.optimize.programs import sibling
from trecjudge.evaluation.optimize.questions import Question, Split, all_answered, asking
from trecjudge.evaluation.optimize.student import Desk, student
from trecjudge.findings import shown
from trecjudge.judging.judge import Judge
from trecjudge.models.client import Client
from trecjudge.models.dspy_lm import dspy_lm
from trecjudge.models.model import Prediction, Program
from trecjudge.models.prompt import Prompts
from trecjudge.models.signatures import dspy_module
from trecjudge.models.spending import Budget
from trecjudge.records import Judgment

PROPOSED_TOKENS = 4096
"""The room that a reply with instructions has at least."""
PROPOSING_TEMPERATURE = 1.0
"""The temperature at which instructions are proposed, unless another above 0 is set."""
PAUSE = 0.01
"""Seconds between looks at what is under way."""
MOST_THREADS = 32
"""Questions that an optimiser has under way at a time."""


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be optimised: a program of a judge, by which optimiser, and how hard."""

    judge: Judge
    program: Program
    optimizer: str
    candidates: int
    seed: int


@dataclass(frozen=True, slots=True)
class Optimized:
    """The prompt before and the best one found, and how both agree with people.

    `tried` is how many prompts were asked all questions to choose by, `scores` the mean accuracy
    there of the prompt before and of the best one. `bounds` say why the optimiser was ended early,
    if it was, and how many proposals came.
    """

    before: Tried
    best: Tried
    improvement: Improvement
    tried: int
    scores: tuple[float | None, float | None]
    bounds: Bounds

    @property
    def is_new(self) -> bool:
        """Whether the best prompt is another one than that before."""
        return self.best is not self.before


@dataclass(frozen=True, slots=True)
class PromptOverrideModel:
    """A model that asks one program with another prompt."""

    client: Client
    asked: Program
    available: bool = True

    @property
    def prompts(self) -> Prompts:
        """The prompts of the client."""
        return self.client.prompts

    @property
    def in_flight(self) -> int:
        """How many predictions may be under way at once."""
        return self.client.in_flight

    async def predict(self, program: Program, **inputs: Any) -> Prediction:
        """Return the prediction of a program, with the other prompt where it is that one."""
        own = self.asked if program.name == self.asked.name else program
        return await self.client.predict(own, **inputs)

    def spent(self) -> dict[str, Any]:
        """Return what the client spent."""
        return self.client.spent()

    def record(self) -> dict[str, Any] | None:
        """Return the client's record."""
        return self.client.record()


async def optimized(
    target: Target,
    parts: Split,
    people: People,
    client: Client,
    reflection: Client,
    budget: Budget,
) -> Optimized:
    """Return the best prompt found, measured beside the one before on the topics held out.

    Raises InputError where the budget does not even measure the prompt as it is, ModelError.
    """
    bounds = Bounds(budget)
    before = _as_it_is(target, client)
    training = await _asked_of(target, parts.training)
    first = await _measured(target, parts.held_out, client, before)
    _check_measured(first, "the prompt as it is")
    bounds.reserve(_taken(client, first), len(parts.held_out))
    ledger = Ledger(parts.validation)
    desk = Desk(
        *(target.judge, target.program, people, client, asyncio.get_running_loop()), bounds, ledger
    )
    await _search(desk, target, before, Lessons.of(training, parts.validation), reflection)
    known = next((t for t in ledger.complete if _is_same(t, before)), None)
    best = ledger.best()
    if best is None or best is known:
        best = before
    second = first if best is before else await _measured(target, parts.held_out, client, best)
    _check_measured(second, "the prompt found")
    rows = [rows_of(people, judgments) for judgments in (first, second)]
    if not rows[0]:
        raise InputError(f"{people.name}: no label on an item of the topics held out")
    scores = tuple(None if t is None else t.mean() for t in (known, best if best.scores else known))
    return Optimized(
        before, best, improvement(*rows), len(ledger.complete), (scores[0], scores[1]), bounds
    )


async def _asked_of(target: Target, questions: Sequence[Question]) -> list[Question]:
    """Return the questions for which the program is asked. Raises InputError without any."""
    other = sibling(target.judge, target.program)
    found = await asking(target.judge, questions, other.name if other else "")
    if not found:
        message = f"{target.program.name} is not asked about any labelled item to learn from"
        raise InputError(message)
    return found


def _check_measured(judgments: Sequence[Judgment], what: str) -> None:
    """Raise InputError, ModelError where not all could be asked: figures would be of a part."""
    for failure in (j.failure for j in judgments if j.failure is not None):
        if failure.kind == "budget":
            raise InputError(f"the budget does not measure {what}; allow more calls")
        if failure.kind in ENDING:
            raise ModelError(f"{what} could not be measured: {failure.message}")


def _as_it_is(target: Target, client: Client) -> Tried:
    wording = client.prompts.get(target.program, "schema").worded
    if wording.labels:
        message = (
            f"{wording.origin} has labels of its own; begin with a prompt that has the judge's"
        )
        raise WorkflowError(f"prompts.{target.program.name}: {message}")
    return Tried(wording.signature, tuple(dict(demo) for demo in wording.demos))


def _is_same(one: Tried, other: Tried) -> bool:
    same = one.signature.dump_state() == other.signature.dump_state()
    return same and repr(one.demos) == repr(other.demos)


async def _measured(
    target: Target, questions: Sequence[Question], client: Client, prompt: Tried
) -> list[Judgment]:
    """Return the judgments on questions by a prompt, asked as judging asks."""
    varied = client.prompts.variant(target.program, prompt.signature, prompt.demos)
    found = await all_answered(target.judge, questions, PromptOverrideModel(client, varied))
    return [judgment for judgments in found for judgment in judgments]


def _taken(client: Client, judgments: Sequence[Judgment]) -> tuple[float, float, float]:
    """Return calls, tokens and cost of judgments, as if no reply had been kept."""
    used = [judgment.usage for judgment in judgments]
    asked = sum(1 for usage in used if usage.prompt_tokens or usage.completion_tokens)
    tokens = [(usage.prompt_tokens, usage.completion_tokens) for usage in used]
    spent = client.spent()
    calls = max(asked, spent["calls"])
    whole = (sum(one for one, _ in tokens), sum(other for _, other in tokens))
    if not any(whole):
        whole = (spent["prompt_tokens"], spent["completion_tokens"])
    return calls, sum(whole), client.spending.price(*whole)


async def _search(
    desk: Desk, target: Target, before: Tried, lessons: Lessons, reflection: Client
) -> None:
    """Let the optimiser fill the ledger. It runs in a thread; the loop serves its calls."""
    bounds = desk.bounds
    effort = Effort(target.candidates, min(MOST_THREADS, desk.client.in_flight), target.seed)
    task = dspy_lm(desk.client, bounds.check)
    proposing = _proposing(reflection, bounds)
    module = student(desk, before.signature, before.demos)

    def compiled() -> None:
        dspy = dspy_module()
        # The fallback would pay a second call for each reply that does not parse.
        plain = dspy.ChatAdapter(use_json_adapter_fallback=False)
        with dspy.context(lm=task, adapter=plain):
            if before.demos:  # not all optimisers try the demonstrations that there are
                score_all(module, lessons, effort)
            OPTIMIZERS[target.optimizer](module, lessons, effort, proposing)

    with hushed():
        await _in_a_thread(compiled, desk)
    if (error := bounds.error or bounds.unable()) is not None:
        raise error


def _proposing(reflection: Client, bounds: Bounds) -> Any:
    """Return the `dspy.LM` that proposes instructions: they are long, and none is the only one."""
    settings = reflection.settings
    room = max(PROPOSED_TOKENS, settings.max_tokens)
    warm = None if settings.reasoning else settings.temperature or PROPOSING_TEMPERATURE
    return dspy_lm(reflection, bounds.check, bounds.proposal).copy(
        temperature=warm, max_tokens=room
    )


async def _in_a_thread(work: Any, desk: Desk) -> None:
    """Run an optimiser in a thread; where this task is cancelled, wait until it has ended."""
    over = asyncio.Event()
    failed: list[BaseException] = []
    loop = asyncio.get_running_loop()

    def run() -> None:
        try:
            work()
        except Stopped:
            pass
        except BaseException as error:
            failed.append(error)
        finally:
            loop.call_soon_threadsafe(over.set)

    thread = threading.Thread(target=run, name="optimiser", daemon=True)
    thread.start()
    try:
        await over.wait()
    except asyncio.CancelledError:
        desk.bounds.stop("interrupted")
        desk.client.call_off("interrupted")
        await over.wait()
        raise
    finally:
        await _threads_ended(desk.bounds)
    if failed and not desk.bounds.why:
        raise _told(failed[0], desk.bounds)


async def _threads_ended(bounds: Bounds) -> None:
    """Return when no thread of an optimiser asks any more: this loop serves what they ask."""
    bounds.close()
    while bounds.under_way:
        await asyncio.sleep(PAUSE)


def _told(error: BaseException, bounds: Bounds) -> BaseException:
    """Return an optimiser's error; where it is that of a proposal, as an error of the model."""
    dspy = dspy_module()
    if bounds.refusal and isinstance(error, dspy.LMError):
        return ModelError(f"no prompt could be proposed: {bounds.refusal}")
    if isinstance(error, dspy.AdapterParseError):
        reply = shown(error.lm_response)
        return ModelError(f"no prompt could be proposed: a reply without its fields: {reply}")
    return error
