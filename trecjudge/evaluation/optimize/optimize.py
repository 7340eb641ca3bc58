"""A prompt optimised: measured, searched for, measured again on topics held out; and saved."""

from __future__ import annotations

import asyncio
import difflib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any

import orjson
from pydantic import BaseModel

from trecjudge.errors import InputError, ModelError, WorkflowError
from trecjudge.evaluation.optimize.improvement import (
    Improvement,
    labelled_rows,
    measure_improvement,
)
from trecjudge.evaluation.optimize.questions import (
    GoldLabels,
    Question,
    TrainDevSplit,
    answer_all,
    select_asked,
    sibling_of,
)
from trecjudge.evaluation.optimize.search import (
    ENDING,
    OPTIMIZERS,
    CandidateLog,
    Lessons,
    OptimizeContext,
    PromptCandidate,
    SearchBounds,
    Stopped,
    Target,
    make_student,
    quiet_logging,
    score_candidate,
)
from trecjudge.findings import brief
from trecjudge.models.adapters import dspy_module
from trecjudge.models.client import Client
from trecjudge.models.dspy_lm import dspy_lm
from trecjudge.models.model import NoModel, Prediction, Program
from trecjudge.models.prompt import Prompts, program_of
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
class OptimizeResult:
    """The prompt before and the best one found, and how both agree with gold.

    `tried` is how many prompts were asked all questions to choose by, `scores` the mean accuracy
    there of the prompt before and of the best one. `bounds` say why the optimiser was ended early,
    if it was, and how many proposals came.
    """

    before: PromptCandidate
    best: PromptCandidate
    improvement: Improvement
    tried: int
    scores: tuple[float | None, float | None]
    bounds: SearchBounds

    @property
    def is_new(self) -> bool:
        """Whether the best prompt is another one than that before."""
        return self.best is not self.before


class PromptOverrideModel(NoModel):
    """A client that asks one program with another prompt."""

    available = True

    def __init__(self, client: Client, asked: Program) -> None:
        self.client, self.asked = client, asked
        self.in_flight = client.in_flight

    @property
    def prompts(self) -> Prompts:
        """The prompts of the client."""
        return self.client.prompts

    async def predict(self, program: Program, **inputs: Any) -> Prediction:
        """Return the prediction of a program, with the other prompt where it is that one."""
        own = self.asked if program.name == self.asked.name else program
        return await self.client.predict(own, **inputs)


async def optimize_prompt(
    target: Target,
    parts: TrainDevSplit,
    gold: GoldLabels,
    client: Client,
    reflection: Client,
    budget: Budget,
) -> OptimizeResult:
    """Return the best prompt found, measured beside the one before on the topics held out.

    Raises InputError where the budget does not even measure the prompt as it is, ModelError.
    """
    bounds = SearchBounds(budget)
    before = _current_prompt(target, client)
    training = await _select_asked(target, parts.training)
    first = await _measure(target, parts.held_out, client, before)
    _check_measured(first, "the prompt as it is")
    bounds.reserve(_spent_on(client, first), len(parts.held_out))
    log = CandidateLog(parts.validation)
    loop = asyncio.get_running_loop()
    context = OptimizeContext(target, gold, client, loop, bounds, log)
    threads = min(MOST_THREADS, client.in_flight)
    lessons = Lessons.of(training, parts.validation, threads)
    await _search(context, before, lessons, reflection)
    known = next((t for t in log.complete if _is_same(t, before)), None)
    best = log.best()
    if best is None or best is known:
        best = before
    second = first if best is before else await _measure(target, parts.held_out, client, best)
    _check_measured(second, "the prompt found")
    rows = [labelled_rows(gold, judgments) for judgments in (first, second)]
    if not rows[0]:
        raise InputError(f"{gold.name}: no label on an item of the topics held out")
    scores = tuple(None if t is None else t.mean() for t in (known, best if best.scores else known))
    return OptimizeResult(
        before, best, measure_improvement(*rows), len(log.complete), (scores[0], scores[1]), bounds
    )


async def _select_asked(target: Target, questions: Sequence[Question]) -> list[Question]:
    """Return the questions for which the program is asked. Raises InputError without any."""
    other = sibling_of(target.judge, target.program)
    found = await select_asked(target.judge, questions, other.name if other else "")
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


