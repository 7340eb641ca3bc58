"""Findings on what a comparison leaves out: runs, topics, measures and values of one side."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from trecjudge.findings import Finding, OnFinding
from trecjudge.records import Place
from trecjudge.stats.alignment import few, report_topics
from trecjudge.stats.comparison import Difference, System
from trecjudge.stats.scores import Scores

SystemPair = tuple[System, System]


def report_unmatched(
    tables: Sequence[Scores],
    pairs: Sequence[SystemPair],
    found: Sequence[Difference],
    report: OnFinding,
    only: Collection[str] = (),
    measures: Collection[str] = (),
) -> None:
    """Name what is in no difference, though nobody asked to leave it out.

    `only` and `measures` are the runs and measures that were asked for, all where empty.
    """
    _report_runs(tables, pairs, only, report)
    for before, after in _tables(pairs):
        report_topics(before, after, report)
        _report_measures(before, after, measures, report)
    for difference in found:
        _report_values(difference, pairs, report)
    _report_nothing(pairs, found, measures, report)


def _tables(pairs: Iterable[SystemPair]) -> list[tuple[Scores, Scores]]:
    """Return each two leaderboards that are compared, once."""
    # Two runs of one leaderboard have its topics and measures in common.
    apart = (pair for pair in pairs if pair[0].scores is not pair[1].scores)
    ids = {(id(a.scores), id(b.scores)): (a.scores, b.scores) for a, b in apart}
    return list(ids.values())


def _report_runs(
    tables: Sequence[Scores], pairs: Sequence[SystemPair], only: Collection[str], report: OnFinding
) -> None:
    compared = {(id(system.scores), system.run_id) for pair in pairs for system in pair}
    for table in tables:
        asked = [run for run in table.runs if not only or run in only]
        lacking = [run for run in asked if (id(table), run) not in compared]
        if lacking:
            message = (
                f"has {len(lacking)} runs that are not in every leaderboard and are not compared:"
                f" {few(lacking)}; --against RUN compares all runs with one"
            )
            report(Finding("run_not_compared", Place(table.name), message, few(lacking)))


def _report_measures(
    before: Scores, after: Scores, measures: Collection[str], report: OnFinding
) -> None:
    for here, there in ((before, after), (after, before)):
        asked = [m for m in here.measures if not measures or m in measures]
        lacking = [m for m in asked if m not in there.measures]
        if lacking:
            message = f"has no {few(lacking)}, which {here.name} has: not compared"
            report(Finding("measure_one_sided", Place(there.name), message, few(lacking)))


def _report_values(difference: Difference, pairs: Sequence[SystemPair], report: OnFinding) -> None:
    """Name topics of both leaderboards on which one of two runs has no value."""
    # Only topics that both leaderboards have: the others are named by table.
    names = {(a.name, b.name): (a.scores.topics, b.scores.topics) for a, b in pairs}
    topics = names[difference.before, difference.after]
    sides = (
        (difference.after, difference.only_before, topics[1]),
        (difference.before, difference.only_after, topics[0]),
    )
    for lacks, apart, there in sides:
        lacking = [topic for topic in apart if topic in set(there)]
        if lacking:
            message = (
                f"{difference.measure} has no value on {len(lacking)} topics, unjudged or not"
                f" defined, which are in neither mean: {few(lacking)}"
            )
            report(Finding("value_one_sided", Place(lacks), message, few(lacking)))


def _report_nothing(
    pairs: Sequence[SystemPair],
    found: Sequence[Difference],
    measures: Collection[str],
    report: OnFinding,
) -> None:
    """Name the runs that have no value at all by a measure that both leaderboards have."""
    there = {(d.before, d.after, d.measure) for d in found}
    for before, after in pairs:
        asked = [m for m in before.scores.measures if not measures or m in measures]
        for measure in asked:
            if measure not in after.scores.measures:
                continue
            if (before.name, after.name, measure) not in there:
                message = f"{measure} has no value there or in {after.name}: not compared"
                report(Finding("value_one_sided", Place(before.name), message))
