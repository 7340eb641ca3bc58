"""What topics make of a run: the aggregate of their values."""

from __future__ import annotations

import numpy as np

from trecjudge.stats.resampling import Array, ratio

NOISE_DIGITS = 10
"""Means that differ later than this are the same: sums in another order differ in their last."""


def aggregated(values: Array, how: str = "") -> Array:
    """Return what topics give for each run: (runs, topics) -> (runs,). NaN where there is none.

    `how` is the aggregate of a measure; what it does not name is the mean.
    """
    known = ~np.isnan(values)
    counts = known.sum(axis=1)
    # NaN would win every comparison: it is replaced by what cannot be the minimum, or maximum.
    if how == "min":
        found = np.where(known, values, np.inf).min(axis=1, initial=np.inf)
    elif how == "max":
        found = np.where(known, values, -np.inf).max(axis=1, initial=-np.inf)
    elif how == "first_value" and values.shape[1]:
        found = values[np.arange(len(values)), known.argmax(axis=1)]
    else:
        found = np.where(known, values, 0.0).sum(axis=1)
        if how != "sum":
            found = ratio(found, counts)
    return np.asarray(np.where(counts > 0, found, np.nan), dtype=np.float64).round(NOISE_DIGITS)


def is_mean_or_sum(how: str) -> bool:
    """Return whether an interval over topics is defined for what an aggregate makes."""
    return how not in ("min", "max", "first_value", "of_sums")
