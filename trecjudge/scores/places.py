"""Ranks of runs that unjudged items cannot change, and means with their bounds, for display."""

from __future__ import annotations

from typing import Any

from trecjudge.measures import MeasureSpec
from trecjudge.scores.leaderboard import Leaderboard


def sure_places(board: Leaderboard, measure: MeasureSpec) -> dict[str, int | None]:
    """Return the rank of each run; None without a mean, or where unjudged items leave it open."""
    return {
        run_id: None if board.mean(run_id, measure).is_open else rank
        for run_id, rank in board.ranks(measure).items()
    }


def mean_shown(board: Leaderboard, run_id: str, measure: MeasureSpec) -> dict[str, Any]:
    """Return a mean as the page takes it: its value, and the bounds that unjudged items leave.

    `unjudged` is whether the value is missing because of unjudged items, not undefined.
    """
    mean = board.mean(run_id, measure)
    own = (scores[measure.name] for scores in board.scores[run_id].values())
    failed = any(score.value is None and not score.judged for score in own)
    return {
        "value": mean.value,
        "lowest": mean.lowest,
        "highest": mean.highest,
        "unjudged": mean.value is None and (failed or mean.is_open),
    }
