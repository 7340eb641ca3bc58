"""Agreement of two files of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from trecjudge.errors import InputError
from trecjudge.evaluation.label_sets import LabelledItem, LabelSet, in_one_shape, label_set_at
from trecjudge.findings import OnFinding
from trecjudge.records import GRADES, NONE
from trecjudge.stats.agreement import Agreed, LabelPair, agreement

OneSidedItems = Literal["common", "zero", "error"]
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
    threshold: int = 1,
    on_missing: OneSidedItems = "common",
) -> Agreement:
    """Return how two files of labels agree.

    Items are (topic, document) of qrels, and (topic, run, document) where both name runs; (topic,
    run, sentence, document) of judgments and labels. An item of one side only is left out
    (`common`), has 0 or no_support on the other (`zero`), or is an error. Raises InputError where
    nothing is in common.
    """
    left, right = in_one_shape(label_set_at(truth, report), label_set_at(predicted, report), report)
    shared = _shared(left, right, on_missing)
    given = {*left.labels.values(), *right.labels.values()}
    # The lowest label of whichever kind the two sides have.
    zero = NONE if given <= set(GRADES) else "0"
    labels, ordered = _in_order(given | {zero} if on_missing == "zero" else given)
    if on_missing == "zero" and not ordered:
        given_labels = ", ".join(sorted(given))
        raise InputError(f"--on-missing zero: {given_labels} are no grades: none of them is 0")
    places = {label: place for place, label in enumerate(labels)}
    pairs = [
        LabelPair(
            item[0],
            places[left.labels.get(item, zero)],
            places[right.labels.get(item, zero)],
            right.scores.get(item),
        )
        for item in shared
    ]
    counts = [[0] * len(labels) for _ in labels]
    for pair in pairs:
        counts[pair.truth][pair.predicted] += 1
    relevant = _first_relevant(labels, threshold) if ordered else None
    return Agreement(
        truth=left,
        predicted=right,
        labels=labels,
        confusion=counts,
        figures=agreement(pairs, len(labels), ordered, relevant),
        items=len(pairs),
        topics=len({pair.topic_id for pair in pairs}),
        only_truth=len(left.labels.keys() - right.labels.keys()),
        only_predicted=len(right.labels.keys() - left.labels.keys()),
    )


def _shared(left: LabelSet, right: LabelSet, on_missing: OneSidedItems) -> list[LabelledItem]:
    """Return the items to compare. Raises InputError where there is none, or one too few."""
    shared = [item for item in left.labels if item in right.labels]
    missing = (len(left.labels) - len(shared), len(right.labels) - len(shared))
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
    if on_missing == "zero":
        return list(dict.fromkeys((*left.labels, *right.labels)))
    return shared


def _in_order(labels: set[str]) -> tuple[list[str], bool]:
    """Return the labels, the lowest grade first, and whether they are grades at all."""
    if labels <= set(GRADES):
        return sorted(labels, key=lambda label: GRADES[label]), True
    if all(label.lstrip("-").isdigit() for label in labels):
        grades = sorted(map(int, labels))
        if grades[-1] - grades[0] < MOST_GRADES:
            # A grade that nobody gave keeps its distance from the others.
            return list(map(str, range(grades[0], grades[-1] + 1))), True
        return list(map(str, grades)), True
    return sorted(labels), False


def _first_relevant(labels: Sequence[str], threshold: int) -> int | None:
    grades = [GRADES[label] if label in GRADES else int(label) for label in labels]
    return next((place for place, grade in enumerate(grades) if grade >= threshold), len(grades))


def _example(side: LabelSet) -> str:
    item = next(iter(side.labels), ())
    return f"such as {item}" if item else "none"
