"""Agreement of two sides on the labels of items: confusion, kappa, alpha, overlap, AUC, bins.

Figures are functions of confusion matrices, shape (..., labels, labels), rows the truth, so that
all resamples are worked out at once; NaN is what is not defined.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from trecjudge.measures import DIGITS
from trecjudge.stats.resampling import (
    FEWER_RESAMPLES,
    NO_INTERVAL,
    Array,
    Indices,
    Interval,
    draws,
    interval_of,
    ratio,
)

AgreementFigure = Callable[[Array], Array]
"""(..., labels, labels) -> (...)"""
ItemFigure = Callable[[Array], Array]
"""How often each item counts, (resamples, items) -> (resamples,)"""
Flags = npt.NDArray[np.bool_]
"""(items,)"""

BLOCK = 256
"""Topics whose pairs are counted at once."""
BINS = 10
"""Bins of equal width that calibration is looked at in."""
DECIMALS = 4
"""Of a figure of probabilities and labels, in files."""


@dataclass(frozen=True, slots=True)
class BoundedFigure:
    """A figure of items, None where it is not defined, with its 95 % interval."""

    name: str
    value: float | None
    interval: Interval

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values, with DECIMALS."""
        low, high = self.interval.round_to(DECIMALS)
        value = None if self.value is None else round(self.value, DECIMALS)
        return {"name": self.name, "value": value, "low": low, "high": high}


class LabelPair(NamedTuple):
    """One item as both sides have it: places among the labels, and a score where there is one."""

    topic_id: str
    truth: int
    predicted: int
    score: float | None = None


@dataclass(frozen=True, slots=True)
class LabelPairs:
    """Items as both sides have them, a column of numbers for each field of a `LabelPair`.

    `owners` are the places of their topics among `topics`, which are sorted; `scores` are NaN where
    there is none.
    """

    topics: Sequence[str]
    owners: Indices
    truth: Indices
    predicted: Indices
    scores: Array

    @classmethod
    def of(cls, pairs: Iterable[LabelPair]) -> LabelPairs:
        """Return the columns of some pairs: a million of them are not held as records."""
        numbers: dict[str, int] = {}
        owners, truth, predicted = array("i"), array("i"), array("i")
        scores = array("d")
        for pair in pairs:
            owners.append(numbers.setdefault(pair.topic_id, len(numbers)))
            truth.append(pair.truth)
            predicted.append(pair.predicted)
            scores.append(np.nan if pair.score is None else pair.score)
        topics = sorted(numbers)
        places = {topic_id: place for place, topic_id in enumerate(topics)}
        place_of = np.array([places[topic_id] for topic_id in numbers], dtype=np.intp)
        return cls(
            topics,
            place_of[np.asarray(owners)],
            np.asarray(truth, dtype=np.intp),
            np.asarray(predicted, dtype=np.intp),
            np.asarray(scores),
        )

    def __len__(self) -> int:
        return len(self.owners)

    def confusion(self, labels: int) -> Array:
        """Return the confusion matrix of each topic: (topics, labels, labels)."""
        cells = (self.owners * labels + self.truth) * labels + self.predicted
        counts = np.bincount(cells, minlength=len(self.topics) * labels * labels)
        return counts.astype(float).reshape(len(self.topics), labels, labels)

    def cut(self, threshold: int) -> LabelPairs:
        """Return them with two labels: whether theirs are at that place or behind it."""
        truth, predicted = (
            (side >= threshold).astype(np.intp) for side in (self.truth, self.predicted)
        )
        return replace(self, truth=truth, predicted=predicted)


def accuracy(confusion: Array) -> Array:
    """Return the share of items with the same label on both sides."""
    return ratio(np.trace(confusion, axis1=-2, axis2=-1), confusion.sum(axis=(-2, -1)))


def accuracy_without(label: int) -> AgreementFigure:
    """Return the same of the items to which neither side gives a label, such as a tie."""

    def of_others(confusion: Array) -> Array:
        return accuracy(np.delete(np.delete(confusion, label, axis=-1), label, axis=-2))

    return of_others


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


