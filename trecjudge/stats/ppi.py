"""Prediction-powered means: a judge's scores on everything, corrected by a few human labels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trecjudge.stats.resampling import ALIKE, NO_INTERVAL, Array, Interval, student_quantile

DIGITS = 6


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval; none where too little is labelled."""

    mean: float
    interval: Interval


def ppi_mean(
    labels: Array, labelled: Array, everything: Array, share: float = 1.0, among: bool = False
) -> Estimate:
    """Return the prediction-powered mean, from predictions and some labels.

    mean(everything) - share x mean(labelled - labels): `everything` are the predictions, (N,);
    `labelled` the predictions, (n,), where `labels`, (n,), were given. (Angelopoulos et al.,
    Science 2023; ARES, Saad-Falcon et al., NAACL 2024.) `share` is the part of `everything` that
    labels could change; `among`: the labelled ones are among `everything`, else they are
    apart from it. The interval is by Student's t with n - 1 degrees of freedom; none where n < 2.
    """
    error = labelled - labels
    mean = float(everything.mean() - share * error.mean())
    if len(labels) < 2 or len(everything) < 2:
        return Estimate(mean, NO_INTERVAL)
    variance = everything.var(ddof=1) / len(everything) + share**2 * error.var(ddof=1) / len(error)
    # The same responses are in both terms: what they share is subtracted twice.
    if among:
        both = np.cov(labelled, error, ddof=1)[0, 1]
        variance = max(0.0, variance - 2 * share * both / len(everything))
    return _estimate(mean, math.sqrt(variance), len(labels))


def labels_mean(labels: Array, known: float = 0.0, share: float = 1.0) -> Estimate:
    """Return the mean by labels only: known + share x mean(labels), `known` being certain."""
    mean = float(known + share * labels.mean())
    if len(labels) < 2:
        return Estimate(mean, NO_INTERVAL)
    return _estimate(mean, share * float(labels.std(ddof=1)) / math.sqrt(len(labels)), len(labels))


def _estimate(mean: float, error: float, labels: int) -> Estimate:
    half = student_quantile(labels - 1) * error
    if half <= ALIKE:  # nothing varies: that is no certainty, only no measure of uncertainty
        return Estimate(mean, NO_INTERVAL)
    return Estimate(mean, Interval(mean - half, mean + half))


@dataclass(frozen=True, slots=True)
class Corrected:
    """The mean of a run by a measure as some labels of people correct it.

    `labelled` counts the responses with labels. `labels_mean` is what those give by themselves.
    """

    labelled: int
    mean: float
    low: float | None
    high: float | None
    labels_mean: float | None
    labels_low: float | None
    labels_high: float | None


def corrected(
    predictions: Array, estimates: Array, without_judge: Array, certain: npt.NDArray[np.bool_]
) -> Corrected | None:
    """Return a run's mean over its topics, corrected: all of shape (topics,).

    `estimates` are what labels make of a prediction, `without_judge` what they give without
    it; NaN where a response has no labels. `certain` is true where there is nothing to label, such
    as for a response that is not there. None without any label.
    """
    open_ = ~certain
    labelled = open_ & ~np.isnan(estimates)
    if not labelled.any():
        return None
    share = float(open_.mean())
    # Labels are a sample of the open topics only: certain ones are no part of it, and need none.
    found = ppi_mean(estimates[labelled], predictions[labelled], predictions, share, among=True)
    known = float(predictions[certain].sum() / len(predictions))
    single = without_judge[open_ & ~np.isnan(without_judge)]
    without = labels_mean(single, known, share) if len(single) else None
    low, high = found.interval.rounded(DIGITS)
    labels_low, labels_high = (without.interval if without else NO_INTERVAL).rounded(DIGITS)
    return Corrected(
        labelled=int(labelled.sum()),
        mean=round(found.mean, DIGITS),
        low=low,
        high=high,
        labels_mean=None if without is None else round(without.mean, DIGITS),
        labels_low=labels_low,
        labels_high=labels_high,
    )
