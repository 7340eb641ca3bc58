"""`audit`: try a judge on labelled items; fail where it agrees too little with people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trecjudge.cli.exits import Later, print_errors, warning_printer
from trecjudge.cli.flags import AskingFlags, MapFlags, PrintFlags, RunFlags
from trecjudge.cli.jobs import request_job
from trecjudge.cli.parameters import LimitFlags, argument, command_with, option, several
from trecjudge.cli.printing import (
    FindingPrinter,
    print_json,
    print_lines,
    print_plans,
    print_table,
)
from trecjudge.errors import InputError
from trecjudge.findings import plural
from trecjudge.inputs.labels.vocabulary import parse_label_map
from trecjudge.job.audit.rules import FIGURES, AuditRules, audit_rules, parse_bounds
from trecjudge.job.request import Job, warn_without_model

if TYPE_CHECKING:  # rich and the scores: not for --help
    from trecjudge.job.audit import auditing
    from trecjudge.job.audit.auditing import AuditReport
    from trecjudge.show import tables
else:
    auditing, tables = Later("trecjudge.job.audit.auditing"), Later("trecjudge.show.tables")


class AuditFlags(MapFlags, RunFlags, LimitFlags, AskingFlags, PrintFlags):
    """The labelled items, the judge, and the bounds of its figures."""

    labels: Path | None = argument(
        "The labelled items: pairs of sentence, document and label, or labels of the runs'"
        " own items. By default those of the workflow's `audit`.",
        None,
    )
    minimum: Sequence[str] = several(
        f"Exit with 1 where a figure is lower: {', '.join(FIGURES)}.",
        "--min",
        metavar="FIGURE=NUMBER",
    )
    baseline: Path | None = option("NAME.config.yml of an earlier job with an audit.")
    max_drop: Sequence[str] = several(
        "A figure may be so much lower than there.", metavar="FIGURE=NUMBER"
    )


@command_with(AuditFlags)
def audit(flags: AuditFlags) -> int:
    """Try a judge on labelled items.

    It exits with 1 where a figure of agreement is below its bound.
    """
    printer, warn = FindingPrinter(flags.quiet), warning_printer(flags.quiet)
    job = request_job(flags, "audit")
    if message := warn_without_model([job]):
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
        min=rules.min | parse_bounds(flags.minimum, "--min"),
        map=rules.map | parse_label_map(flags.mapped),
        baseline=str(flags.baseline or rules.baseline),
        max_drop=rules.max_drop | parse_bounds(flags.max_drop, "--max-drop"),
    )
    changed.check("audit")
    return changed


def _print(found: AuditReport) -> None:
    print_lines([tables.agreement_sentence(found.agreement)])
    print_table(tables.confusion_table(found.agreement))
    print_table(tables.agreement_table(found.agreement))
    unjudged = f"{plural(found.unjudged, 'item')} unjudged"
    broken = f"{plural(len(found.broken), 'bound')} broken"
    print_lines([f"audit: judge {found.judge}, {unjudged}, {broken}"])
