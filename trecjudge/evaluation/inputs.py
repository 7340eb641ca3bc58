"""Leaderboards, statistics and judgments of jobs, as the statistics take them."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from trecjudge.errors import InputError
from trecjudge.findings import Report
from trecjudge.judgments import JudgmentsReader
from trecjudge.leaderboards.outcomes import Outcome, outcome, outcomes
from trecjudge.leaderboards.reading import read_all
from trecjudge.leaderboards.statistics import read_statistics
from trecjudge.stats.gating import Figure, Figures
from trecjudge.stats.scores import ROUNDING, Duplicates, Entering, Scores, scores_of


def scores_of_paths(
    paths: Sequence[Path],
    report: Report,
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
    report: Report,
    format_name: str = "auto",
    duplicates: Duplicates = "first",
) -> Scores:
    """Return the scores of one leaderboard, by what its statistics tell where it has some.

    Raises InputError if it has no leaderboard file, or statistics of another job.
    """
    files = found.leaderboard or ([found.statistics] if found.statistics else [])
    if not files:
        raise InputError(f"{found.judgments}: no leaderboard beside it; `rescore` writes one")
    with _garbage_left_alone():
        rows = read_all(files, report, format_name)
        return scores_of(str(found.place), rows, report, duplicates, _entering(found, report))


def _entering(found: Outcome, report: Report) -> Entering:
    """Return the values that enter the means, as far as statistics tell."""
    statistics = read_statistics(found.statistics, report) if found.statistics else ()
    return {(s.run_id, s.measure): s.by_topic for s in statistics if s.by_topic is not None}


@contextmanager
def _garbage_left_alone() -> Iterator[None]:
    """Look for no garbage while many small objects are made: it takes a third of the time."""
    was_looked_for = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_looked_for:
            gc.enable()


def figures_at(
    found: Outcome, scores: Scores, report: Report, lower_is_better: Collection[str] = ()
) -> Figures:
    """Return means with what unjudged items could make of them, where statistics tell.

    Without statistics the bounds are the means. `lower_is_better` names measures that are so,
    whatever the statistics say. Raises InputError for statistics of another leaderboard.
    """
    figures = dict(_from_scores(scores, lower_is_better))
    plain = {key: figure.mean for key, figure in figures.items()}
    for s in read_statistics(found.statistics, report) if found.statistics else ():
        key = (s.run_id, s.measure)
        lower = s.lower_is_better or s.measure in lower_is_better
        figures[key] = Figure(s.mean, s.lowest, s.highest, s.judged, s.expected, lower)
        if s.mean is not None and abs((plain.get(key) or 0.0) - s.mean) > ROUNDING:
            raise InputError(
                f"{found.statistics}: run {s.run_id!r}, {s.measure} has mean {s.mean:g}, the"
                f" leaderboard {plain.get(key)}: they are of two jobs; `rescore` writes both anew"
            )
    return figures


def _from_scores(
    scores: Scores, lower_is_better: Collection[str]
) -> Iterator[tuple[tuple[str, str], Figure]]:
    for measure in scores.measures:
        for run_id, value in zip(scores.runs, scores.overall(measure).tolist(), strict=True):
            mean = None if np.isnan(value) else value
            yield (
                (run_id, measure),
                Figure(mean, mean, mean, 0, 0, measure in lower_is_better),
            )


def judgments_at(path: Path) -> JudgmentsReader:
    """Return a reader of the judgments of a job. Raises InputError if there are none."""
    found = outcome(path)
    if found.judgments is None:
        raise InputError(f"{path}: no judgments file; give an --out-dir or a NAME.judgments.jsonl")
    return JudgmentsReader(found.judgments)
