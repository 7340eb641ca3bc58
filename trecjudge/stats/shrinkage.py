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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from trecjudge.measures import DIGITS
from trecjudge.stats.correlation import Side, kendall
from trecjudge.stats.labelled import Row
from trecjudge.stats.resampling import ALIKE, SEED, Array, Indices, student_quantile

RATIOS: Final = np.array([0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.5])
"""Standard deviations of errors of runs, and of responses, over that of items: all are weighed."""
USUAL: Final = 0.23
"""The most probable ratio before any label, never 0 (Chung et al., Psychometrika 2013).

With it 5 % of the variance is between groups, as in samples of clusters (Kish, 1965).
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
"""With fewer, one label moves the error of an item, of which all else is a multiple, by a tenth."""
UNTOLD: Final = 0.05
"""A shift is told from 0 where none has no more than this chance."""
TINY: Final = 1e-9
DRAWS: Final = 500
"""Worlds that a forecast is the mean of."""
COVARIATES: Final = 4
"""1; the judge's value and its expected weight, as far as they differ from the run's mean; this."""


class Point(NamedTuple):
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
    point: Point

    def intervals(self) -> tuple[Array, Array]:
        """Return the ends of the 95 % intervals, by Student's t, within what is possible."""
        half = student_quantile(max(1, self.labels - 1)) * np.sqrt(self.variance)
        ends = (self.mean - half, self.mean + half)
        below, above = (np.clip(end, self.low, self.high) for end in ends)
        return below, above


@dataclass(frozen=True, slots=True)
class Corrected:
    """The mean of a run by a measure as labels of people correct it, with its 95 % interval.

    `labelled` counts the responses of the run with labels.
    """

    labelled: int
    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Corrections:
    """The corrected mean of each run, and what the labels show of the judge.

    `effect` has the number of `labels` used and of those `needed`; with these the `shift` of all
    runs, whether it is `told` from 0, and the standard deviation of the errors of `runs`.
    """

    by_run: Mapping[str, Corrected]
    effect: Mapping[str, float | bool]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Sums over labelled items, and over those that are open, from rows of responses."""

    rows: Mapping[str, Array]
    """Columns by the names of Row, each of shape (responses,)."""
    runs: Sequence[str]
    responses: Sequence[tuple[str, str]]
    """(run_id, topic_id)"""
    owners: Indices
    """The run of each response."""
    sure: Array
    """(runs,) The sum of what needs no labels, such as a missing response."""
    topics: int
    means: Array
    """(runs, 2): of the judge's value and of its expected weight, over the items of the run."""
    centre: float
    """The mean of the judge's value over all."""

    @classmethod
    def of(
        cls,
        runs: Sequence[str],
        responses: Sequence[tuple[str, str]],
        table: Array,
        sure: Array,
        topics: int,
    ) -> Evidence:
        """Return the evidence of the rows of responses, (run_id, topic_id): (responses, fields)."""
        rows = dict(zip(Row._fields, table.T, strict=True))
        place = {run: i for i, run in enumerate(runs)}
        owners = np.array([place[run] for run, _ in responses])
        own = np.bincount(owners, rows["reach"], len(runs))
        means = []
        for name in ("reach_x", "reach_e"):
            # A run with nothing to label has no mean of its own.
            overall = rows[name].sum() / (rows["reach"].sum() or 1.0)
            sums = np.bincount(owners, rows[name], len(runs))
            means.append(np.divide(sums, own, out=np.full(len(runs), overall), where=own != 0))
        centre = float(rows["reach_x"].sum() / (rows["reach"].sum() or 1.0))
        return cls(rows, runs, responses, owners, sure, topics, np.column_stack(means), centre)

    @property
    def labels(self) -> int:
        """The labels of items that the judge has a value of."""
        return int(self.rows["n"].sum())

    def by_run(self, values: Array) -> Array:
        """Return sums over the responses of each run: (responses, ...) -> (runs, ...)."""
        sums = np.zeros((len(self.runs), *values.shape[1:]))
        np.add.at(sums, self.owners, values)
        return sums

    def mean_of(self, sums: Array) -> Array:
        """Return the mean over all topics from the sum over the labellable responses: (runs,)."""
        mean: Array = (self.sure + sums) / self.topics
        return mean

    @property
    def judged(self) -> Array:
        """The means with open items as the judge has them: (runs,)."""
        return self.mean_of(self.by_run(self.rows["known"] + self.rows["open_x"]))

    @property
    def possible(self) -> tuple[Array, Array]:
        """The least and the most that open items leave possible: each (runs,)."""
        known, least, most = (self.rows[name] for name in ("known", "least", "most"))
        low, high = (self.mean_of(self.by_run(known + end)) for end in (least, most))
        return low, high

    def covariates(self, one: Array, x: Array, e: Array) -> Array:
        """Return sums of the covariates, from those of 1, the value and the expected weight."""
        x_mean, e_mean = self.means[self.owners].T
        columns = (one, x - one * x_mean, e - one * e_mean, one * (x_mean - self.centre))
        return np.column_stack(columns)

    def products(self) -> tuple[Array, Array]:
        """Return the sums of products of covariates: with each other, and with errors."""
        r = self.rows
        x_mean, e_mean = self.means[self.owners].T
        change = np.zeros((len(x_mean), 3, COVARIATES))  # from 1, x and e to the covariates
        change[:, (0, 1, 2), (0, 1, 2)] = 1.0
        change[:, 0, 1:] = np.column_stack([-x_mean, -e_mean, x_mean - self.centre])
        plain = [[r["n"], r["x"], r["e"]], [r["x"], r["xx"], r["xe"]], [r["e"], r["xe"], r["ee"]]]
        each = np.einsum("nia,ijn,njb->ab", change, np.array(plain), change, optimize=True)
        errors = np.einsum("nia,in->a", change, np.array([r["y"], r["xy"], r["ey"]]))
        return each, errors


