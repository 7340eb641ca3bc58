"""What more labels of people would buy: how well they would order the runs, and how narrowly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from trecjudge.measures import DIGITS
from trecjudge.stats import labelled as at
from trecjudge.stats.correlation import Side, kendall
from trecjudge.stats.resampling import SEED, Array
from trecjudge.stats.shrinkage import Evidence, Model, Point, fit

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
    table = evidence.table.copy()
    left = np.maximum(table[:, at.ITEMS] - table[:, at.SEEN.start], 0.0)
    extra = np.minimum([more.get(response, 0) for response in evidence.responses], left)
    reach = np.where(table[:, at.OPEN.start] == 0, 1.0, table[:, at.OPEN.start])
    item = np.column_stack([table[:, at.OPEN] / reach[:, None], np.zeros(len(table))])
    table[:, at.SEEN] += (extra[:, None, None] * item[:, :, None] * item[:, None]).reshape(-1, 16)
    share = 1 - extra / np.maximum(left, 1.0)
    for place in (at.SQUARES, at.BLIND, *range(at.OPEN.start, at.OPEN.stop)):
        table[:, place] *= share
    return replace(evidence, table=table)


def _variance_at(evidence: Evidence, point: Point) -> Array:
    """Return the variance of each run's mean where the point is known: (runs,)."""
    model = Model(evidence)
    found = model.solved(point.runs, model.grouped(point.responses), point.shift)
    variance: Array = (point.noise * found.variance + model.unknown) / evidence.topics**2
    return variance
