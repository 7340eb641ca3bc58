"""Labels of support in the words and numbers of many data sets."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator
from typing import NamedTuple

from trecjudge.evaluation.pairs.reading import BarePair
from trecjudge.findings import Finding, OnFinding, shown
from trecjudge.inputs.labels import support_label
from trecjudge.records import FULL, NONE, PARTIAL

WEIGHTS = {NONE: 0.0, PARTIAL: 0.5, FULL: 1.0}
"""Weights of labels (TREC RAG track)."""
CHOICES = "full, partial, none; supported, entailment, neutral, …; true, false; 0 to 1; 0 to 2"

_WORDS = {
    FULL: "supported supports support fully entailment entailed entails attributable attributed"
    " consistent faithful correct true yes",
    PARTIAL: "partially partly partiallyattributable partiallyattributed mixed",
    NONE: "unsupported notsupported refuted refutes refute contradiction contradicted contradicts"
    " contradictory neutral notenoughinfo notenoughevidence nei irrelevant extrapolatory"
    " notentailment notattributable unattributable unattributed inconsistent hallucinated"
    " hallucination incorrect false",
}
_NAMED = {word: label for label, words in _WORDS.items() for word in words.split()}
# `fully supported` and `partially entailed` are made of two.
_NAMED |= {
    f"{adverb}{word}": label
    for label, adverbs in ((FULL, ("fully",)), (PARTIAL, ("partially", "partly")))
    for adverb in adverbs
    for word in ("supported", "support", "supports", "entailed", "entailment", "attributable")
}


class Reading(NamedTuple):
    """What a label says: a weight, or a number, which only all labels of a file can explain."""

    value: float
    is_number: bool = False

    def weight(self, scale: float) -> float | None:
        """Return the weight, where numbers go up to `scale`; None for a number in between."""
        value = self.value / scale if self.is_number else self.value
        return value if value in WEIGHTS.values() else None


def read_label(label: object) -> Reading | None:
    """Return what a label says, None for any other: words, truth values, 0 to 1, or 0 to 2."""
    if isinstance(label, bool):
        return Reading(float(label))
    if isinstance(label, int | float):
        return Reading(float(label), True) if label in (0, 0.5, 1, 2) else None
    if not isinstance(label, str):
        return None
    plain = unicodedata.normalize("NFKC", label).casefold()
    known = support_label(label) or _NAMED.get("".join(filter(str.isalpha, plain)))
    if known is not None:
        return Reading(WEIGHTS[known])
    try:
        return read_label(float(plain))
    except ValueError:
        return None


def readings(pair: BarePair, report: OnFinding) -> Iterator[Reading]:
    """Yield what each label of a pair says; one that cannot be read is reported."""
    for label in pair.labels:
        if (reading := read_label(label)) is not None:
            yield reading
            continue
        message = f"label {shown(label)} is none of {CHOICES}"
        found = Finding("label_unusable", pair.place, message, shown(label), topic_id=pair.group)
        report(found)


def scale_of(numbers: Collection[float]) -> float:
    """Return the number that means full support: 2 where a label is 2, else 1."""
    return 2.0 if 2.0 in numbers else 1.0