@dataclass(frozen=True, slots=True)
class _Solved:
    """The model at one point; variances are over that of an item's error."""

    mean: Array
    variance: Array
    shift: float
    residual: float
    """Squared errors that are left, in units of an item's variance."""
    log_determinant: float


class _Model:
    """The model of one body of evidence. Errors of responses and runs are integrated out."""

    def __init__(self, evidence: Evidence) -> None:
        rows = evidence.rows
        self.evidence = evidence
        self.sums = evidence.covariates(rows["n"], rows["x"], rows["e"])
        self.products, self.with_errors = evidence.products()
        self.open = evidence.by_run(
            evidence.covariates(rows["open"], rows["open_x"], rows["open_e"])
        )
        self.known = evidence.by_run(rows["known"] + rows["open_x"])
        self.noise = evidence.by_run(rows["squares"])
        self.fitted = float(rows["n"].sum())
        # A value that is not there varies as values do, beside the error that they have.
        self.unknown = (
            evidence.by_run(rows["blind"]) * rows["spread"].sum() / max(1.0, rows["items"].sum())
        )

    def solved(self, run_ratio: float, response_ratio: float, shift: float) -> _Solved:
        """Return means and variances at these ratios (see Point)."""
        rows, by_run, own = self.evidence.rows, self.evidence.by_run, self.sums
        left = 1 / (1 + rows["n"] * response_ratio**2)
        of_response = response_ratio**2 * left
        seen, y = by_run(rows["n"] * left), by_run(rows["y"] * left)
        s = by_run(own * left[:, None])
        of_run = run_ratio**2 / (1 + seen * run_ratio**2)
        products = (
            self.products - (own * of_response[:, None]).T @ own - (s * of_run[:, None]).T @ s
        )
        errors = self.with_errors - own.T @ (of_response * rows["y"]) - s.T @ (of_run * y)
        squares = float(rows["yy"].sum() - of_response @ rows["y"] ** 2 - of_run @ y**2)
        prior = np.array([shift, SLOPES, SLOPES, shift]) ** -2.0
        precision = products + np.diag(prior)
        inverse = np.linalg.inv(precision)
        weights = inverse @ errors
        weight = by_run(rows["open"] * left)
        reached = self.open - by_run(own * (rows["open"] * of_response)[:, None])
        reached -= (weight * of_run)[:, None] * s
        mean = self.known + by_run(rows["open"] * of_response * rows["y"]) + weight * of_run * y
        variance = np.einsum("ra,ab,rb->r", reached, inverse, reached)
        variance += weight**2 * of_run + by_run(rows["open"] ** 2 * of_response) + self.noise
        determinant = np.linalg.slogdet(precision)[1] - np.log(prior).sum()
        determinant -= np.log(left).sum() - np.log1p(seen * run_ratio**2).sum()
        residual = max(squares - float(errors @ weights), 0.0)
        return _Solved(mean + reached @ weights, variance, float(weights[0]), residual, determinant)

    def noise_of(self, residual: float) -> float:
        """Return the variance of an item's error."""
        return (PSEUDO + residual) / (1 + self.fitted)


