"""The judges of a job and their measures, checked before anything is read or written."""

from __future__ import annotations

from collections.abc import Sequence

from trecjudge.errors import WorkflowError, unknown
from trecjudge.findings import OnFinding
from trecjudge.inputs.formats.registry import check_dataset
from trecjudge.inputs.labels import labels_of, read_labels
from trecjudge.job.audit.rules import audit_rules
from trecjudge.job.inputs import JobInputs
from trecjudge.job.job import Job
from trecjudge.job.voters import check_voters, voting
from trecjudge.judging.judge import needs_model
from trecjudge.judging.labelled import with_labels
from trecjudge.judging.panel import (
    NamedJudge,
    Panel,
    calibrations,
    make_panel,
    panel_programs,
    panel_settings,
    panel_spec,
    resolved_panel,
    with_calibration,
)
from trecjudge.measures import LeaderboardSpec
from trecjudge.models.access.secrets import check_in_clear
from trecjudge.models.settings import LlmSettings
from trecjudge.results.judgments import Header
from trecjudge.scores.review import check_gate, panel_rules, read_gate
from trecjudge.settings.fields import typed_fields


def check_jobs(jobs: Sequence[Job]) -> None:
    """Raise a TrecJudgeError for a job that cannot be done as it is asked for; read no input.

    Called for all jobs of a command before the first one writes or spends anything.
    """
    for job in jobs:
        try:
            job_panel(job)
        except WorkflowError as error:
            which = f"{job.outputs.name}: " if len(jobs) > 1 else ""
            raise WorkflowError(f"{which}{error}") from error


def job_panel(job: Job) -> list[NamedJudge]:
    """Return the judges of a job; raise a TrecJudgeError for any unknown name in it."""
    check_dataset(job.dataset)
    check_in_clear(job.workflow.llm)  # first: a judge may import code of others
    panel = resolved_panel(make_panel(job.judges, job.settings, job.made))
    if job.calibration is not None:
        panel = with_calibration(panel, job.calibration)
    calibrations(panel)
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
        demanded.tried(panel)
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


def judging_panel(job: Job, panel: Panel, report: OnFinding) -> Panel:
    """Return the judges: of voters, or with --judgments-from those that give its labels."""
    if job.labels is None:
        return voting(job.workflow, panel)
    # In place of a judge every item needs a decision.
    labels = read_labels(job.labels, report, job.words, first_breaks_ties=True)
    labels.rename(labels_of(named.judge for named in panel), report)
    return with_labels(panel, labels)


def header_of(job: Job, panel: Panel, inputs: JobInputs) -> Header:
    """Return the header of a job's judgments."""
    return Header(
        judges=panel_settings(panel),
        leaderboard=job.workflow.leaderboard,
        measures=tuple(job.workflow.measures),
        topics=tuple(inputs.topics) if inputs.topics is not None else None,
        qrels_pool=job.qrels_pool,
        gate=job.workflow.gate,
    )
