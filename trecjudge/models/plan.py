"""Planning: counts what a job would ask, exactly, before a single call."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

from trecjudge.errors import PLANNED, JudgmentFailed
from trecjudge.models.dspy_lm import judging_lm, run_module
from trecjudge.models.model import Prediction, Program, Recorder
from trecjudge.models.prompt import Prompt, Prompts
from trecjudge.models.requests import Replies, Request
from trecjudge.models.spending import Prices, estimated_tokens
from trecjudge.records import ModelCall, Usage


@dataclass(slots=True)
class Plan:
    """What a job would do: `calls` are distinct requests that no cache answers.

    `saved` predictions would be answered by a call for an equal one. Tokens are estimates, and so
    is the cost, which is None where prices are not known. `by_modules` counts requests of DSPy
    modules: what these ask next depends on the reply, so that `calls` are the least there can be.
    """

    items: int = 0
    cached: int = 0
    saved: int = 0
    calls: int = 0
    by_modules: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON-ready data."""
        return asdict(self)


@dataclass(slots=True)
class Planner:
    """A Model that asks nothing: every prediction that no cache answers fails as `planned`.

    `seen`: keys of requests already counted, by other jobs of the command too.
    """

    replies: Replies
    prices: Prices | None = None
    plan: Plan = field(default_factory=Plan)
    available: bool = True
    seen: set[int] = field(default_factory=set)
    _completion_tokens: float = 0.0

    @property
    def prompts(self) -> Prompts:
        """The prompts."""
        return self.replies.requests.prompts

    @property
    def in_flight(self) -> int:
        """How many predictions may be under way at once."""
        return self.replies.requests.settings.in_flight

    @property
    def lm(self) -> Any:
        """A `dspy.LM` that asks as `predict` does: nothing."""
        return judging_lm(self)

    async def predict(self, program: Program, **inputs: Any) -> Prediction:
        """Return what a cache has, else note what a call would cost and raise JudgmentFailed."""
        if (prompt := self.prompts.answered_by_module(program)) is not None:
            return await self._plan_module(prompt, inputs)
        made = self.replies.possible(program, inputs)
        found = self.replies.find(made)
        if found is not None:
            self.plan.cached += 1
            messages, reply = found.request.messages, found.reply.text
            call = ModelCall(program.name, messages, reply, Usage(cached=True))
            return Prediction(found.fields, call)
        self.plan.by_modules += program.asked_by_module
        # Only one of the forms will be asked in: a prediction is one call.
        raise self.plan_request(next(iter(made.values())))

    async def _plan_module(self, prompt: Prompt, inputs: dict[str, Any]) -> Prediction:
        """Return what a module predicts from cached replies.

        Else note a call for each predictor, the least that it asks, and raise JudgmentFailed.
        """
        recorder = Recorder(self)
        try:
            return await run_module(recorder, prompt, inputs)
        except JudgmentFailed as failed:
            if failed.kind == PLANNED:
                self._plan_predictors(prompt, inputs, recorder.asked)
            raise

    def _plan_predictors(self, prompt: Prompt, inputs: dict[str, Any], asked: int) -> None:
        """Note what the predictors of a module would cost beyond the first `asked`."""
        given = "\n".join(map(str, inputs.values()))
        for name, predictor in prompt.worded.module.named_predictors()[asked:]:
            texts = (predictor.signature.instructions, given)
            key = sha256(repr((prompt.digest, name, *texts)).encode(errors="replace")).hexdigest()
            self.plan_request(Request(prompt, [{"content": text} for text in texts], key))

    def plan_request(self, request: Request) -> JudgmentFailed:
        """Note what a call would cost; return the failure of what is only planned."""
        if request.mark in self.seen:
            self.plan.saved += 1
        else:
            # By its mark, not by what was made of it: equal requests of other jobs are one call.
            self.seen.add(request.mark)
            self.plan.calls += 1
            texts = [message["content"] for message in request.messages]
            self.plan.prompt_tokens += sum(map(estimated_tokens, texts))
            name = request.prompt.program.name
            expected = self.replies.lengths.reply(name, request.stated)
            self._completion_tokens += min(expected, self.replies.requests.settings.most)
            self.plan.completion_tokens = round(self._completion_tokens)
        return JudgmentFailed(PLANNED, "not asked yet")

    def spent(self) -> dict[str, Any]:
        """Return the plan."""
        plan = self.plan
        if self.prices is not None:
            plan.cost = self.prices.of(plan.prompt_tokens, plan.completion_tokens)
        return plan.as_dict()

    def record(self) -> dict[str, Any] | None:
        """Return None: nothing was asked."""
        return None
