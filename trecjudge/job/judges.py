"""The judges of a job, its voters and its measures, checked before anything is read or written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

from trecjudge.errors import WorkflowError, unknown
from trecjudge.findings import OnFinding
from trecjudge.inputs.formats.registry import check_dataset
from trecjudge.inputs.labels import labels_of, read_labels
from trecjudge.job.audit.rules import audit_rules
from trecjudge.job.inputs import JobInputs
from trecjudge.job.request import Job
from trecjudge.job.workflow import Workflow, prompt_beside
from trecjudge.judging.judge import needs_model
from trecjudge.judging.panel import (
    NamedJudge,
    Panel,
    calibrations,
    importances,
    make_panel,
    panel_programs,
    panel_settings,
    panel_spec,
    resolved_panel,
    with_calibration,
    with_labels,
)
from trecjudge.judging.voting import Rule, with_voters
from trecjudge.measures import LeaderboardSpec
from trecjudge.models.access.addresses import check_in_clear
from trecjudge.models.model import Program, Voter
from trecjudge.models.settings import LlmSettings
from trecjudge.results.judgments import Header
from trecjudge.scores.review import check_gate, panel_rules, read_gate
from trecjudge.settings.fields import check_ranges, ranged, typed_fields

SAMPLED = 1.0
"""The temperature of samples, where none is set."""
MOST_SAMPLES = 100
APART = "#"
"""Stands between the name of a voter and the number of its sample."""


@dataclass(frozen=True, slots=True)
class VoterSettings:
    """One entry of `voters:`.

    `llm` and `prompts` lie over the workflow's own. `offline` judges by words, without a model.
    `samples` asks for so many replies to each request: each is a vote. Of an offline voter, the
    first of a cascade, `sure` is how sure it must be for nobody else to be asked, and `audit` the
    share of what it is sure of that is asked nevertheless.
    """

    llm: dict[str, Any] = field(default_factory=dict)
    prompts: dict[str, str | dict[str, Any]] = field(default_factory=dict)
    offline: bool = False
    samples: int = ranged(1, 1, MOST_SAMPLES)
    sure: float | None = ranged(None, 0, 1)
    audit: float = ranged(0.0, 0, 1)


def vote_rule(workflow: Workflow) -> Rule:
    """Return how votes are counted. Raises WorkflowError for an unknown rule."""
    for rule in get_args(Rule):
        if workflow.vote in ("", rule):
            return rule  # type: ignore[no-any-return]  # one of the literals
    raise WorkflowError(
        f"{workflow.where('vote')}: {unknown('rule', workflow.vote, get_args(Rule))}"
    )


def read_voters(workflow: Workflow) -> list[Voter]:
    """Return the voters, one for each sample; none where the workflow has none.

    Raises WorkflowError, with its place, for voters that cannot vote as they are set.
    """
    rule, where = vote_rule(workflow), workflow.where("voters")
    voters = [
        v for name, entry in workflow.voters.items() for v in _of_entry(workflow, name, entry)
    ]
    if not voters:
        if workflow.vote:
            raise WorkflowError(f"{workflow.where('vote')}: there are no voters")
        return []
    if len(voters) == 1:
        raise WorkflowError(f"{where}: one voter is no vote; give two, or samples")
    if rule == "cascade" and any(voter.sample for voter in voters):
        raise WorkflowError(f"{where}: samples go with vote: majority or mean, not with cascade")
    if all(voter.offline for voter in voters):
        raise WorkflowError(f"{where}: none of them asks a model")
    for one, other in combinations(voters, 2):
        if _asks(one) == _asks(other):
            raise WorkflowError(
                f"{where}: {one.name} and {other.name} would always say the same;"
                " give them another model or prompt, or one of them samples"
            )
    return voters


def _asks(voter: Voter) -> tuple[object, ...]:
    return voter.llm, voter.prompts, voter.offline, voter.sample


def _of_entry(workflow: Workflow, name: str, entry: object) -> Iterator[Voter]:
    where = workflow.where("voters", name)
    if entry is None:
        entry = {}
    if not isinstance(entry, Mapping):
        raise WorkflowError(f"{where}: must be a mapping of {', '.join(VoterSettings.__slots__)}")
    if APART in name or not any(map(str.isalnum, name)):
        raise WorkflowError(f"{where}: give a name of letters and digits")
    own = VoterSettings(**typed_fields(VoterSettings, entry, where))
    check_ranges(own)
    if own.offline:
        if own.llm or own.prompts or own.samples > 1:
            raise WorkflowError(f"{where}: offline asks no model: llm, prompts, samples do nothing")
        if (own.sure is not None or own.audit) and workflow.vote != "cascade":
            raise WorkflowError(f"{where}: sure and audit are for vote: cascade")
        yield Voter(name, offline=True, sure=own.sure, audit=own.audit)
        return
    if own.sure is not None or own.audit:
        raise WorkflowError(f"{where}: sure and audit are for a voter with offline: true")
    llm, prompts = _llm(workflow, own, where), dict(workflow.prompts)
    place = workflow.path or Path()
    prompts |= {program: prompt_beside(place, given) for program, given in own.prompts.items()}
    if own.samples == 1:
        yield Voter(name, llm, prompts)
        return
    if not llm.setdefault("temperature", SAMPLED):
        raise WorkflowError(f"{where}: samples at temperature 0 are all the same; set another")
    for number in range(own.samples):
        yield Voter(f"{name}{APART}{number + 1}", llm, prompts, sample=number)


def _llm(workflow: Workflow, own: VoterSettings, where: str) -> dict[str, Any]:
    if "api_key" in own.llm:
        raise WorkflowError(f"{where}: llm.api_key: keys do not belong in a workflow")
    typed_fields(LlmSettings, own.llm, f"{where}.llm")
    check_in_clear(own.llm)
    return {**workflow.llm, **own.llm}


def check_voters(workflow: Workflow, panel: Panel, programs: Mapping[str, Program]) -> None:
    """Raise a TrecJudgeError for voters that cannot vote, judges that have none, stray prompts."""
    apply_voters(workflow, panel)
    for name, entry in workflow.voters.items():
        for program in (entry or {}).get("prompts", {}):
            if program not in programs:
                where = workflow.where("voters", name)
                raise WorkflowError(f"{where}: prompts: {unknown('program', program, programs)}")


def apply_voters(workflow: Workflow, panel: Panel) -> Panel:
    """Return the judges as the voters of a workflow make them; as they are without voters."""
    voters = read_voters(workflow)
    return with_voters(panel, voters, vote_rule(workflow)) if voters else panel


def check_jobs(jobs: Sequence[Job]) -> None:
    """Raise a TrecJudgeError for a job that cannot be done as it is asked for; read no input.

    Called for all jobs of a command before the first one writes or spends anything.
    """
    for job in jobs:
        try:
            make_job_panel(job)
        except WorkflowError as error:
            which = f"{job.outputs.name}: " if len(jobs) > 1 else ""
            raise WorkflowError(f"{which}{error}") from error


def make_job_panel(job: Job) -> list[NamedJudge]:
    """Return the judges of a job; raise a TrecJudgeError for any unknown name in it."""
    check_dataset(job.dataset)
    check_in_clear(job.workflow.llm)  # first: a judge may import code of others
    panel = resolved_panel(make_panel(job.judges, job.settings, job.made))
    if job.calibration is not None:
        panel = with_calibration(panel, job.calibration)
    calibrations(panel)
    importances(panel)
    spec = job_spec(job, panel)
    rules = read_gate(job.workflow.gate, f"{job.workflow.path}: gate")
    check_gate(panel_rules(panel, rules), [measure.name for measure in spec.measures])
    for named in panel:
        if needs_model(named.judge) and not job.model.use and job.labels is None:
            message = f"judge {named.name}: its settings ask for a model: add --use-env-llm"
            raise WorkflowError(message)
    # Checked even without a model: a typo must not wait for the run that pays.
    typed_fields(LlmSettings, job.workflow.llm, "llm")
    if demanded := audit_rules(job.workflow):
        demanded.judge_place(panel)
    programs = panel_programs(panel)
    for name in job.workflow.prompts:
        if name not in programs:
            raise WorkflowError(f"prompts: {unknown('program', name, programs)}")
    check_voters(job.workflow, panel, programs)
    if job.workflow.voters and not job.model.use and job.labels is None:
        raise WorkflowError("voters: they ask a model: add --use-env-llm")
    return panel


def job_spec(job: Job, panel: Panel) -> LeaderboardSpec:
    """Return the measures of a job. Raises a TrecJudgeError for an unknown one."""
    return panel_spec(panel, job.workflow.leaderboard, job.workflow.measures)


def make_judging_panel(job: Job, panel: Panel, report: OnFinding) -> Panel:
    """Return the judges: of voters, or with --judgments-from those that give its labels."""
    if job.labels is None:
        return apply_voters(job.workflow, panel)
    # In place of a judge every item needs a decision.
    labels = read_labels(job.labels, report, job.words, first_breaks_ties=True)
    labels.rename(labels_of(named.judge for named in panel), report)
    return with_labels(panel, labels)


def judgments_header(job: Job, panel: Panel, inputs: JobInputs) -> Header:
    """Return the header of a job's judgments."""
    return Header(
        judges=panel_settings(panel),
        leaderboard=job.workflow.leaderboard,
        measures=tuple(job.workflow.measures),
        topics=tuple(inputs.topics) if inputs.topics is not None else None,
        qrels_pool=job.qrels_pool,
        qrels_as=job.qrels_as,
        gate=job.workflow.gate,
        by_expected=True,
    )
