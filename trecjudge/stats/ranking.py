"""Runs ranked by a measure: means with their intervals, bounds, ranks, ties and groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from trecjudge.measures import DIGITS, MOST_COMPARED, are_compared, ranks
from trecjudge.results.statistics import Number, RunScore
from trecjudge.stats.paired import ALPHA, pairwise_p_values
from trecjudge.stats.resampling import (
    NO_INTERVAL,
    Array,
    Interval,
    interval_of_sums,
    mean_intervals,
    steady_orders,
)


def letter_groups(alike: npt.NDArray[Any]) -> list[list[str]]:
    """Return the letters of each run: (runs, runs) of truth, best run first -> letters.

    Two runs share a letter if and only if they are alike (Piepho, Journal of Computational and
    Graphical Statistics 2004). Groups are grown greedily in the order of the runs, so that there
    are few; `a` holds the best run.
    """
    runs = range(len(alike))
    groups: list[list[int]] = []
    together: set[tuple[int, int]] = set()
    for first in runs:
        # The farthest partner first: the group grown from it covers most nearer pairs.
        for last in reversed(range(first, len(alike))):
            pair = (first, last)
            if not alike[first, last] or pair in together or (first == last and _in(first, groups)):
                continue
            group = _grow(pair, alike)
            groups.append(group)
            together |= {(a, b) for a in group for b in group if a <= b}
    return [[_letter(i) for i, group in enumerate(groups) if run in group] for run in runs]


def _in(run: int, groups: Sequence[Sequence[int]]) -> bool:
    return any(run in group for group in groups)


def _grow(pair: tuple[int, int], alike: npt.NDArray[Any]) -> list[int]:
    """Return the pair with every run, in order, that is alike to all taken so far."""
    group = list(dict.fromkeys(pair))
    for run in range(len(alike)):
        if run not in group and alike[run, group].all():
            group.append(run)
    return sorted(group)


def _letter(number: int) -> str:
    """Return `a` to `z`, then `aa`, `ab`, ..."""
    whole, part = divmod(number, len(ascii_lowercase))
    return (_letter(whole - 1) if whole else "") + ascii_lowercase[part]


Aggregate = Literal["mean", "sum", "of_sums", "other"]
Of = Callable[[tuple[float, ...]], float | None]


@dataclass(frozen=True, slots=True)
class SummedCounts:
    """What a measure is made of where counts are summed over topics, and how.

    `by_run` has the counts of each run: (topics, counts).
    """

    by_run: Mapping[str, Sequence[Sequence[float]]]
    of: Of


def rank_runs(
    scores: Sequence[RunScore],
    values: Mapping[str, Sequence[Number]],
    aggregate: Aggregate = "mean",
    sums: SummedCounts | None = None,
) -> list[RunScore]:
    """Return the runs by one measure, the best first, those without a mean last.

    `values` has a value for each topic by run, None where it does not enter the mean. Means and
    sums over topics have intervals and groups; what is made `of_sums` has intervals only; any
    `other` aggregate has neither. More than MOST_COMPARED runs have no ties and no groups.
    """
    by_run = {score.run_id: score for score in scores}
    lower_is_better = any(score.lower_is_better for score in scores)
    rank_of = ranks({run_id: score.mean for run_id, score in by_run.items()}, lower_is_better)
    ranked = [by_run[run_id] for run_id in rank_of]
    tied = defaultdict(list)
    for run_id, rank in rank_of.items():
        tied[rank].append(run_id)
    table = np.array([values[run_id] for run_id in rank_of], dtype=np.float64)
    table = table.reshape(len(ranked), -1)
    intervals = _intervals(ranked, table, aggregate, sums)
    tested = aggregate in ("mean", "sum") and are_compared(*table.shape)
    groups = _groups(ranked, rank_of, table) if tested else [[] for _ in ranked]
    named = len(ranked) <= MOST_COMPARED
    topics: list[int] = (~np.isnan(table)).sum(axis=1).tolist()
    if sums is not None:
        topics = [len(sums.by_run[run]) or n for run, n in zip(rank_of, topics, strict=True)]
    return [
        replace(
            score,
            mean=_round(score.mean),
            topics=topics[i],
            low=intervals[i].low,
            high=intervals[i].high,
            lowest=_round(score.lowest),
            highest=_round(score.highest),
            rank=(rank := rank_of[score.run_id]),
            ties=[run for run in tied[rank] if run != score.run_id] if rank and named else [],
            groups=groups[i],
        )
        for i, score in enumerate(ranked)
    ]


def _intervals(
    ranked: Sequence[RunScore], values: Array, aggregate: Aggregate, sums: SummedCounts | None
) -> list[Interval]:
    """Return the interval of each run; none where it has no mean."""
    if aggregate == "other" or (aggregate == "of_sums" and sums is None):
        return [NO_INTERVAL] * len(ranked)
    if sums is not None:
        counts = (np.array(sums.by_run[score.run_id], dtype=np.float64) for score in ranked)
        return [
            NO_INTERVAL if score.mean is None else interval_of_sums(own, sums.of).round_to(DIGITS)
            for score, own in zip(ranked, counts, strict=True)
        ]
    topics = (~np.isnan(values)).sum(axis=1).tolist()
    # A sum is its mean times the number of topics, and so are its bounds.
    scales = topics if aggregate == "sum" else [1] * len(ranked)
    return [
        NO_INTERVAL if score.mean is None else bounds.times(scale).round_to(DIGITS)
        for score, bounds, scale in zip(ranked, mean_intervals(values), scales, strict=True)
    ]


def _groups(
    ranked: Sequence[RunScore], rank_of: Mapping[str, int | None], values: Array
) -> list[list[str]]:
    """Return the letters of each run; none for a run without a mean, or with one topic or none."""
    tested = [i for i, e in enumerate(ranked) if e.mean is not None]
    if not tested or values.shape[1] < 2:  # on one topic no flip is rare
        return [[] for _ in ranked]
    # Groups are grown run after run: among equal means values decide which comes first, not names.
    steady = np.argsort(steady_orders([values[tested]])[0]).tolist()
    places = [rank_of[ranked[row].run_id] or 0 for row in tested]
    order = sorted(range(len(tested)), key=lambda i: (places[i], steady[i]))
    rows = [tested[i] for i in order]
    letters = letter_groups(~(pairwise_p_values(values[rows]) < ALPHA))
    found: list[list[str]] = [[] for _ in ranked]
    for row, own in zip(rows, letters, strict=True):
        found[row] = own
    return found


def _round(value: Number) -> Number:
    return None if value is None else round(value, DIGITS)
