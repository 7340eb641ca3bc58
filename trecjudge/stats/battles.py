"""Boards from battles: the Bradley-Terry model with ties, what it leaves open, and its biases."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from trecjudge.records.battles import POINTS, TIE, Battle
from trecjudge.stats.correlation import RankedScores, kendall
from trecjudge.stats.resampling import (
    FEWER_RESAMPLES,
    NO_INTERVAL,
    Array,
    Indices,
    Interval,
    draws,
    grouped_interval,
    interval_of,
    ratio,
    resampled_means,
)

Flags = npt.NDArray[np.bool_]
Ties = Literal["davidson", "half"]
"""Ties as outcomes of their own, or as half a win and half a loss."""

ELO, CENTRE = 400 / math.log(10), 1000.0
"""Points of a board for a natural logarithm of strength, and those of an average run."""
PRIOR = 1.0
"""Battles against an average run, half won, that each run has beforehand."""
STEPS = 100
"""Newton steps, at most: from 5 to 10 are needed."""
EXACT = 1e-12
"""The fit ends where a step would change nothing by more."""


# The battles as columns of numbers, one row for each battle.
@dataclass(frozen=True, eq=False)
class BattleTable:
    """Battles as columns, (battles,) each; runs and topics are sorted, and named by their places.

    `points` are those of run `a`, 0 to 1, NaN where unjudged, `ties` is 1 for a tie, else 0.
    `first` is 1 where the answer of `a` was shown first, -1 for `b`, 0 where that is not known.
    `longer` is log2(words of a / words of b), 0 where not known. `again` marks what was asked a
    second time, in the other order.
    """

    runs: Sequence[str]
    topics: Sequence[str]
    a: Indices
    b: Indices
    topic: Indices
    points: Array
    ties: Array
    weight: Array
    first: Array
    longer: Array
    again: Flags

    @classmethod
    def of(cls, battles: Iterable[Battle]) -> BattleTable:
        """Return the columns of some battles."""
        rows = list(battles)
        runs = sorted({run for one in rows for run in (one.run_a, one.run_b)})
        topics = sorted({one.topic_id for one in rows})
        of_run, of_topic = ({name: i for i, name in enumerate(names)} for names in (runs, topics))
        return cls(
            runs,
            topics,
            np.array([of_run[one.run_a] for one in rows], dtype=np.intp),
            np.array([of_run[one.run_b] for one in rows], dtype=np.intp),
            np.array([of_topic[one.topic_id] for one in rows], dtype=np.intp),
            np.array([_points(one) for one in rows], dtype=np.float64),
            np.array([one.points is None and one.outcome == TIE for one in rows], float),
            np.array([one.weight for one in rows], dtype=np.float64),
            np.array([{"a": 1.0, "b": -1.0}.get(one.first, 0.0) for one in rows], dtype=np.float64),
            np.array([one.longer or 0.0 for one in rows], dtype=np.float64),
            np.array([one.again for one in rows], dtype=bool),
        )

    def __len__(self) -> int:
        return len(self.a)

    def take(self, rows: npt.NDArray[np.bool_] | Indices) -> BattleTable:
        """Return some of the battles; runs and topics stay."""
        names = ("a", "b", "topic", "points", "ties", "weight", "first", "longer", "again")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    @cached_property
    def judged(self) -> BattleTable:
        """The battles that are decided."""
        return self.take(~np.isnan(self.points))

    @property
    def are_whole(self) -> bool:
        """Whether all are won, lost or tied, and none is decided by a probability."""
        return bool(np.isin(self.points, (0.0, 0.5, 1.0)).all())

    @cached_property
    def balanced(self) -> Array:
        """Weights by which no topic counts more than the middle one: (battles,)."""
        held = np.bincount(self.topic, self.weight, len(self.topics))
        middle = np.median(held[held > 0]) if len(self) else 1.0
        return np.asarray(self.weight * middle / np.maximum(held, middle)[self.topic], float)

    def count(self, values: Array) -> Array:
        """Return the sums of values for every ordered pair of runs, a before b: (runs, runs)."""
        cells = self.a * len(self.runs) + self.b
        sums = np.bincount(cells, values, len(self.runs) ** 2)
        return np.asarray(sums, float).reshape(len(self.runs), len(self.runs))


def _points(battle: Battle) -> float:
    if battle.points is not None:
        return battle.points
    return math.nan if battle.outcome is None else POINTS[battle.outcome]


# Bradley-Terry with ties, by Newton's method.
@dataclass(frozen=True, eq=False)
class BattleFit:
    """The strengths of runs: natural logarithms, 0 on average.

    `tie` is Davidson's ν: between equal runs a battle ends in a tie with ν / (2 + ν). `length` is
    what twice as many words add to the strength; None where lengths were not asked for.
    `by_topic`, (runs, topics), has for each topic what it says of a run: its pseudo-value, the
    strength plus the topic's share of the gradient in units of the curvature. Their mean over
    topics is the strength, and drawing topics again gives its interval.
    """

    runs: Sequence[str]
    strengths: Array
    tie: float
    length: float | None
    by_topic: Array

    @property
    def scores(self) -> Array:
        """The strengths as points of a board: 1000 for an average run, 400 for odds of ten."""
        return CENTRE + ELO * self.strengths


def _expected(difference: Array, tie: float) -> tuple[Array, Array]:
    """Return the expected points of the first run, and the chance of a tie."""
    half = np.clip(difference, -600, 600) / 2
    win, loss = np.exp(half), np.exp(-half)
    whole = win + loss + tie
    return (win + tie / 2) / whole, tie / whole


def fit_battles(
    table: BattleTable,
    ties: Ties = "davidson",
    prior: float = PRIOR,
    adjust_length: bool = False,
    start: BattleFit | None = None,
) -> BattleFit:
    """Return the strengths that make the judged battles most likely; topics are balanced.

    Run a beats b with e^(d/2) / (e^(d/2) + e^(-d/2) + ν), and ties with ν in the place of e^(d/2),
    where d is the difference of their strengths (Davidson, JASA 1970). Without a tie, and with
    ties as `half`, ν is 0: the model of Bradley and Terry (Biometrika 1952). Each run has `prior`
    battles against an average run, half won, and ties as many between equals, half tied: a run
    that won all, and runs that never met, have finite strengths by it. With a prior of 0 there must
    be neither. `adjust_length` adds a term for
    length to d, so that strengths are those of answers of one length.
    """
    model = _Model.of(table.judged, ties, prior, adjust_length)
    values = model.start(start)
    likelihood = model.likelihood(values)
    for _ in range(STEPS):
        gradient, curvature = model.derivatives(values)
        step = np.linalg.solve(curvature, gradient.sum(axis=1))
        # Halved until it is no worse: Newton's step can overshoot where it begins.
        while (found := model.likelihood(values + step)) < likelihood - 1e-9 * abs(likelihood):
            step /= 2
        values, likelihood = values + step, found
        if np.abs(step).max(initial=0.0) < EXACT:
            break
    return model.result(values)


@dataclass(frozen=True, eq=False)
class _Model:
    """Parameters are the strengths, then log ν where ties count, then that of length."""

    table: BattleTable
    weight: Array
    prior: float
    with_ties: bool
    with_length: bool

    @classmethod
    def of(cls, table: BattleTable, ties: Ties, prior: float, adjust_length: bool) -> _Model:
        with_ties = ties == "davidson" and bool(table.ties.any())
        return cls(table, table.balanced, prior, with_ties, adjust_length)

    @property
    def runs(self) -> int:
        return len(self.table.runs)

    @cached_property
    def known_topics(self) -> Array:
        """The share of each topic among those with a battle: (topics,)."""
        known = np.bincount(self.table.topic, minlength=len(self.table.topics)) > 0
        return known / max(1, int(known.sum()))

    def start(self, fit: BattleFit | None) -> Array:
        values = np.zeros(self.runs + self.with_ties + self.with_length)
        if fit is not None:
            values[: self.runs] = fit.strengths
            if self.with_ties and fit.tie:
                values[self.runs] = math.log(fit.tie)
        return values

    def tie(self, values: Array) -> float:
        return math.exp(values[self.runs]) if self.with_ties else 0.0

    def differences(self, values: Array) -> Array:
        found = values[self.table.a] - values[self.table.b]
        return found + values[-1] * self.table.longer if self.with_length else found

    def likelihood(self, values: Array) -> float:
        table, difference = self.table, self.differences(values)
        tie = self.tie(values)
        whole = np.logaddexp(difference / 2, -difference / 2)
        if self.with_ties:
            whole = np.logaddexp(whole, values[self.runs])
        said = (table.points - 0.5) * difference + (table.ties * math.log(tie) if tie else 0.0)
        own = values[: self.runs]
        before = np.logaddexp(own / 2, -own / 2).sum()
        if tie:
            before += math.log1p(2 / tie) + 0.5 * math.log(tie)  # half a tie of two equal runs
        return float((self.weight * (said - whole)).sum() - self.prior * before)

    def derivatives(self, values: Array) -> tuple[Array, Array]:
        """Return the gradient of each topic, (parameters, topics), and the curvature of all."""
        table, weight = self.table, self.weight
        expected, tie = _expected(self.differences(values), self.tie(values))
        apart = weight * (table.points - expected)
        spread = weight * (expected - tie / 4 - expected**2)
        # What each parameter beside the strengths is multiplied by, and how it varies with points.
        rows = []
        if self.with_ties:
            rows.append((weight * (table.ties - tie), weight * tie * (0.5 - expected)))
        if self.with_length:
            rows.append((apart * table.longer, spread * table.longer))
        gradient = np.vstack([self._by_run(apart), *(self._by_topic(own)[None] for own, _ in rows)])
        pairs = table.count(spread)
        pairs = pairs + pairs.T
        curvature = np.zeros((len(values), len(values)))
        curvature[: self.runs, : self.runs] = np.diag(pairs.sum(axis=1)) - pairs
        for place, (_, across) in enumerate(rows, self.runs):
            own = self._by_run(across).sum(axis=1)
            curvature[place, : self.runs] = curvature[: self.runs, place] = own
        if self.with_ties:
            curvature[self.runs, self.runs] = (weight * tie * (1 - tie)).sum()
        if self.with_length:
            curvature[-1, -1] = (spread * table.longer**2).sum()
        if self.with_ties and self.with_length:
            curvature[-1, -2] = curvature[-2, -1] = (rows[0][1] * table.longer).sum()
        self._add_prior(values, gradient, curvature)
        return gradient, curvature

    def _add_prior(self, values: Array, gradient: Array, curvature: Array) -> None:
        expected = _expected(values[: self.runs], 0.0)[0]
        if self.with_ties:
            tied = float(_expected(np.zeros(1), self.tie(values))[1][0])
            gradient[self.runs] += self.prior * (0.5 - tied) * self.known_topics
            curvature[self.runs, self.runs] += self.prior * tied * (1 - tied)
        block = curvature[: self.runs, : self.runs]
        if self.prior:  # shared by the topics, so that their gradients sum up to nothing
            gradient[: self.runs] += np.outer(self.prior * (0.5 - expected), self.known_topics)
            block += np.diag(self.prior * expected * (1 - expected))
        else:  # only differences are known: the average stays 0
            block += 1 / self.runs

    def _by_run(self, values: Array) -> Array:
        """Return the sums of a minus those of b by run and topic: (runs, topics)."""
        table, topics = self.table, len(self.table.topics)
        size = self.runs * topics
        ours = np.bincount(table.a * topics + table.topic, values, size)
        theirs = np.bincount(table.b * topics + table.topic, values, size)
        return np.asarray(ours - theirs, float).reshape(self.runs, topics)

    def _by_topic(self, values: Array) -> Array:
        return np.asarray(np.bincount(self.table.topic, values, len(self.table.topics)), float)

    def result(self, values: Array) -> BattleFit:
        gradient, curvature = self.derivatives(values)
        told = np.linalg.solve(curvature, gradient)[: self.runs]
        strengths = values[: self.runs] - values[: self.runs].mean()
        told -= told.mean(axis=0)
        share = self.known_topics  # of a topic without a battle nothing is known
        by_topic = strengths[:, None] + ratio(told, np.broadcast_to(share, told.shape))
        length = float(values[-1]) if self.with_length else None
        return BattleFit(self.table.runs, strengths, self.tie(values), length, by_topic)


def bounds_of(
    table: BattleTable, fit: BattleFit, adjust_length: bool
) -> dict[str, tuple[float, float]]:
    """Return the least and the most strength of each run with unjudged battles.

    All of its own unjudged battles are lost, then won; those of others are left out.
    """
    open_rows = np.isnan(table.points)
    found = {}
    for run in np.unique(np.concatenate([table.a[open_rows], table.b[open_rows]])).tolist():
        ends = []
        for best in (0.0, 1.0):
            own = np.where(table.a == run, best, np.where(table.b == run, 1 - best, np.nan))
            filled = replace(table, points=np.where(open_rows, own, table.points))
            made = fit_battles(filled, adjust_length=adjust_length, start=fit)
            ends.append(float(made.strengths[run]))
        found[table.runs[run]] = (ends[0], ends[1])
    return found


# What a fit does not show: sets that never met, runs that always won, circles, and biases.
def unconnected_sets(table: BattleTable) -> list[list[str]]:
    """Return the sets of runs that no chain of judged battles connects, the largest first."""
    judged = table.judged
    of = np.arange(len(table.runs))
    before = None
    while before is None or (of != before).any():
        before = of.copy()
        least = np.minimum(of[judged.a], of[judged.b])
        np.minimum.at(of, judged.a, least)
        np.minimum.at(of, judged.b, least)
    sets = [
        [table.runs[run] for run in np.flatnonzero(of == one).tolist()] for one in np.unique(of)
    ]
    return sorted(sets, key=len, reverse=True)


def unbeaten(table: BattleTable) -> tuple[list[str], list[str]]:
    """Return the runs that won all of their judged battles, and those that lost all."""
    judged, runs = table.judged, len(table.runs)
    got = np.bincount(judged.a, judged.points, runs)
    got += np.bincount(judged.b, 1 - judged.points, runs)
    fought = np.bincount(judged.a, minlength=runs) + np.bincount(judged.b, minlength=runs)
    always, never = (got == fought) & (fought > 0), (got == 0) & (fought > 0)
    names = np.array(table.runs, dtype=object)
    return names[always].tolist(), names[never].tolist()


@dataclass(frozen=True, eq=False)
class WinMatrix:
    """The battles of each pair of runs: `points` of the row's run and `battles`, (runs, runs)."""

    runs: Sequence[str]
    points: Array
    battles: Array

    @classmethod
    def of(cls, table: BattleTable) -> WinMatrix:
        """Count judged battles, each by its weight."""
        judged = table.judged
        ours, theirs = judged.count(judged.weight * judged.points), judged.count(judged.weight)
        lost = judged.count(judged.weight * (1 - judged.points))
        return cls(table.runs, ours + lost.T, theirs + theirs.T)

    @property
    def shares(self) -> Array:
        """Points of a battle, 0 to 1; NaN for runs that never met."""
        return ratio(self.points, self.battles)

    @property
    def triples(self) -> tuple[int, int]:
        """Intransitive triples, A above B above C above A, of those where each pair is decided."""
        above = ((self.shares > 0.5) & (self.battles > 0)).astype(float)
        met = above + above.T
        circles = np.trace(above @ above @ above) / 3
        return round(float(circles)), round(float(np.trace(met @ met @ met) / 6))


