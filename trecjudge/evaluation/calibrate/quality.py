"""Quality of calibrated probabilities: figures with bootstrap intervals over topics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trecjudge.stats.agreement import (
    BINS,
    BoundedFigure,
    auc,
    bins_of,
    calibration_error_figure,
    share_figure,
)
from trecjudge.stats.resampling import FEWEST_UNITS, Interval, grouped_interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Predictions:
    """P(supported), P(full) and the label (0, 0.5, 1) of pairs, each of shape (n,); and topics."""

    supported: Floats
    full: Floats
    labels: Floats
    topics: NDArray[np.str_]


@dataclass(frozen=True, slots=True)
class Bin:
    """Pairs of like probability: how many, its mean, and the share that people supported."""

    pairs: int
    predicted: float
    observed: float


Measured = Callable[[Predictions, Floats], Floats]
"""Predictions, and how often each pair counts, (resamples, pairs) -> (resamples,)."""


def auc_supported(found: Predictions, weights: Floats) -> Floats:
    """Return the AUC of P(supported) for full or partial against no support."""
    return auc(found.supported, found.labels > 0, weights)


def auc_full_against_none(found: Predictions, weights: Floats) -> Floats:
    """Return the AUC of the expected weight for full against no support, partial left out."""
    clear = found.labels != 0.5
    expected = (found.supported + found.full) / 2
    return auc(expected[clear], found.labels[clear] == 1, weights[:, clear])


def labels_of(found: Predictions) -> Floats:
    """Return the most probable label (0, 0.5, 1) of each pair, the higher of equal ones."""
    partial = found.supported - found.full
    chances = np.stack([found.full, partial, 1 - found.supported], axis=1)
    return np.asarray(1 - chances.argmax(axis=1) / 2, dtype=np.float64)


def accuracy_of_three(found: Predictions, weights: Floats) -> Floats:
    """Return the share of pairs whose most probable label is the person's."""
    return share_figure(labels_of(found) == found.labels)(weights)


def accuracy_of_two(found: Predictions, weights: Floats) -> Floats:
    """Return the share of pairs rightly called supported or not, at a probability of 0.5."""
    return share_figure((found.supported >= 0.5) == (found.labels > 0))(weights)


def reliability(found: Predictions) -> list[Bin]:
    """Return the pairs in ten bins of P(supported), of equal width; empty ones left out."""
    places = bins_of(found.supported)
    rows = [np.flatnonzero(places == number) for number in range(BINS)]
    return [
        Bin(len(r), float(found.supported[r].mean()), float((found.labels[r] > 0).mean()))
        for r in rows
        if len(r)
    ]


def expected_calibration_error(found: Predictions, weights: Floats) -> Floats:
    """Return the calibration error of P(supported)."""
    return calibration_error_figure(found.supported, found.labels > 0)(weights)


FIGURES: dict[str, Measured] = {
    "AUC supported or not": auc_supported,
    "AUC full against none": auc_full_against_none,
    "same label of three": accuracy_of_three,
    "same label of two": accuracy_of_two,
    "expected calibration error": expected_calibration_error,
}


def figures(found: Predictions) -> list[BoundedFigure]:
    """Return all figures. The same predictions always give the same intervals."""
    return [
        BoundedFigure(name, value(of, found), interval(of, found)) for name, of in FIGURES.items()
    ]


def value(of: Measured, found: Predictions) -> float | None:
    """Return a figure of all pairs; None where it is not defined."""
    (whole,) = of(found, np.ones((1, len(found.labels)))).tolist()
    return None if np.isnan(whole) else whole


def interval(of: Measured, found: Predictions) -> Interval:
    """Return the interval of a figure over topics; none of too few."""
    rows = np.column_stack([found.labels, found.supported, found.full])
    return grouped_interval(lambda weights: of(found, weights), found.topics.tolist(), rows)


def why_no_interval(found: Predictions, what: str) -> str | None:
    """Return why figures over few topics, or groups called `what`, have no interval; else None."""
    groups = len(np.unique(found.topics))
    if groups >= FEWEST_UNITS:
        return None
    return f"no interval over {groups} {what}: of fewer than {FEWEST_UNITS} it would not hold"
