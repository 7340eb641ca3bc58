"""What can be said of places: ranks that hold, means with bounds, too few topics for a test."""

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


def too_few_topics(runs: int, topics: int) -> str:
    """Return why no paired test could find a difference between runs; no text if one could."""
    # The smallest p of a sign-flip test is 2 ** (1 - topics); Holm multiplies it by the pairs.
    pairs = runs * (runs - 1) / 2
    if runs < 2 or pairs * 2.0 ** (1 - topics) < 0.05:
        return ""
    return f"{topics} topics are too few for a paired test to tell any of {runs} runs apart"


def mean_for_page(board: Leaderboard, run_id: str, measure: MeasureSpec) -> dict[str, Any]:
    """Return a mean as the page takes it: its value, and the bounds that unjudged items leave.

    `unjudged` is whether the value is missing because of unjudged items, not undefined.
    """
    found = board.mean(run_id, measure)
    own = (scores[measure.name] for scores in board.scores[run_id].values())
    failed = any(score.value is None and not score.judged for score in own)
    return {
        "value": found.mean,
        "lowest": found.lowest,
        "highest": found.highest,
        "unjudged": found.mean is None and (failed or found.is_open),
    }
