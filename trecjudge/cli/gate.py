"""`gate`: fail where a run is not good enough, or worse than before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from filecmp import cmp
from pathlib import Path

from trecjudge.cli.flags import (
    AllRows,
    Duplicates,
    FormatFlags,
    PrintFlags,
    all_rows_option,
    duplicates_option,
)
from trecjudge.cli.parameters import argument, command_with, option, several, switch
from trecjudge.cli.printing import (
    FindingPrinter,
    print_json,
    print_lines,
    print_many,
    print_sources,
    refusing,
    sources,
)
from trecjudge.errors import InputError, WorkflowError, unknown
from trecjudge.evaluation.comparing import bounded_means, scores_at
from trecjudge.evaluation.standings import judges_of, ranking_of
from trecjudge.files import open_target, resolve_links
from trecjudge.findings import Finding, OnFinding
from trecjudge.records import Place
from trecjudge.results.jobs import JobFiles, outcome
from trecjudge.show.failing import failing_responses
from trecjudge.show.failing import junit as junit_xml
from trecjudge.stats.alignment import few, report_topics, report_unjudged
from trecjudge.stats.release_gate import (
    GateRule,
    RuleCheck,
    RunScores,
    bounds,
    drops,
    rule_of,
    without_repeats,
)
from trecjudge.stats.scores import Scores

ALWAYS_PRINTED = ("unjudged_unseen", "direction_assumed")
"""Findings that put a kept rule in doubt, so that they are printed with -q too."""


class GateFlags(FormatFlags, PrintFlags):
    """The leaderboard, and the rules that its runs have to keep."""

    leaderboard: Path = argument(
        "A job (its folder, FOLDER/NAME, any of its files) or a leaderboard."
    )
    minimum: Sequence[str] = several("No run may be below this.", "--min", metavar="MEASURE=NUMBER")
    maximum: Sequence[str] = several(
        "No run may be above this, of a measure or of a sign of writing for the judge.",
        "--max",
        metavar="MEASURE=NUMBER",
    )
    baseline: Path | None = option("The leaderboard of the release before, for --max-drop.")
    max_drop: Sequence[str] = several(
        "No run may fall by more than this below its baseline; a number without a measure is"
        " for the measure that ranks the runs.",
        metavar="[MEASURE=]NUMBER",
    )
    lower_is_better: Sequence[str] = several(
        "For --max-drop, measures whose lower values are better; by default the statistics decide.",
        metavar="MEASURE",
    )
    strict: bool = switch("Count a drop even where it may be noise.", "--strict")
    all_rows: AllRows = all_rows_option("error")
    duplicates: Duplicates = duplicates_option("error")
    junit: Path | None = option("A file for JUnit XML.")


@command_with(GateFlags)
def gate(flags: GateFlags) -> int:
    """Exit with 1 unless all runs keep all rules.

    Each broken rule is one line. A run whose unjudged items could break a rule does not pass.
    A drop counts if the paired test over topics is significant, or if there are too few topics
    for any test.
    """
    printer = FindingPrinter(flags.quiet, ALWAYS_PRINTED)
    found = [outcome(path) for path in (flags.leaderboard, flags.baseline) if path is not None]
    tables = [_scores(one, printer, flags) for one in found]
    rules = [rule_of("min", text) for text in flags.minimum]
    rules += [rule_of("max", text) for text in flags.maximum]
    rules += _drop_rules(flags.max_drop, found, tables, printer)
    rules, lower = _with_judges(rules, found), flags.lower_is_better
    checks = _checks(tables, rules, lower, flags.strict, _are_the_same(found), printer)
    left_out = [finding for finding in printer.findings if finding.severity == "error"]
    if flags.junit is not None:
        with open_target(flags.junit) as file:
            failing = failing_responses(checks, tables, found)
            file.write(junit_xml(str(found[0].place), checks, left_out, failing))
    broken = [check for check in checks if check.broken]
    # Rows that could not be read may be those that break a rule: the gate must not pass then.
    status = 1 if broken or left_out else 0
    if flags.as_json:
        more = {"statistics": sources(tables), "findings": printer.as_dicts()}
        print_json([{"passed": not status, "checks": checks} | more])
        return status
    printer.close()
    print_sources(tables, flags.quiet)
    print_many(map(str, broken))
    if not flags.quiet:
        unread = f"; {len(left_out)} rows could not be read: it does not pass" if left_out else ""
        held = sum(not check.no_rule for check in checks)
        print_lines([f"gate: {held - len(broken)} of {held} rules kept{unread}"])
    return status


def _scores(found: JobFiles, printer: FindingPrinter, flags: GateFlags) -> Scores:
    """Return a leaderboard's scores.

    Raises InputError for `all` rows that contradict their topics, and statistics of another job.
    """

    def check(finding: Finding) -> None:
        # A release must not pass by the intervals and counts of another job.
        if finding.kind == "statistics_differ":
            raise InputError(f"{finding}; `job rescore` writes both again")
        printer(finding)

    report = refusing(check, flags.all_rows)
    scores = scores_at(found, report, flags.format_name, flags.duplicates)
    if flags.all_rows == "checked":
        return scores.without_all(scores.disputed)
    recomputed = scores.disputed and flags.all_rows == "recomputed"
    return scores.without_all(scores.measures) if recomputed else scores


def _checks(
    tables: list[Scores],
    rules: list[GateRule],
    lower: Sequence[str],
    strict: bool,
    same: bool,
    printer: FindingPrinter,
) -> list[RuleCheck]:
    """Return a check of each run by each rule; `same` is whether both tables are of one job.

    Raises WorkflowError where there is no rule.
    """
    if not rules:
        raise WorkflowError("give a rule: --min, --max, or --baseline with --max-drop")
    measures = list(dict.fromkeys(measure for table in tables for measure in table.measures))
    for name in lower:
        if name not in measures:
            raise InputError(f"--lower-is-better: {unknown('measure', name, measures)}")
    for table in tables:
        if not table.unjudged:
            printer(_unseen(table))
        ruled = {rule.measure for rule in rules}
        report_unjudged(table, [m for m in table.measures if m in ruled], printer)
    # Both sides by the same direction, or a drop of one would be a rise of the other.
    figures = [bounded_means(table, lower) for table in tables]
    falling = [rule for rule in rules if rule.kind == "drop"]
    checks = bounds([rule for rule in rules if rule.kind != "drop"], tables[0], figures[0])
    if falling:
        now, old = tables
        report_topics(old, now, printer)
        # Statistics know the direction of a measure; a plain leaderboard does not.
        if not any(table.known for table in tables):
            _report_direction(now, [r.measure for r in falling], lower, printer)
        falling, repeated = without_repeats(falling, tables, figures)
        for measure, stands in repeated.items():
            message = f"{measure} falls just where {stands} does, in all rows: one rule"
            printer(Finding("rule_left_out", Place(now.name), message))
        if same:  # an item that is unjudged on both sides cannot be worse than itself
            figures = [_without_unjudged(of_table) for of_table in figures]
        checks += drops(falling, now, old, figures[0], figures[1], strict)
        _report_no_rule(now, checks, printer)
    return checks


def _without_unjudged(figures: RunScores) -> RunScores:
    """Return figures as if all items were judged, but of runs of which none was."""
    return {
        key: figure if figure.mean is None else replace(figure, judged=figure.expected)
        for key, figure in figures.items()
    }


def _report_no_rule(now: Scores, checks: list[RuleCheck], printer: FindingPrinter) -> None:
    """Report the measures that hold runs to nothing. Raises InputError where none is held."""
    runs: dict[str, list[str]] = {}
    for check in checks:
        if check.no_rule:
            runs.setdefault(f"{check.rule.full_name} {check.no_rule}", []).append(check.run_id)
    if all(check.no_rule for check in checks):
        raise InputError(f"{now.name}: no rule is left: {'; '.join(runs)}")
    for message, found in runs.items():
        of_runs = f" for {few(found)}" if len(found) < len(now.runs) else ""
        printer(Finding("rule_left_out", Place(now.name), f"{message}: no rule{of_runs}"))


def _unseen(table: Scores) -> Finding:
    message = "no statistics (NAME.leaderboard.jsonl) beside it: unjudged items cannot be seen"
    return Finding("unjudged_unseen", Place(table.name), message)


def _report_direction(
    table: Scores, measures: Sequence[str], lower: Sequence[str], printer: FindingPrinter
) -> None:
    """Report the measures of which it is only assumed that higher is better."""
    names = ", ".join(dict.fromkeys(name for name in measures if name not in lower))
    if names:
        message = f"no statistics say whether higher is better; assumed so for {names}"
        printer(
            Finding("direction_assumed", Place(table.name), f"{message} (else --lower-is-better)")
        )


def _drop_rules(
    texts: Sequence[str], found: list[JobFiles], tables: list[Scores], report: OnFinding
) -> list[GateRule]:
    """Return the rules of --max-drop; a bare number is for the measures that rank the runs.

    Raises WorkflowError where it or the baseline is missing.
    """
    if bool(texts) != (len(tables) == 2):
        raise WorkflowError("--baseline and --max-drop go together")
    if not texts:
        return []
    bare = [text for text in texts if "=" not in text]
    measures = _ranking(found, tables[1], report) if bare else []
    rules = [rule_of("drop", text, measure) for text in bare for measure in measures]
    return rules + [rule_of("drop", text) for text in texts if "=" in text]


def _ranking(found: list[JobFiles], old: Scores, report: OnFinding) -> list[str]:
    """Return the measure of the baseline that each judge ranks by; all where none is known."""
    # From the baseline first, so that a measure that is gone since breaks the rule.
    for one in reversed(found):
        known, runs = old.runs_with_value, len(old.runs)
        if ranking := ranking_of(one, known, runs, old.known.values(), neutral=False):
            return ranking
    if len(old.measures) > 1:
        message = f"it is not known which measure ranks; all are held: {', '.join(old.measures)}"
        report(Finding("ranking_unknown", Place(old.name), f"{message} (else --max-drop M=NUMBER)"))
    return old.measures


def _are_the_same(found: list[JobFiles]) -> bool:
    """Return whether a job is its own baseline: the same file, or the same judgments."""
    now, old = found[0], found[-1]
    if len(found) < 2 or now.judgments is None or old.judgments is None:
        return len(found) == 2 and resolve_links(now.place) == resolve_links(old.place)
    return cmp(now.judgments, old.judgments, shallow=False)


def _with_judges(rules: list[GateRule], found: list[JobFiles]) -> list[GateRule]:
    """Return the rules with whose measure each is, where a job has several judges."""
    judges = {
        measure: judge for one in reversed(found) for measure, judge in judges_of(one).items()
    }
    if len(set(judges.values())) < 2:
        return rules
    return [replace(rule, judge=judges.get(rule.measure, "")) for rule in rules]
