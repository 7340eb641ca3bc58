"""Rank correlations of two scorings of the same runs, all ties kept.

A coefficient takes two `RankedScores`, the truth and the predicted one, and returns a value for
each resample; NaN is what is not defined: a constant side, fewer than two runs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from string import ascii_lowercase
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from trecjudge.errors import WorkflowError, unknown
from trecjudge.measures import DIGITS, MOST_COMPARED, PairTest, are_compared, ranks
from trecjudge.results.statistics import Number, RunScore
from trecjudge.stats.paired import ALPHA, holm_pairs
from trecjudge.stats.ranks import rank_intervals
from trecjudge.stats.resampling import (
    NO_INTERVAL,
    Array,
    Interval,
    interval_of_sums,
    mean_intervals,
    ratio,
    steady_orders,
)
from trecjudge.stats.tukey import tukey_hsd

Pairs = npt.NDArray[np.float32]
BLOCK = 500_000
"""Pairs of runs looked at together: as many as a processor's cache holds."""
MANY = 24
"""Measures of both sides beyond which fewer pairs are looked at together: each side is held."""


class RankedScores:
    """The scores of runs on one side, and what several coefficients need of them.

    `scores` has shape (resamples, runs); with one row it is the figure itself.
    """

    def __init__(self, scores: Array) -> None:
        self.scores = scores

    @cached_property
    def gaps(self) -> Pairs:
        """By how much run j stands above run i: (resamples, i, j)."""
        scores = self.scores
        # Half the memory: only signs, and shares of the gaps, are taken of it.
        return (scores[:, None, :] - scores[:, :, None]).astype(np.float32)

    @cached_property
    def gaps_won(self) -> Pairs:
        """The gaps that are above 0, else 0: (resamples, i, j)."""
        return np.maximum(self.gaps, 0)

    @cached_property
    def sizes(self) -> Pairs:
        """The gaps without their sign: (resamples, i, j)."""
        return np.abs(self.gaps)

    @cached_property
    def signs(self) -> Pairs:
        """1 where run j stands above run i, -1 below, 0 tied: (resamples, i, j)."""
        signs: Pairs = np.sign(self.gaps)
        return signs

    @cached_property
    def above(self) -> Pairs:
        """1 where run j stands above run i, else 0: (resamples, i, j)."""
        return (self.gaps > 0).astype(np.float32)

    @cached_property
    def heights(self) -> Array:
        """The number of runs above run i: (resamples, i)."""
        heights: Array = self.above.sum(axis=2, dtype=np.float64)
        return heights

    @cached_property
    def untied_pairs(self) -> Array:
        """The number of ordered pairs that are not tied, either way round: (resamples,)."""
        untied: Array = 2 * self.heights.sum(axis=1)
        return untied

    @cached_property
    def ranks(self) -> RankedScores:
        """Ranks in the place of scores, the lowest 1; tied runs have their mean rank."""
        below_less_above = -self.signs.sum(axis=2, dtype=np.float64)
        return RankedScores((self.scores.shape[1] + 1 + below_less_above) / 2)


Coefficient = Callable[[RankedScores, RankedScores], Array]


def kendall(truth: RankedScores, predicted: RankedScores) -> Array:
    """Return tau-b (Kendall, Biometrika 1945): ties of either side leave its normaliser."""
    return ratio(_agreeing(truth, predicted), np.sqrt(truth.untied_pairs * predicted.untied_pairs))


def pairwise_accuracy(truth: RankedScores, predicted: RankedScores) -> Array:
    """Return the share of pairs, untied in the truth, in the same order; a tied one counts half.

    A constant side has no order, and no share.
    """
    shares = (ratio(_agreeing(truth, predicted), truth.untied_pairs) + 1) / 2
    return _mask_constant(shares, truth, predicted)


def _mask_constant(values: Array, truth: RankedScores, predicted: RankedScores) -> Array:
    return np.where((truth.untied_pairs > 0) & (predicted.untied_pairs > 0), values, np.nan)


def _agreeing(truth: RankedScores, predicted: RankedScores) -> Array:
    """Return pairs in the same order minus pairs in the other, counted either way round."""
    pairs: Array = np.einsum("bij,bij->b", truth.signs, predicted.signs).astype(np.float64)
    return pairs


