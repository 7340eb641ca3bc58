"""Where runs stand by a measure: means with their intervals, bounds, ranks, ties and groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from trecjudge.stats.groups import letter_groups
from trecjudge.stats.paired import ALPHA, told_apart
from trecjudge.stats.ppi import Corrected
from trecjudge.stats.resampling import NO_INTERVAL, Array, Interval, mean_intervals, steady_orders

Number = float | None
Aggregate = Literal["mean", "sum", "other"]
DIGITS = 6
"""Decimals of a leaderboard: runs whose means agree so far are tied."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a run by a measure before it is set beside others.

    `values` has a value for each topic, None where it does not enter the mean; `lowest` and
    `highest` are the mean if all unjudged items were bad, or good.
    """

    run_id: str
    values: Sequence[Number]
    mean: Number
    lowest: Number
    highest: Number
    judged: int
    expected: int
    human: Corrected | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A run's place by a measure: a line of `NAME.leaderboard.jsonl`.

    `topics` is the number that enter the mean; `low` and `high` bound its 95 % bootstrap interval
    over them, `lowest` and `highest` what unjudged items could make of it. `ties` have the same
    mean, `groups` are letters of runs that a paired test cannot tell apart. What is not defined is
    None.
    """

    run_id: str
    measure: str
    mean: Number
    topics: int
    judged: int
    expected: int
    low: Number
    high: Number
    lowest: Number
    highest: Number
    rank: int | None
    ties: Sequence[str]
    groups: Sequence[str]
    lower_is_better: bool
    human: Corrected | None


def standings(
    measure: str,
    entries: Sequence[Entry],
    lower_is_better: bool = False,
    aggregate: Aggregate = "mean",
) -> list[Standing]:
    """Return where each run stands, the best first, runs without a mean last.

    Means and sums over topics have intervals and groups; any `other` aggregate has none.
    """
    sign = 1.0 if lower_is_better else -1.0
    ranked = sorted(entries, key=lambda e: (e.mean is None, sign * (e.mean or 0.0), e.run_id))
    values = np.array([e.values for e in ranked], dtype=np.float64)
    values = values.reshape(len(ranked), -1)
    intervals = _intervals(ranked, values, aggregate)
    groups = [[] for _ in ranked] if aggregate == "other" else _groups(ranked, values)
    means = [None if e.mean is None else round(e.mean, DIGITS) for e in ranked]
    return [
        Standing(
            run_id=entry.run_id,
            measure=measure,
            mean=means[i],
            topics=int((~np.isnan(values[i])).sum()),
            judged=entry.judged,
            expected=entry.expected,
            low=intervals[i].low,
            high=intervals[i].high,
            lowest=_rounded(entry.lowest),
            highest=_rounded(entry.highest),
            rank=None if means[i] is None else means.index(means[i]) + 1,
            ties=[
                other.run_id
                for j, other in enumerate(ranked)
                if j != i and means[i] is not None and means[j] == means[i]
            ],
            groups=groups[i],
            lower_is_better=lower_is_better,
            human=entry.human,
        )
        for i, entry in enumerate(ranked)
    ]


def _intervals(ranked: Sequence[Entry], values: Array, aggregate: Aggregate) -> list[Interval]:
    """Return the interval of each run; none where it has no mean."""
    if aggregate == "other":
        return [NO_INTERVAL] * len(ranked)
    topics = (~np.isnan(values)).sum(axis=1).tolist()
    scales = topics if aggregate == "sum" else [1] * len(ranked)
    return [
        NO_INTERVAL if entry.mean is None else bounds.times(scale).rounded(DIGITS)
        for entry, bounds, scale in zip(ranked, mean_intervals(values), scales, strict=True)
    ]


def _groups(ranked: Sequence[Entry], values: Array) -> list[list[str]]:
    """Return the letters of each run; none for a run without a mean, or with one topic or none."""
    tested = [i for i, e in enumerate(ranked) if e.mean is not None]
    if not tested or values.shape[1] < 2:
        return [[] for _ in ranked]
    # Groups are grown run after run: among equal means values tell which comes first, not names.
    steady = np.argsort(steady_orders([values[tested]])[0]).tolist()
    means = [round(ranked[row].mean or 0.0, DIGITS) for row in tested]
    order = sorted(range(len(tested)), key=lambda i: (means.index(means[i]), steady[i]))
    rows = [tested[i] for i in order]
    letters = letter_groups(~(told_apart(values[rows]) < ALPHA))
    found: list[list[str]] = [[] for _ in ranked]
    for row, own in zip(rows, letters, strict=True):
        found[row] = own
    return found


def _rounded(value: Number) -> Number:
    return None if value is None else round(value, DIGITS)
