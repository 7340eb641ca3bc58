from __future__ import annotations

import numpy as np
import pytest

from trecjudge.evaluation.calibrate.quality import (
    Predictions,
    accuracy_of_three,
    accuracy_of_two,
    auc_full_against_none,
    auc_supported,
    expected_calibration_error,
    figures,
    labels_of,
    reliability,
    value,
    why_no_interval,
)
from trecjudge.stats.resampling import NO_INTERVAL


def predictions(*rows: tuple[float, float, float], topics: str = "") -> Predictions:
    """Return predictions of (P(supported), P(full), label) rows, each of a topic of one letter."""
    supported, full, labels = np.array(rows, dtype=np.float64).T
    return Predictions(supported, full, labels, np.array(list(topics or "a" * len(rows))))


FOUR = predictions((0.9, 0.8, 1.0), (0.8, 0.3, 0.5), (0.4, 0.1, 0.5), (0.1, 0.0, 0.0))


def test_figures_by_hand() -> None:
    assert value(auc_supported, FOUR) == 1.0
    assert value(auc_full_against_none, FOUR) == 1.0
    assert labels_of(FOUR).tolist() == [1.0, 0.5, 0.0, 0.0]
    assert value(accuracy_of_three, FOUR) == 0.75
    assert value(accuracy_of_two, FOUR) == 0.75


def test_figures_of_a_resample() -> None:
    weights = np.array([[2.0, 0.0, 1.0, 1.0]])
    assert auc_supported(FOUR, weights).tolist() == [1.0]
    assert accuracy_of_three(FOUR, weights).tolist() == [0.75]
    assert accuracy_of_two(FOUR, weights).tolist() == [0.75]
    wanted = (2 * 0.1 + 0.6 + 0.1) / 4
    assert expected_calibration_error(FOUR, weights).tolist() == pytest.approx([wanted])


def test_equal_chances_give_the_higher_label() -> None:
    assert labels_of(predictions((0.5, 0.5, 0), (0.5, 0.0, 0))).tolist() == [1.0, 0.5]


def test_reliability_is_by_tenths() -> None:
    found = predictions((0.11, 0, 0), (0.19, 0, 1), (1.0, 0, 1))
    assert [(b.pairs, round(b.predicted, 2), b.observed) for b in reliability(found)] == [
        (2, 0.15, 0.5),
        (1, 1.0, 1.0),
    ]
    assert value(expected_calibration_error, found) == pytest.approx(2 / 3 * 0.35)


def noisy(topics: str) -> Predictions:
    """Return pairs of these topics, labelled as likely as predicted."""
    random = np.random.default_rng(1)
    rows = [(p, p / 2, float(random.random() < p)) for p in random.random(10 * len(topics))]
    return predictions(*rows, topics=topics * 10)


def test_the_same_predictions_give_the_same_intervals() -> None:
    first = figures(noisy("abcdef"))
    assert first == figures(noisy("abcdef"))
    assert first == figures(noisy("uvwxyz"))
    for figure in first[:2]:
        assert figure.interval.low < figure.value < figure.interval.high


@pytest.mark.parametrize("topics", ["a", "abc", "abcde"])
def test_fewer_than_six_topics_have_no_interval_with_the_reason(topics: str) -> None:
    found = figures(noisy(topics))
    assert {figure.interval for figure in found} == {NO_INTERVAL}
    wanted = f"no interval over {len(topics)} topics: of fewer than 6 it would not hold"
    assert why_no_interval(noisy(topics), "topics") == wanted


def test_six_topics_need_no_excuse() -> None:
    assert why_no_interval(noisy("abcdef"), "topics") is None


def test_a_figure_that_is_not_defined_has_no_value() -> None:
    assert value(auc_supported, predictions((0.9, 0.8, 1.0), (0.1, 0.0, 1.0))) is None
