"""A judge put to the test: a sample of responses, said otherwise and asked again."""

from __future__ import annotations

import asyncio
import hashlib
import heapq
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from trecjudge.errors import InputError, WorkflowError
from trecjudge.evaluation.stability.changes import CHANGES, Change, Order
from trecjudge.evaluation.stability.figures import (
    Flipped,
    ResponseKey,
    Shift,
    Side,
    corrected,
    flipped,
    shifts,
)
from trecjudge.findings import OnFinding
from trecjudge.job.interrupts import INTERRUPTS, Interrupted
from trecjudge.job.job import Job, JobInputs, left_by
from trecjudge.job.judges import job_panel
from trecjudge.job.voters import SAMPLED
from trecjudge.judging.judge import GroupingJudge
from trecjudge.judging.panel import (
    NamedJudge,
    Panel,
    panel_programs,
    panel_spec,
    ranked_by_judge,
)
from trecjudge.judging.reversed import ReversedGroups
from trecjudge.judging.runner import Runner
from trecjudge.measures import LeaderboardSpec
from trecjudge.models.model import Model, NoModel
from trecjudge.models.opening import open_voters
from trecjudge.models.voters import Voter, VoterModel
from trecjudge.records import Response, Topic

ONCE = "once"
"""The voter that judges the answers as they are."""
Answer = tuple[Topic, Response, Order]
"""A response on a topic, and the former index of each of its sentences."""


@dataclass(frozen=True, slots=True)
class Tested:
    """What the tests of a judge found.

    `flips` are by kind of test, `shifts` by change and measure, `spent` is what the model cost.
    `leading` are the measures that the judges rank by.
    """

    responses: int
    topics: int
    items: int
    unjudged: int
    flips: Sequence[Flipped]
    shifts: Sequence[Shift]
    lower_is_better: frozenset[str]
    leading: Sequence[str]
    not_tested: Sequence[str] = ()
    spent: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "responses": self.responses,
            "topics": self.topics,
            "items": self.items,
            "unjudged": self.unjudged,
            "flips": [one.as_dict() for one in self.flips],
            "shifts": [one.as_dict() for one in self.shifts],
            "not_tested": list(self.not_tested),
            "calls": self.spent,
        }


@dataclass(frozen=True, slots=True)
class StabilityJob:
    """A request to test the judges of `job` on `most` responses, with so many `samples`.

    `notify` shows the user what the endpoint does.
    """

    job: Job
    most: int
    samples: int
    notify: Callable[[str], None]
    changes: Sequence[Change] = CHANGES

    def run(self, on_finding: OnFinding) -> Tested:
        """Return what was found. Raises a TrecJudgeError for what the user can put right."""
        if self.job.workflow.voters:
            raise WorkflowError("stability: tests one model; its workflow may have no voters")
        panel = job_panel(self.job)
        try:
            return asyncio.run(self._run(panel, on_finding))
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise Interrupted("\n".join(left_by(self.job))) from None

    async def _run(self, panel: Panel, on_finding: OnFinding) -> Tested:
        job = self.job
        with closing(JobInputs.read(job, on_finding)) as inputs:
            answers = _sampled(inputs, self.most)
        if not answers:
            paths = ", ".join(map(str, job.runs))
            message = "no response could be read; `run_judge.py formats` lists what can"
            raise InputError(f"{paths}: {message}")
        with INTERRUPTS.cancelling_task() if job.model.asks else nullcontext():
            async with self._opened(panel) as model:
                return await _Test(self, panel, model, answers).done()

    def _opened(self, panel: Panel) -> AbstractAsyncContextManager[Model]:
        job = self.job
        if not job.model.use:
            return nullcontext(NoModel())
        programs = list(panel_programs(panel).values())
        return open_voters(job.model, self.voters, programs, self.notify)

    @property
    def voters(self) -> list[Voter]:
        """The judge as it is set, and one voter for each sample."""
        llm, prompts = self.job.workflow.llm, self.job.workflow.prompts
        warm = {**llm, "temperature": llm.get("temperature") or SAMPLED}
        sampled = [
            Voter(f"sample#{number + 1}", warm, prompts, sample=number)
            for number in range(self.samples if self.samples > 1 else 0)
        ]
        return [Voter(ONCE, llm, prompts), *sampled]


