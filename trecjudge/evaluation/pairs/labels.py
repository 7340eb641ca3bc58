"""Labels of support in the words and numbers of many data sets."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from trecjudge.evaluation.pairs.reading import BarePair, by_texts
from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.labels.vocabulary import Words, fold_label, number_of, support_label
from trecjudge.records import FULL, NONE, PARTIAL

WEIGHTS = {NONE: 0.0, PARTIAL: 0.5, FULL: 1.0}
"""Weights of labels (TREC RAG track)."""
CHOICES = "full, partial, none; supported, entailment, neutral, …; true, false; 0 to 1; 0 to 2"


class LabelReading(NamedTuple):
    """What a label says: a weight, or a number, which only all labels of a file can explain."""

    value: float
    is_number: bool = False

    def weight(self, scale: float) -> float | None:
        """Return the weight, where numbers go up to `scale`; None for a number in between."""
        value = self.value / scale if self.is_number else self.value
        return value if value in WEIGHTS.values() else None


def read_label(label: object) -> LabelReading | None:
    """Return what a label says, None for any other: words, truth values, 0 to 1, or 0 to 2."""
    if isinstance(label, bool):
        return LabelReading(float(label))
    if isinstance(label, int | float):
        return LabelReading(float(label), True) if label in (0, 0.5, 1, 2) else None
    if not isinstance(label, str):
        return None
    if (known := support_label(label)) is not None:
        return LabelReading(WEIGHTS[known])
    number = number_of(unicodedata.normalize("NFKC", label).strip())
    return None if number is None else read_label(number)


def read_labels_of(
    pair: BarePair, report: OnFinding, words: Words | None = None
) -> Iterator[LabelReading]:
    """Yield what each label of a pair says; one that cannot be read is reported.

    `words` are what labels are to be called.
    """
    asked = {fold_label(word): name for word, name in (words or {}).items()}
    for label in pair.labels:
        if (reading := read_label(asked.get(fold_label(str(label)), label))) is not None:
            yield reading
            continue
        message = f"label {brief(label)} is none of {CHOICES}"
        found = Finding("label_unusable", pair.place, message, brief(label), topic_id=pair.group)
        report(found)


def label_scale(numbers: Collection[float]) -> float:
    """Return the number that means full support: 2 where a label is 2, else 1."""
    return 2.0 if 2.0 in numbers else 1.0


def majority_weights(
    pairs: Iterable[BarePair], report: OnFinding, words: Words | None = None
) -> list[tuple[BarePair, float]]:
    """Return each pair of texts once, with the weight of the label that most people give it.

    A pair may have several labels, or a record for each person. One on which people are divided is
    reported and left out, as is a label that cannot be read.
    """
    read = [
        (records[0], [one for record in records for one in read_labels_of(record, report, words)])
        for records in by_texts(pairs)
    ]
    numbers = {one.value for _, own in read for one in own if one.is_number}
    found = []
    for pair, own in read:
        weights = [one.weight(label_scale(numbers)) for one in own]
        tally = Counter(weight for weight in weights if weight is not None)
        most = [weight for weight, n in tally.items() if n == max(tally.values())]
        if len(most) == 1:
            found.append((pair, most[0]))
        elif most:
            message = f"people are divided on {brief(pair.sentence)}"
            report(Finding("labels_tied", pair.place, message, "", None, "", pair.group))
    return found