def tau_b(confusion: Array) -> Array:
    """Return Kendall's tau-b of two gradings of the same items, -1 to 1: how alike they order them.

    NaN where one side has a single grade. Kendall, Biometrika 1945.
    """
    agreeing = _pairs_in_order(confusion) - _pairs_in_order(np.flip(confusion, axis=-1))
    squared = confusion.sum(axis=(-2, -1)) ** 2
    untied = [squared - (confusion.sum(axis=side) ** 2).sum(axis=-1) for side in (-1, -2)]
    return ratio(2 * agreeing, np.sqrt(untied[0] * untied[1]))


def _pairs_in_order(confusion: Array) -> Array:
    """Return how many pairs of items both sides order alike."""
    behind = np.flip(confusion, axis=(-2, -1)).cumsum(axis=-2).cumsum(axis=-1)
    behind = np.flip(behind, axis=(-2, -1))
    alike: Array = (confusion[..., :-1, :-1] * behind[..., 1:, 1:]).sum(axis=(-2, -1))
    return alike


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


def auc_figure(scores: Array, relevant: Flags) -> ItemFigure:
    """Return the chance that a relevant item has the higher score, tied ones counting half.

    NaN where items of either kind are missing, or one has no score.
    """
    places = np.unique(scores, return_inverse=True)[1].ravel()
    size, is_scored = int(places.max(initial=-1)) + 1, not np.isnan(scores).any()
    kinds = [(kind, places[kind]) for kind in map(np.flatnonzero, (relevant, ~relevant))]

    def chance(weights: Array) -> Array:
        if not is_scored:
            return np.full(len(weights), np.nan)
        above, others = (
            np.array([np.bincount(own, row[kind], size) for row in weights]) for kind, own in kinds
        )
        # Half of the ties count as below: they are half right.
        below = np.cumsum(others, axis=1) - others / 2
        return ratio((above * below).sum(axis=1), above.sum(axis=1) * others.sum(axis=1))

    return chance


def auc(scores: Array, relevant: Flags, weights: Array) -> Array:
    """Return the same at once for `weights`, (resamples, items) -> (resamples,)."""
    return auc_figure(scores, relevant)(weights)


def separation(higher: Sequence[float], lower: Sequence[float]) -> float:
    """Return the same of two lists of scores: how often one that should be higher is."""
    scores = np.array([*higher, *lower])
    relevant = np.arange(len(scores)) < len(higher)
    return float(auc(scores, relevant, np.ones((1, len(scores))))[0])


def share_figure(right: Flags) -> ItemFigure:
    """Return the share of items that are right, such as those with the label of a person."""
    ones = right.astype(float)
    return lambda weights: ratio(weights @ ones, weights.sum(axis=1))


def balanced_accuracy_figure(said: Flags, truth: Flags) -> ItemFigure:
    """Return the mean of the shares of positives and of negatives that are said to be so.

    NaN where items of either kind are missing.
    """
    kinds = [np.stack([kind & (said == truth), kind], 1).astype(float) for kind in (~truth, truth)]

    def mean_of_shares(weights: Array) -> Array:
        below, above = (ratio(*(weights @ kind).T) for kind in kinds)
        return (below + above) / 2

    return mean_of_shares


def brier_figure(chances: Array, truth: Flags) -> ItemFigure:
    """Return the mean squared distance of chances from what is true (Brier, 1950): 0 is best.

    NaN where an item has no chance.
    """
    squared = (chances - truth) ** 2
    return lambda weights: ratio(weights @ squared, weights.sum(axis=1))


def calibration_error_figure(chances: Array, truth: Flags) -> ItemFigure:
    """Return the mean |predicted - observed| over BINS, by items (Guo et al., 2017).

    NaN where an item has no chance.
    """
    if np.isnan(chances).any():
        return lambda weights: np.full(len(weights), np.nan)
    places, apart = bins_of(chances), chances - truth

    def error(weights: Array) -> Array:
        sums = np.array([np.bincount(places, row * apart, BINS) for row in weights])
        return ratio(np.abs(sums).sum(axis=1), weights.sum(axis=1))

    return error


def bins_of(chances: Array) -> Indices:
    """Return the place of each chance, 0 to 1, among BINS of equal width; 1 is in the last."""
    return np.minimum((chances * BINS).astype(np.intp), BINS - 1)


