"""The end of a job in the terminal: the lines below the closing table, plans, lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from trecjudge.findings import KINDS, PREFIX, brief_line, plural, visible
from trecjudge.job.shards.part import ShardSummary
from trecjudge.results.outputs import Outputs
from trecjudge.scores.places import too_few_topics
from trecjudge.scores.summary import Summary
from trecjudge.show.ranking import share_text

NO_TEXT_ADVICE = (
    "{items} could not be judged: the runs carry no document text. Supply it with"
    " --documents FILE (JSONL of docid, title, text), or use runs with a `documents` field."
)

LABELS_LINE = (
    "labels of people: {given} given, {of_judged_items} of them on judged items, {unusable} that"
    " the judge does not know; "
)

MOST_SAMPLED = 6
"""Runs with several samples of a topic that have a line."""
MOST_PAIRS = 6
"""Pairs of voters that have a line."""
UNKNOWN_LINE = (
    "failures unknown: judge {} does not tell what failed: a low value may be a call that failed"
)

COPIES_LINE = (
    "note: copies: most sentences are copied word for word from documents, which offline judges"
    " always call supported"
)


def listing(rows: list[tuple[str, str]]) -> Table:
    """Return names with one line each."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, line in rows:
        table.add_row(escape(visible(name)), escape(visible(line)))
    return table


def closing_lines(summary: Summary) -> list[str]:
    """Return the lines below the table: coverage, findings, model calls, files."""
    runs = [run.coverage for run in summary.runs]
    responses = sum(run.responses for run in runs)
    wanted = sum(run.expected_responses for run in runs)
    judged, expected = sum(run.judged for run in runs), sum(run.expected for run in runs)
    lines = [f"note: {visible(remark)}" for remark in summary.remarks]
    lines += [
        f"coverage: {plural(len(runs), 'run')}, {responses} of {plural(wanted, 'response')},"
        f" {judged} of {plural(expected, 'item')} judged, {summary.seconds:.1f} s"
    ]
    if summary.gate:
        counts = ", ".join(f"{count} {status}" for status, count in summary.gate.items())
        lines.append(f"gate: {counts} responses: {summary.files['review']}")
    if summary.audit:
        lines.append(audit_line(summary.audit))
    lines += voter_lines(summary.voters)
    lines += _failure_lines(summary)
    lines += _too_few_topics(summary)
    lines += _sample_lines(summary)
    lines += _copies_line(summary)
    if summary.labels:
        lines.append(labels_line(summary.labels, summary.ranked_by))
    if summary.inventory:
        lines.append(f"marks of citations in the texts: {summary.inventory}")
    lines += [
        _finding_line(summary, kind, count)
        for kind, count in summary.findings.items()
        if kind != "marks_counted"
    ]
    if summary.calls:
        lines.append(model_line(summary.calls))
    return [*lines, *(f"{what}: {path}" for what, path in summary.files.items())]


def labels_line(labels: Mapping[str, Any], measure: str) -> str:
    """Return a line on labels of people, and on what they do to the means of a measure."""
    said, effect = LABELS_LINE.format(**labels), labels["effect"]
    if effect is None:
        return f"{said}{measure} cannot be corrected by them: it needs all labels of a response"
    if "shift" not in effect:
        why = f"{effect['labels']} count for {measure}, too few to correct others:"
        why += f" {effect['needed']} are needed"
        if effect["labels"] >= effect["needed"]:
            why = (
                f"all {effect['labels']} say the same, and the judge does not; if they were chosen"
                " for that, they tell nothing of others: label items whatever they say"
            )
        return f"{said}only labelled items change the means `with labels`: {why}"
    told = "" if effect["told"] else " (not told from 0)"
    return (
        f"{said}they correct the means `with labels`: people differ from the judge by"
        f" {effect['shift']:+.3f}{told} on all runs, give or take {effect['runs']:.3f} by run"
    )


def part_lines(outputs: Outputs, part: ShardSummary) -> list[str]:
    """Return lines on a part of a job, and what to do with it."""
    judged = part.judgments - part.unjudged
    return [
        f"{outputs.name}: part {part.number} of {part.of}, {plural(part.responses, 'response')},"
        f" {judged} of {plural(part.judgments, 'item')} judged",
        f"judgments: {outputs.judgments}",
        f"when all {part.of} are judged: merge {outputs.folder} --out-dir DIR --name NAME",
    ]


