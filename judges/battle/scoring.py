"""What a run gets for its battles on a topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trecjudge import Judgment, Response
from trecjudge.judging.battles import points_of
from trecjudge.measures import mean_of
from trecjudge.records.battles import LOSS, WIN


def win_or_loss(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged battle as the best or the worst that it could have been."""
    label = WIN if best else LOSS
    return replace(judgment, label=label, expected=None, failure=None)


def win_rate(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return the mean points of a response in its battles, each opponent counted once.

    None without battles, and where none is judged.
    """
    by_opponent: dict[str, list[float]] = {}
    for judgment in judgments:
        points = points_of(judgment)
        if judgment.opponent is not None and points is not None:
            by_opponent.setdefault(judgment.opponent.run_id, []).append(points)
    return mean_of(sum(found) / len(found) for found in by_opponent.values())