def tau_ap(truth: RankedScores, predicted: RankedScores) -> Array:
    """Return tau-AP-b: the mean of tau-AP with either side as the truth.

    Of the runs above each run the share that the other side has above it too, averaged (Yilmaz,
    Aslam and Robertson, SIGIR 2008; ties after Urbano and Marrero, ICTIR 2017).
    """
    shared = np.einsum("bij,bij->bi", truth.above, predicted.above)
    return (_mean_share(shared, truth.heights) + _mean_share(shared, predicted.heights)) / 2


def tau_gap(truth: RankedScores, predicted: RankedScores) -> Array:
    """Return tau-GAP: what the predicted order gets right of the truth's gaps, the head first.

    Gao and Oard, SIGIR 2015. Where runs are tied in `predicted` it is the mean of their best and
    their worst order, so that names decide nothing.
    """
    right = np.einsum("bij,bij->bi", predicted.above, truth.gaps_won)
    whole = np.einsum("bij,bij->bi", predicted.above, truth.sizes)
    if (predicted.untied_pairs == truth.scores.shape[1] * (truth.scores.shape[1] - 1)).all():
        return _mask_constant(_mean_share(right, whole), truth, predicted)
    tied = 1 - np.abs(predicted.signs)
    better = np.einsum("bij,bij->bi", tied, truth.gaps_won)
    worse = np.einsum("bij,bij->bi", tied, truth.sizes) - better
    best, worst = _mean_share(right + better, whole + better), _mean_share(right, whole + worse)
    return _mask_constant((best + worst) / 2, truth, predicted)


def _mean_share(part: npt.NDArray[Any], whole: npt.NDArray[Any]) -> Array:
    """Return 2 x the mean of part / whole over the rows that have a whole, - 1."""
    shares = np.nan_to_num(ratio(part, whole))
    return 2 * ratio(shares.sum(axis=1), (whole > 0).sum(axis=1)) - 1


def pearson(truth: RankedScores, predicted: RankedScores) -> Array:
    """Return the product-moment correlation."""
    left, right = (s.scores - s.scores.mean(axis=1, keepdims=True) for s in (truth, predicted))
    norm = np.sqrt((left**2).sum(axis=1) * (right**2).sum(axis=1))
    moving = (np.ptp(truth.scores, axis=1) > 0) & (np.ptp(predicted.scores, axis=1) > 0)
    return np.where(moving, ratio((left * right).sum(axis=1), norm), np.nan)


def spearman(truth: RankedScores, predicted: RankedScores) -> Array:
    """Return the rank correlation: Pearson's of ranks."""
    return pearson(truth.ranks, predicted.ranks)


def top(k: int, coefficient: Coefficient) -> Coefficient:
    """Return the coefficient among the truth's k best runs, and all that tie with the last."""

    def among_the_best(truth: RankedScores, predicted: RankedScores) -> Array:
        if k >= truth.scores.shape[1]:
            return coefficient(truth, predicted)
        best = np.argsort(-truth.scores, axis=1, kind="stable")[:, :k]
        chosen = [np.take_along_axis(s.scores, best, axis=1) for s in (truth, predicted)]
        found = coefficient(*map(RankedScores, chosen))
        last = chosen[0][:, -1:]
        # Resamples have different numbers of ties with the last: those are done one by one.
        for row in np.flatnonzero((truth.scores >= last).sum(axis=1) > k):
            kept = truth.scores[row] >= last[row]
            sides = (RankedScores(s.scores[row : row + 1, kept]) for s in (truth, predicted))
            found[row] = coefficient(*sides)[0]
        return found

    return among_the_best


COEFFICIENTS: dict[str, Coefficient] = {
    "kendall": kendall,
    "tauap_b": tau_ap,
    "tau_gap": tau_gap,
    "spearman": spearman,
    "pearson": pearson,
    "pairwise_accuracy": pairwise_accuracy,
}
TOPS = (5, 10, 15)
DEFAULT = (*COEFFICIENTS, *(f"kendall@{k}" for k in TOPS))
"""Those among the best are left out where there are no more runs."""


def coefficients(names: Sequence[str]) -> dict[str, Coefficient]:
    """Return coefficients by name, `kendall@10` among the 10 best. Raises WorkflowError."""
    found = {}
    for name in names:
        base, _, k = name.partition("@")
        if base not in COEFFICIENTS or ("@" in name and not re.fullmatch("[1-9][0-9]*", k)):
            raise WorkflowError(unknown("correlation", name, [*COEFFICIENTS, "kendall@10"]))
        found[name] = top(int(k), COEFFICIENTS[base]) if k else COEFFICIENTS[base]
    return found


