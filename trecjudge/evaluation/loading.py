"""Leaderboards, statistics and judgments of jobs, as the statistics take them."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from trecjudge.errors import InputError
from trecjudge.findings import OnFinding
from trecjudge.measures import UNJUDGED
from trecjudge.results.jobs import Outcome, judged_job, outcomes
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.leaderboards.reading import read_all
from trecjudge.results.statistics import read_statistics
from trecjudge.results.trec import LeaderboardRow, companion
from trecjudge.stats.cells import Duplicates
from trecjudge.stats.known import Known, MeanKey, Unjudged
from trecjudge.stats.release_gate import BoundedMean, BoundedMeans
from trecjudge.stats.scores import Scores, scores_of


def scores_of_paths(
    paths: Sequence[Path],
    report: OnFinding,
    format_name: str = "auto",
    duplicates: Duplicates = "first",
) -> list[Scores]:
    """Return the leaderboards that paths stand for. Raises InputError where one has none."""
    return [
        scores_at(found, report, format_name, duplicates)
        for path in paths
        for found in outcomes(path)
    ]


def scores_at(
    found: Outcome,
    report: OnFinding,
    format_name: str = "auto",
    duplicates: Duplicates = "first",
) -> Scores:
    """Return the scores of one leaderboard, with its statistics where it has some.

    Statistics of another job are reported, and not used. Raises InputError if it has no leaderboard
    file.
    """
    files = _files(found)
    with _without_garbage_collection():
        rows = read_all(files, report, format_name)
        known = _known(found, report)
        scores = scores_of(str(found.place), rows, report, duplicates, known)
        return replace(scores, statistics=str(found.statistics) if scores.known else "")


def _files(found: Outcome) -> Sequence[Path]:
    files = found.leaderboard or ([found.statistics] if found.statistics else [])
    if not files:
        raise InputError(f"{found.judgments}: no leaderboard beside it; `rescore` writes one")
    return files


def rows_with_companions(
    found: Outcome, scores: Scores, report: OnFinding, format_name: str = "auto"
) -> Iterator[LeaderboardRow]:
    """Yield the rows of a leaderboard as they are, and companion rows that only statistics know."""
    rows = [row for _, row in read_all(_files(found), report, format_name)]
    with_own = {(row.run_id, row.measure) for row in rows if row.topic_id is None}
    lacking = {
        (run_id, measure): companion(LeaderboardRow(run_id, None, measure, 0.0), gaps.items)
        for (run_id, measure), gaps in scores.unjudged.items()
        if gaps.items and (run_id, f"{measure}{UNJUDGED}") not in with_own
    }
    for row in rows:
        yield row
        if row.topic_id is None and (row.run_id, row.measure) in lacking:
            yield lacking.pop((row.run_id, row.measure))
    yield from lacking.values()


def _known(found: Outcome, report: OnFinding) -> dict[MeanKey, Known]:
    """Return what the statistics beside a leaderboard have of each run by each measure."""
    statistics = read_statistics(found.statistics, report) if found.statistics else ()
    return {
        (s.run_id, s.measure): Known(
            s.mean,
            Unjudged(s.expected - s.judged, s.expected, s.lowest, s.highest),
            s.lower_is_better,
            s.by_topic,
            s.aggregate,
        )
        for s in statistics
    }


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause garbage collection while many small objects are made: it takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def bounded_means(scores: Scores, lower_is_better: Collection[str] = ()) -> BoundedMeans:
    """Return means with what unjudged items could make of them, as far as that is known.

    Where nothing is known of unjudged items, or none are, the bounds are the means.
    `lower_is_better` names measures that are so, whatever the statistics have.
    """
    return dict(_bounded_means(scores, lower_is_better))


def _bounded_means(
    scores: Scores, lower_is_better: Collection[str]
) -> Iterator[tuple[MeanKey, BoundedMean]]:
    for measure in scores.measures:
        for run_id, value in zip(scores.runs, scores.overall(measure).tolist(), strict=True):
            mean = None if np.isnan(value) else value
            known = scores.known.get((run_id, measure))
            lower = measure in lower_is_better or (known is not None and known.lower_is_better)
            gaps = scores.unjudged.get((run_id, measure), Unjudged(0))
            figure = BoundedMean(
                mean, gaps.lowest, gaps.highest, 0, gaps.items, lower, in_all=False
            )
            if gaps.expected is not None:
                judged = gaps.expected - gaps.items
                figure = replace(figure, judged=judged, expected=gaps.expected, in_all=True)
            # Nothing unjudged, or nothing known of it: the bounds are the mean.
            elif not gaps.items:
                figure = replace(figure, lowest=mean, highest=mean)
            yield (run_id, measure), figure


def judgments_at(path: Path) -> JudgmentsReader:
    """Return a reader of the judgments of a job. Raises InputError if there are none."""
    return JudgmentsReader(judged_job(path).judgments)