def audit_line(audit: Mapping[str, Any]) -> str:
    """Return a line on how far a judge agreed with labels before its job."""
    shown = ("accuracy", "kappa", "kappa_linear", "auc")
    figures = [
        f"{name} {value:.3f}" for name in shown if (value := audit["figures"].get(name)) is not None
    ]
    unjudged = f", {audit['unjudged']} unjudged" if audit["unjudged"] else ""
    on = f"{plural(audit['items'], 'labelled item')} of {plural(audit['topics'], 'topic')}"
    return f"audit: judge {audit['judge']} on {on}{unjudged}: {', '.join(figures)}"


def voter_lines(voters: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return lines on how the voters of each judge agree."""
    lines = []
    for own in voters:
        alpha = _figure("alpha", own["alpha"], own["alpha_interval"])
        items = plural(own["items"], "item")
        lines.append(f"voters of {own['judge']}: differ on {own['differ']} of {items}{alpha}")
        lines += [
            f"  samples of {one['voter']}: differ on {one['differ']} of {one['items']} items,"
            f" flip rate {one['flip_rate']:.1%}"
            for one in own["samples"]
        ]
        for pair in own["pairs"][:MOST_PAIRS]:
            kappa = _figure("kappa", pair["kappa"], pair["interval"])
            names = " and ".join(pair["voters"])
            lines.append(f"  {names}: the same on {pair['same']:.1%} of {pair['items']}{kappa}")
        if (rest := len(own["pairs"]) - MOST_PAIRS) > 0:
            lines.append(f"  … {rest} more pairs: --json shows all")
        failed = own["failed"].items()
        lines += [f"  {name}: no vote on {plural(count, 'item')}" for name, count in failed]
    return [visible(line) for line in lines]


def _figure(name: str, value: float | None, interval: Sequence[float | None]) -> str:
    if value is None:
        return f", {name} not defined"
    low, high = interval
    bounds = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
    return f", {name} {value:.2f}{bounds}"


def _too_few_topics(summary: Summary) -> list[str]:
    """Return a line if no test on so few topics could find a difference; none otherwise."""
    ranked = [run.standings[summary.ranked_by] for run in summary.runs]
    why = too_few_topics(len(ranked), summary.topics) if ranked and ranked[0].groups else ""
    return [f"groups: {why}"] if why else []


def _sample_lines(summary: Summary) -> list[str]:
    """Return lines on the runs with several samples of a topic: their number and their spread."""
    lines = []
    for run in (run for run in summary.runs if run.coverage.samples):
        counts = run.coverage.sample_counts
        on = f"{counts['samples']} samples of {plural(counts['topics'], 'topic')}"
        spread = run.spreads.get(summary.ranked_by)
        apart = "" if spread is None else f": {summary.ranked_by} spread {spread:.3f}"
        lines.append(visible(f"samples: run {run.run_id} has {on}{apart}"))
    return lines[:MOST_SAMPLED]


def _copies_line(summary: Summary) -> list[str]:
    """Return a line on the runs that are mostly copied from documents; none without such runs."""
    found = [run for run in summary.runs if run.coverage.mostly_copied]
    if not found:
        return []
    named = (f"{run.run_id} {share_text(run.coverage.copied_share)}" for run in found[:3])
    rest = ", …" if len(found) > 3 else ""
    return [f"{COPIES_LINE} (runs: {', '.join(named)}{rest})"]


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
        f"model: {spent['calls']} calls ({spent['retries']} of them retries), {tokens}{cost};"
        f" {spent['cached']} replies from the cache, {spent['saved']} saved by an equal call,"
        f" {spent['throttled']} x 429{spared}"
    )


def plan_lines(plan: Mapping[str, Any]) -> list[str]:
    """Return a plan as lines."""
    fetched = plan.get("documents_to_fetch", 0)
    what = f"  {plural(fetched, 'document')} to fetch; calls about what they say are not counted"
    begin = [f"{plan['name']}: {plan['items']} items", *([what] if fetched else [])]
    if "calls" not in plan:  # no model is asked
        return begin
    cost = "no prices are known" if plan["cost"] is None else f"about {plan['cost']:.2f}"
    return [
        *begin,
        f"  {plan['cached']} answered by a cache, {plan['saved']} by a call for an equal one",
        f"  {plan['calls']} calls to make",
        f"  about {plan['prompt_tokens']} tokens in, {plan['completion_tokens']} out: {cost}",
    ]


def _failure_lines(summary: Summary) -> list[str]:
    lines = [UNKNOWN_LINE.format(name) for name in summary.failures_unknown]
    lines += [
        f"unjudged: {plural(count, 'item')}, {kind}, in no numerator and no denominator;"
        f" the first: {brief_line(summary.examples[kind])}"
        for kind, count in summary.failures.items()
    ]
    if count := summary.failures.get("no_document_text"):
        lines.append(NO_TEXT_ADVICE.format(items=plural(count, "item")))
    return lines
