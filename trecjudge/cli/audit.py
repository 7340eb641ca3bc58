"""`audit`: try a judge on labelled items; fail where it agrees too little with people."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trecjudge.cli import model_options as of_model
from trecjudge.cli import options as flag
from trecjudge.cli import shared as common
from trecjudge.cli.asking import options_of
from trecjudge.cli.exits import exit_status, print_errors, warning_printer
from trecjudge.cli.flags import taking
from trecjudge.cli.lazy import Later
from trecjudge.cli.printing import print_json, print_lines, print_plans, print_table
from trecjudge.errors import InputError
from trecjudge.findings import counted
from trecjudge.inputs.labels.vocabulary import words_of
from trecjudge.job.audit.rules import FIGURES, AuditRules, audit_rules, bounds_of
from trecjudge.job.choice import Choice, jobs_of, without_effect, workflow_at
from trecjudge.job.job import Job
from trecjudge.results.outputs import Outputs
from trecjudge.settings.limits import limited

if TYPE_CHECKING:  # rich and the scores: not for --help
    from trecjudge.job.audit import auditing
    from trecjudge.job.audit.auditing import Audit
    from trecjudge.show import tables
else:
    auditing, tables = Later("trecjudge.job.audit.auditing"), Later("trecjudge.show.tables")

Labels = Annotated[
    Path | None,
    typer.Argument(
        help="The labelled items: pairs of sentence, document and label, or labels of the runs'"
        " own items. By default those of the workflow's `audit`."
    ),
]
Minimum = Annotated[
    list[str] | None,
    typer.Option(
        "--min",
        metavar="FIGURE=NUMBER",
        help=f"Exit with 1 where a figure is lower: {', '.join(FIGURES)}.",
    ),
]
Baseline = Annotated[
    Path | None, typer.Option(help="NAME.config.yml of an earlier job with an audit.")
]
MaxDrop = Annotated[
    list[str] | None,
    typer.Option(metavar="FIGURE=NUMBER", help="A figure may be so much lower than there."),
]


@dataclass(frozen=True, slots=True)
class AuditFlags:
    """What the command line asks for: a flag each."""

    labels: Labels = None
    judge: flag.JudgeName = None
    workflow: flag.WorkflowFile = None
    settings: flag.Settings = None
    calibration: flag.CalibrationFile = None
    minimum: Minimum = None
    mapped: flag.MapLabels = None
    baseline: Baseline = None
    max_drop: MaxDrop = None
    responses: flag.Responses = None
    topics: flag.Topics = None
    documents: flag.Documents = None
    dataset: flag.Dataset = "auto"
    limit: flag.LimitFlag = None
    use_env_llm: of_model.UseEnvLlm = False
    cache_dir: of_model.CacheDir = None
    cache_from: of_model.CacheFrom = None
    refresh: of_model.Refresh = False
    offline: of_model.Offline = False
    plan: of_model.Plan = False
    max_calls: of_model.MaxCalls = None
    max_tokens: of_model.MaxTokens = None
    max_cost: of_model.MaxCost = None
    quiet: flag.Quiet = False
    as_json: flag.AsJson = False


@taking(AuditFlags)
def audit(ctx: typer.Context, flags: AuditFlags) -> None:
    """Try a judge on labelled items.

    It exits with 1 where a figure of agreement is below its bound.
    """

    def work() -> int:
        with limited(flags.limit or ()):
            return _audit(flags)

    raise typer.Exit(exit_status(work))


def _audit(flags: AuditFlags) -> int:
    printer, warn = common.FindingPrinter(flags.quiet), warning_printer(flags.quiet)
    job = _job(flags)
    if message := without_effect([job]):
        warn(message)
    rules = _rules(flags, job)
    found, spent = auditing.audit_judge(job, rules, printer, warn)
    if found is None:
        return print_plans([{"name": "audit"} | spent], flags.as_json)
    if flags.as_json:
        more = {"calls": spent, "findings": printer.as_dicts()}
        print_json([found.as_dict() | more])
    else:
        printer.close()
        if not flags.quiet:
            _print(found)
        print_errors(f"audit: {line}" for line in found.broken)
    if found.broken:
        return 1
    return 3 if found.unjudged else printer.status()


def _rules(flags: AuditFlags, job: Job) -> AuditRules:
    """Return the workflow's rules with those of the flags. Raises WorkflowError."""
    given = audit_rules(job.workflow)
    if given is None and flags.labels is None:
        raise InputError("audit: give a file of labels, or a workflow with `audit:`")
    rules = given or AuditRules("")
    changed = replace(
        rules,
        labels=str(flags.labels or rules.labels),
        min=rules.min | bounds_of(flags.minimum or (), "--min"),
        map=rules.map | words_of(flags.mapped or ()),
        baseline=str(flags.baseline or rules.baseline),
        max_drop=rules.max_drop | bounds_of(flags.max_drop or (), "--max-drop"),
    )
    changed.check("audit")
    return changed


def _job(flags: AuditFlags) -> Job:
    """Return the judge with its settings, the inputs, and how to use a model."""
    model = options_of(flags, flags.refresh, flags.plan, flags.documents or ())
    template = Job(
        flags.responses or (),
        Outputs(Path(), "audit"),
        topics=flags.topics,
        documents=flags.documents or (),
        dataset=flags.dataset,
        model=model,
        calibration=flags.calibration,
    )
    choice = Choice(
        flags.judge or (), workflow=workflow_at(flags.workflow), written=flags.settings or ()
    )
    (job,) = jobs_of(template, choice)
    return job


def _print(found: Audit) -> None:
    print_lines([tables.agreement_sentence(found.agreement)])
    print_table(tables.confusion_table(found.agreement))
    print_table(tables.agreement_table(found.agreement))
    unjudged = f"{counted(found.unjudged, 'item')} unjudged"
    broken = f"{counted(len(found.broken), 'bound')} broken"
    print_lines([f"audit: judge {found.judge}, {unjudged}, {broken}"])
