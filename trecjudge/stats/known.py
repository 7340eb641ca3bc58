"""What is known of a mean besides its row: unjudged items, bounds, the values that entered it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trecjudge.stats.resampling import Array, ratio

MeanKey = tuple[str, str]
"""(run_id, measure)"""
NOISE_DIGITS = 10
"""Means that differ later than this are the same: sums in another order differ in their last."""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Unjudged items of a run for a measure, and the bounds of its mean with them.

    `expected`, `lowest` and `highest` are None where only a companion row counts them.
    """

    items: int
    expected: int | None = None
    lowest: float | None = None
    highest: float | None = None

    def __str__(self) -> str:
        if self.expected is not None:
            return f"{self.items} of {self.expected} items are unjudged"
        return f"{self.items} items are unjudged" if self.items != 1 else "1 item is unjudged"

    @property
    def is_open(self) -> bool:
        """Whether they could move the mean, as far as that is known."""
        return self.items > 0 and (self.lowest is None or self.lowest != self.highest)

    @property
    def with_bounds(self) -> str:
        """`3 of 12 (0.25 to 1)`: the items, and what the mean could be, if that is known."""
        of_all = "" if self.expected is None else f" of {self.expected}"
        if not self.items or self.lowest is None or self.highest is None:
            return f"{self.items}{of_all}"
        return f"{self.items}{of_all} ({self.lowest:.4g} to {self.highest:.4g})"


@dataclass(frozen=True, slots=True)
class Known:
    """A run by a measure in the statistics of a job.

    `by_topic` has the value of every topic as it enters the mean, None where none does; it is None
    itself where they do not have it. `aggregate` is how topics make the mean, empty if unknown.
    """

    mean: float | None
    unjudged: Unjudged
    lower_is_better: bool = False
    by_topic: Mapping[str, float | None] | None = None
    aggregate: str = ""


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
