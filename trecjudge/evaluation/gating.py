"""The gate of a release: what its runs are held to, checked on a job and its baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from filecmp import cmp
from pathlib import Path

import numpy as np

from trecjudge.errors import InputError, WorkflowError, unknown
from trecjudge.evaluation.comparing import bounded_means, scores_at
from trecjudge.evaluation.standings import judges_of, known_measures, ranking_of
from trecjudge.files import resolve_links
from trecjudge.findings import Finding, OnFinding, visible_line
from trecjudge.inputs.sources.paths import files_below
from trecjudge.measures import MeasureSpec
from trecjudge.records import Place
from trecjudge.results.history import keep_job, newest_entry
from trecjudge.results.jobs import JobFiles, jobs_at, outcome
from trecjudge.stats.alignment import AllRows, few, refusing, report_topics, report_unjudged
from trecjudge.stats.release_gate import (
    GateRule,
    RuleCheck,
    RunScores,
    bounds,
    drops,
    rule_of,
    without_repeats,
)
from trecjudge.stats.scores import Duplicates, Scores

EVERY = "all"
"""The name, in a rule, of all measures that have a better side and bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRequest:
    """What the runs of a leaderboard are held to, with rules as texts of the flags of `gate`.

    `baseline` is the leaderboard before, or a history, which stands for its newest entry that is
    not the job itself. `move_baseline` keeps a job that passes there as the newest entry.
    """

    minimum: Sequence[str] = ()
    maximum: Sequence[str] = ()
    baseline: JobFiles | Path | None = None
    max_drop: Sequence[str] = ()
    lower_is_better: Sequence[str] = ()
    strict: bool = False
    all_rows: AllRows = "error"
    duplicates: Duplicates = "error"
    format_name: str = "auto"
    move_baseline: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Gate:
    """What a gate found: a check of each run by each rule.

    `jobs` and `tables` are the leaderboard and, if there is one, its baseline. `left_out` are the
    parts of the input that could not be read. `kept` is the entry of a history that the job has
    become, None where it has not.
    """

    checks: tuple[RuleCheck, ...]
    left_out: tuple[Finding, ...]
    jobs: tuple[JobFiles, ...]
    tables: tuple[Scores, ...]
    kept: Path | None = None

    @property
    def broken(self) -> tuple[str, ...]:
        """A sentence for each broken rule."""
        return tuple(str(check) for check in self.checks if check.broken)

    @property
    def passed(self) -> bool:
        """Whether all runs keep all rules, and all rows could be read.

        Rows that could not be read may be those that break a rule.
        """
        return not self.broken and not self.left_out

    @property
    def verdict(self) -> str:
        """How many rules are kept, in a line."""
        rows = f"; {len(self.left_out)} rows could not be read: it does not pass"
        held = sum(not check.no_rule for check in self.checks)
        kept = f"gate: {held - len(self.broken)} of {held} rules kept"
        return kept + (rows if self.left_out else "")

    def __str__(self) -> str:
        return "\n".join(visible_line(line) for line in (*self.broken, self.verdict))

    __repr__ = __str__


def check_release(now: JobFiles, request: GateRequest, on_finding: OnFinding) -> Gate:
    """Return whether the runs of a leaderboard keep the rules, each checked.

    Raises InputError for what cannot be read or compared, WorkflowError where there is no rule.
    """
    findings: dict[Finding, None] = {}

    def report(finding: Finding) -> None:
        findings[finding] = None
        on_finding(finding)

    _check_request(request)
    found = [now, *_baseline(now, request, report)]
    tables = [_scores(one, report, request) for one in found]
    rules = [rule_of("min", text) for text in request.minimum]
    rules += [rule_of("max", text) for text in request.maximum]
    rules += _drop_rules(request.max_drop, found, tables, report) if tables[1:] else []
    rules, lower = _with_judges(rules, found), request.lower_is_better
    checks = _checks(tables, rules, lower, request.strict, _are_the_same(found), report)
    _report_nothing_judged(tables[0], rules, report)
    left_out = tuple(finding for finding in findings if finding.severity == "error")
    gate = Gate(tuple(checks), left_out, tuple(found), tuple(tables))
    if gate.passed and request.move_baseline and isinstance(request.baseline, Path):
        return replace(gate, kept=keep_job(now, request.baseline))
    return gate


