"""The report of a check as tables and lines for the terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from rich.markup import escape
from rich.table import Table

from trecjudge.check.outcome import CheckReport, RunReport, Tally
from trecjudge.findings import visible

COLUMNS = ("run", "track", "records", "topics", "verdict", "refused for", "warned of")


def verdict_table(report: CheckReport) -> Table:
    """Return a row for each run: what it holds, its verdict, and what it breaks how often.

    Where a run_id has several rows, each row names its file too.
    """
    table = Table(box=None, pad_edge=False)
    files = _files(report.runs)
    for column in (*COLUMNS[:1], *(["file"] if files else []), *COLUMNS[1:]):
        number = column in ("records", "topics")
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    for run in report.runs:
        first, *rest = _cells(run)
        file = [visible(files[run.path])] if files else []
        table.add_row(*map(escape, (first, *file, *rest)))
    return table


def _files(runs: Sequence[RunReport]) -> dict[str, str]:
    """Return each file from the folder that all are in; none where the run_ids are enough."""
    if len({run.run_id for run in runs}) == len(runs):
        return {}
    # Only as much of the paths as sets the files apart, so that the table stays narrow.
    folder = os.path.commonpath([os.path.dirname(os.path.abspath(run.path)) for run in runs])
    return {run.path: os.path.relpath(run.path, folder) for run in runs}


def _cells(run: RunReport) -> Sequence[str]:
    expected = "" if run.topics_expected is None else f"/{run.topics_expected}"
    return (
        visible(run.run_id),
        run.track or "unknown",
        str(run.records),
        f"{run.topics_answered}{expected}",
        run.verdict,
        _rules(run, "refused"),
        _rules(run, "warned"),
    )


def _rules(run: RunReport, verdict: str) -> str:
    return ", ".join(f"{t.rule} {t.count}" for t in run.violations if t.verdict == verdict)


def place_lines(report: CheckReport) -> Iterator[str]:
    """Yield the first places of each broken rule, run by run, each line once."""
    lines = (line for run in report.runs for tally in run.violations for line in _places(tally))
    yield from dict.fromkeys(lines)


def _places(tally: Tally) -> Iterator[str]:
    for finding in tally.examples:
        yield f"{tally.verdict} ({tally.rule}): {finding}"
    if tally.count > len(tally.examples) and tally.rule != "response_missing":
        yield f"{tally.verdict} ({tally.rule}): {tally.count} in all"


def closing_line(report: CheckReport) -> str:
    """Return the totals in one line."""
    by_verdict = ", ".join(f"{count} {standing}" for standing, count in report.standings.items())
    records = sum(run.records for run in report.runs)
    return f"checked: {len(report.runs)} runs, {records} records: {by_verdict}"
