"""The end of a job in the terminal: the closing table, its lines, plans, lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from trecjudge.findings import KINDS, PREFIX, shown_line, visible
from trecjudge.scores.leaderboard import Mean
from trecjudge.scores.summary import RunSummary, Summary

if TYPE_CHECKING:
    from trecjudge.stats.standing import Standing

NO_TEXT_ADVICE = (
    "{count} items could not be judged: the runs carry no document text. Supply it with"
    " --documents FILE (JSONL of docid, title, text), or use runs with a `documents` field."
)

LABELS_LINE = (
    "labels of people: {given} given, {of_judged_items} of them on judged items, {unusable} that"
    " the judge does not know; they correct the means `with labels`"
)

UNKNOWN_LINE = (
    "failures unknown: judge {} does not tell what failed: a low value may be a call that failed"
)


def listing(rows: list[tuple[str, str]]) -> Table:
    """Return names with one line each."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, line in rows:
        table.add_row(escape(visible(name)), escape(visible(line)))
    return table


def ranking(summary: Summary) -> Table:
    """Return the runs in order with their measures and coverage."""
    title = f"{summary.name}: judge {summary.judge}, ranked by {summary.ranked_by}"
    table = Table(title=escape(title), title_justify="left", box=None, pad_edge=False)
    table.add_column("", justify="right")
    table.add_column("run", overflow="fold", min_width=12)
    extra = _extra_columns(summary)
    for measure in (*summary.measures, *extra, "responses", "judged"):
        # Headers are stacked, so that eighty columns hold them.
        table.add_column(measure.replace("_", "_\n"), justify="right", overflow="fold")
    for run in summary.runs:
        # Where unjudged items leave a mean open, its rank is open too.
        is_open = run.means[summary.ranked_by].is_open
        rank = "?" if is_open else rank_text(run.standings[summary.ranked_by])
        table.add_row(rank, escape(visible(run.run_id)), *_cells(summary, run, extra))
    return table


def rank_text(standing: Standing) -> str:
    """Return the rank of a run: `2=` for all that are second together, `?` where it has none."""
    if standing.rank is None:
        return "?"
    return f"{standing.rank}=" if standing.ties else str(standing.rank)


def _extra_columns(summary: Summary) -> list[str]:
    """Return the names of further columns on the ranking measure: interval, groups, labels."""
    known = [run.standings[summary.ranked_by] for run in summary.runs]
    columns = ["95 %"] if any(standing.low is not None for standing in known) else []
    if len(known) > 1 and any(standing.groups for standing in known):
        columns.append("group")
    if any(standing.human for standing in known):
        columns += ["with labels", "95 % with labels"]
    return columns


def _extra_cells(standing: Standing, columns: Sequence[str]) -> list[str]:
    human = standing.human
    cells = {
        "95 %": interval_text(standing.low, standing.high),
        "group": shown_letters(standing.groups),
        "with labels": f"{human.mean:.3f}" if human else "n/a",
        "95 % with labels": interval_text(human.low, human.high) if human else "n/a",
    }
    return [cells[column] for column in columns]


def shown_letters(letters: Sequence[str]) -> str:
    """Return letters as one word: `ab`; a long row of them as `a-h`."""
    return "".join(letters) if len(letters) <= 3 else f"{letters[0]}-{letters[-1]}"


def interval_text(low: float | None, high: float | None) -> str:
    """Return `0.41 to 0.60`, `n/a` where there is no interval."""
    return "n/a" if low is None or high is None else f"{low:.2f} to {high:.2f}"


def _cells(summary: Summary, run: RunSummary, extra: Sequence[str]) -> list[str]:
    means = [mean_text(run.means[measure]) for measure in summary.measures]
    coverage = run.coverage
    return [
        *means,
        *_extra_cells(run.standings[summary.ranked_by], extra),
        f"{coverage.responses}/{coverage.expected_responses}",
        f"{coverage.judged}/{coverage.expected}",
    ]


