"""The bootstrap: units drawn again with replacement, and the interval of what comes of them.

The seed is fixed, and units are drawn in an order that hangs on their values alone: neither names
nor the order of rows change a figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

RESAMPLES = 2000
SEED = 20250801
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """The bounds of a 95 % interval; both None where there is none."""

    low: float | None
    high: float | None

    def __iter__(self) -> Iterator[float | None]:
        yield from (self.low, self.high)

    def rounded(self, digits: int) -> Interval:
        """Return it with so many decimals."""
        return Interval(*(None if bound is None else round(bound, digits) for bound in self))


NO_INTERVAL = Interval(None, None)


@lru_cache(maxsize=8)
def draws(units: int, resamples: int = RESAMPLES) -> Array:
    """Return how often each unit is in each resample: shape (resamples, units), rows sum up to it.

    Efron and Tibshirani, An Introduction to the Bootstrap, 1993.
    """
    counts = np.random.default_rng(SEED).multinomial(units, np.full(units, 1 / units), resamples)
    weights: Array = counts.astype(np.float64)
    weights.setflags(write=False)
    return weights


def resampled_means(values: Array, weights: Array) -> Array:
    """Return the mean of each row in each resample: (rows, units) -> (rows, resamples).

    NaN in `values` leaves the mean; a resample without any value is NaN.
    """
    known = ~np.isnan(values)
    sums = np.where(known, values, 0.0) @ weights.T
    counts = known.astype(np.float64) @ weights.T
    return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)


def interval_of(resamples: Array, level: float = LEVEL) -> Interval:
    """Return the percentile interval of a statistic's resamples, those that are NaN left out.

    Where more than half of them are NaN the statistic is hardly defined, and there is no interval.
    """
    known = resamples[~np.isnan(resamples)]
    if not known.size or known.size * 2 < resamples.size:
        return NO_INTERVAL
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def mean_intervals(values: Array) -> list[Interval]:
    """Return the interval of each row's mean over its units; none with fewer than two values."""
    if values.shape[1] < 2:
        return [NO_INTERVAL] * len(values)
    order = steady_order(values)
    means = resampled_means(values[:, order], draws(values.shape[1]))
    enough = (~np.isnan(values)).sum(axis=1) >= 2
    return [interval_of(m) if e else NO_INTERVAL for m, e in zip(means, enough, strict=True)]


def steady_order(values: Array) -> Indices:
    """Return an order of the columns that hangs on values alone, not on the order of rows."""
    return np.lexsort(np.sort(values, axis=0)[::-1])