def _current_prompt(target: Target, client: Client) -> PromptCandidate:
    wording = client.prompts.get(target.program, "schema").worded
    wrong = ""
    if wording.module is not None:
        wrong = (
            "is a module: optimise it by DSPy, and give what it saves as the state of the module"
        )
    elif wording.labels or wording.absent:
        wrong = "has labels of its own; begin with a prompt that has the judge's"
    if wrong:
        message = f"{wording.origin} {wrong}"
        raise WorkflowError(f"prompts.{target.program.name}: {message}")
    return PromptCandidate(wording.signature, tuple(dict(demo) for demo in wording.demos))


def _is_same(one: PromptCandidate, other: PromptCandidate) -> bool:
    same = one.signature.dump_state() == other.signature.dump_state()
    return same and repr(one.demos) == repr(other.demos)


async def _measure(
    target: Target, questions: Sequence[Question], client: Client, prompt: PromptCandidate
) -> list[Judgment]:
    varied = program_of(prompt.signature, prompt.demos, base=target.program)
    found = await answer_all(target.judge, questions, PromptOverrideModel(client, varied))
    return [judgment for judgments in found for judgment in judgments]


def _spent_on(client: Client, judgments: Sequence[Judgment]) -> tuple[float, float, float]:
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
    context: OptimizeContext, before: PromptCandidate, lessons: Lessons, reflection: Client
) -> None:
    """Let the optimiser fill the log. It runs in a thread; the loop serves its calls."""
    bounds, target = context.bounds, context.target
    task = dspy_lm(context.client, bounds.check)
    proposing = _proposing_lm(reflection, bounds)
    module = make_student(context, before.signature, before.demos)

    def compiled() -> None:
        dspy = dspy_module()
        # The fallback would pay a second call for each reply that does not parse.
        plain = dspy.ChatAdapter(use_json_adapter_fallback=False)
        with dspy.context(lm=task, adapter=plain):
            if before.demos:  # not all optimisers try the demonstrations that there are
                score_candidate(module, lessons)
            OPTIMIZERS[target.optimizer](module, lessons, target, proposing)

    with quiet_logging():
        await _run_in_thread(compiled, context)
    if (error := bounds.error or bounds.unable()) is not None:
        raise error


def _proposing_lm(reflection: Client, bounds: SearchBounds) -> Any:
    """Return the `dspy.LM` that proposes instructions: they are long, and none is the only one."""
    settings = reflection.settings
    room = max(PROPOSED_TOKENS, settings.max_tokens)
    warm = None if settings.reasoning else settings.temperature or PROPOSING_TEMPERATURE
    return dspy_lm(reflection, bounds.check, bounds.proposal).copy(
        temperature=warm, max_tokens=room
    )


async def _run_in_thread(work: Any, context: OptimizeContext) -> None:
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
        context.bounds.stop("interrupted")
        context.client.call_off("interrupted")
        await over.wait()
        raise
    finally:
        await _wait_for_threads(context.bounds)
    if failed and not context.bounds.why:
        raise _as_model_error(failed[0], context.bounds)


async def _wait_for_threads(bounds: SearchBounds) -> None:
    """Return when no thread of an optimiser asks any more: this loop serves what they ask."""
    bounds.close()
    while bounds.under_way:
        await asyncio.sleep(PAUSE)


def _as_model_error(error: BaseException, bounds: SearchBounds) -> BaseException:
    """Return an optimiser's error; where it is that of a proposal, as an error of the model."""
    dspy = dspy_module()
    if bounds.refusal and isinstance(error, dspy.LMError):
        return ModelError(f"no prompt could be proposed: {bounds.refusal}")
    if isinstance(error, dspy.AdapterParseError):
        reply = brief(error.lm_response)
        return ModelError(f"no prompt could be proposed: a reply without its fields: {reply}")
    return error


def saved_form(signature: Any, demos: Sequence[Mapping[str, Any]]) -> bytes:
    """Return what DSPy's `save` writes of a predictor: JSON, read by `load` and by `prompts:`."""
    dspy = dspy_module()
    predictor = dspy.Predict(signature)
    predictor.demos = [plain(demo) for demo in demos]
    state = predictor.dump_state()
    state["metadata"] = {"dependency_versions": {"dspy": dspy.__version__}}
    return orjson.dumps(state, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def plain(value: Any) -> Any:
    """Return a value of a demonstration as JSON values."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, str):
        return str(value)
    return value


def diff_instructions(name: str, before: str, after: str) -> list[str]:
    """Return the unified diff of two instructions, line by line; empty where they are equal."""
    old, new = (cleandoc(text).splitlines() for text in (before, after))
    names = f"{name} (before)", f"{name} (after)"
    return list(difflib.unified_diff(old, new, *names, lineterm=""))
