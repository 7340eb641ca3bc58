"""A judge put to the test: a sample of responses, said otherwise and asked again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trecjudge.errors import InputError, WorkflowError
from trecjudge.evaluation.perturbation import (
    CHANGES,
    DARK,
    GAME,
    DarkReading,
    JudgedSample,
    LabelFlips,
    Order,
    Perturbation,
    PlayedGame,
    ResponseKey,
    Shift,
    correct_p_values,
    count_flips,
    measure_shifts,
)
from trecjudge.files import seconds_since
from trecjudge.findings import OnFinding
from trecjudge.job.inputs import JobInputs, drawn_responses
from trecjudge.job.judges import SAMPLED, job_spec
from trecjudge.job.request import Job, Notify
from trecjudge.job.session import Session, open_session, run_session
from trecjudge.judging.judge import GroupingJudge
from trecjudge.judging.panel import (
    NamedJudge,
    Panel,
    ReversedGroups,
    panel_programs,
    ranked_by_judge,
)
from trecjudge.judging.runner import Runner
from trecjudge.measures import LeaderboardSpec
from trecjudge.models.model import Voter, VoterModel
from trecjudge.records import Response, Topic

ONCE = "once"
"""The voter that judges the answers as they are."""
Answer = tuple[Topic, Response, Order]
"""A response on a topic, and the former index of each of its sentences."""


@dataclass(frozen=True, slots=True)
class StabilityReport:
    """What the tests of a judge found.

    `flips` are by kind of test, `shifts` by change and measure, `spent` is what the model cost.
    `leading` are the `measures` that the judges rank by. `games` are the ways of writing for the
    judge that were played, `dark` what it says where there is nothing to find. `first` is what it
    says of the answers as they are.
    """

    responses: int
    topics: int
    items: int
    unjudged: int
    flips: Sequence[LabelFlips]
    shifts: Sequence[Shift]
    lower_is_better: frozenset[str]
    leading: Sequence[str]
    measures: Sequence[str]
    not_tested: Sequence[str] = ()
    spent: dict[str, Any] = field(default_factory=dict)
    games: Sequence[PlayedGame] = ()
    dark: Sequence[DarkReading] = ()
    first: JudgedSample | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "responses": self.responses,
            "topics": self.topics,
            "items": self.items,
            "unjudged": self.unjudged,
            "flips": [one.as_dict() for one in self.flips],
            "shifts": [one.as_dict() for one in self.shifts],
            "games": [one.as_dict() for one in self.games],
            "not_tested": list(self.not_tested),
            "calls": self.spent,
        }


def measure_stability(
    job: Job,
    most: int,
    samples: int,
    report: OnFinding,
    notify: Notify,
    changes: Sequence[Perturbation] = CHANGES,
) -> StabilityReport:
    """Return what tests of the judges of a job on `most` responses find.

    With more than one of `samples`, each question is asked so often at a temperature above 0.
    Raises a TrecJudgeError for what the user can put right, Interrupted for an interrupt.
    """

    async def test() -> StabilityReport:
        voters = sampling_voters(job, samples)
        async with open_session(job, report, notify, voters=voters) as session:
            answers = sampled_answers(session.inputs, most)
            return await StabilityTest(session, answers, voters).run(changes)

    return run_session(job, test())


def sampling_voters(job: Job, samples: int) -> list[Voter]:
    """Return who judges the answers as they are, then who samples. Raises WorkflowError."""
    if job.workflow.voters:
        raise WorkflowError("this tests one model; its workflow may have no voters")
    llm, prompts = job.workflow.llm, job.workflow.prompts
    warm = {**llm, "temperature": llm.get("temperature") or SAMPLED}
    sampled = [
        Voter(f"sample#{number + 1}", warm, prompts, sample=number)
        for number in range(samples if samples > 1 else 0)
    ]
    return [Voter(ONCE, llm, prompts), *sampled]


@dataclass(slots=True)
class StabilityTest:
    """Judges the same answers again and again; the first of `voters` judges them as they are."""

    session: Session
    answers: Sequence[Answer]
    voters: Sequence[Voter]
    not_tested: list[str] = field(default_factory=list)
    keeps: bool = False
    """Whether the answers are held as they were judged first."""

    @property
    def _spec(self) -> LeaderboardSpec:
        return job_spec(self.session.job, self.session.panel)

    async def run(self, changes: Sequence[Perturbation]) -> StabilityReport:
        """Judge everything in turn; return the figures."""
        panel, spec = self.session.panel, self._spec
        kept: Any = [] if self.keeps else None
        first = await self.judge(panel, self.answers, self.voters[0], kept)
        flips = [*await self._ask_again(), *await self._reverse_groups(first)]
        found: list[Shift] = []
        games: list[PlayedGame] = []
        dark: list[DarkReading] = []
        for change in changes:
            after, changed = await self._judge_changed(change)
            if change.kind == GAME:  # its sentences are others: no label of theirs can flip
                shifts = measure_shifts(change.name, change.kind, first, after, changed)
                games.append(PlayedGame(change, len(changed), shifts))
            if change.kind == DARK and changed:
                labels = Counter(after.labels.values())
                reading = (labels, after.failures, after.positive, after.values)
                dark.append(DarkReading(change, len(changed), *reading))
            if not changed:
                self.not_tested.append(f"{change.name}: the rule changes no response")
            if change.kind in (GAME, DARK) or not changed:
                continue
            part = replace(first, labels=_labels_of(first, changed))
            flips.append(count_flips(change.name, [part, after]))
            found += measure_shifts(change.name, change.kind, first, after, changed)
        return StabilityReport(
            responses=len(self.answers),
            topics=len({topic.topic_id for topic, _, _ in self.answers}),
            items=first.items,
            unjudged=first.failures,
            flips=flips,
            shifts=correct_p_values(found),
            lower_is_better=frozenset(m.name for m in spec.measures if m.lower_is_better),
            leading=list(ranked_by_judge(panel, [m.name for m in spec.measures]).values()),
            measures=[measure.name for measure in spec.measures],
            not_tested=self.not_tested,
            spent=self.session.model.spent(),
            games=games,
            dark=dark,
            first=first,
        )

    async def judge(
        self, panel: Panel, answers: Iterable[Answer], voter: Voter, kept: Any = None
    ) -> JudgedSample:
        """Return what the judges say of responses by the model of a voter."""
        side, orders = JudgedSample(self._spec, kept=kept), {}
        pairs = []
        for topic, response, order in answers:
            orders[response.run_id, response.topic_id] = order
            pairs.append((topic, response))
        model = self.session.model
        if model.available:
            model = VoterModel(model, voter)
        started = time.perf_counter()
        async for judged in Runner(panel, model).run(pairs):
            found = [
                replace(judgment, judge=item.named_judge.name)
                for item in judged.items
                for judgment in item.judgments
            ]
            key = judged.response.run_id, judged.response.topic_id
            side.add(judged.response, found, orders[key])
        side.seconds = seconds_since(started)
        return side

    async def _ask_again(self) -> list[LabelFlips]:
        panel = self.session.panel
        if not self.session.model.available or not panel_programs(panel):
            self.not_tested.append("samples: no model is asked")
            return []
        samples = [await self.judge(panel, self.answers, voter) for voter in self.voters[1:]]
        return [count_flips(f"samples ({len(samples)})", samples)] if samples else []

    async def _reverse_groups(self, first: JudgedSample) -> list[LabelFlips]:
        """Return how often labels change where the sentences of a group are in reverse order."""
        grouped = [
            NamedJudge(named.name, ReversedGroups(named.judge))
            for named in self.session.panel
            if isinstance(named.judge, GroupingJudge) and named.judge.group > 1
        ]
        if not (self.session.model.available and grouped):
            self.not_tested.append("order: no questions are grouped (settings: group)")
            return []
        names = {named.name for named in grouped}
        rest = [named for named in self.session.panel if named.name not in names]
        side = await self.judge([*grouped, *rest], self.answers, self.voters[0])
        return [count_flips("order", [first, side])]

    async def _judge_changed(self, change: Perturbation) -> tuple[JudgedSample, set[ResponseKey]]:
        """Return what the judges say of the responses that a change alters, and which they are."""
        answers = []
        for topic, response, _ in self.answers:
            made, order = change.make(response, topic.title)
            # Equal mappings may have another order.
            if made != response or list(made.documents) != list(response.documents):
                answers.append((topic, made, order))
        side = await self.judge(self.session.panel, answers, self.voters[0])
        return side, {(made.run_id, made.topic_id) for _, made, _ in answers}


def _labels_of(side: JudgedSample, responses: set[ResponseKey]) -> dict[Any, str]:
    return {key: label for key, label in side.labels.items() if key[:2] in responses}


def sampled_answers(inputs: JobInputs, most: int) -> list[Answer]:
    """Return `drawn_responses` of a job as they are. Raises InputError where there are none."""
    drawn = drawn_responses(inputs.responses(), most)
    if not drawn:
        paths = ", ".join(map(str, inputs.job.runs))
        message = "no response could be read; `run_judge.py job formats` lists what can"
        raise InputError(f"{paths}: {message}")
    return [(t, r, [sentence.index for sentence in r.sentences]) for t, r in drawn]
