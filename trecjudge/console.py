"""What a person sees: the closing table, lists, and progress on a terminal or in plain lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from trecjudge.findings import KINDS, Finding
from trecjudge.leaderboard import Mean
from trecjudge.runner import JudgedResponse
from trecjudge.summary import RunSummary, Summary

SHOWN_OF_A_KIND = 3
PREFIX = {"error": "not judged", "warning": "warning", "note": "note"}
NO_TEXT_ADVICE = (
    "{count} citations could not be judged: the runs carry no document text. Supply it with"
    " --documents FILE (JSONL of docid, title, text), or use runs with a `documents` field."
)


class ConsoleWatcher:
    """Shows progress: a bar on a terminal, plain lines elsewhere; of each kind a few findings."""

    def __init__(self, console: Console, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._shown: Counter[str] = Counter()
        self._responses = self._items = 0
        self._bar = Progress(
            TextColumn("judging"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("runs, {task.fields[responses]} responses, {task.fields[items]} items"),
            TimeElapsedColumn(),
            console=console,
            disable=quiet or not console.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task("judging", total=None, responses=0, items=0)
        self._runs: set[Path] = set()

    def __enter__(self) -> ConsoleWatcher:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def files(self, count: int) -> None:
        """So many run files will be read."""
        self._bar.update(self._task, total=count)

    def taken(self, path: Path, format_name: str, why: str) -> None:
        """A run file was taken for a format."""
        self._runs.add(path)
        self._bar.update(self._task, completed=len(self._runs))
        self._say(f"{path}: read as {format_name}: {why}")

    def judged(self, judged: JudgedResponse) -> None:
        """A response was judged."""
        self._responses += 1
        self._items += len(judged.judgments)
        self._bar.update(self._task, responses=self._responses, items=self._items)

    def finding(self, finding: Finding) -> None:
        """The input has a problem: said the first few times, counted after that."""
        self._shown[finding.kind] += 1
        if self._shown[finding.kind] <= SHOWN_OF_A_KIND:
            self._say(f"{PREFIX[finding.severity]}: {finding}")
        elif self._shown[finding.kind] == SHOWN_OF_A_KIND + 1:
            more = f"… more of {finding.kind}: counted below, all in the log"
            self._say(f"{PREFIX[finding.severity]}: {more}")

    def said(self, message: str) -> None:
        """Something that the user should know."""
        self._say(message)

    def _say(self, message: str) -> None:
        if not self._quiet:
            self._console.print(escape(message), highlight=False, soft_wrap=True)


def listing(rows: list[tuple[str, str]]) -> Table:
    """Return names with one line each."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, line in rows:
        table.add_row(escape(name), escape(line))
    return table


def ranking(summary: Summary) -> Table:
    """Return the runs in order with their measures and coverage."""
    title = f"{summary.name}: judge {summary.judge}, ranked by {summary.ranked_by}"
    table = Table(title=escape(title), title_justify="left", box=None, pad_edge=False)
    table.add_column("", justify="right")
    table.add_column("run", overflow="fold")
    for measure in (*summary.measures, "responses", "judged"):
        table.add_column(measure, justify="right", overflow="fold")
    for place, run in enumerate(summary.runs, 1):
        table.add_row(str(place), escape(run.run_id), *_cells(summary, run))
    return table


def _cells(summary: Summary, run: RunSummary) -> list[str]:
    means = [mean_text(run.means[measure]) for measure in summary.measures]
    coverage = run.coverage
    return [
        *means,
        f"{coverage.responses}/{coverage.expected_responses}",
        f"{coverage.judged}/{coverage.expected}",
    ]


def mean_text(mean: Mean) -> str:
    """Return `0.512`, with bounds `0.512 (0.40-0.60)` where unjudged items leave it open."""
    value = "n/a" if mean.value is None else f"{mean.value:.3f}"
    if mean.low == mean.high:
        return value
    low, high = (0.0 if bound is None else bound for bound in (mean.low, mean.high))
    return f"{value} ({low:.2f}-{high:.2f})"


def closing_lines(summary: Summary) -> list[str]:
    """Return what stands below the table: coverage, findings, model calls, files."""
    runs = [run.coverage for run in summary.runs]
    responses = sum(run.responses for run in runs)
    wanted = sum(run.expected_responses for run in runs)
    judged, expected = sum(run.judged for run in runs), sum(run.expected for run in runs)
    lines = [
        f"coverage: {len(runs)} runs, {responses} of {wanted} responses,"
        f" {judged} of {expected} items judged, {summary.seconds:.1f} s"
    ]
    lines += _failure_lines(summary)
    for kind, count in summary.findings.items():
        entry = KINDS[kind]
        lines.append(f"{PREFIX[entry.severity]}: {count} x {kind}: {entry.effect}")
    if summary.calls:
        lines.append("model: " + ", ".join(f"{v} {k}" for k, v in summary.calls.items()))
    return [*lines, *(f"{what}: {path}" for what, path in summary.files.items())]


def plan_lines(plan: Mapping[str, Any]) -> list[str]:
    """Return a plan as lines."""
    cost = "no prices are known" if plan["cost"] is None else f"about {plan['cost']:.2f}"
    return [
        f"{plan['name']}: {plan['items']} items",
        f"  {plan['cached']} answered by a cache, {plan['saved']} by a call for an equal one",
        f"  {plan['calls']} calls to make",
        f"  about {plan['prompt_tokens']} tokens in, {plan['completion_tokens']} out: {cost}",
    ]


def _failure_lines(summary: Summary) -> list[str]:
    lines = [
        f"unjudged: {count} items, {kind}: in no numerator and no denominator"
        for kind, count in summary.failures.items()
    ]
    if count := summary.failures.get("no_document_text"):
        lines.append(NO_TEXT_ADVICE.format(count=count))
    return lines
