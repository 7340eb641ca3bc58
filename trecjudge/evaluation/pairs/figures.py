"""How good verdicts on pairs are: figures of any number of them, with bootstrap intervals.

Those of `calibrate` count every resample in one table, which a hundred thousand pairs do not fit
into: here a resample is worked out at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from trecjudge.stats.resampling import (
    FEWEST_UNITS,
    NO_INTERVAL,
    SEED,
    Array,
    Indices,
    Interval,
    interval_of,
)

Truth = npt.NDArray[np.bool_]
Weighted = Callable[[Array], float]
"""How often each pair counts, (pairs,) -> a figure; NaN where it is not defined."""

RESAMPLES = 1000
BINS = 10
DECIMALS = 4


@dataclass(frozen=True, slots=True)
class PairRows:
    """Judged and labelled pairs, each field of shape (pairs,).

    `human` and `said` are weights of labels (0, 0.5, 1); `supported` and `full` the probabilities,
    NaN where there are none; `owners` the numbers of the groups; `words` of the documents.
    """

    human: Array
    said: Array
    supported: Array
    full: Array
    owners: Indices
    words: Indices

    def __len__(self) -> int:
        return len(self.human)

    def where(self, chosen: Truth) -> PairRows:
        """Return only these rows."""
        return PairRows(*(getattr(self, column.name)[chosen] for column in fields(self)))

    def in_order(self) -> PairRows:
        """Return the rows, and the numbers of their groups, in an order that values make.

        Neither the names of groups nor the order of a file then decides what is drawn.
        """
        values = np.column_stack([self.human, self.said, self.supported, self.full, self.words])
        order = np.lexsort((*values.T[::-1], self.owners))
        starts = np.flatnonzero(np.diff(self.owners[order], prepend=-1))
        keys = [part.tobytes() for part in np.split(values[order], starts[1:])]
        ranks = np.empty(len(keys), dtype=np.intp)
        ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
        owners = np.repeat(ranks, np.diff(starts, append=len(order)))
        again = np.lexsort((*values[order].T[::-1], owners))
        found = (getattr(self, column.name)[order][again] for column in fields(self))
        human, said, supported, full, _, words = found
        return PairRows(human, said, supported, full, owners[again], words)


def auc(scores: Array, positive: Truth) -> Weighted:
    """Return the chance that a positive has the higher score, tied ones counting half."""
    places = np.unique(scores, return_inverse=True)[1].ravel()
    size = int(places.max(initial=-1)) + 1

    def of(weights: Array) -> float:
        above = np.bincount(places, weights * positive, size)
        others = np.bincount(places, weights * ~positive, size)
        whole = float(above.sum() * others.sum())
        # Half of the ties count as below: they are half right.
        below = np.cumsum(others) - others / 2
        return float(above @ below) / whole if whole else np.nan

    return of if not np.isnan(scores).any() else _nan


def same_label(rows: PairRows) -> Weighted:
    """Return the share of pairs with the label of the person, of three."""
    table = _confusion(rows)

    def of(weights: Array) -> float:
        return float(np.trace(table(weights)) / weights.sum())

    return of


def balanced_accuracy(rows: PairRows, lowest: int) -> Weighted:
    """Return the mean of the shares of positives and of others that are called what they are.

    `lowest` is the grade (1 partial, 2 full) from which a pair is positive.
    """
    table = _confusion(rows)

    def of(weights: Array) -> float:
        counts = table(weights)
        below, above = counts[:lowest], counts[lowest:]
        wholes = float(below.sum()), float(above.sum())
        if not all(wholes):
            return np.nan
        return float(below[:, :lowest].sum() / wholes[0] + above[:, lowest:].sum() / wholes[1]) / 2

    return of


def _confusion(rows: PairRows) -> Callable[[Array], Array]:
    """Return what counts pairs by grade, rows those of people: (pairs,) -> (3, 3)."""
    cells = (rows.human * 6 + rows.said * 2).astype(np.intp)

    def counted(weights: Array) -> Array:
        return np.bincount(cells, weights, 9).astype(np.float64).reshape(3, 3)

    return counted


def calibration_error(chances: Array, positive: Truth) -> Weighted:
    """Return the mean |predicted - observed| over ten bins, by pairs (Guo et al., 2017)."""
    if np.isnan(chances).any():
        return _nan
    places = np.minimum((chances * BINS).astype(np.intp), BINS - 1)
    apart = chances - positive

    def of(weights: Array) -> float:
        sums = np.bincount(places, weights * apart, BINS)
        return float(np.abs(sums).sum() / weights.sum())

    return of


def _nan(weights: Array) -> float:
    return np.nan


FIGURES: Mapping[str, Callable[[PairRows], Weighted]] = {
    "AUC, full against the rest": lambda r: auc(r.full, r.human == 1),
    "AUC, supported or not": lambda r: auc(r.supported, r.human > 0),
    "same label of three": same_label,
    "balanced accuracy, full": lambda r: balanced_accuracy(r, 2),
    "balanced accuracy, supported": lambda r: balanced_accuracy(r, 1),
    "calibration error, P(full)": lambda r: calibration_error(r.full, r.human == 1),
    "calibration error, P(supported)": lambda r: calibration_error(r.supported, r.human > 0),
}


@dataclass(frozen=True, slots=True)
class PairFigure:
    """A figure of all pairs of a part, None where it is not defined, with its 95 % interval."""

    name: str
    value: float | None
    interval: Interval

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        low, high = self.interval.round_to(DECIMALS)
        return {"name": self.name, "value": self.value, "low": low, "high": high}


@dataclass(frozen=True, slots=True)
class PairBin:
    """The figures of some pairs; `over` is what was drawn for the intervals, groups or pairs."""

    name: str
    pairs: int
    groups: int
    over: str
    figures: tuple[PairFigure, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "name": self.name,
            "pairs": self.pairs,
            "groups": self.groups,
            "intervals_over": self.over,
            "figures": [figure.as_dict() for figure in self.figures],
        }


def bin_figures(name: str, rows: PairRows) -> PairBin:
    """Return the figures of rows; intervals are over groups where there are six, else over pairs.

    Of fewer than six pairs there are none either.
    """
    rows = rows.in_order()
    found = np.unique(rows.owners, return_inverse=True)[1].ravel()
    groups = int(found.max(initial=-1)) + 1
    by_group = groups >= FEWEST_UNITS
    units = found if by_group else np.arange(len(rows))
    figures = [make(rows) for make in FIGURES.values()]
    every = np.ones(len(rows))
    known = [figure(every) for figure in figures]
    drawn = np.array([[figure(counts) for figure in figures] for counts in _resamples(units)])
    size = groups if by_group else len(rows)
    intervals = [interval_of(column, size) for column in drawn.T] or [NO_INTERVAL] * len(figures)
    parts = zip(FIGURES, known, intervals, strict=True)
    return PairBin(
        name,
        len(rows),
        groups,
        "groups" if by_group else "pairs",
        tuple(PairFigure(n, _number(v), NO_INTERVAL if np.isnan(v) else i) for n, v, i in parts),
    )


def _resamples(units: Indices) -> Iterator[Array]:
    size = int(units.max(initial=-1)) + 1
    random = np.random.default_rng(SEED)
    for _ in range(RESAMPLES if size >= FEWEST_UNITS else 0):
        drawn = np.bincount(random.integers(0, size, size), minlength=size)
        yield drawn[units].astype(np.float64)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), DECIMALS)
