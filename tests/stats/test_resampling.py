"""The bootstrap: what is drawn, the interval of a mean, and that names change nothing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap, norm, t

from trecjudge.stats import resampling
from trecjudge.stats.resampling import (
    NO_INTERVAL,
    RESAMPLES,
    Interval,
    drawn_parts,
    draws,
    grouped_interval,
    interval_of,
    mean_intervals,
    resampled_means,
    share_interval,
    steady_orders,
    student_quantile,
    tail,
)

NAN = float("nan")
RNG = np.random.default_rng(1)
VALUES = RNG.random((4, 30))


def test_every_resample_draws_as_many_units_as_there_are() -> None:
    weights = draws(7, 50)
    assert weights.shape == (50, 7)
    assert set(weights.sum(axis=1)) == {7.0}
    assert (draws(7, 50) == weights).all()


def test_resampled_means_leave_out_what_is_not_there() -> None:
    weights = np.array([[1.0, 1.0, 1.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
    means = resampled_means(np.array([[0.0, NAN, 1.0]]), weights)
    assert means[0, :2].tolist() == [0.5, 0.0]
    assert np.isnan(means[0, 2])


def test_the_interval_of_a_mean_is_that_of_another_implementation() -> None:
    (ours, *_) = mean_intervals(VALUES)
    level = 1 - 2 * tail(30)
    theirs = bootstrap(
        (VALUES[0],), np.mean, method="percentile", confidence_level=level, rng=3
    ).confidence_interval
    assert list(ours) == pytest.approx(list(theirs), abs=0.01)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        pytest.param([0.5], NO_INTERVAL, id="one topic"),
        pytest.param([0.5, NAN], NO_INTERVAL, id="one value"),
        pytest.param([0.5] * 20, NO_INTERVAL, id="constant: no certainty"),
        pytest.param([1e7 + 0.1] * 20, NO_INTERVAL, id="constant but for rounding"),
        pytest.param([0.0, 1.0, 0.0, 1.0, 0.5], NO_INTERVAL, id="five topics"),
        pytest.param([0.0, 1.0, 0.0, 1.0, 0.5, NAN], NO_INTERVAL, id="five values"),
        pytest.param([0.0, 1.0] * 3, Interval(0.0, 1.0), id="six topics"),
    ],
)
def test_few_values(values: list[float], wanted: Interval) -> None:
    assert mean_intervals(np.array([values])) == [wanted]


def test_neither_the_order_of_topics_nor_of_runs_changes_an_interval() -> None:
    shuffled = RNG.permutation(30)
    again = mean_intervals(VALUES[::-1][:, shuffled])[::-1]
    before = mean_intervals(VALUES)
    assert [i.round_to(9) for i in again] == [i.round_to(9) for i in before]


BINARY = (RNG.random((6, 20)) < 0.6).astype(float)
LATIN = np.array([[1.0, 0, 0, 1], [0, 1, 1, 0], [1, 1, 0, 0], [NAN, 1, 0, 1]])


@pytest.mark.parametrize("values", [VALUES, BINARY, LATIN], ids=["all apart", "ties", "gaps"])
def test_a_steady_order_depends_only_on_values(values: np.ndarray) -> None:
    def ordered(table: np.ndarray) -> np.ndarray:
        rows, columns = steady_orders([table, 1 - table])
        return table[np.ix_(rows, columns)]

    for _ in range(20):
        rows, columns = (RNG.permutation(size) for size in values.shape)
        again = values[np.ix_(rows, columns)]
        np.testing.assert_array_equal(ordered(again), ordered(values))


def test_a_statistic_that_is_hardly_defined_has_no_interval() -> None:
    assert interval_of(np.array([NAN, NAN, 1.0]), 9) == NO_INTERVAL
    assert interval_of(np.array([NAN, 1.0, 2.0]), 9) != NO_INTERVAL
    assert interval_of(np.array([]), 9) == NO_INTERVAL
    assert interval_of(np.array([1.0]), 1) == NO_INTERVAL


@pytest.mark.parametrize("units", [3, 4, 8, 30, 1000])
def test_few_units_widen_the_interval_as_student_would(units: int) -> None:
    wide = t.ppf(0.975, units - 1) * np.sqrt(units / (units - 1))
    assert tail(units) == pytest.approx(norm.sf(wide), rel=0.2, abs=1e-6)
    assert tail(units) < 0.025


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 10, 51, 500, 12345])
def test_the_quantile_of_student_is_that_of_scipy(freedom: int) -> None:
    assert student_quantile(freedom) == pytest.approx(t.ppf(0.975, freedom), rel=1e-10)


@pytest.mark.parametrize(
    ("topics", "wanted"), [(1, False), (3, False), (5, False), (6, True), (11, True)]
)
def test_rows_of_few_groups_have_no_interval(topics: int, wanted: bool) -> None:
    groups, values = [f"t{n % topics}" for n in range(60)], RNG.random((60, 1))
    found = grouped_interval(lambda weights: weights @ values[:, 0] / 60, groups, values)
    assert (found != NO_INTERVAL) is wanted


def test_groups_are_drawn_whole_and_by_their_values() -> None:
    values, seen = RNG.random((40, 2)), []

    def statistic(weights: np.ndarray) -> np.ndarray:
        seen.append(weights)
        return weights @ values[:, 0] / weights.sum(axis=1)

    groups = [f"t{n // 5}" for n in range(40)]
    found = grouped_interval(statistic, groups, values, 50)
    drawn = np.concatenate(seen).reshape(50, 8, 5)
    assert (drawn == drawn[:, :, :1]).all() and set(drawn[:, :, 0].sum(axis=1)) == {8.0}
    renamed = [f"x{99 - n // 5}" for n in range(40)]
    assert grouped_interval(statistic, renamed, values, 50) == found


@pytest.mark.parametrize("topics", [6, 8, 20])
def test_the_interval_of_a_few_topics_holds_what_it_says(topics: int) -> None:
    intervals = mean_intervals(np.random.default_rng(topics).normal(size=(2000, topics)))
    held = [(i.low or 0) <= 0 <= (i.high or 0) for i in intervals]
    assert 0.92 < np.mean(held) < 0.97


def test_an_interval_is_rounded() -> None:
    assert Interval(0.123456, None).round_to(2) == Interval(0.12, None)


@pytest.mark.parametrize("held", [0, 1 << 27])
def test_draws_of_many_units_come_in_parts(monkeypatch: pytest.MonkeyPatch, held: int) -> None:
    assert next(drawn_parts(30)) is draws(30, RESAMPLES)
    whole = mean_intervals(VALUES)
    monkeypatch.setattr(resampling, "BLOCK", 2100)
    monkeypatch.setattr(resampling, "HELD", held)
    parts = list(drawn_parts(30))
    assert {len(part) for part in parts} == {70, 40}
    drawn = np.concatenate(parts)
    assert (drawn.sum(axis=1) == 30).all()
    assert drawn.var() == pytest.approx(draws(30).var(), abs=0.03)
    assert (drawn == np.concatenate(list(drawn_parts(30)))).all()
    again = mean_intervals(VALUES)
    assert [pytest.approx(tuple(own), abs=0.02) for own in whole] == list(map(tuple, again))
    resampling._held_parts.cache_clear()


def test_the_interval_of_a_share_of_independent_items_is_wilsons() -> None:
    hits, of = np.array([1.0, 0.0] * 500), np.ones(1000)
    low, high = share_interval(hits, of)
    assert (low, high) == (pytest.approx(0.4691, abs=1e-3), pytest.approx(0.5309, abs=1e-3))


@pytest.mark.parametrize(("hits", "bounds"), [(0.0, (0.0, 0.0487)), (10.0, (0.9513, 1.0))])
def test_a_share_of_0_or_1_has_an_interval_too(hits: float, bounds: tuple[float, float]) -> None:
    found = share_interval(np.full(10, hits), np.full(10, 10.0))
    assert list(found) == pytest.approx(list(bounds), abs=2e-3)


@pytest.mark.parametrize("units", [0, 1, 5])
def test_a_share_of_few_units_has_none(units: int) -> None:
    assert share_interval(np.ones(units), np.full(units, 9.0)) == NO_INTERVAL


def test_the_interval_of_a_share_holds_where_items_of_a_unit_are_alike() -> None:
    rng, held = np.random.default_rng(7), 0
    for _ in range(400):
        rates = rng.beta(1, 3, 12)  # a mean of 0.25
        low, high = share_interval(rng.binomial(20, rates).astype(float), np.full(12, 20.0))
        held += low is not None and high is not None and low <= 0.25 <= high
    assert held >= 0.93 * 400
