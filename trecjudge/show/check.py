"""The report of a check in the terminal: shared causes, a table of runs, places, the verdict."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import itemgetter

from trecjudge.check.outcome import EXAMPLES, Cause, CheckReport, RuleTally, RunReport
from trecjudge.check.repair import RecordChange
from trecjudge.check.rules import LOST
from trecjudge.findings import Finding, FirstFindings, plural
from trecjudge.show.tables import MOST_ROWS, TextColumn, TextTable, first_rows, hidden_line

LEAST_NAME = 12
MOST_RULES = 2
MOST_MESSAGES = 5
ELSEWHERE = "--all or --json"
Rule = tuple[str, str]
"""(rule, verdict)."""


@dataclass(slots=True)
class Shared:
    """A rule that several runs break, or in more places than are shown one by one.

    `causes` are by message: how often and where first, and in how many runs.
    """

    count: int = 0
    runs: int = 0
    causes: dict[str, tuple[Cause, int]] = field(default_factory=dict)

    def add(self, tally: RuleTally) -> None:
        """Add what breaks the rule in a run."""
        self.count, self.runs = self.count + tally.count, self.runs + 1
        for message, own in tally.causes.items():
            cause, runs = self.causes.get(message, (Cause(), 0))
            added = Cause(cause.count + own.count, [*cause.first, *own.first][:EXAMPLES])
            self.causes[message] = added, runs + 1

    def most_frequent(self) -> list[tuple[str, Cause, int]]:
        """Return (message, cause, runs) of the causes that get a line: all if they are few."""
        ordered = sorted(self.causes.items(), key=lambda named: -named[1][0].count)
        most = EXAMPLES if len(ordered) > MOST_MESSAGES else MOST_MESSAGES
        return [(message, cause, runs) for message, (cause, runs) in ordered[:most]]


def shared_rules(report: CheckReport, of_any: bool = False) -> dict[Rule, Shared]:
    """Return the shared rules, or `of_any` all that are broken: refused first, then by count."""
    found: dict[Rule, Shared] = {}
    for run in report.runs:
        for rule, tally in run.tallies.items():
            found.setdefault(rule, Shared()).add(tally)
    shared = {r: one for r, one in found.items() if of_any or one.runs > 1 or one.count > EXAMPLES}
    return dict(sorted(shared.items(), key=lambda o: (o[0][1] != "refused", -o[1].count, o[0])))


def cause_lines(
    report: CheckReport, shared: Mapping[Rule, Shared], elsewhere: str = ELSEWHERE
) -> Iterator[str]:
    """Yield a line for each shared cause: how many records and runs, the problem, first places.

    `elsewhere` says where the other places are.
    """
    records = sum(run.records for run in report.runs)
    for (rule, verdict), one in shared.items():
        left = one.count
        for message, cause, runs in one.most_frequent():
            left -= cause.count
            if cause.count == 1:
                yield f"{verdict} ({rule}): {cause.first[0]}"
                continue
            times = f"{_times(cause, records)}, {runs} of {plural(len(report.runs), 'run')}"
            first = _first_places(cause, elsewhere)
            yield f"{verdict} ({rule}): {times}: {message}; the first: {first}"
        if left:
            of_all = f"of {one.count} in {plural(one.runs, 'run')}"
            yield f"{verdict} ({rule}): … {left} more {of_all}: {elsewhere}"


def _times(cause: Cause, records: int) -> str:
    first = cause.first[0]
    of_a_record = first.sentence is None and first.place.line is not None
    if of_a_record and first.kind not in LOST and cause.count <= records:
        return f"{cause.count} of {plural(records, 'record')}"
    return plural(cause.count, "time")


def _first_places(cause: Cause, elsewhere: str) -> str:
    places, path = [], ""
    for finding in {(f.place, f.sentence): f for f in cause.first}.values():
        line = "" if finding.place.line is None else f":{finding.place.line}"
        sentence = "" if finding.sentence is None else f" sentence {finding.sentence + 1}"
        same = finding.place.path == path and bool(line)
        places.append(f"{line if same else finding.place}{sentence}")
        path = finding.place.path
    more = cause.count - len(cause.first)
    # One finding may stand for many, such as missing topics.
    rest = f" … {more} more: {elsewhere}" if len(cause.first) == EXAMPLES and more else ""
    return f"{', '.join(places)}{rest}"


def verdict_table(report: CheckReport, wide: bool = False, show_all: bool = True) -> TextTable:
    """Return a row for each run: what it holds, its verdict, and how often it breaks which rule.

    Refused runs come first. Where a run_id has several rows, each row names its file too.
    """
    order = sorted(report.runs, key=lambda run: (run.verdict != "refused", not run.warnings))
    runs = first_rows(order, show_all)
    files, every = _files(report.runs), [run.run_id for run in report.runs]
    most = None if wide else MOST_RULES
    apart = set() if wide else _broken_by_all(report)
    named = [TextColumn("file", [files.get(r.path, "") for r in runs], True, True, LEAST_NAME)]
    columns = [
        TextColumn("run", [run.run_id for run in runs], True, True, LEAST_NAME, among=every),
        *named,
        TextColumn("track", [run.track or "unknown" for run in runs], is_left=True),
        TextColumn("records", [str(run.records) for run in runs]),
        TextColumn("topics", [_topics(run) for run in runs]),
        TextColumn("verdict", [run.verdict_text for run in runs], is_left=True),
        *(
            TextColumn(head, [_rules(run, verdict, most, apart) for run in runs], is_left=True)
            for head, verdict in (("refused for", "refused"), ("warned of", "warned"))
        ),
    ]
    # An empty column would only take room.
    return TextTable([one for one in columns if any(one.cells)], wide=wide)


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
    if not rules and any(tally.verdict == verdict for tally in run.violations):
        return "as all"
    shown = rules if most is None else rules[:most]
    more = [f"+{len(rules) - len(shown)} more"] if len(shown) < len(rules) else []
    return ", ".join((*shown, *more))


def place_lines(
    report: CheckReport, shared: Collection[Rule] = (), show_all: bool = True
) -> Iterator[str]:
    """Yield every place of each broken rule, run by run, each line once.

    Those of a shared rule are left out, unless all are wanted: it has lines of its own.
    """
    lines = _once(
        (run.path, f"{tally.verdict} ({tally.rule}): {finding}")
        for run in report.runs
        for tally in run.violations
        if show_all or (tally.rule, tally.verdict) not in shared
        for finding in tally.places
    )
    yield from lines if show_all else islice(lines, MOST_ROWS)
    yield from hidden_line(sum(1 for _ in lines), "place")


def _once(lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines of each file once: its runs share what is wrong with the whole file."""
    # Held by file, as digests: there may be a million lines.
    for _, of_file in groupby(lines, key=itemgetter(0)):
        seen: set[int] = set()
        for _, line in of_file:
            if hash(line) not in seen:
                seen.add(hash(line))
                yield line


