"""`gate`: fail where a run is not good enough, or worse than before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from trecjudge.cli import options as flag
from trecjudge.cli import shared as common
from trecjudge.cli.exits import exits
from trecjudge.cli.printing import print_json, print_lines
from trecjudge.errors import InputError, WorkflowError, unknown
from trecjudge.evaluation.loading import bounded_means, scores_at
from trecjudge.files import chosen
from trecjudge.findings import Finding
from trecjudge.records import Place
from trecjudge.results.jobs import Outcome, outcome
from trecjudge.show.junit import junit
from trecjudge.stats.alignment import report_topics, report_unjudged
from trecjudge.stats.release_gate import Check, GateRule, bounds, drops, rule_of
from trecjudge.stats.scores import Scores

ALWAYS_PRINTED = ("unjudged_unseen", "direction_assumed")
"""Findings that put a kept rule in doubt, so that they are printed with -q too."""


Minimum = Annotated[
    list[str] | None,
    typer.Option("--min", metavar="MEASURE=NUMBER", help="No run may be below this."),
]
Maximum = Annotated[
    list[str] | None,
    typer.Option("--max", metavar="MEASURE=NUMBER", help="No run may be above this."),
]
Baseline = Annotated[
    Path | None, typer.Option(help="The leaderboard of the release before, for --max-drop.")
]
MaxDrop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[MEASURE=]NUMBER",
        help="No run may fall by more than this below its baseline; a number without a measure is"
        " for the measures of --min and --max, or for all.",
    ),
]
LowerIsBetter = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MEASURE",
        help="For --max-drop, measures whose lower values are better; by default the"
        " statistics decide.",
    ),
]
AnyDrop = Annotated[bool, typer.Option("--strict", help="Count a drop even where it may be noise.")]
Junit = Annotated[Path | None, typer.Option(help="A file for JUnit XML.")]


@exits
def gate(
    leaderboard: common.Leaderboard,
    minimum: Minimum = None,
    maximum: Maximum = None,
    baseline: Baseline = None,
    max_drop: MaxDrop = None,
    lower_is_better: LowerIsBetter = None,
    strict: AnyDrop = False,
    all_rows: common.AllRows = "error",
    duplicates: common.Duplicates = "error",
    junit: Junit = None,
    format_name: common.Format = "auto",
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Exit with 1 unless all runs keep all rules.

    Each broken rule is one line. A run whose unjudged items could break a rule does not pass.
    A drop counts if the paired test over topics is significant, or if there are too few topics
    for any test.
    """
    printer = common.FindingPrinter(quiet, ALWAYS_PRINTED)
    found = [outcome(path) for path in (leaderboard, baseline) if path is not None]
    tables = [_scores(one, printer, format_name, duplicates, all_rows) for one in found]
    rules = [rule_of("min", text) for text in minimum or ()]
    rules += [rule_of("max", text) for text in maximum or ()]
    lower = lower_is_better or []
    checks = _checks(tables, rules, max_drop or [], lower, strict, printer)
    left_out = [finding for finding in printer.findings if finding.severity == "error"]
    if junit is not None:
        _write_junit(junit, str(found[0].place), checks, left_out)
    broken = [check for check in checks if check.broken]
    # Rows that could not be read may be those that break a rule: the gate must not pass then.
    status = 1 if broken or left_out else 0
    if as_json:
        more = {"statistics": common.sources(tables), "findings": printer.as_dicts()}
        print_json([{"passed": not status, "checks": checks} | more])
        return status
    printer.close()
    common.print_sources(tables, quiet)
    print_lines(map(str, broken))
    if not quiet:
        unread = f"; {len(left_out)} rows could not be read: it does not pass" if left_out else ""
        print_lines([f"gate: {len(checks) - len(broken)} of {len(checks)} rules kept{unread}"])
    return status


