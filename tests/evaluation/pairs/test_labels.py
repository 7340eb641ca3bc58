"""Labels of support in the words and numbers of many data sets."""

from __future__ import annotations

import pytest

from trecjudge.evaluation.pairs.reading import label_scale, read_label


@pytest.mark.parametrize(
    ("labels", "weight"),
    [
        (("FULL", "full support", "Supported", "SUPPORTS", "entailment", "True", True, "yes"), 1.0),
        (("PARTIAL", "partially_supported", "partly supported", "Partially Entailed"), 0.5),
        (("NONE", "no", "not supported", "not_supported", "REFUTES", "neutral", False), 0.0),
        (("NOT ENOUGH INFO", "contradiction", "not entailment", "hallucinated"), 0.0),
        (("good", "", "3", 3, -1, None, ["full"], float("nan"), "1e999", {}), None),
    ],
    ids=["full", "partial", "none", "none, too", "no label"],
)
def test_words(labels: tuple[object, ...], weight: float | None) -> None:
    assert [(r := read_label(label)) and r.value for label in labels] == [weight] * len(labels)


@pytest.mark.parametrize(
    ("numbers", "weights"),
    [
        ((0, 1, "1", "0.0"), [0.0, 1.0, 1.0, 0.0]),
        ((0, 1, 2, "2"), [0.0, 0.5, 1.0, 1.0]),
        ((0, 0.5, 1), [0.0, 0.5, 1.0]),
        ((0.5, 2), [None, 1.0]),
    ],
    ids=["0 and 1", "grades", "weights", "both"],
)
def test_numbers_mean_what_all_of_them_say(
    numbers: tuple[object, ...], weights: list[float | None]
) -> None:
    found = [reading for number in numbers if (reading := read_label(number))]
    scale = label_scale({reading.value for reading in found})
    assert [reading.weight(scale) for reading in found] == weights