@dataclass(frozen=True, slots=True)
class Bias:
    """How far battles depend on what should not matter.

    `position` is 2 P - 1, P the points of the answer shown first: 0 without bias, 1 where the first
    one always wins, -1 where the second one does. `twice` battles were asked in both orders, and
    `contradicted` of them had another outcome. `longer` is the share of points that the longer
    answer got, of `compared` battles with answers of different length; None where there are none.
    """

    position: float | None
    interval: Interval
    twice: int
    contradicted: int
    longer: float | None
    compared: int


def bias_of(table: BattleTable) -> Bias:
    """Return the biases of the judged battles; the interval of the first by bootstrap over topics.

    Battles that were asked in both orders say it without regard to which answers were better;
    where there are none, all say it, since the order is random.
    """
    judged = table.judged
    twice, contradicted, rows = _asked_twice(judged)
    shown = judged.take(rows) if twice else judged.take(judged.first != 0)
    said = shown.first * (2 * shown.points - 1)
    position = float(said.mean()) if len(said) else None
    lengths = judged.take(judged.longer != 0)
    longer = np.where(lengths.longer > 0, lengths.points, 1 - lengths.points)
    names = [judged.topics[topic] for topic in shown.topic]
    interval = grouped_interval(lambda w: ratio(w @ said, w.sum(axis=1)), names, said[:, None])
    mean = float(longer.mean()) if len(longer) else None
    return Bias(position, interval, twice, contradicted, mean, len(longer))


