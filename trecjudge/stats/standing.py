"""Where runs stand by a measure: means with their intervals, bounds, ranks, ties and groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from trecjudge.measures import DIGITS, MOST_COMPARED, are_compared, ranks
from trecjudge.stats.groups import letter_groups
from trecjudge.stats.paired import ALPHA, pairwise_p_values
from trecjudge.stats.resampling import (
    NO_INTERVAL,
    Array,
    Interval,
    interval_of_sums,
    mean_intervals,
    steady_orders,
)
from trecjudge.stats.shrinkage import Corrected

Number = float | None
Aggregate = Literal["mean", "sum", "of_sums", "other"]
Of = Callable[[tuple[float, ...]], float | None]


@dataclass(frozen=True, slots=True)
class Entry:
    """A run by a measure, before it is ranked among others.

    `values` has a value for each topic, None where it does not enter the mean; `lowest` and
    `highest` are the mean if all unjudged items were bad, or good. A mean that is made of counts
    summed over topics has these, `sums`, and in `of` how.
    """

    run_id: str
    values: Sequence[Number]
    mean: Number
    lowest: Number
    highest: Number
    judged: int
    expected: int
    human: Corrected | None = None
    sums: Sequence[Sequence[float]] = ()
    of: Of | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A run's place by a measure: a line of `NAME.leaderboard.jsonl`.

    `topics` is the number that enter the mean; `low` and `high` bound its 95 % bootstrap interval
    over them, `lowest` and `highest` what unjudged items could make of it. `ties` have the same
    mean, `groups` are letters that runs share which a paired test cannot separate. What is not
    defined is None.
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

    Means and sums over topics have intervals and groups; what is made `of_sums` has intervals only;
    any `other` aggregate has neither. More than MOST_COMPARED runs have no ties and no groups.
    """
    rank_of = ranks({entry.run_id: entry.mean for entry in entries}, lower_is_better)
    by_run = {entry.run_id: entry for entry in entries}
    ranked = [by_run[run_id] for run_id in rank_of]
    tied = defaultdict(list)
    for run_id, rank in rank_of.items():
        tied[rank].append(run_id)
    values = np.array([e.values for e in ranked], dtype=np.float64)
    values = values.reshape(len(ranked), -1)
    intervals = _intervals(ranked, values, aggregate)
    tested = aggregate in ("mean", "sum") and are_compared(*values.shape)
    groups = _groups(ranked, rank_of, values) if tested else [[] for _ in ranked]
    named = len(ranked) <= MOST_COMPARED
    return [
        Standing(
            run_id=entry.run_id,
            measure=measure,
            mean=_rounded(entry.mean),
            topics=len(entry.sums) or int((~np.isnan(values[i])).sum()),
            judged=entry.judged,
            expected=entry.expected,
            low=intervals[i].low,
            high=intervals[i].high,
            lowest=_rounded(entry.lowest),
            highest=_rounded(entry.highest),
            rank=(rank := rank_of[entry.run_id]),
            ties=[run for run in tied[rank] if run != entry.run_id] if rank and named else [],
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
    if aggregate == "of_sums":
        return [
            NO_INTERVAL
            if entry.mean is None or entry.of is None
            else interval_of_sums(np.array(entry.sums, dtype=np.float64), entry.of).rounded(DIGITS)
            for entry in ranked
        ]
    topics = (~np.isnan(values)).sum(axis=1).tolist()
    # A sum is its mean times the number of topics, and so are its bounds.
    scales = topics if aggregate == "sum" else [1] * len(ranked)
    return [
        NO_INTERVAL if entry.mean is None else bounds.times(scale).rounded(DIGITS)
        for entry, bounds, scale in zip(ranked, mean_intervals(values), scales, strict=True)
    ]


def _groups(
    ranked: Sequence[Entry], rank_of: Mapping[str, int | None], values: Array
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


def _rounded(value: Number) -> Number:
    return None if value is None else round(value, DIGITS)