def _check_request(request: GateRequest) -> None:
    """Raise WorkflowError where there is no rule, or one part of a rule without the other."""
    baseline = request.baseline
    if bool(request.max_drop) != (baseline is not None):
        raise WorkflowError("--baseline and --max-drop go together")
    if not (request.minimum or request.maximum or request.max_drop):
        raise WorkflowError("give a rule: --min, --max, or --baseline with --max-drop")
    is_folder = isinstance(baseline, Path) and (baseline.is_dir() or not jobs_at(baseline))
    if request.move_baseline and (not is_folder or Path(str(baseline)).is_file()):
        raise WorkflowError("--move-baseline: give a folder as --baseline, which keeps what passes")


def _baseline(now: JobFiles, request: GateRequest, report: OnFinding) -> list[JobFiles]:
    """Return the baseline, if there is one; a history that is to be filled may be empty."""
    given = request.baseline
    if not isinstance(given, Path):
        return [] if given is None else [given]
    if (entry := newest_entry(given, now)) is not None:
        return [entry]
    is_empty = not given.exists() or (given.is_dir() and not files_below(given))
    if request.move_baseline and is_empty:
        message = "has no entry yet, so that --max-drop holds nothing"
        report(Finding("baseline_empty", Place(str(given)), message))
        return []
    return [outcome(given)]


def _scores(found: JobFiles, report: OnFinding, request: GateRequest) -> Scores:
    """Return a leaderboard's scores.

    Raises InputError for `all` rows that contradict their topics, and statistics of another job.
    """

    def check(finding: Finding) -> None:
        # A release must not pass by the intervals and counts of another job.
        if finding.kind == "statistics_differ":
            raise InputError(f"{finding}; `job rescore` writes both again")
        report(finding)

    refused = refusing(check, request.all_rows)
    scores = scores_at(found, refused, request.format_name, request.duplicates)
    if request.all_rows == "checked":
        return scores.without_all(scores.disputed)
    recomputed = scores.disputed and request.all_rows == "recomputed"
    return scores.without_all(scores.measures) if recomputed else scores


def _checks(
    tables: list[Scores],
    rules: list[GateRule],
    lower: Sequence[str],
    strict: bool,
    same: bool,
    report: OnFinding,
) -> list[RuleCheck]:
    """Return a check of each run by each rule; `same` is whether both tables are of one job."""
    measures = list(dict.fromkeys(measure for table in tables for measure in table.measures))
    for name in lower:
        if name not in measures:
            raise InputError(f"--lower-is-better: {unknown('measure', name, measures)}")
    for table in tables:
        if not table.unjudged:
            report(_unseen(table))
        ruled = {rule.measure for rule in rules}
        report_unjudged(table, [m for m in table.measures if m in ruled], report)
    ours = {} if any(table.known for table in tables) else _ours(measures)
    lower = [*lower, *(name for name, spec in ours.items() if spec.lower_is_better)]
    # Both sides by the same direction, or a drop of one would be a rise of the other.
    figures = [bounded_means(table, lower) for table in tables]
    falling = [rule for rule in rules if rule.kind == "drop"]
    checks = bounds([rule for rule in rules if rule.kind != "drop"], tables[0], figures[0])
    if falling:
        now, old = tables
        report_topics(old, now, report)
        # Statistics know the direction of a measure, and so do our judges; other rows do not.
        if not any(table.known for table in tables):
            _report_direction(now, [r.measure for r in falling], (*lower, *ours), report)
        falling, repeated = without_repeats(falling, tables, figures)
        for measure, stands in repeated.items():
            message = f"{measure} falls just where {stands} does, in all rows: one rule"
            report(Finding("rule_left_out", Place(now.name), message))
        if same:  # an item that is unjudged on both sides cannot be worse than itself
            figures = [_without_unjudged(of_table) for of_table in figures]
        checks += drops(falling, now, old, figures[0], figures[1], strict)
        _report_no_rule(now, checks, report)
    return checks


def _ours(measures: Sequence[str]) -> dict[str, MeasureSpec]:
    """Return what our judges say of measures, of those that they have."""
    known = known_measures()
    return {m: known[_base_name(m)] for m in measures if _base_name(m) in known}


def _without_unjudged(figures: RunScores) -> RunScores:
    """Return figures as if all items were judged, but of runs of which none was."""
    return {
        key: figure if figure.mean is None else replace(figure, judged=figure.expected)
        for key, figure in figures.items()
    }


