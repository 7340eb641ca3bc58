from __future__ import annotations

import math

import numpy as np
import pytest

from trecjudge.calibrate.figures import (
    Figure,
    Predictions,
    accuracy_of_three,
    accuracy_of_two,
    auc,
    auc_full_against_none,
    auc_supported,
    expected_calibration_error,
    figures,
    interval,
    labels_of,
    reliability,
    topic_draws,
)


def predictions(*rows: tuple[float, float, float], topics: str = "") -> Predictions:
    """Return predictions of (P(supported), P(full), label) rows, each of a topic of one letter."""
    supported, full, labels = np.array(rows, dtype=np.float64).T
    return Predictions(supported, full, labels, np.array(list(topics or "a" * len(rows))))


FOUR = predictions((0.9, 0.8, 1.0), (0.8, 0.3, 0.5), (0.4, 0.1, 0.5), (0.1, 0.0, 0.0))


@pytest.mark.parametrize(
    ("scores", "positive", "area"),
    [
        ([1, 2, 3, 4], [0, 0, 1, 1], 1.0),
        ([1, 2, 3, 4], [1, 1, 0, 0], 0.0),
        ([1, 1, 1, 1], [0, 1, 0, 1], 0.5),
        ([1, 2, 2, 3], [0, 1, 0, 1], 0.875),
    ],
    ids=["apart", "the wrong way", "all tied", "one tie"],
)
def test_auc(scores: list[float], positive: list[int], area: float) -> None:
    assert auc(np.array(scores, dtype=float), np.array(positive, dtype=bool)) == area


def test_there_is_no_auc_of_one_kind() -> None:
    assert math.isnan(auc(np.array([1.0, 2.0]), np.array([True, True])))


def test_figures_by_hand() -> None:
    assert auc_supported(FOUR) == 1.0
    assert auc_full_against_none(FOUR) == 1.0
    assert labels_of(FOUR).tolist() == [1.0, 0.5, 0.0, 0.0]
    assert accuracy_of_three(FOUR) == 0.75
    assert accuracy_of_two(FOUR) == 0.75


def test_equal_chances_give_the_higher_label() -> None:
    assert labels_of(predictions((0.5, 0.5, 0), (0.5, 0.0, 0))).tolist() == [1.0, 0.5]


def test_reliability_is_by_tenths() -> None:
    found = predictions((0.11, 0, 0), (0.19, 0, 1), (1.0, 0, 1))
    assert [(b.pairs, round(b.predicted, 2), b.observed) for b in reliability(found)] == [
        (2, 0.15, 0.5),
        (1, 1.0, 1.0),
    ]
    assert expected_calibration_error(found) == pytest.approx(2 / 3 * 0.35)


def test_topics_are_resampled_whole() -> None:
    draws = topic_draws(np.array(list("aabbc")), 50)
    assert len(draws) == 50
    assert all(list(rows).count(0) == list(rows).count(1) for rows in draws)


def test_the_same_predictions_give_the_same_intervals() -> None:
    random = np.random.default_rng(1)
    rows = [(p, p / 2, float(random.random() < p)) for p in random.random(60)]
    found = predictions(*rows, topics="abc" * 20)
    first, again = figures(found, 50), figures(found, 50)
    assert first == again
    assert all(figure.low <= figure.value <= figure.high for figure in first[:2])


def test_two_topics_have_no_interval() -> None:
    found = figures(predictions((0.9, 0.8, 1.0), (0.1, 0.0, 0.0), topics="ab"))
    assert found[0].value == 1.0
    assert math.isnan(found[0].low)


def test_an_interval_leaves_out_what_does_not_exist() -> None:
    assert interval([0.0, 1.0, float("nan")]) == pytest.approx((0.025, 0.975))
    assert all(math.isnan(end) for end in interval([float("nan")]))
    assert Figure("x", 1.0, *interval([1.0])) == Figure("x", 1.0, 1.0, 1.0)