def _asked_twice(judged: BattleTable) -> tuple[int, int, Indices]:
    """Return the battles asked in both orders, those contradicted, and the rows of them all."""
    size = len(judged.runs)
    keys = (judged.topic * size + judged.a) * size + judged.b
    again = np.flatnonzero(judged.again)
    once = np.flatnonzero(~judged.again)
    order = once[np.argsort(keys[once], kind="stable")]
    places = np.searchsorted(keys[order], keys[again])
    places = np.minimum(places, max(0, len(order) - 1))
    found = keys[order][places] == keys[again] if len(order) else np.zeros(0, dtype=bool)
    second = again[found] if len(order) else again[:0]
    first = order[places[found]] if len(order) else again[:0]
    differ = int((judged.points[first] != judged.points[second]).sum())
    return len(second), differ, np.concatenate([first, second])


def tau_of_boards(one: BattleTable, other: BattleTable) -> tuple[float, Interval]:
    """Return Kendall's tau-b of the boards of two sets of battles, over the runs of both.

    NaN for fewer than two runs; the interval is over the topics that both have.
    """
    sides = ((table, fit_battles(table)) for table in (one, other))
    runs, topics = ({*a} & {*b} for a, b in ((one.runs, other.runs), (one.topics, other.topics)))
    means, drawn = [], []
    for table, fit in sides:
        rows = np.array([place for place, run in enumerate(table.runs) if run in runs], dtype=int)
        own = [place for place, topic in enumerate(table.topics) if topic in topics]
        means.append(RankedScores(fit.strengths[rows][None]))
        weights = draws(max(1, len(own)), FEWER_RESAMPLES)
        found = resampled_means(fit.by_topic[rows][:, own], weights) if own else None
        drawn.append(None if found is None else RankedScores(found.T))
    tau = float(kendall(*means)[0])
    resampled = [side for side in drawn if side is not None]
    return tau, interval_of(kendall(*resampled), len(topics)) if resampled else NO_INTERVAL