@dataclass(slots=True)
class _Test:
    """The tests while they run."""

    asked: StabilityJob
    panel: Panel
    model: Model
    answers: Sequence[Answer]
    not_tested: list[str] = field(default_factory=list)

    async def done(self) -> Tested:
        """Judge everything in turn; return the figures."""
        spec, voters = self.spec, self.asked.voters
        first = await self._judged(self.panel, self.answers, voters[0])
        flips = [*await self._asked_again(first), *await self._in_reverse(first)]
        found: list[Shift] = []
        for change in self.asked.changes:
            after, changed = await self._changed(change)
            if not changed:
                self.not_tested.append(f"{change.name}: the rule changes no response")
                continue
            part = replace(first, labels=_of(first, changed))
            flips.append(flipped(change.name, [part, after]))
            found += shifts(change.name, change.kind, first, after, changed)
        lower = frozenset(m.name for m in spec.measures if m.lower_is_better)
        topics = len({topic.topic_id for topic, _, _ in self.answers})
        leading = list(ranked_by_judge(self.panel, [m.name for m in spec.measures]).values())
        return Tested(
            responses=len(self.answers),
            topics=topics,
            items=first.items,
            unjudged=first.failures,
            flips=flips,
            shifts=corrected(found),
            lower_is_better=lower,
            leading=leading,
            not_tested=self.not_tested,
            spent=self.model.spent(),
        )

    @property
    def spec(self) -> LeaderboardSpec:
        """The measures of the judges."""
        workflow = self.asked.job.workflow
        return panel_spec(self.panel, workflow.leaderboard, workflow.measures)

    async def _judged(self, panel: Panel, answers: Iterable[Answer], voter: Voter) -> Side:
        """Return what the judges say of responses by the model of a voter."""
        side, orders = Side(self.spec), {}
        pairs = []
        for topic, response, order in answers:
            orders[response.run_id, response.topic_id] = order
            pairs.append((topic, response))
        model = VoterModel(self.model, voter) if self.model.available else self.model
        async for judged in Runner(panel, model).run(pairs):
            found = [
                replace(judgment, judge=item.named_judge.name)
                for item in judged.items
                for judgment in item.judgments
            ]
            key = judged.response.run_id, judged.response.topic_id
            side.add(judged.response, found, orders[key])
        return side

    async def _asked_again(self, first: Side) -> list[Flipped]:
        """Return how often samples of the same question differ."""
        if not self.model.available or not panel_programs(self.panel):
            self.not_tested.append("samples: no model is asked")
            return []
        samples = [
            await self._judged(self.panel, self.answers, voter) for voter in self.asked.voters[1:]
        ]
        return [flipped(f"samples ({len(samples)})", samples)] if samples else []

    async def _in_reverse(self, first: Side) -> list[Flipped]:
        """Return how often labels change where the sentences of a group are in reverse order."""
        grouped = [
            NamedJudge(named.name, ReversedGroups(named.judge))
            for named in self.panel
            if isinstance(named.judge, GroupingJudge) and named.judge.group > 1
        ]
        if not (self.model.available and grouped):
            self.not_tested.append("order: no questions are grouped (settings: group)")
            return []
        names = {named.name for named in grouped}
        rest = [named for named in self.panel if named.name not in names]
        side = await self._judged([*grouped, *rest], self.answers, self.asked.voters[0])
        return [flipped("order", [first, side])]

    async def _changed(self, change: Change) -> tuple[Side, set[ResponseKey]]:
        """Return what the judges say of the responses that a change alters, and which they are."""
        answers = []
        for topic, response, _ in self.answers:
            made, order = change.make(response)
            if made != response:
                answers.append((topic, made, order))
        side = await self._judged(self.panel, answers, self.asked.voters[0])
        return side, {(made.run_id, made.topic_id) for _, made, _ in answers}


def _of(side: Side, responses: set[ResponseKey]) -> dict[Any, str]:
    """Return the labels of some responses."""
    return {key: label for key, label in side.labels.items() if key[:2] in responses}


def _sampled(inputs: JobInputs, most: int) -> list[Answer]:
    """Return so many responses, drawn by run and topic: the same ones each time."""

    def place(numbered: tuple[int, tuple[Topic, Response]]) -> bytes:
        response = numbered[1][1]
        name = f"{response.run_id}\0{response.topic_id}"
        return hashlib.sha256(name.encode(errors="replace")).digest()

    drawn = heapq.nsmallest(most, enumerate(inputs.responses()), key=place)
    return [
        (topic, response, [sentence.index for sentence in response.sentences])
        for _, (topic, response) in sorted(drawn, key=lambda one: one[0])
    ]