def auc_of_topics(scores: Array, relevant: Flags, owners: Indices, weights: Array) -> Array:
    """Return the same where items count as often as the topics that own them.

    `weights` are how often each topic counts: (resamples, topics) -> (resamples,). Neither memory
    nor time grows with resamples x items.
    """
    sums = np.zeros(len(weights))
    # Counts of pairs are halves of whole numbers: their sums are exact, in whatever order.
    for block, won in _pairs_won(scores, relevant, owners, weights.shape[1]):
        sums += ((weights @ won) * weights[:, block]).sum(axis=1)
    kinds = (np.bincount(owners[k], minlength=weights.shape[1]) for k in (relevant, ~relevant))
    return ratio(sums, np.prod([weights @ count for count in kinds], axis=0))


def _pairs_won(
    scores: Array, relevant: Flags, owners: Indices, topics: int
) -> Iterator[tuple[slice, Array]]:
    """Yield a block of topics, and how many pairs relevant items win against their other items.

    (topics, block), the rows the topics of the relevant items; tied ones count half.
    """
    places = np.unique(scores, return_inverse=True)[1].ravel()
    winners, scale = np.flatnonzero(relevant), int(places.max(initial=-1)) + 1
    rows = _rows_of(owners, topics)
    for start in range(0, topics, BLOCK):
        won = np.zeros((topics, min(BLOCK, topics - start)))
        for column in range(won.shape[1]):
            own = rows[start + column]
            counts = np.bincount(places[own[~relevant[own]]], minlength=scale)
            # Half of the ties count as below: they are half right.
            below = np.cumsum(counts) - counts / 2
            won[:, column] = np.bincount(owners[winners], below[places[winners]], topics)
        yield slice(start, start + won.shape[1]), won


def _rows_of(owners: Indices, topics: int) -> list[Indices]:
    ends = np.cumsum(np.bincount(owners, minlength=topics))
    return np.split(np.argsort(owners, kind="stable"), ends[:-1])


LABEL_FIGURES: Mapping[str, AgreementFigure] = {
    "accuracy": accuracy,
    "kappa": kappa(0),
    "alpha_nominal": alpha(ordinal=False),
}
GRADE_FIGURES: Mapping[str, AgreementFigure] = {
    "kappa_linear": kappa(1),
    "kappa_quadratic": kappa(2),
    "alpha_ordinal": alpha(ordinal=True),
    "tau_b": tau_b,
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
    def topics_defined(self) -> int:
        """On how many topics the figure is defined."""
        return sum(value is not None for value in self.by_topic.values())

    @property
    def mean(self) -> float | None:
        """The mean over these topics."""
        known = [value for value in self.by_topic.values() if value is not None]
        return round(sum(known) / len(known), DIGITS) if known else None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "figure": self.name,
            "pooled": self.pooled,
            "interval": self.interval,
            "mean_of_topics": self.mean,
            "topics_defined": self.topics_defined,
            "by_topic": self.by_topic,
        }


def agreement(
    pairs: LabelPairs,
    labels: int,
    ordered: bool = True,
    threshold: int | None = None,
    tie: int | None = None,
) -> list[Agreed]:
    """Return all figures that the pairs allow; intervals are over topics.

    `labels` is their number, `ordered` whether they are grades. `threshold` is the place of the
    first label that is relevant; without it there is no overlap and no AUC. `tie` is the place of
    the label of battles that nobody wins.
    """
    topics, confusion = pairs.topics, pairs.confusion(labels)
    figures = {**LABEL_FIGURES, **(GRADE_FIGURES if ordered else {})}
    if tie is not None:
        figures["accuracy_without_ties"] = accuracy_without(tie)
    found = [agreement_figure(name, figure, confusion, topics) for name, figure in figures.items()]
    if threshold is None:
        return found
    # Relevant or not: the same figures of two labels.
    halves = pairs.cut(threshold).confusion(2)
    found += [
        agreement_figure(name, figure, halves, topics) for name, figure in SET_FIGURES.items()
    ]
    if not np.isnan(pairs.scores).any():
        found.append(_auc(pairs, threshold))
    return found


