"""The report of a check in the terminal: shared causes, a table of runs, places, the verdict."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from trecjudge.check.outcome import EXAMPLES, STANDINGS, CheckReport, RunReport, Tally
from trecjudge.findings import Finding, counted
from trecjudge.show.columns import Column, Columns
from trecjudge.show.tables import MOST_ROWS, first_rows, hidden_line

LEAST_NAME = 12
MOST_RULES = 2
MOST_MESSAGES = 5
Rule = tuple[str, str]
"""(rule, verdict)."""


@dataclass(slots=True)
class Shared:
    """A rule that several runs break, or more records than are shown one by one.

    `causes` counts by message, in how many places and runs; `first` has the first finding of each.
    """

    count: int = 0
    runs: int = 0
    causes: dict[str, tuple[int, int]] = field(default_factory=dict)
    first: dict[str, Finding] = field(default_factory=dict)

    def add(self, tally: Tally) -> None:
        """Add what breaks the rule in a run."""
        self.count, self.runs = self.count + tally.count, self.runs + 1
        for finding in tally.examples:
            self.first.setdefault(finding.message, finding)
        for message, count in tally.causes.items():
            places, runs = self.causes.get(message, (0, 0))
            self.causes[message] = places + count, runs + 1

    @property
    def is_one_by_one(self) -> bool:
        """Whether its messages are few enough for a line each, with none left out."""
        few = len(self.causes) <= MOST_MESSAGES and set(self.causes) == set(self.first)
        return few and sum(places for places, _ in self.causes.values()) == self.count


def shared_rules(report: CheckReport) -> dict[Rule, Shared]:
    """Return the shared rules: those that a track refuses first, then by count."""
    found: dict[Rule, Shared] = {}
    for run in report.runs:
        for rule, tally in run.tallies.items():
            found.setdefault(rule, Shared()).add(tally)
    shared = {rule: one for rule, one in found.items() if one.runs > 1 or one.count > EXAMPLES}
    return dict(sorted(shared.items(), key=lambda o: (o[0][1] != "refused", -o[1].count, o[0])))


def cause_lines(report: CheckReport, shared: Mapping[Rule, Shared]) -> Iterator[str]:
    """Yield a line for each shared cause: how many records and runs, the problem, a first place."""
    records = sum(run.records for run in report.runs)
    for (rule, verdict), one in shared.items():
        lines = {"": (one.count, one.runs)}
        if one.is_one_by_one:
            lines = dict(sorted(one.causes.items(), key=lambda o: (-o[1][0], o[0])))
        for message, (count, runs) in lines.items():
            first = one.first[message] if message else next(iter(one.first.values()))
            of_runs = f"{runs} of {counted(len(report.runs), 'run')}"
            what = f"{message}; the first: {_place(first)}" if message else f"the first: {first}"
            times = _times(first, count, records) if message else counted(count, "time")
            yield f"{verdict} ({rule}): {times}, {of_runs}: {what}"


def _times(first: Finding, count: int, records: int) -> str:
    of_a_record = first.sentence is None and first.place.line is not None
    if of_a_record and count <= records:
        return f"{count} of {counted(records, 'record')}"
    return counted(count, "time")


def _place(finding: Finding) -> str:
    where = "" if finding.sentence is None else f" sentence {finding.sentence}"
    return f"{finding.place}{where}"


def verdict_table(report: CheckReport, wide: bool = False, show_all: bool = True) -> Columns:
    """Return a row for each run: what it holds, its verdict, and how often it breaks which rule.

    Refused runs come first. Where a run_id has several rows, each row names its file too.
    """
    order = sorted(report.runs, key=lambda run: STANDINGS.index(run.verdict))
    runs = first_rows(order, show_all)
    files = _files(report.runs)
    most = None if wide else MOST_RULES
    apart = set() if wide else _broken_by_all(report)
    named = [Column("file", [files.get(r.path, "") for r in runs], True, True, LEAST_NAME)]
    columns = [
        Column("run", [run.run_id for run in runs], True, True, LEAST_NAME),
        *named,
        Column("track", [run.track or "unknown" for run in runs], is_left=True),
        Column("records", [str(run.records) for run in runs]),
        Column("topics", [_topics(run) for run in runs]),
        Column("verdict", [run.verdict for run in runs], is_left=True),
        Column("refused for", [_rules(run, "refused", most, apart) for run in runs], is_left=True),
        Column("warned of", [_rules(run, "warned", most, apart) for run in runs], is_left=True),
    ]
    # An empty column would only take room.
    return Columns([one for one in columns if any(one.cells)], wide=wide)


def hidden_runs(report: CheckReport, show_all: bool) -> Iterator[str]:
    """Yield a line on the runs that the table does not show."""
    yield from hidden_line(len(report.runs) - len(first_rows(report.runs, show_all)), "run")


def _files(runs: Sequence[RunReport]) -> dict[str, str]:
    """Return each file from the folder that all are in; none where the run_ids are enough."""
    if len({run.run_id for run in runs}) == len(runs):
        return {}
    # Only as much of the paths as sets the files apart, so that the table stays narrow.
    folder = os.path.commonpath([os.path.dirname(os.path.abspath(run.path)) for run in runs])
    return {run.path: os.path.relpath(run.path, folder) for run in runs}


def _topics(run: RunReport) -> str:
    expected = "" if run.topics_expected is None else f"/{run.topics_expected}"
    return f"{run.topics_answered}{expected}"


def _broken_by_all(report: CheckReport) -> set[Rule]:
    """Return the rules that all of several runs break, since these do not tell runs apart."""
    if len(report.runs) < 2:
        return set()
    first, *others = (set[Rule](run.tallies) for run in report.runs)
    return first.intersection(*others)


def _rules(run: RunReport, verdict: str, most: int | None, apart: Collection[Rule]) -> str:
    rules = [
        f"{t.rule} {t.count}"
        for t in run.violations
        if t.verdict == verdict and (t.rule, t.verdict) not in apart
    ]
    shown = rules if most is None else rules[:most]
    more = [f"+{len(rules) - len(shown)} more"] if len(shown) < len(rules) else []
    return ", ".join((*shown, *more))


def place_lines(
    report: CheckReport, shared: Collection[Rule] = (), show_all: bool = True
) -> Iterator[str]:
    """Yield the first places of each broken rule, run by run, each line once.

    Those of a shared rule are left out, unless all are wanted: it has a line of its own.
    """
    every = (
        line
        for run in report.runs
        for tally in run.violations
        if show_all or (tally.rule, tally.verdict) not in shared
        for line in _places(run, tally)
    )
    lines = iter(dict.fromkeys(every))
    yield from lines if show_all else islice(lines, MOST_ROWS)
    yield from hidden_line(sum(1 for _ in lines), "place")


def _places(run: RunReport, tally: Tally) -> Iterator[str]:
    for finding in tally.examples:
        yield f"{tally.verdict} ({tally.rule}): {finding}"
    if tally.count > len(tally.examples) and tally.rule != "response_missing":
        yield f"{tally.verdict} ({tally.rule}): {run.path}: {tally.count} in all"


def closing_line(report: CheckReport) -> str:
    """Return the totals in one line."""
    by_verdict = ", ".join(f"{count} {standing}" for standing, count in report.standings.items())
    records = sum(run.records for run in report.runs)
    return (
        f"checked: {counted(len(report.runs), 'run')}, {counted(records, 'record')}: {by_verdict}"
    )
