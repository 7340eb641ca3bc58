"""Places of runs by a measure: equal values share one, and what is unjudged leaves it open."""

from __future__ import annotations

from typing import Any

from trecjudge.leaderboard import Leaderboard, Mean
from trecjudge.measures import MeasureSpec

DIGITS = 6
"""Decimals of a leaderboard: runs whose means agree so far are tied, as in its JSONL."""


def places(board: Leaderboard, measure: MeasureSpec) -> dict[str, int | None]:
    """Return the place of each run that has a value, the best run first; None without one."""
    means = {run_id: board.mean(run_id, measure).value for run_id in board.ranking()}
    sign = 1.0 if measure.lower_is_better else -1.0
    keys = {run: sign * round(mean, DIGITS) for run, mean in means.items() if mean is not None}
    first: dict[float, int] = {}
    for place, key in enumerate(sorted(keys.values()), 1):
        first.setdefault(key, place)
    return {run_id: first[keys[run_id]] if run_id in keys else None for run_id in means}


def is_open(mean: Mean) -> bool:
    """Tell if unjudged items could move a mean."""
    return mean.low != mean.high


def sure_places(board: Leaderboard, measure: MeasureSpec) -> dict[str, int | None]:
    """Return places; None also where unjudged items leave a run's open."""
    return {
        run_id: None if is_open(board.mean(run_id, measure)) else place
        for run_id, place in places(board, measure).items()
    }


def mean_shown(board: Leaderboard, run_id: str, measure: MeasureSpec) -> dict[str, Any]:
    """Return a mean as the page takes it: its value, and the bounds that unjudged items leave.

    `unjudged` tells whether it has no value for what is unjudged, not for being undefined.
    """
    mean = board.mean(run_id, measure)
    own = (scores[measure.name] for scores in board.scores[run_id].values())
    failed = any(score.value is None and not score.judged for score in own)
    return {
        "value": mean.value,
        "lowest": mean.low,
        "highest": mean.high,
        "unjudged": mean.value is None and (failed or is_open(mean)),
    }


def ranking_measure(board: Leaderboard) -> MeasureSpec:
    """Return the measure that ranks the runs of a leaderboard."""
    return next(m for m in board.spec.measures if m.name == board.spec.ranked_by)