def agreement_figure(
    name: str, figure: AgreementFigure, confusion: Array, topics: Sequence[str]
) -> Agreed:
    """Return a figure of the confusion matrices of topics: (topics, labels, labels)."""
    by_topic = dict(zip(topics, map(_number, figure(confusion)), strict=True))
    interval = NO_INTERVAL
    if len(topics) > 1:
        # Ordered by counts: no name decides which topics are drawn.
        order = np.lexsort(confusion.reshape(len(topics), -1).T)
        drawn = np.tensordot(draws(len(topics), FEWER_RESAMPLES), confusion[order], axes=1)
        interval = interval_of(figure(drawn), len(topics)).round_to(DIGITS)
    return Agreed(name, _number(float(figure(confusion.sum(axis=0)))), interval, by_topic)


def _auc(pairs: LabelPairs, threshold: int) -> Agreed:
    scores, relevant, owners = pairs.scores, pairs.truth >= threshold, pairs.owners
    rows = _rows_of(owners, len(pairs.topics))

    def of(own: Indices) -> float:
        together = np.zeros(len(own), dtype=np.intp)
        return float(auc_of_topics(scores[own], relevant[own], together, np.ones((1, 1)))[0])

    # Ordered by values: no name decides which topics are drawn.
    keys = [_key(relevant[own], scores[own]) for own in rows]
    places = np.argsort(sorted(range(len(rows)), key=lambda topic: keys[topic]))
    drawn = auc_of_topics(scores, relevant, owners, draws(len(rows), FEWER_RESAMPLES)[:, places])
    by_topic = {t: _number(of(own)) for t, own in zip(pairs.topics, rows, strict=True)}
    interval = interval_of(drawn, len(rows)).round_to(DIGITS)
    return Agreed("auc", _number(of(np.arange(len(owners)))), interval, by_topic)


def _key(relevant: Flags, scores: Array) -> bytes:
    """Return bytes that are ordered as the sorted (relevant, score) of a topic's items are."""
    order = np.lexsort((scores, relevant))
    held = np.zeros(len(order), dtype=[("relevant", "u1"), ("score", ">u8")])
    held["relevant"] = relevant[order]
    # The bits of a float are ordered as it is once the sign is turned, and all of a negative one.
    bits = (scores[order] + 0.0).view(np.int64)
    held["score"] = bits.view(np.uint64) ^ ((bits >> 63) | np.int64(-(2**63))).view(np.uint64)
    return held.tobytes()


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), DIGITS)


Cell = tuple[str, str, str]
"""(topic_id, label of one voter, label of the other)"""


@dataclass(frozen=True, slots=True)
class VoterPair:
    """How two voters agree on the items that both decided; figures are None if not defined."""

    voters: tuple[str, str]
    items: int
    same: float | None
    kappa: Agreed

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        figure = {"kappa": self.kappa.pooled, "interval": list(self.kappa.interval)}
        return {"voters": list(self.voters), "items": self.items, "same": self.same} | figure


def voter_pair(voters: tuple[str, str], cells: Mapping[Cell, int]) -> VoterPair:
    """Return how two voters agree, by how many items of a topic have which two labels."""
    topics, confusion = _confusion(cells)
    same = agreement_figure("same", accuracy, confusion, topics).pooled
    found = agreement_figure("kappa", kappa(0), confusion, topics)
    return VoterPair(voters, sum(cells.values()), same, found)


def alpha_of_all(cells: Mapping[Cell, float]) -> Agreed:
    """Return Krippendorff's nominal alpha of all voters; items may lack some of them.

    `cells` count the pairs of votes on an item, each 1 / (votes on the item - 1). Krippendorff,
    Content Analysis, 2004, ch. 11.
    """
    topics, confusion = _confusion(cells)
    return agreement_figure("alpha", alpha(ordinal=False), confusion, topics)


def _confusion(cells: Mapping[Cell, float]) -> tuple[Sequence[str], Array]:
    """Return the topics, sorted, and their matrices: (topics, labels, labels)."""
    topics = sorted({topic for topic, _, _ in cells})
    labels = sorted({label for _, one, other in cells for label in (one, other)})
    rows = {topic: place for place, topic in enumerate(topics)}
    places = {label: place for place, label in enumerate(labels)}
    counts = np.zeros((len(topics), len(labels), len(labels)))
    for (topic, one, other), count in cells.items():
        counts[rows[topic], places[one], places[other]] += count
    return topics, counts
