"""Means of runs by labels on some items: a judge's error, shared by all runs and of each its own.

A mixed model on items (Battese, Harter and Fuller, JASA 1988; Fay and Herriot, JASA 1979): what a
person says of an item is the judge's value, plus a shift that all runs share, an error of the run,
one of the response and one of the item. Each is as large as the labels show. So a run with few
labels gets what the runs have in common, and one with many its own. Labelled items count as the
person said; only the others are predicted (Royall, Biometrika 1970). That the weight of the judge's
value is fitted is the tuned power of PPI++ (Angelopoulos, Duchi and Zrnic, 2023).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Final, NamedTuple

import numpy as np

from trecjudge.measures import DIGITS
from trecjudge.results.statistics import Corrected
from trecjudge.stats.correlation import RankedScores, kendall
from trecjudge.stats.labelled import (
    ALL,
    BLIND,
    ITEMS,
    KNOWN,
    LABELS,
    LEAST,
    MOST,
    OPEN,
    SEEN,
    SIZE,
    SPREAD,
    SQUARES,
)
from trecjudge.stats.resampling import ALIKE, SEED, Array, Indices, student_quantile

RATIOS: Final = np.array([0.03, 0.06, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.5])
"""Standard deviations of errors of runs, and of responses, over that of items: all are weighed."""
USUAL: Final = 0.2
"""The most probable ratio before any label, never 0 (Chung et al., Psychometrika 2013).

With it 4 % of the variance is between groups, as in samples of clusters (Kish, 1965).
"""
SHIFTS: Final = ((0.001, 0.8), (0.3, 0.1), (1.2, 0.1))
"""Standard deviations of what all runs share, over that of items, and how probable each is.

Mostly none: a shift is only noise where labels do not show one.
"""
SLOPES: Final = 2.0
"""The same of the weights of the judge's value and of its expected weight, within a run."""
PSEUDO: Final = 0.25
"""Squared error that is added as of one more label: else 20 right ones would leave no doubt."""
FEWEST_LABELS: Final = 20
"""With fewer, one label is more than a twentieth of what is known of the judge's errors."""
UNTOLD: Final = 0.05
"""A shift is told from 0 where none has no more than this chance."""


class ModelPoint(NamedTuple):
    """Ratios of standard deviations to that of an item's error: of runs, responses, what is shared.

    `noise` is the variance of an item's error, on a scale of 0 to 1.
    """

    runs: float
    responses: float
    shift: float
    noise: float


@dataclass(frozen=True, slots=True)
class Posterior:
    """What labels make of the means of the runs: all of shape (runs,).

    `low` and `high` are the least and the most that items without a label leave possible. `shift`
    is the error that all runs share, 0 to 1 of an item's range; `is_told`: it is hardly 0.
    """

    mean: Array
    variance: Array
    low: Array
    high: Array
    labels: int
    shift: float
    is_told: bool
    point: ModelPoint

    def intervals(self) -> tuple[Array, Array]:
        """Return the ends of the 95 % intervals, by Student's t, within what is possible."""
        half = student_quantile(max(1, self.labels - 1)) * np.sqrt(self.variance)
        ends = (self.mean - half, self.mean + half)
        below, above = (np.clip(end, self.low, self.high) for end in ends)
        return below, above


