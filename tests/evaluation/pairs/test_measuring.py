"""Figures of verdicts on pairs, and their intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from trecjudge.evaluation.pairs.measuring import FIGURES, PairRows, bin_figures

RANDOM = np.random.default_rng(1)
SIZE = 240
HUMAN = RANDOM.choice([0.0, 0.5, 1.0], SIZE)
SUPPORTED = np.clip(HUMAN / 2 + RANDOM.random(SIZE) / 2, 0, 1).round(2)
FULL = (SUPPORTED * RANDOM.random(SIZE)).round(2)
SAID = RANDOM.choice([0.0, 0.5, 1.0], SIZE)
GROUPS = RANDOM.integers(0, 8, SIZE)
EVERY = np.ones(SIZE, bool)
ROWS = PairRows(HUMAN, SAID, SUPPORTED, FULL, GROUPS, np.arange(SIZE), EVERY)


def value(name: str, rows: PairRows = ROWS) -> float:
    return float(FIGURES[name](rows)(np.ones((1, len(rows))))[0])


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("AUC, full against the rest", lambda m: m.roc_auc_score(HUMAN == 1, FULL)),
        ("AUC, supported or not", lambda m: m.roc_auc_score(HUMAN > 0, SUPPORTED)),
        ("same label of three", lambda m: np.mean(HUMAN == SAID)),
        ("balanced accuracy, full", lambda m: m.balanced_accuracy_score(HUMAN == 1, SAID == 1)),
        ("balanced accuracy, supported", lambda m: m.balanced_accuracy_score(HUMAN > 0, SAID > 0)),
    ],
)
def test_they_are_those_of_scikit_learn(name: str, wanted: Callable[[Any], float]) -> None:
    from sklearn import metrics  # late: who collects tests need not wait for it

    assert value(name) == pytest.approx(wanted(metrics))


def test_the_calibration_error_by_hand() -> None:
    human, chances = np.array([1.0, 0.0, 1.0, 1.0]), np.array([0.95, 0.95, 0.15, 1.0])
    rows = PairRows(human, human, chances, chances, np.zeros(4, int), np.zeros(4, int), EVERY[:4])
    # The last bin: 2.9 said, 2 seen; that of 0.15: 0.15 said, 1 seen.
    assert value("calibration error, P(full)", rows) == pytest.approx((0.9 + 0.85) / 4)


def test_what_is_not_calibrated_orders_pairs_and_is_in_no_calibration_error() -> None:
    half = replace(ROWS, calibrated=np.arange(SIZE) % 2 == 0)
    for name in FIGURES:
        known = ROWS.where(half.calibrated) if name.startswith("calibration") else ROWS
        assert value(name, half) == pytest.approx(value(name, known))
    none = bin_figures("x", replace(ROWS, calibrated=~EVERY))
    undefined = [figure.name for figure in none.figures if figure.value is None]
    assert undefined == ["calibration error, P(full)", "calibration error, P(supported)"]


def test_intervals_are_over_groups_where_there_are_six() -> None:
    by_group, few = bin_figures("x", ROWS), bin_figures("x", ROWS.where(GROUPS < 5))
    assert (by_group.over, by_group.groups, few.over, few.groups) == ("groups", 8, "pairs", 5)
    for part in (by_group, few):
        for figure in part.figures:
            low, high = figure.interval
            assert low is not None and high is not None and figure.value is not None
            assert low < figure.value < high or figure.name.startswith("calibration")


def test_neither_names_nor_order_change_an_interval() -> None:
    shuffled = RANDOM.permutation(SIZE)
    other = PairRows(*(getattr(ROWS, name)[shuffled] for name in PairRows.__slots__))
    renamed = PairRows(*(getattr(other, n) for n in ("human", "said", "supported", "full")), *(
        (7 - other.owners) % 8, other.words, EVERY))  # fmt: skip
    assert bin_figures("x", ROWS) == bin_figures("x", renamed)


def test_what_is_not_defined_has_neither_value_nor_interval() -> None:
    unknown = np.full(SIZE, np.nan)
    rows = PairRows(np.ones(SIZE), SAID, unknown, unknown, GROUPS, np.arange(SIZE), EVERY)
    by_name = {figure.name: figure for figure in bin_figures("x", rows).figures}
    assert by_name["AUC, full against the rest"].value is None
    assert by_name["balanced accuracy, full"].value is None
    assert tuple(by_name["calibration error, P(full)"].interval) == (None, None)
    assert by_name["same label of three"].value is not None
