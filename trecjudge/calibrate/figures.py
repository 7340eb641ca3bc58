"""How good calibrated probabilities are: figures with bootstrap intervals over topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 1000
BINS = 10


@dataclass(frozen=True, slots=True)
class Predictions:
    """P(supported), P(full) and the label (0, 0.5, 1) of pairs, each of shape (n,); and topics."""

    supported: Floats
    full: Floats
    labels: Floats
    topics: NDArray[np.str_]

    def at(self, rows: NDArray[np.intp]) -> Predictions:
        """Return these rows."""
        return Predictions(
            self.supported[rows], self.full[rows], self.labels[rows], self.topics[rows]
        )


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with the 95 % interval of its bootstrap over topics; NaN where there is none."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Bin:
    """Pairs of like probability: how many, its mean, and the share that people supported."""

    pairs: int
    predicted: float
    observed: float


def auc(scores: Floats, positive: NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve, ties counting half; NaN without both kinds."""
    negatives = np.sort(scores[~positive])
    if not len(negatives) or not positive.any():
        return float("nan")
    below = np.searchsorted(negatives, scores[positive], "left")
    upto = np.searchsorted(negatives, scores[positive], "right")
    return float((below + upto).mean() / 2 / len(negatives))


def auc_supported(found: Predictions) -> float:
    """Return the AUC of P(supported) for full or partial against no support."""
    return auc(found.supported, found.labels > 0)


def auc_full_against_none(found: Predictions) -> float:
    """Return the AUC of the expected weight for full against no support, partial left out."""
    clear = found.labels != 0.5
    return auc((found.supported + found.full)[clear] / 2, found.labels[clear] == 1)


def labels_of(found: Predictions) -> Floats:
    """Return the most probable label (0, 0.5, 1) of each pair, the higher of equal ones."""
    partial = found.supported - found.full
    chances = np.stack([found.full, partial, 1 - found.supported], axis=1)
    return np.asarray(1 - chances.argmax(axis=1) / 2, dtype=np.float64)


def accuracy_of_three(found: Predictions) -> float:
    """Return the share of pairs whose most probable label is the person's."""
    return float((labels_of(found) == found.labels).mean())


def accuracy_of_two(found: Predictions) -> float:
    """Return the share of pairs told rightly to be supported or not, at a probability of 0.5."""
    return float(((found.supported >= 0.5) == (found.labels > 0)).mean())


def reliability(found: Predictions) -> list[Bin]:
    """Return the pairs in ten bins of P(supported), of equal width; empty ones left out."""
    index = np.minimum((found.supported * BINS).astype(int), BINS - 1)
    rows = [np.flatnonzero(index == number) for number in range(BINS)]
    return [
        Bin(len(r), float(found.supported[r].mean()), float((found.labels[r] > 0).mean()))
        for r in rows
        if len(r)
    ]


def expected_calibration_error(found: Predictions) -> float:
    """Return the mean |predicted - observed| over the bins, by pairs (Guo et al., 2017)."""
    bins = reliability(found)
    total = sum(b.pairs for b in bins)
    return sum(b.pairs * abs(b.predicted - b.observed) for b in bins) / total


FIGURES: dict[str, Callable[[Predictions], float]] = {
    "AUC supported or not": auc_supported,
    "AUC full against none": auc_full_against_none,
    "same label of three": accuracy_of_three,
    "same label of two": accuracy_of_two,
    "expected calibration error": expected_calibration_error,
}


def figures(found: Predictions, resamples: int = RESAMPLES) -> list[Figure]:
    """Return all figures. The same predictions always give the same intervals."""
    draws = list(topic_draws(found.topics, resamples))
    return [
        Figure(name, of(found), *interval([of(found.at(rows)) for rows in draws]))
        for name, of in FIGURES.items()
    ]


def topic_draws(topics: NDArray[np.str_], resamples: int) -> Sequence[NDArray[np.intp]]:
    """Return the rows of resampled topics; none where there are fewer than three topics."""
    rows = [np.flatnonzero(topics == topic) for topic in np.unique(topics)]
    if len(rows) < 3:
        return []
    random = np.random.default_rng(0)
    return [
        np.concatenate([rows[index] for index in random.integers(len(rows), size=len(rows))])
        for _ in range(resamples)
    ]


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 2.5 and 97.5 percentiles; NaN where there is no value."""
    known = [value for value in values if not np.isnan(value)]
    if not known:
        return float("nan"), float("nan")
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)