def _report_no_rule(now: Scores, checks: list[RuleCheck], report: OnFinding) -> None:
    """Report the measures that hold runs to nothing. Raises InputError where none is held."""
    runs: dict[str, list[str]] = {}
    for check in checks:
        if check.no_rule:
            runs.setdefault(f"{check.rule.full_name} {check.no_rule}", []).append(check.run_id)
    if all(check.no_rule for check in checks):
        raise InputError(f"{now.name}: no rule is left: {'; '.join(runs)}")
    for message, found in runs.items():
        of_runs = f" for {few(found)}" if len(found) < len(now.runs) else ""
        report(Finding("rule_left_out", Place(now.name), f"{message}: no rule{of_runs}"))


def _report_nothing_judged(now: Scores, rules: Sequence[GateRule], report: OnFinding) -> None:
    """Report measures of which no run has an item: that nothing falls is no good sign."""
    for measure in dict.fromkeys(rule.measure for rule in rules if rule.kind == "drop"):
        known = [one for (_, name), one in now.known.items() if name == measure]
        if known and not any(one.expected or one.only_unjudged for one in known):
            message = f"{measure}: 0 of 0 items judged in every run, so that it cannot fall"
            report(Finding("nothing_judged", Place(now.name), message))


def _unseen(table: Scores) -> Finding:
    message = "no statistics (NAME.leaderboard.jsonl) beside it: unjudged items cannot be seen"
    return Finding("unjudged_unseen", Place(table.name), message)


def _report_direction(
    table: Scores, measures: Sequence[str], known: Sequence[str], report: OnFinding
) -> None:
    """Report the measures of which it is only assumed that higher is better."""
    names = ", ".join(dict.fromkeys(name for name in measures if name not in known))
    if names:
        message = f"no statistics say whether higher is better; assumed so for {names}"
        report(
            Finding("direction_assumed", Place(table.name), f"{message} (else --lower-is-better)")
        )


def _drop_rules(
    texts: Sequence[str], found: list[JobFiles], tables: list[Scores], report: OnFinding
) -> list[GateRule]:
    """Return the rules of --max-drop: of a measure, of `all`, or of those that rank the runs."""
    rules = []
    for text in texts:
        name, _, number = text.rpartition("=")
        if name.strip() in ("", EVERY):
            chosen = _held(tables, report) if name else _ranking(found, tables, report)
            rules += [rule_of("drop", number, measure) for measure in chosen]
        else:
            rules.append(rule_of("drop", text))
    return rules


def _ranking(found: list[JobFiles], tables: list[Scores], report: OnFinding) -> list[str]:
    """Return the measure of the baseline that each judge ranks by.

    Where none is known, or no side of it is better, it is all that can be held. Raises InputError
    where that is none.
    """
    # From the baseline first, so that a measure that is gone since breaks the rule.
    old = tables[1]
    for one in reversed(found):
        known, runs = old.runs_with_value, len(old.runs)
        if ranking := ranking_of(one, known, runs, old.known.values(), neutral=False):
            return ranking
    held = _held(tables, report)
    if len(held) > 1:
        message = f"it is not known which measure ranks; all but counts are held: {', '.join(held)}"
        report(Finding("ranking_unknown", Place(old.name), f"{message} (else --max-drop M=NUMBER)"))
    return held


def _held(tables: list[Scores], report: OnFinding) -> list[str]:
    """Return the measures of the baseline that have a better side and bounds.

    Of a measure of no judge here that is one whose values are all from 0 to 1. Raises InputError
    where there is none.
    """
    old, held, unbounded = tables[1], [], []
    ours = _ours(old.measures)
    for name in old.measures:
        spec = ours.get(name)
        if spec is None and not all(_is_share(table, name) for table in tables):
            unbounded.append(name)
        elif spec is None or not spec.neutral:
            held.append(name)
    if not held:
        names = ", ".join(old.measures)
        raise InputError(
            f"{old.name}: no side is known to be better of {names}; give --max-drop MEASURE=NUMBER"
        )
    if unbounded:
        message = f"{', '.join(unbounded)}: not from 0 to 1, so no rule"
        report(Finding("rule_left_out", Place(old.name), f"{message} (else --max-drop M=NUMBER)"))
    return held


def _base_name(measure: str) -> str:
    """Return a measure without the judge before it and the cut-off after it."""
    return measure.rpartition(".")[2].partition("@")[0]


def _is_share(table: Scores, measure: str) -> bool:
    if measure not in table.measures:
        return True
    values = np.concatenate([table.values[measure].ravel(), table.overall(measure)])
    return bool(((values >= 0) & (values <= 1) | np.isnan(values)).all())


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