PairKey = tuple[str, str, str]
"""(measure of the truth, measure of the predicted side, coefficient)"""


def correlations(
    truth: Mapping[str, Array],
    predicted: Mapping[str, Array],
    wanted: Mapping[str, Coefficient],
) -> dict[PairKey, Array]:
    """Return every coefficient of every pair of measures; scores are (resamples, runs).

    A resample in which a run has no score is NaN. Only so many resamples are worked on at a
    time that memory stays small.
    """
    resamples, runs = next(iter(truth.values())).shape
    crowd = 1 + (len(truth) + len(predicted)) // MANY
    rows = max(1, BLOCK // max(1, runs**2 * crowd))
    parts: dict[PairKey, list[Array]] = {}
    for start in range(0, resamples, rows):
        sides = [
            {name: RankedScores(scores[start : start + rows]) for name, scores in side.items()}
            for side in (truth, predicted)
        ]
        for true_name, true_side in sides[0].items():
            for name, side in sides[1].items():
                for called, coefficient in wanted.items():
                    found = coefficient(true_side, side)
                    parts.setdefault((true_name, name, called), []).append(found)
    whole = {key: np.concatenate(found) for key, found in parts.items()}
    for (true_name, name, _), found in whole.items():
        found[np.isnan(truth[true_name] + predicted[name]).any(axis=1)] = np.nan
    return whole


# Runs ranked by a measure: means with their intervals, bounds, ranks, ties and groups.


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
    test: PairTest = "tukey",
) -> list[RunScore]:
    """Return the runs by one measure, the best first, those without a mean last.

    `values` has a value for each topic by run, None where it does not enter the mean. Means and
    sums over topics have intervals, those of ranks too, and groups by the `test`; what is made
    `of_sums` has intervals of the figure only; any `other` aggregate has none of it. More than
    MOST_COMPARED runs have no ties, no intervals of ranks and no groups.
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
    groups, test_name = _groups(ranked, rank_of, table, test) if tested else ([], "")
    unknown: list[RankBounds] = [(None, None)] * len(ranked)
    places = _rank_bounds(ranked, table, aggregate, lower_is_better) if tested else unknown
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
            rank_low=places[i][0],
            rank_high=places[i][1],
            groups=groups[i] if groups else [],
            test=test_name if groups and groups[i] else "",
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


RankBounds = tuple[int | None, int | None]


def _rank_bounds(
    ranked: Sequence[RunScore], values: Array, aggregate: Aggregate, lower_is_better: bool
) -> list[RankBounds]:
    """Return the interval of each run's rank; none for a run without a mean, or for one only."""
    rows = [i for i, score in enumerate(ranked) if score.mean is not None]
    found: list[RankBounds] = [(None, None)] * len(ranked)
    # In a sum a topic without a value adds nothing; a mean leaves it out.
    table = np.nan_to_num(values[rows]) if aggregate == "sum" else values[rows]
    if len(rows) > 1:
        intervals = rank_intervals(-table if lower_is_better else table)
        for row, (low, high) in zip(rows, intervals, strict=True):
            found[row] = (None, None) if low is None or high is None else (int(low), int(high))
    return found


def _groups(
    ranked: Sequence[RunScore],
    rank_of: Mapping[str, int | None],
    values: Array,
    test: PairTest,
) -> tuple[list[list[str]], str]:
    """Return the letters of each run, and the test's name.

    There are none for a run without a mean, or with one topic or none.
    """
    tested = [i for i, e in enumerate(ranked) if e.mean is not None]
    found: list[list[str]] = [[] for _ in ranked]
    if not tested or values.shape[1] < 2:  # on one topic no deal is rare
        return found, ""
    # Groups are grown run after run: among equal means values decide which comes first, not names.
    steady = np.argsort(steady_orders([values[tested]])[0]).tolist()
    places = [rank_of[ranked[row].run_id] or 0 for row in tested]
    order = sorted(range(len(tested)), key=lambda i: (places[i], steady[i]))
    rows = [tested[i] for i in order]
    tests = (tukey_hsd if test == "tukey" else holm_pairs)(values[rows])
    for row, own in zip(rows, letter_groups(~(tests.p < ALPHA)), strict=True):
        found[row] = own
    return found, tests.test


def _round(value: Number) -> Number:
    return None if value is None else round(value, DIGITS)
