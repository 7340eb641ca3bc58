"""A calibration fitted to measured pairs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from trecjudge.evaluation.calibrate.calibrate import (
    fit,
    groups_of,
    held_out,
    is_copy,
    measure,
    measure_apart,
    predict,
    regress,
)
from trecjudge.evaluation.calibrate.pairs import LabelledPair
from trecjudge.judging.offline.features import Features, find
from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import Calibration, shipped_calibration
from trecjudge.judging.offline.wording import SHIPPED, read_wording
from trecjudge.text.frequencies import Frequencies

SHIPPED_CALIBRATION = shipped_calibration()
ZEROS = Features(*([0.0] * len(Features._fields)))


def drawn(
    count: int, true: Calibration = SHIPPED_CALIBRATION
) -> tuple[list[Features], list[float]]:
    """Return random features, and labels drawn from the probabilities of a calibration."""
    random = np.random.default_rng(5)
    low, high = np.array([weight[:2] for weight in true.weights]).T
    high[Features._fields.index("neighbours")] = 0.7
    rows = [Features(*row) for row in random.uniform(low, high, (count, len(low))).tolist()]
    labels = []
    for row in rows:
        supported, full = true.probabilities(row)
        draw = random.random()
        labels.append(1.0 if draw < full else 0.5 if draw < supported else 0.0)
    return rows, labels


def test_regression_finds_the_weights_that_made_the_labels() -> None:
    random = np.random.default_rng(3)
    values = random.normal(size=(20_000, 2))
    odds = 0.5 + values @ np.array([1.0, -2.0])
    positive = random.random(20_000) < 1 / (1 + np.exp(-odds))
    intercept, weights = regress(values, positive, [1, -1])
    assert [intercept, *weights] == pytest.approx([0.5, 1.0, -2.0], abs=0.1)


def test_a_weight_of_the_wrong_sign_is_0() -> None:
    random = np.random.default_rng(3)
    values = random.normal(size=(2000, 2))
    positive = values[:, 0] - values[:, 1] > 0
    _, weights = regress(values, positive, [1, 1])
    assert weights[0] > 1
    assert weights[1] == 0


def test_a_feature_that_never_varies_has_no_weight() -> None:
    values = np.array([[0.0, 1.0], [1.0, 1.0]] * 50)
    _, weights = regress(values, values[:, 0] > 0, [0, 0])
    assert weights[1] == 0


def test_many_labels_win_over_the_prior_and_few_do_not() -> None:
    rows, labels = drawn(4000)
    turned = [1 - label for label in labels]
    document = Features._fields.index("document")

    def weight(count: int) -> float:
        fitted = fit(
            rows[:count], turned[:count], SHIPPED_CALIBRATION.frequencies, SHIPPED_CALIBRATION
        )
        return fitted.weights[document].supported

    assert weight(4000) == 0  # against its sign
    assert weight(40) > SHIPPED_CALIBRATION.weights[document].supported / 2


def test_a_fit_gives_back_the_probabilities_that_made_its_labels() -> None:
    rows, labels = drawn(8000)
    fitted = fit(rows, labels, SHIPPED_CALIBRATION.frequencies)
    theirs = np.array([fitted.probabilities(row) for row in rows])
    ours = np.array([SHIPPED_CALIBRATION.probabilities(row) for row in rows])
    assert np.abs(theirs - ours).mean() < 0.02


def test_copies_are_in_no_fit() -> None:
    rows, labels = drawn(500)
    copies = [row._replace(neighbours=1.0) for row in rows]
    assert is_copy(copies[0])
    assert not is_copy(rows[0])
    both = fit([*rows, *copies], [*labels, *([0.0] * 500)], SHIPPED_CALIBRATION.frequencies)
    assert both.weights == fit(rows, labels, SHIPPED_CALIBRATION.frequencies).weights


@pytest.mark.parametrize("labels", [[1.0, 1.0], [0.0, 0.5], []], ids=["full", "not full", "none"])
def test_one_kind_of_label_is_not_enough(labels: list[float]) -> None:
    with pytest.raises(ValueError, match="full and of no support"):
        fit([ZEROS] * len(labels), labels, SHIPPED_CALIBRATION.frequencies)


@pytest.mark.parametrize(
    ("topics", "groups"),
    [
        pytest.param("abc", ["a", "b", "c"], id="by topic"),
        pytest.param("aab", 3, id="by document: too few topics"),
    ],
)
def test_what_is_held_out_together(topics: str, groups: list[str] | int) -> None:
    pairs = [LabelledPair(topic, "Yes.", f"text {n}", 1.0) for n, topic in enumerate(topics)]
    found = groups_of(pairs)
    if isinstance(groups, int):
        assert all(group.startswith("documents ") for group in found)
    else:
        assert found == groups


def test_a_topic_is_judged_only_by_the_others() -> None:
    """Topic b's labels are the contrary of its words; topic a is fitted without them."""
    near, far = "Gluons bind quarks.", "Cats sleep on sofas."
    found = [find(read_wording(near), prepare(text)) for text in (near + " So.", far)] * 60
    labels = [1.0, 0.0] * 30 + [0.0, 1.0] * 30
    groups = ["a"] * 60 + ["b"] * 60
    found = [
        one if i % 2 else find(read_wording(near), prepare("Quarks: gluons bind so."))
        for i, one in enumerate(found)
    ]
    unseen = held_out(found, labels, groups, SHIPPED_CALIBRATION)
    assert unseen.supported[60] > unseen.supported[0]
    assert predict(found, labels, groups, SHIPPED_CALIBRATION).supported[0] > 0.5


ABOUT = {"a": "Gluons bind quarks.", "b": "Gluons bind towers.", "c": "Poets praise towers."}
PAIRS = [LabelledPair(topic, text, text, 1.0) for topic, text in ABOUT.items()]


def test_a_topic_is_measured_by_the_words_of_the_others() -> None:
    tables: list[tuple[int, Mapping[str, int]]] = []

    def table(passages: int, counts: Mapping[str, int]) -> Frequencies:
        tables.append((passages, dict(counts)))
        return SHIPPED

    found, whole = measure_apart(PAIRS, list("abc"), table)
    assert tables[0] == (2, {"gluon": 1, "bind": 1, "tower": 2, "poet": 1, "prais": 1})
    assert tables[-1][0] == 3
    assert tables[-1][1]["gluon"] == 2
    assert (len(found), whole) == (3, SHIPPED)


def test_each_pair_is_measured_by_its_table() -> None:
    rare = Frequencies.of(9, {"gluon": 9, "bind": 1})
    first, second = measure([PAIRS[0], PAIRS[0]], [SHIPPED, rare])
    assert first.features.weight != second.features.weight