def correct(evidence: Evidence) -> Corrections:
    """Return the means of the runs as labels correct them.

    With fewer than FEWEST_LABELS only labelled items change a mean, and there is no interval unless
    all items of the run are labelled.
    """
    rows = evidence.rows
    used = evidence.labels
    effect: dict[str, float | bool] = {"labels": used, "needed": FEWEST_LABELS}
    low, high = evidence.possible
    mean, below, above = evidence.judged, low, high
    if used >= FEWEST_LABELS:
        found = fit(evidence)
        mean, (below, above) = found.mean, found.intervals()
        runs = found.point.runs * math.sqrt(found.point.noise)
        effect |= {"shift": round(found.shift, DIGITS), "told": found.is_told}
        effect |= {"runs": round(runs, DIGITS)}
    bounded = (high - low <= ALIKE) | (used >= FEWEST_LABELS)
    labelled = evidence.by_run((rows["labels"] > 0).astype(np.float64))
    columns = (labelled, np.clip(mean, low, high), below, above, bounded)
    by_run = {}
    for run, *numbers in zip(evidence.runs, *(column.tolist() for column in columns), strict=True):
        count, middle, *ends, is_bounded = numbers
        least, most = (round(end, DIGITS) if is_bounded else None for end in ends)
        by_run[run] = Corrected(int(count), round(middle, DIGITS), least, most)
    return Corrections(by_run, effect)


def fit(evidence: Evidence) -> Posterior:
    """Return the posterior of each run's mean, over all points by how probable they are.

    `variance` has the doubt about the point too.
    """
    model = _Model(evidence)
    found, points, chances = [], [], []
    priors = np.log(np.gradient(RATIOS) * np.maximum(RATIOS, TINY)) - (RATIOS / USUAL) ** 2 / 2
    for i, run_ratio in enumerate(RATIOS.tolist()):
        for j, response_ratio in enumerate(RATIOS.tolist()):
            for shift, chance in SHIFTS:
                one = model.solved(run_ratio, response_ratio, shift)
                noise = model.noise_of(one.residual)
                likelihood = -((1 + model.fitted) * math.log(noise) + one.log_determinant) / 2
                chances.append(likelihood + priors[i] + priors[j] + math.log(chance))
                found.append(one)
                points.append(Point(run_ratio, response_ratio, shift, noise))
    weights = np.exp(np.array(chances) - max(chances))
    weights /= weights.sum()
    every, means = np.array(points), np.array([one.mean for one in found])
    variances = every[:, 3:] * np.array([one.variance for one in found]) + model.unknown
    mean = weights @ means
    low, high = evidence.possible
    return Posterior(
        mean=np.clip(evidence.mean_of(mean), low, high),
        variance=weights @ (variances + (means - mean) ** 2) / evidence.topics**2,
        low=low,
        high=high,
        labels=int(model.fitted),
        shift=float(weights @ [one.shift for one in found]),
        is_told=bool(weights[every[:, 2] == SHIFTS[0][0]].sum() < UNTOLD),
        point=Point(*(weights @ every).tolist()),
    )


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


def forecast(evidence: Evidence, more: Mapping[tuple[str, str], int]) -> Forecast:
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
    truth = Side(estimates + second * np.sqrt(then))
    taus = [kendall(truth, Side(side)) for side in (np.tile(found.mean, (DRAWS, 1)), estimates)]
    known = [tau[~np.isnan(tau)] for tau in taus]
    widths = []
    for variance in (now, then):
        low, high = replace(found, variance=variance).intervals()
        widths.append(round(float((high - low).mean()), DIGITS))
    tau_now, tau_then = (round(float(t.mean()), DIGITS) if len(t) else None for t in known)
    return Forecast(sum(more.values()), tau_now, tau_then, *widths)


def _with_more(evidence: Evidence, more: Mapping[tuple[str, str], int]) -> Evidence:
    """Return the evidence with so many more labels: on average items of each response."""
    rows = dict(evidence.rows)
    extra = np.array([more.get(response, 0) for response in evidence.responses], dtype=np.float64)
    extra = np.minimum(extra, left := np.maximum(rows["items"] - rows["n"], 0.0))
    share = np.divide(extra, left, out=np.zeros_like(extra), where=left > 0)
    reach = np.where(rows["open"] == 0, 1.0, rows["open"])
    x, e = rows["open_x"] / reach, rows["open_e"] / reach
    added = {"n": 1.0, "x": x, "e": e, "xx": x * x, "xe": x * e, "ee": e * e}
    for name, value in added.items():
        rows[name] = rows[name] + extra * value
    for name in ("open", "open_x", "open_e", "squares", "blind"):
        rows[name] = rows[name] * (1 - share)
    return replace(evidence, rows=rows)


def _variance_at(evidence: Evidence, point: Point) -> Array:
    """Return the variance of each run's mean where the point is known: (runs,)."""
    model = _Model(evidence)
    found = model.solved(point.runs, point.responses, point.shift)
    variance: Array = (point.noise * found.variance + model.unknown) / evidence.topics**2
    return variance
