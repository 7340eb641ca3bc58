"""What holds of the statistics whatever the numbers are."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.stats.texts import by_topic, scores
from trecjudge.results.statistics import RunScore
from trecjudge.stats.agreement import LabelPair, LabelPairs, agreement
from trecjudge.stats.comparison import Difference, compare, pairs_of
from trecjudge.stats.correlation import (
    COEFFICIENTS,
    RankedScores,
    kendall,
    letter_groups,
    rank_runs,
)
from trecjudge.stats.paired import PairTests, holm, holm_pairs, sign_flip
from trecjudge.stats.resampling import mean_intervals
from trecjudge.stats.tukey import tukey_hsd

GRID = st.integers(0, 8).map(lambda n: n / 8)  # with many ties
VALUES = arrays(np.float64, st.tuples(st.just(1), st.integers(3, 12)), elements=GRID)
PAIR = st.integers(3, 12).flatmap(
    lambda n: st.tuples(*(arrays(np.float64, (1, n), elements=GRID) for _ in range(2)))
)
TABLE = arrays(
    np.float64, st.tuples(st.integers(2, 6), st.integers(2, 14)), elements=st.floats(0, 1)
)
P_VALUES = arrays(np.float64, st.integers(0, 12), elements=st.floats(0, 1))


def coefficient(name: str, truth: np.ndarray, predicted: np.ndarray) -> float:
    return float(COEFFICIENTS[name](RankedScores(truth), RankedScores(predicted))[0])


@pytest.mark.parametrize("name", COEFFICIENTS)
@given(pair=PAIR)
def test_a_coefficient_is_in_its_range_or_not_defined(
    name: str, pair: tuple[np.ndarray, np.ndarray]
) -> None:
    value = coefficient(name, *pair)
    least = 0.0 if name == "pairwise_accuracy" else -1.0
    assert math.isnan(value) or least - 1e-6 <= value <= 1 + 1e-6


@pytest.mark.parametrize("name", ["kendall", "tauap_b", "spearman", "pearson"])
@given(pair=PAIR)
def test_some_do_not_ask_which_side_is_the_truth(
    name: str, pair: tuple[np.ndarray, np.ndarray]
) -> None:
    one, other = coefficient(name, *pair), coefficient(name, *pair[::-1])
    assert one == pytest.approx(other, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("name", ["kendall", "tauap_b", "spearman", "pairwise_accuracy"])
@given(pair=PAIR)
def test_some_see_only_the_order(name: str, pair: tuple[np.ndarray, np.ndarray]) -> None:
    stretched = coefficient(name, pair[0], np.exp(3 * pair[1]))
    assert stretched == pytest.approx(coefficient(name, *pair), abs=1e-6, nan_ok=True)


@given(pair=PAIR)
def test_the_opposite_order_has_the_opposite_tau(pair: tuple[np.ndarray, np.ndarray]) -> None:
    value = float(kendall(RankedScores(pair[0]), RankedScores(-pair[1]))[0])
    assert value == pytest.approx(-coefficient("kendall", *pair), abs=1e-6, nan_ok=True)


@given(p=P_VALUES)
def test_holm_raises_p_and_keeps_its_order(p: np.ndarray) -> None:
    corrected = holm(p)
    assert (corrected >= p - 1e-12).all()
    assert (corrected <= 1).all()
    assert (corrected <= p * max(1, len(p)) + 1e-12).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(corrected[order]) >= -1e-12).all()


@given(table=TABLE)
def test_p_is_a_probability_above_what_the_flips_can_reach(table: np.ndarray) -> None:
    p = sign_flip(table[0] - table[1:])
    assert ((p >= 2.0 ** (1 - table.shape[1]) - 1e-12) & (p <= 1)).all()


@pytest.mark.parametrize("test", [holm_pairs, tukey_hsd])
@given(table=TABLE)
def test_runs_that_differ_share_no_letter(
    test: Callable[[np.ndarray], PairTests], table: np.ndarray
) -> None:
    p = test(table).p
    letters = [set(row) for row in letter_groups(p >= 0.05)]
    assert all(letters)
    for i in range(len(letters)):
        for j in range(len(letters)):
            assert bool(letters[i] & letters[j]) == bool(p[i, j] >= 0.05)


@given(table=TABLE)
def test_an_interval_lies_within_the_values(table: np.ndarray) -> None:
    for row, (low, high) in zip(table, mean_intervals(table), strict=True):
        if low is None or high is None:
            assert len(row) < 6 or np.ptp(row) < 0.01
            continue
        assert row.min() - 1e-9 <= low <= high <= row.max() + 1e-9


@given(table=TABLE)
def test_every_run_has_one_standing_and_ranks_follow_means(table: np.ndarray) -> None:
    values = {f"r{i}": row.tolist() for i, row in enumerate(table)}
    found = rank_runs([RunScore(r, "M", float(np.mean(own))) for r, own in values.items()], values)
    assert sorted(s.run_id for s in found) == [f"r{i}" for i in range(len(table))]
    means = [s.mean for s in found]
    assert means == sorted(means, key=lambda mean: -(mean or 0))
    assert all((s.rank or 0) <= place for place, s in enumerate(found, 1))
    for s in found:
        assert all(other.mean == s.mean for other in found if other.run_id in s.ties)


def one(before: np.ndarray, after: np.ndarray) -> Difference:
    tables = [
        scores(by_topic("r", row.tolist()), name) for name, row in (("a", before), ("b", after))
    ]
    (found,) = compare(pairs_of(tables))
    return found


@given(table=TABLE)
def test_a_comparison_turned_round_has_the_opposite_difference(table: np.ndarray) -> None:
    there, back = one(table[0], table[1]), one(table[1], table[0])
    assert there.difference == pytest.approx(-back.difference)
    assert (there.p, there.corrected) == (back.p, back.corrected)
    assert [move.topic_id for move in there.moved] == [move.topic_id for move in back.moved]
    if there.effect is not None and back.effect is not None:
        assert there.effect == pytest.approx(-back.effect)


LABELLED = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40
)


@given(labelled=LABELLED)
def test_no_figure_of_agreement_is_above_1(labelled: list[tuple[str, int, int]]) -> None:
    for figure in agreement(LabelPairs.of([LabelPair(*one) for one in labelled]), 3, threshold=1):
        values = [figure.pooled, figure.mean, *figure.interval, *figure.by_topic.values()]
        assert all(value is None or value <= 1 + 1e-9 for value in values)


@given(labelled=LABELLED)
def test_the_two_sides_of_an_agreement_can_change_places(
    labelled: list[tuple[str, int, int]],
) -> None:
    there = agreement(LabelPairs.of([LabelPair(t, a, b) for t, a, b in labelled]), 3)
    back = agreement(LabelPairs.of([LabelPair(t, b, a) for t, a, b in labelled]), 3)
    assert [f.pooled for f in there] == pytest.approx([f.pooled for f in back], nan_ok=True)