def _scores(
    found: Outcome,
    printer: common.FindingPrinter,
    format_name: str,
    duplicates: Literal["first", "last", "mean", "error"],
    all_rows: str,
) -> Scores:
    """Return a leaderboard's scores.

    Raises InputError for `all` rows that contradict their topics, and statistics of another job.
    """

    def check(finding: Finding) -> None:
        # A release must not pass by the intervals and counts of another job.
        if finding.kind == "statistics_differ":
            raise InputError(f"{finding}; `rescore` writes both again")
        printer(finding)

    refusing = common.refusing(check, all_rows)
    scores = scores_at(found, refusing, format_name, duplicates)
    if all_rows == "checked":
        return scores.without_all(scores.disputed)
    recomputed = scores.disputed and all_rows == "recomputed"
    return scores.without_all(scores.measures) if recomputed else scores


def _checks(
    tables: list[Scores],
    rules: list[GateRule],
    max_drop: list[str],
    lower: list[str],
    strict: bool,
    printer: common.FindingPrinter,
) -> list[Check]:
    """Return a check of each run by each rule. Raises WorkflowError where there is no rule."""
    falling = _drop_rules(max_drop, rules, tables)
    if not rules and not falling:
        raise WorkflowError("give a rule: --min, --max, or --baseline with --max-drop")
    measures = list(dict.fromkeys(measure for table in tables for measure in table.measures))
    for name in lower:
        if name not in measures:
            raise InputError(f"--lower-is-better: {unknown('measure', name, measures)}")
    for table in tables:
        if not table.unjudged:
            printer(_unseen(table))
        report_unjudged(table, _ruled(table, rules, falling), printer)
    # Both sides by the same direction, or a drop of one would be a rise of the other.
    figures = [bounded_means(table, lower) for table in tables]
    checks = bounds(rules, tables[0], figures[0])
    if falling:
        now, old = tables
        report_topics(old, now, printer)
        # Statistics know the direction of a measure; a plain leaderboard does not.
        if not any(table.known for table in tables):
            _report_direction(now, [r.measure for r in falling], lower, printer)
        checks += drops(falling, now, old, figures[0], figures[1], strict)
    return checks


def _ruled(table: Scores, *rules: list[GateRule]) -> list[str]:
    """Return the measures of a leaderboard that rules are about."""
    named = {rule.measure for some in rules for rule in some}
    return [measure for measure in table.measures if measure in named]


def _unseen(table: Scores) -> Finding:
    message = "no statistics (NAME.leaderboard.jsonl) beside it: unjudged items cannot be seen"
    return Finding("unjudged_unseen", Place(table.name), message)


def _report_direction(
    table: Scores, measures: list[str], lower: list[str], printer: common.FindingPrinter
) -> None:
    """Report the measures of which it is only assumed that higher is better."""
    names = ", ".join(dict.fromkeys(name for name in measures if name not in lower))
    if names:
        message = f"no statistics say whether higher is better; assumed so for {names}"
        printer(
            Finding("direction_assumed", Place(table.name), f"{message} (else --lower-is-better)")
        )


def _drop_rules(texts: list[str], rules: list[GateRule], tables: list[Scores]) -> list[GateRule]:
    """Return the rules of --max-drop; a bare number is for the measures of other rules, or for all.

    Raises WorkflowError where it or the baseline is missing.
    """
    if bool(texts) != (len(tables) == 2):
        raise WorkflowError("--baseline and --max-drop go together")
    # From the baseline, so that a measure that is gone since breaks the rule.
    measures = list(dict.fromkeys(rule.measure for rule in rules)) or tables[-1].measures
    named = [f"{m}={text}" for text in texts if "=" not in text for m in measures]
    return [rule_of("drop", text) for text in (*named, *(t for t in texts if "=" in t))]


def _write_junit(path: Path, name: str, checks: list[Check], left_out: list[Finding]) -> None:
    with chosen(path) as file:
        file.write(junit(name, checks, left_out))