@dataclass(frozen=True)
class LabelEvidence:
    """What labels say of responses, and what is open. Runs and responses are in one order."""

    runs: Sequence[str]
    responses: Sequence[tuple[str, str]]
    """(run_id, topic_id)"""
    table: Array
    """(responses, SIZE): a row of each, see `labelled`."""
    sure: Array
    """(runs,) The sum of what needs no labels, such as a missing response."""
    topics: int

    @classmethod
    def of(
        cls,
        runs: Sequence[str],
        responses: Sequence[tuple[str, str]],
        rows: tuple[array[float], Sequence[int]],
        sure: Sequence[float],
        topics: int,
    ) -> LabelEvidence:
        """Return the evidence of rows that lie one after the other, and the places to take."""
        table = np.frombuffer(rows[0], dtype=np.float64).reshape(-1, SIZE)[list(rows[1])]
        return cls(runs, responses, table, np.array(sure), topics)

    @property
    def labels(self) -> int:
        """The labels of items that the judge has a value of."""
        return int(self.table[:, SEEN.start].sum())

    @property
    def is_one_sided(self) -> bool:
        """Whether all labels say the same where the judge does not: chosen for that, they mislead.

        What they say of other items then nobody can tell.
        """
        products = self.table[:, SEEN].sum(axis=0).reshape(4, 4)
        label = np.array([0.0, 1.0, 0.0, 1.0])  # w = x + y
        varies = products[0, 0] * (label @ products @ label) - (products[0] @ label) ** 2
        return bool(varies <= ALIKE * products[0, 0] ** 2 and products[3, 3] > ALIKE)

    @property
    def is_enough(self) -> bool:
        """Whether labels tell of the items without one."""
        return self.labels >= FEWEST_LABELS and not self.is_one_sided

    @cached_property
    def owners(self) -> Indices:
        """The run of each response, by its place."""
        place = {run: i for i, run in enumerate(self.runs)}
        return np.array([place[run] for run, _ in self.responses])

    def by_run(self, values: Array) -> Array:
        """Return sums over the responses of each run: (responses, ...) -> (runs, ...)."""
        owners, count = self.owners, len(self.runs)
        columns = [np.bincount(owners, column, count) for column in np.atleast_2d(values.T)]
        return np.array(columns[0] if values.ndim == 1 else columns, dtype=np.float64).T

    def means(self, sums: Array) -> Array:
        """Return means over all topics, of sums over the responses: (responses,) -> (runs,)."""
        mean: Array = (self.sure + self.by_run(sums)) / self.topics
        return mean

    @property
    def possible(self) -> tuple[Array, Array]:
        """The least and the most that open items leave possible: each (runs,)."""
        low, high = (self.means(self.table[:, KNOWN] + self.table[:, i]) for i in (LEAST, MOST))
        return low, high

    def changes(self) -> Array:
        """Return of each response the change from (1, x, e) to the covariates: (responses, 3, 4).

        These are 1; x and e as far as they differ from the means of the run; and as far as that of
        x differs from the mean of all.
        """
        whole, overall = self.by_run(self.table[:, ALL]), self.table[:, ALL].sum(axis=0)
        # A run with nothing to label has no mean of its own.
        sums = np.where(whole[:, :1] == 0, overall, whole)
        x, e = (sums[:, 1:] / np.where(sums[:, :1] == 0, 1.0, sums[:, :1]))[self.owners].T
        changes = np.tile(np.eye(3, 4), (len(x), 1, 1))
        changes[:, 0, 1:] = np.column_stack([-x, -e, x - overall[1] / (overall[0] or 1.0)])
        return changes

    def correct_means(self) -> tuple[dict[str, Corrected], dict[str, float | bool]]:
        """Return the means of the runs as labels correct them, and what these show of the judge.

        That is the number of `labels` used and of those `needed`. Where they are enough, also the
        `shift` of all runs, whether it is `told` from 0, and the standard deviation of the errors
        of `runs`. Else only labelled items change a mean, and only a run labelled whole has an
        interval.
        """
        table = self.table
        effect: dict[str, float | bool] = {"labels": self.labels, "needed": FEWEST_LABELS}
        below, above = low, high = self.possible
        mean = self.means(table[:, KNOWN] + table[:, OPEN.start + 1])
        if self.is_enough:
            found = fit(self)
            mean, (below, above) = found.mean, found.intervals()
            runs = found.point.runs * math.sqrt(found.point.noise)
            effect |= {"shift": round(found.shift, DIGITS), "told": found.is_told}
            effect |= {"runs": round(runs, DIGITS)}
        bounded = (high - low <= ALIKE) | self.is_enough
        labelled = self.by_run((table[:, LABELS] > 0).astype(np.float64))
        columns = (labelled, np.clip(mean, low, high), below, above, bounded)
        by_run = {}
        for run, *numbers in zip(self.runs, *(column.tolist() for column in columns), strict=True):
            count, middle, *ends, is_bounded = numbers
            least, most = (round(end, DIGITS) if is_bounded else None for end in ends)
            by_run[run] = Corrected(int(count), round(middle, DIGITS), least, most)
        return by_run, effect