def beside_lines(findings: Iterable[Finding], show_all: bool) -> Iterator[str]:
    """Yield the first findings of each kind on topics, banks and names, or all of them."""
    first = FirstFindings()
    yield from (str(finding) for finding in findings if show_all or first.take(finding))
    yield from first.rest(f": {ELSEWHERE}")


def left_lines(report: CheckReport, show_all: bool) -> Iterator[str]:
    """Yield what repairs leave to be done by hand, a line for each cause, or for each place."""
    causes = cause_lines(report, shared_rules(report, of_any=True))
    for line in place_lines(report) if show_all else causes:
        yield f"by hand: {line}"


def change_lines(changes: Iterable[RecordChange], show_all: bool) -> Iterator[str]:
    """Yield a line for each kind of change, with its number and a first one; or every change."""
    if show_all:
        yield from map(str, changes)
        return
    kinds: dict[str, tuple[int, RecordChange]] = {}
    for change in changes:
        count, first = kinds.get(change.kind, (0, change))
        kinds[change.kind] = count + 1, first
    for kind, (count, first) in sorted(kinds.items(), key=lambda k: (-k[1][0], k[0])):
        times = f"{count} times; the first: " if count > 1 else ""
        yield f"mended ({kind}): {times}{first}"


def closing_line(report: CheckReport) -> str:
    """Return the totals in one line."""
    by_verdict = ", ".join(f"{count} {standing}" for standing, count in report.standings.items())
    warned = f" ({report.with_warnings} with warnings)" if report.with_warnings else ""
    records = sum(run.records for run in report.runs)
    held = f"{plural(len(report.runs), 'run')}, {plural(records, 'record')}"
    return f"checked: {held}: {by_verdict}{warned}"
