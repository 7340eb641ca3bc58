"""Prediction-powered means: worked numbers, coverage, and where nothing is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t

from trecjudge.stats.ppi import Estimate, corrected, labels_mean, ppi_mean
from trecjudge.stats.resampling import NO_INTERVAL

NAN = float("nan")


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def half_width(found: Estimate) -> float:
    low, high = found.interval
    assert low is not None and high is not None
    assert (low + high) / 2 == pytest.approx(found.mean)
    return (high - low) / 2


def test_worked_numbers() -> None:
    # Predictions mean 0.6 over ten; the judge was 0.1 too high on the four labelled.
    everything = array(1, 1, 1, 1, 1, 1, 0, 0, 0, 0)
    labels, labelled = array(0.9, 0.8, 0.0, 1.0), array(1.0, 1.0, 0.0, 1.1)
    found = ppi_mean(labels, labelled, everything)
    assert found.mean == pytest.approx(0.6 - 0.1)
    # var(everything) = 24/90, var(errors 0.1, 0.2, 0, 0.1) = 0.02/3.
    error = math.sqrt(24 / 90 / 10 + 0.02 / 3 / 4)
    low, high = found.interval
    assert (low, high) == pytest.approx((0.5 - 3.18244631 * error, 0.5 + 3.18244631 * error))


def test_a_perfect_judge_leaves_only_the_spread_of_all_items() -> None:
    everything = np.linspace(0, 1, 200)
    some = everything[::10]
    found, by_labels = ppi_mean(some, some, everything), labels_mean(some)
    assert found.mean == pytest.approx(0.5)
    assert half_width(found) == pytest.approx(
        t.ppf(0.975, 19) * everything.std(ddof=1) / math.sqrt(200)
    )
    assert half_width(found) < half_width(by_labels) / 3


def test_labels_of_everything_give_what_the_labels_give_by_themselves() -> None:
    rng = np.random.default_rng(0)
    labels = rng.random(12)
    predictions = labels + rng.normal(0, 0.1, 12)
    found = ppi_mean(labels, predictions, predictions, among=True)
    by_labels = labels_mean(labels)
    assert found.mean == pytest.approx(by_labels.mean)
    assert half_width(found) == pytest.approx(half_width(by_labels))


def test_one_label_has_no_interval() -> None:
    assert ppi_mean(array(1.0), array(0.5), array(0.5, 0.7)).interval == NO_INTERVAL
    assert labels_mean(array(1.0)).interval == NO_INTERVAL


def drawn(rng: np.random.Generator, noise: float) -> tuple[bool, float]:
    """Return whether the interval of 25 labels on 200 items holds the truth, and its width."""
    labels = rng.random(200)
    predictions = 0.8 * labels + 0.2 + rng.normal(0, noise, 200)
    some = rng.permutation(200)[:25]
    low, high = ppi_mean(labels[some], predictions[some], predictions, among=True).interval
    assert low is not None and high is not None
    return low <= 0.5 <= high, high - low


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(6)
    held = [drawn(rng, 0.1)[0] for _ in range(400)]
    assert 0.92 <= sum(held) / 400 <= 0.98


def test_the_better_the_judge_the_narrower_the_interval() -> None:
    good, poor = (
        np.mean([drawn(np.random.default_rng(s), noise)[1] for s in range(30)])
        for noise in (0.05, 0.5)
    )
    by_labels = 2 * 2.06 * math.sqrt(1 / 12 / 25)
    assert good < 0.6 * by_labels < by_labels < poor


def test_a_run_whose_responses_are_labelled_in_part() -> None:
    predictions, labels = array(0.8, 0.6, 0.4, 0.9), array(0.7, NAN, 0.4, NAN)
    found = corrected(predictions, labels, labels, np.zeros(4, dtype=bool))
    assert found is not None
    assert (found.labelled, found.mean, found.labels_mean) == (2, 0.625, 0.55)
    assert found.low is not None and found.high is not None
    assert found.low < found.mean < found.high


def test_what_needs_no_label_is_certain() -> None:
    # Two of four responses are not there: 0, whoever judges.
    predictions, labels = array(0.8, 0.6, 0.0, 0.0), array(0.6, 0.4, NAN, NAN)
    found = corrected(predictions, labels, labels, np.array([False, False, True, True]))
    assert found is not None
    assert found.mean == pytest.approx(0.35 - 0.5 * 0.2)
    assert found.labels_mean == pytest.approx(0.5 * 0.5)


def test_without_labels_nothing_is_corrected() -> None:
    none, some, ends = array(NAN, NAN), array(0.0, NAN), array(0.5, 0.5)
    assert corrected(ends, none, none, np.zeros(2, dtype=bool)) is None
    assert corrected(ends, some, some, np.ones(2, dtype=bool)) is None