class _Solved(NamedTuple):
    """The sums of runs at one point; variances, and squared errors left, are in units of noise."""

    mean: Array
    variance: Array
    shift: float
    residual: float
    log_determinant: float


class _Grouped(NamedTuple):
    """What is known once errors of responses are integrated out: sums by run, and over all."""

    seen: Array
    y: Array
    s: Array
    weight: Array
    reached: Array
    mean: Array
    variance: Array
    products: Array
    with_errors: Array
    squares: float
    log_left: float


class ShrinkageModel:
    """The model of one body of evidence. Errors of responses and runs are integrated out."""

    def __init__(self, evidence: LabelEvidence) -> None:
        table, changes = evidence.table, evidence.changes()
        seen = table[:, SEEN].reshape(-1, 4, 4)
        self.by_run = evidence.by_run
        self.count, self.errors, self.squares = seen[:, 0, 0], seen[:, 0, 3], seen[:, 3, 3].sum()
        self.sums = np.einsum("ni,nia->na", seen[:, 0, :3], changes)
        self.products = np.einsum("nia,nij,njb->ab", changes, seen[:, :3, :3], changes)
        self.with_errors = np.einsum("nia,ni->a", changes, seen[:, :3, 3])
        self.open = table[:, OPEN.start]
        self.reached = self.by_run(np.einsum("ni,nia->na", table[:, OPEN], changes))
        self.known = self.by_run(table[:, KNOWN] + table[:, OPEN.start + 1])
        self.noise = self.by_run(table[:, SQUARES])
        self.fitted = float(self.count.sum())
        # A value that is not there varies as values do, beside the error that they have.
        varies = table[:, SPREAD].sum() / max(1.0, table[:, ITEMS].sum())
        self.unknown = self.by_run(table[:, BLIND]) * varies

    def group_responses(self, response_ratio: float) -> _Grouped:
        """Return the sums at this ratio (see Point); all that takes time with many responses."""
        by_run, own, errors = self.by_run, self.sums, self.errors
        left = 1 / (1 + self.count * response_ratio**2)
        of_response = response_ratio**2 * left
        opened = self.open * of_response
        return _Grouped(
            seen=by_run(self.count * left),
            y=by_run(errors * left),
            s=by_run(own * left[:, None]),
            weight=by_run(self.open * left),
            reached=self.reached - by_run(own * opened[:, None]),
            mean=self.known + by_run(opened * errors),
            variance=by_run(self.open * opened) + self.noise,
            products=self.products - (own.T * of_response) @ own,
            with_errors=self.with_errors - own.T @ (of_response * errors),
            squares=float(self.squares - of_response @ errors**2),
            log_left=np.log(left).sum(),
        )

    def solve(self, run_ratio: float, grouped: _Grouped, shift: float) -> _Solved:
        """Return means and variances at these ratios (see Point)."""
        seen, y, s, weight = grouped.seen, grouped.y, grouped.s, grouped.weight
        of_run = run_ratio**2 / (1 + seen * run_ratio**2)
        prior = np.array([shift, SLOPES, SLOPES, shift]) ** -2.0
        precision = grouped.products - (s.T * of_run) @ s + np.diag(prior)
        inverse = np.linalg.inv(precision)
        with_errors = grouped.with_errors - s.T @ (of_run * y)
        weights = inverse @ with_errors
        reached = grouped.reached - (weight * of_run)[:, None] * s
        mean = grouped.mean + weight * of_run * y
        variance = np.einsum("ra,ab,rb->r", reached, inverse, reached)
        variance += weight**2 * of_run + grouped.variance
        determinant = np.linalg.slogdet(precision)[1] - np.log(prior).sum()
        determinant -= grouped.log_left - np.log1p(seen * run_ratio**2).sum()
        squares = grouped.squares - float(of_run @ y**2 + with_errors @ weights)
        return _Solved(mean + reached @ weights, variance, weights[0], max(squares, 0), determinant)