def mean_text(mean: Mean) -> str:
    """Return `0.512`, with bounds `0.512 (0.40-0.60)` where unjudged items leave it open."""
    value = "n/a" if mean.value is None else f"{mean.value:.3f}"
    if not mean.is_open:
        return value
    lowest, highest = (0.0 if bound is None else bound for bound in (mean.lowest, mean.highest))
    return f"{value} ({lowest:.2f}-{highest:.2f})"


def closing_lines(summary: Summary) -> list[str]:
    """Return the lines below the table: coverage, findings, model calls, files."""
    runs = [run.coverage for run in summary.runs]
    responses = sum(run.responses for run in runs)
    wanted = sum(run.expected_responses for run in runs)
    judged, expected = sum(run.judged for run in runs), sum(run.expected for run in runs)
    lines = [
        f"coverage: {len(runs)} runs, {responses} of {wanted} responses,"
        f" {judged} of {expected} items judged, {summary.seconds:.1f} s"
    ]
    if summary.gate:
        counts = ", ".join(f"{count} {status}" for status, count in summary.gate.items())
        lines.append(f"gate: {counts} responses")
    lines += _failure_lines(summary)
    lines += _too_few_topics(summary)
    if summary.labels:
        lines.append(LABELS_LINE.format(**summary.labels))
    lines += [_finding_line(summary, kind, count) for kind, count in summary.findings.items()]
    if summary.calls:
        lines.append(model_line(summary.calls))
    return [*lines, *(f"{what}: {path}" for what, path in summary.files.items())]


def _too_few_topics(summary: Summary) -> list[str]:
    """Return a line if no test on so few topics could find a difference; none otherwise."""
    ranked = [run.standings[summary.ranked_by] for run in summary.runs]
    # The smallest p of a sign-flip test is 2 ** (1 - topics); Holm multiplies it by the pairs.
    pairs = len(ranked) * (len(ranked) - 1) / 2
    if len(ranked) < 2 or not ranked[0].groups or pairs * 2.0 ** (1 - summary.topics) < 0.05:
        return []
    return [
        f"groups: {summary.topics} topics are too few for a paired test to tell any of"
        f" {len(ranked)} runs apart"
    ]


def _finding_line(summary: Summary, kind: str, count: int) -> str:
    """Return how often a kind was found, its effect, and the runs with the most of it."""
    entry = KINDS[kind]
    # The worst runs first: one broken run often makes most findings of a kind.
    by_run = sorted(summary.findings_by_run.get(kind, {}).items(), key=lambda run: (-run[1], run))
    most = ", ".join(f"{run} {number}" for run, number in by_run[:3])
    rest = ", …" if len(by_run) > 3 else ""
    runs = f" (runs: {most}{rest})" if most else ""
    return f"{PREFIX[entry.severity]}: {count} x {kind}: {entry.effect}{runs}"


def model_line(spent: Mapping[str, Any]) -> str:
    """Return a line on the calls, tokens and cost of a model, and what was saved."""
    known = f" ({prefix} of them cached there)" if (prefix := spent.get("prefix_tokens")) else ""
    tokens = f"{spent['prompt_tokens']} tokens in{known}, {spent['completion_tokens']} out"
    cost = f", cost {spent['cost']:.2f}" if "cost" in spent else ""
    spared = f", {spent['spared']} spared by a cheaper detector" if "spared" in spent else ""
    return (
        f"model: {spent['calls']} calls ({spent['retries']} of them again), {tokens}{cost};"
        f" {spent['cached']} replies from the cache, {spent['saved']} saved by an equal call,"
        f" {spent['throttled']} x 429{spared}"
    )


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
    lines = [UNKNOWN_LINE.format(name) for name in summary.failures_unknown]
    lines += [
        f"unjudged: {count} items, {kind}, in no numerator and no denominator; the first:"
        f" {shown_line(summary.examples[kind])}"
        for kind, count in summary.failures.items()
    ]
    if count := summary.failures.get("no_document_text"):
        lines.append(NO_TEXT_ADVICE.format(count=count))
    return lines
