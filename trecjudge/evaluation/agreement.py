"""Agreement of two files of labels."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from trecjudge.errors import InputError
from trecjudge.evaluation.label_sets import LabelSet, in_one_shape, label_set_at
from trecjudge.findings import OnFinding
from trecjudge.judging.nuggets.matching import NOT_STATED, PARTLY, STATED
from trecjudge.records import GRADES
from trecjudge.stats.agreement import Agreed, LabelPairs, agreement

OneSidedItems = Literal["common", "zero", "error"]
SCALES: Sequence[Mapping[str, int]] = (GRADES, {NOT_STATED: 0, PARTLY: 1, STATED: 2})
"""Labels in order: of support by a document, and of nuggets."""
MOST_GRADES = 50
"""Grades farther apart are ordered only: a matrix of all between them would be huge."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two sides: figures and the confusion matrix, rows the truth.

    `only_truth` and `only_predicted` count the items of one side.
    """

    truth: LabelSet
    predicted: LabelSet
    labels: Sequence[str]
    confusion: Sequence[Sequence[int]]
    figures: Sequence[Agreed]
    items: int
    topics: int
    only_truth: int
    only_predicted: int

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "truth": self.truth.name,
            "predicted": self.predicted.name,
            "items": self.items,
            "topics": self.topics,
            "only_truth": self.only_truth,
            "only_predicted": self.only_predicted,
            "unjudged": [self.truth.unjudged, self.predicted.unjudged],
            "labels": self.labels,
            "confusion": self.confusion,
            "figures": [figure.as_dict() for figure in self.figures],
        }


def agree(
    truth: Path,
    predicted: Path,
    report: OnFinding,
    threshold: int | None = 1,
    on_missing: OneSidedItems = "common",
) -> Agreement:
    """Return how two files of labels agree.

    Items are (topic, document) of qrels, and (topic, run, document) where both name runs; (topic,
    run, sentence, document) of judgments and labels, and the nugget where they are on one. An item
    of one side only is left out (`common`), has the lowest label on the other (`zero`), or is an
    error. Without `threshold`, the lowest relevant grade, there are no figures of what is relevant.
    Raises InputError where nothing is in common.
    """
    left, right = in_one_shape(label_set_at(truth, report), label_set_at(predicted, report), report)
    given = left.labels | right.labels
    # The lowest label of whichever kind the two sides have.
    scale = _scale(given)
    zero = min(scale, key=scale.__getitem__) if scale else "0"
    pairs, shared = _pairs(left, right, zero if on_missing == "zero" else None)
    _check_shared(left, right, shared, on_missing)
    labels, ordered = in_order(given | {zero} if on_missing == "zero" else given)
    if on_missing == "zero" and not ordered:
        given_labels = ", ".join(sorted(given))
        raise InputError(f"--on-missing zero: {given_labels} are no grades: none of them is 0")
    ready = pairs.label_pairs(labels)
    relevant = None
    if ordered and threshold is not None:
        relevant = first_relevant(labels, threshold)
    return Agreement(
        truth=left,
        predicted=right,
        labels=labels,
        confusion=ready.confusion(len(labels)).sum(axis=0).astype(int).tolist(),
        figures=agreement(ready, len(labels), ordered, relevant),
        items=len(ready),
        topics=len(ready.topics),
        only_truth=left.size - shared,
        only_predicted=right.size - shared,
    )


def _check_shared(left: LabelSet, right: LabelSet, shared: int, on_missing: OneSidedItems) -> None:
    """Raise InputError where no item is shared, or one too few."""
    for side in (left, right):
        if not side.size:
            raise InputError(f"{side.name}: no labels in it; give qrels, labels or a job")
    missing = (left.size - shared, right.size - shared)
    if any(missing) and on_missing == "error":
        raise InputError(
            f"{missing[0]} items are only in {left.name}, {missing[1]} only in {right.name}"
            " (--on-missing error)"
        )
    if not shared:
        raise InputError(
            f"{left.name} and {right.name} have no item in common: there {_example(left)}, here"
            f" {_example(right)}"
        )


@dataclass(slots=True)
class _Pairs:
    """The labels of items on both sides, as numbers: a million of them are not held as records."""

    topics: dict[str, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    columns: tuple[array[int], array[int], array[int]] = field(
        default_factory=lambda: (array("i"), array("i"), array("i"))
    )
    """Of each item the numbers of its topic and of its labels in the truth and in the predicted."""
    scores: array[float] = field(default_factory=lambda: array("d"))

    def add(self, topic_id: str, truth: str, predicted: str, score: float | None) -> None:
        """Add an item."""
        self.columns[0].append(self.topics.setdefault(topic_id, len(self.topics)))
        for column, label in zip(self.columns[1:], (truth, predicted), strict=True):
            column.append(self.labels.setdefault(label, len(self.labels)))
        self.scores.append(math.nan if score is None else score)

    def label_pairs(self, labels: Sequence[str]) -> LabelPairs:
        """Return them with the places of their labels among `labels`."""
        topics = sorted(self.topics)
        of_topics, of_labels = (
            np.array([order.index(name) for name in numbers], dtype=np.intp)
            for order, numbers in ((topics, self.topics), (labels, self.labels))
        )
        owners, truth, predicted = map(np.asarray, self.columns)
        return LabelPairs(
            topics,
            of_topics[owners],
            of_labels[truth],
            of_labels[predicted],
            np.asarray(self.scores),
        )


def _pairs(left: LabelSet, right: LabelSet, zero: str | None) -> tuple[_Pairs, int]:
    """Return the labels of items on both sides, and how many such items there are.

    With `zero`, an item of one side has that label on the other.
    """
    found, shared = _Pairs(), 0
    for group in dict.fromkeys((*left.groups, *right.groups)):
        theirs = {item: (label, score) for item, label, _, score in right.rows(group)}
        for item, label, _, _ in left.rows(group):
            there = theirs.pop(item, None)
            if there is not None:
                shared += 1
                found.add(group[0], label, *there)
            elif zero is not None:
                found.add(group[0], label, zero, 0.0)
        if zero is not None:
            for label, score in theirs.values():
                found.add(group[0], zero, label, score)
    return found, shared


def in_order(labels: set[str]) -> tuple[list[str], bool]:
    """Return the labels, the lowest grade first, and whether they are grades at all."""
    if scale := _scale(labels):
        return sorted(labels, key=lambda label: scale[label]), True
    if all(label.lstrip("-").isdigit() for label in labels):
        grades = sorted(map(int, labels))
        if grades[-1] - grades[0] < MOST_GRADES:
            # A grade that nobody gave keeps its distance from the others.
            return list(map(str, range(grades[0], grades[-1] + 1))), True
        return list(map(str, grades)), True
    return sorted(labels), False


def _scale(labels: set[str]) -> Mapping[str, int] | None:
    """Return the order of the labels' kind; None where they are of none."""
    return next((scale for scale in SCALES if labels <= set(scale)), None)


def first_relevant(labels: Sequence[str], threshold: int) -> int | None:
    scale = _scale(set(labels))
    grades = [scale[label] if scale else int(label) for label in labels]
    return next((place for place, grade in enumerate(grades) if grade >= threshold), len(grades))


def _example(side: LabelSet) -> str:
    return "none" if side.first is None else f"such as {side.first}"