def fit(evidence: LabelEvidence) -> Posterior:
    """Return the posterior of each run's mean, over all points by how probable they are.

    `variance` has the doubt about the point too.
    """
    model, topics = ShrinkageModel(evidence), evidence.topics
    found, points, chances = [], [], []
    priors = np.log(np.gradient(RATIOS) * RATIOS) - (RATIOS / USUAL) ** 2 / 2
    grouped = [model.group_responses(ratio) for ratio in RATIOS.tolist()]
    for (i, run_ratio), (j, response_ratio), (shift, chance) in product(
        enumerate(RATIOS.tolist()), enumerate(RATIOS.tolist()), SHIFTS
    ):
        one = model.solve(run_ratio, grouped[j], shift)
        noise = (PSEUDO + one.residual) / (1 + model.fitted)
        likelihood = -((1 + model.fitted) * math.log(noise) + one.log_determinant) / 2
        chances.append(likelihood + priors[i] + priors[j] + math.log(chance))
        found.append(one)
        points.append(ModelPoint(run_ratio, response_ratio, shift, noise))
    weights = np.exp(np.array(chances) - max(chances))
    weights /= weights.sum()
    every, means = np.array(points), np.array([one.mean for one in found])
    variances = every[:, 3:] * np.array([one.variance for one in found]) + model.unknown
    mean, (low, high) = weights @ means, evidence.possible
    return Posterior(
        mean=np.clip((evidence.sure + mean) / topics, low, high),
        variance=weights @ (variances + (means - mean) ** 2) / topics**2,
        low=low,
        high=high,
        labels=evidence.labels,
        shift=float(weights @ [one.shift for one in found]),
        is_told=bool(weights[every[:, 2] == SHIFTS[0][0]].sum() < UNTOLD),
        point=ModelPoint(*(weights @ every).tolist()),
    )


DRAWS: Final = 500
"""Worlds that a forecast is the mean of."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Tau with the order by labels on all items, and the mean width of the 95 % intervals.

    They are expected, `now` and `then`, with `labels` more.
    """

    labels: int
    tau_now: float | None
    tau_then: float | None
    width_now: float
    width_then: float


def forecast(evidence: LabelEvidence, more: Mapping[tuple[str, str], int]) -> Forecast:
    """Return what so many more labels by response would buy, from the labels there are.

    True means are drawn around those of now, and estimates of then between both, as far apart as
    the variances are (a preposterior analysis: Raiffa and Schlaifer, 1961).
    """
    found = fit(evidence)
    now = _variance_at(evidence, found.point)
    then = np.minimum(_variance_at(_with_more(evidence, more), found.point), now)
    chance = np.random.default_rng(SEED)
    first, second = (chance.normal(size=(DRAWS, len(now))) for _ in range(2))
    estimates = found.mean + first * np.sqrt(now - then)
    truth = RankedScores(estimates + second * np.sqrt(then))
    taus = [
        kendall(truth, RankedScores(side)) for side in (np.tile(found.mean, (DRAWS, 1)), estimates)
    ]
    known = [tau[~np.isnan(tau)] for tau in taus]
    widths = []
    for variance in (now, then):
        low, high = replace(found, variance=variance).intervals()
        widths.append(round(float((high - low).mean()), DIGITS))
    tau_now, tau_then = (round(float(t.mean()), DIGITS) if len(t) else None for t in known)
    return Forecast(sum(more.values()), tau_now, tau_then, *widths)


def _with_more(evidence: LabelEvidence, more: Mapping[tuple[str, str], int]) -> LabelEvidence:
    """Return the evidence with so many more labels: on average items of each response."""
    table = evidence.table.copy()
    left = np.maximum(table[:, ITEMS] - table[:, SEEN.start], 0.0)
    extra = np.minimum([more.get(response, 0) for response in evidence.responses], left)
    reach = np.where(table[:, OPEN.start] == 0, 1.0, table[:, OPEN.start])
    item = np.column_stack([table[:, OPEN] / reach[:, None], np.zeros(len(table))])
    table[:, SEEN] += (extra[:, None, None] * item[:, :, None] * item[:, None]).reshape(-1, 16)
    share = 1 - extra / np.maximum(left, 1.0)
    for place in (SQUARES, BLIND, *range(OPEN.start, OPEN.stop)):
        table[:, place] *= share
    return replace(evidence, table=table)


def _variance_at(evidence: LabelEvidence, point: ModelPoint) -> Array:
    model = ShrinkageModel(evidence)
    found = model.solve(point.runs, model.group_responses(point.responses), point.shift)
    variance: Array = (point.noise * found.variance + model.unknown) / evidence.topics**2
    return variance
