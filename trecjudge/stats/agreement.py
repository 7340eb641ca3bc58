"""Agreement of two sides on the labels of items: confusion, kappa, alpha, overlap, AUC.

Figures are functions of confusion matrices, shape (..., labels, labels), rows the truth, so that
all resamples are worked out at once; NaN is what is not defined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trecjudge.stats.resampling import (
    NO_INTERVAL,
    Array,
    Interval,
    draws,
    grouped_interval,
    interval_of,
    ratio,
)

AgreementFigure = Callable[[Array], Array]
"""(..., labels, labels) -> (...)"""

RESAMPLES = 1000
"""Half as many as for means: a figure of a resample takes longer."""
SHOWN = 6
"""Decimals of a figure."""


@dataclass(frozen=True, slots=True)
class LabelPair:
    """One item as both sides have it: places among the labels, and a score where there is one."""

    topic_id: str
    truth: int
    predicted: int
    score: float | None = None


def accuracy(confusion: Array) -> Array:
    """Return the share of items with the same label on both sides."""
    return ratio(np.trace(confusion, axis1=-2, axis2=-1), confusion.sum(axis=(-2, -1)))


def kappa(power: int) -> AgreementFigure:
    """Return Cohen's kappa, its weights by `power` of the distance: 0 plain, 1 linear, 2 quadratic.

    Cohen, Educational and Psychological Measurement 1960; Psychological Bulletin 1968.
    """

    def weighted(confusion: Array) -> Array:
        places = np.arange(confusion.shape[-1])
        apart = np.abs(places[:, None] - places[None, :])
        weights = (apart > 0).astype(float) if power == 0 else apart.astype(float) ** power
        items = confusion.sum(axis=(-2, -1))
        rows, columns = confusion.sum(axis=-1), confusion.sum(axis=-2)
        expected = rows[..., :, None] * columns[..., None, :]
        by_chance = ratio((weights * expected).sum(axis=(-2, -1)), items)
        return 1 - ratio((weights * confusion).sum(axis=(-2, -1)), by_chance)

    return weighted


def alpha(ordinal: bool) -> AgreementFigure:
    """Return Krippendorff's alpha of two coders without gaps, nominal or ordinal.

    Krippendorff, Content Analysis, 2004, ch. 11.
    """

    def reliability(confusion: Array) -> Array:
        coincidences = confusion + np.swapaxes(confusion, -2, -1)
        totals = coincidences.sum(axis=-1)
        # Without replacement: an item is not paired with itself, hence values - 1 below.
        values = totals.sum(axis=-1)
        distance = _ordinal(totals) if ordinal else 1.0 - np.eye(confusion.shape[-1])
        observed = (coincidences * distance).sum(axis=(-2, -1))
        expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-2, -1))
        return 1 - ratio(observed * (values - 1), expected)

    return reliability


def _ordinal(totals: Array) -> Array:
    """Return squared ordinal distances: by how many values lie between two labels."""
    # Half of a label's own values count as below it: ties stand in the middle.
    below = np.cumsum(totals, axis=-1) - totals / 2
    distance: Array = (below[..., :, None] - below[..., None, :]) ** 2
    return distance


def precision(confusion: Array) -> Array:
    """Return relevant on both sides / relevant on the predicted; labels are 0 and 1 here.

    1 where neither side has any relevant item, 0 where only the predicted side has none.
    """
    return _overlap(confusion, confusion[..., :, 1].sum(axis=-1))


def recall(confusion: Array) -> Array:
    """Return relevant on both sides / relevant in the truth, with the rules of `precision`."""
    return _overlap(confusion, confusion[..., 1, :].sum(axis=-1))


def f1(confusion: Array) -> Array:
    """Return the harmonic mean of precision and recall, with the rules of `precision`."""
    found = confusion[..., :, 1].sum(axis=-1) + confusion[..., 1, :].sum(axis=-1)
    return _overlap(confusion, found / 2)


def _overlap(confusion: Array, of: Array) -> Array:
    nothing = confusion.sum(axis=(-2, -1)) == confusion[..., 0, 0]
    # Not NaN, as kappa is: a topic that a side finds nothing relevant on stays in the mean.
    share = np.nan_to_num(ratio(confusion[..., 1, 1], of))
    return np.where(nothing, 1.0, share)


def auc(scores: Array, relevant: npt.NDArray[np.bool_], weights: Array) -> Array:
    """Return the chance that a relevant item has the higher score, tied ones counting half.

    `weights` are how often each item counts: (resamples, items) -> (resamples,). NaN where items
    of either kind are missing.
    """
    places = np.unique(scores, return_inverse=True)[1]
    sums = np.zeros((2, len(weights), places.max(initial=-1) + 1))
    for kind in (0, 1):
        chosen = np.flatnonzero(relevant == bool(kind))
        for place, column in zip(places[chosen], weights[:, chosen].T, strict=True):
            sums[kind, :, place] += column
    # Half of the ties count as below: they are half right.
    below = np.cumsum(sums[0], axis=1) - sums[0] / 2
    whole = sums[0].sum(axis=1) * sums[1].sum(axis=1)
    return ratio((sums[1] * below).sum(axis=1), whole)


LABEL_FIGURES: Mapping[str, AgreementFigure] = {
    "accuracy": accuracy,
    "kappa": kappa(0),
    "alpha_nominal": alpha(ordinal=False),
}
GRADE_FIGURES: Mapping[str, AgreementFigure] = {
    "kappa_linear": kappa(1),
    "kappa_quadratic": kappa(2),
    "alpha_ordinal": alpha(ordinal=True),
}
SET_FIGURES: Mapping[str, AgreementFigure] = {"precision": precision, "recall": recall, "f1": f1}


@dataclass(frozen=True, slots=True)
class Agreed:
    """A figure of agreement: over all items with its interval, and by topic.

    `mean` is over the `defined` topics on which it is defined. None is what is not defined.
    """

    name: str
    pooled: float | None
    interval: Interval
    by_topic: Mapping[str, float | None]

    @property
    def defined(self) -> int:
        """On how many topics the figure is defined."""
        return sum(value is not None for value in self.by_topic.values())

    @property
    def mean(self) -> float | None:
        """The mean over these topics."""
        known = [value for value in self.by_topic.values() if value is not None]
        return round(sum(known) / len(known), SHOWN) if known else None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "figure": self.name,
            "pooled": self.pooled,
            "interval": self.interval,
            "mean_of_topics": self.mean,
            "topics_defined": self.defined,
            "by_topic": self.by_topic,
        }


def agreement(
    pairs: Sequence[LabelPair], labels: int, ordered: bool = True, threshold: int | None = None
) -> list[Agreed]:
    """Return all figures that the pairs allow; intervals are over topics.

    `labels` is their number, `ordered` whether they are grades. `threshold` is the place of the
    first label that is relevant; without it there is no overlap and no AUC.
    """
    topics = sorted({pair.topic_id for pair in pairs})
    confusion = _confusion(pairs, topics, labels)
    figures = {**LABEL_FIGURES, **(GRADE_FIGURES if ordered else {})}
    found = [_agreed(name, figure, confusion, topics) for name, figure in figures.items()]
    if threshold is None:
        return found
    # Relevant or not: the same figures of two labels.
    cut = [
        LabelPair(p.topic_id, int(p.truth >= threshold), int(p.predicted >= threshold))
        for p in pairs
    ]
    halves = _confusion(cut, topics, 2)
    found += [_agreed(name, figure, halves, topics) for name, figure in SET_FIGURES.items()]
    if all(pair.score is not None for pair in pairs):
        found.append(_auc(pairs, threshold, topics))
    return found


def _confusion(pairs: Sequence[LabelPair], topics: Sequence[str], labels: int) -> Array:
    """Return the confusion matrix of each topic: (topics, labels, labels)."""
    counts = np.zeros((len(topics), labels, labels))
    at = {topic: place for place, topic in enumerate(topics)}
    for pair in pairs:
        counts[at[pair.topic_id], pair.truth, pair.predicted] += 1
    return counts


def _agreed(name: str, figure: AgreementFigure, confusion: Array, topics: Sequence[str]) -> Agreed:
    by_topic = dict(zip(topics, map(_number, figure(confusion)), strict=True))
    interval = NO_INTERVAL
    if len(topics) > 1:
        # An order that counts make: no name decides which topics are drawn.
        order = np.lexsort(confusion.reshape(len(topics), -1).T)
        drawn = np.tensordot(draws(len(topics), RESAMPLES), confusion[order], axes=1)
        interval = interval_of(figure(drawn), len(topics)).rounded(SHOWN)
    return Agreed(name, _number(float(figure(confusion.sum(axis=0)))), interval, by_topic)


def _auc(pairs: Sequence[LabelPair], threshold: int, topics: Sequence[str]) -> Agreed:
    scores = np.array([np.nan if p.score is None else p.score for p in pairs])
    relevant = np.array([p.truth >= threshold for p in pairs])
    owners = [p.topic_id for p in pairs]
    rows: dict[str, list[int]] = {topic: [] for topic in topics}
    for row, topic in enumerate(owners):
        rows[topic].append(row)
    by_topic = {
        topic: _number(auc(scores[own], relevant[own], np.ones((1, len(own))))[0])
        for topic, own in rows.items()
    }
    interval = grouped_interval(
        lambda weights: auc(scores, relevant, weights),
        owners,
        np.column_stack([relevant, scores]),
        RESAMPLES,
    )
    pooled = auc(scores, relevant, np.ones((1, len(pairs))))[0]
    return Agreed("auc", _number(pooled), interval.rounded(SHOWN), by_topic)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), SHOWN)
