"""Rank intervals: between which places a run would stand on other topics."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from trecjudge.measures import DIGITS
from trecjudge.stats.resampling import (
    BLOCK,
    FEWEST_UNITS,
    NO_INTERVAL,
    Array,
    Indices,
    Interval,
    drawn_parts,
    resampled_means,
    steady_orders,
    tail,
)

Places = npt.NDArray[np.int32]
"""(runs, resamples)"""


def rank_intervals(values: Array) -> list[Interval]:
    """Return the 95 % interval of each run's rank: (runs, topics) -> whole numbers, 1 the highest.

    Topics are drawn again for all runs together, and the runs ranked by their means in each
    resample (Goldstein and Spiegelhalter, Journal of the Royal Statistical Society A 1996), cut as
    few topics need it (`tail`). Of runs with the same mean `low` counts the best place they share,
    `high` the worst: twins on top have 1 to 2. NaN leaves the mean. There is no interval for a run
    with fewer than FEWEST_UNITS values.
    """
    known = (~np.isnan(values)).sum(axis=1).tolist()
    if not len(values) or max(known) < FEWEST_UNITS:
        return [NO_INTERVAL] * len(values)
    ordered = values[:, steady_orders([values])[1]]
    ranked = [_places(part) for part in _mean_parts(ordered)]
    best, worst = (np.concatenate(side, axis=1) for side in zip(*ranked, strict=True))
    return [
        NO_INTERVAL if units < FEWEST_UNITS else _interval(low, high, tail(units))
        for low, high, units in zip(best, worst, known, strict=True)
    ]


def _mean_parts(values: Array) -> Iterator[Array]:
    """Yield the means of all runs in some resamples: (runs, part), no more than BLOCK at once."""
    for drawn in drawn_parts(values.shape[1]):
        for part in np.array_split(drawn, math.ceil(len(drawn) * len(values) / BLOCK)):
            # As far as means are shown: sums in another order differ in their last digits.
            yield resampled_means(values, part).round(DIGITS)


def _places(means: Array) -> tuple[Places, Places]:
    """Return the best and the worst place of each run among those with its mean; NaN stands last.

    (runs, resamples) -> twice the same shape.
    """
    order = np.argsort(-means, axis=0, kind="stable")
    sorted_means = np.take_along_axis(means, order, axis=0)
    edges = sorted_means[1:] != sorted_means[:-1]
    places = np.arange(1, len(means) + 1, dtype=np.int32)[:, None]
    best, worst = (np.broadcast_to(places, means.shape).copy() for _ in range(2))
    best[1:][~edges] = 1
    worst[:-1][~edges] = len(means)
    best = np.maximum.accumulate(best, axis=0)
    worst = np.minimum.accumulate(worst[::-1], axis=0)[::-1]
    return _to_runs(best, order), _to_runs(worst, order)


def _to_runs(places: Places, order: Indices) -> Places:
    found = np.empty_like(places)
    np.put_along_axis(found, order, places, axis=0)
    return found


def _interval(best: Places, worst: Places, share: float) -> Interval:
    low = np.quantile(best, share, method="lower")
    high = np.quantile(worst, 1 - share, method="higher")
    return Interval(int(low), int(high))
