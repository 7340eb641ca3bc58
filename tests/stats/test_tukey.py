"""The randomised Tukey HSD test: by going through all deals, and by how often it errs."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from trecjudge.stats import tukey
from trecjudge.stats.paired import sign_flip
from trecjudge.stats.resampling import SEED
from trecjudge.stats.tukey import PERMUTATIONS, tukey_hsd

NAN = float("nan")
RNG = np.random.default_rng(8)


def by_hand(values: np.ndarray) -> np.ndarray:
    """Return the exact p of each pair by going through every deal of every topic."""
    runs, topics = values.shape
    orders = list(permutations(range(runs)))
    reach = []
    for chosen in product(orders, repeat=topics):
        means = [np.mean([values[chosen[t][r], t] for t in range(topics)]) for r in range(runs)]
        reach.append(max(means) - min(means))
    means = values.mean(axis=1)
    apart = np.abs(means[:, None] - means) - 1e-9
    p = np.array([[np.mean(reach >= d) for d in row] for row in apart])
    np.fill_diagonal(p, 1.0)
    return p


def drawn(values: np.ndarray, deals: int = 20_000) -> np.ndarray:
    """Return p of each pair of a table without gaps, by shuffling every topic again and again."""
    rng = np.random.default_rng(77)
    means = np.zeros((deals, len(values)))
    for column in values.T:
        means += rng.permuted(np.tile(column, (deals, 1)), axis=1) / values.shape[1]
    reach = np.ptp(means, axis=1)
    own = values.mean(axis=1)
    return np.array([[np.mean(reach >= abs(a - b) - 1e-9) for a in own] for b in own])


@pytest.mark.parametrize(("runs", "topics"), [(2, 6), (3, 3), (3, 4)])
def test_few_runs_on_few_topics_are_exact(runs: int, topics: int) -> None:
    values = RNG.random((runs, topics)) + np.arange(runs)[:, None] / 2
    found = tukey_hsd(values)
    np.testing.assert_allclose(found.p, by_hand(values))
    deals = np.prod([float(n) for n in range(1, runs + 1)]) ** topics
    assert found.test == f"tukey: all {deals:.0f} permutations"


@pytest.mark.parametrize(("runs", "topics"), [(5, 9), (8, 20), (30, 12)])
def test_more_are_drawn(runs: int, topics: int) -> None:
    values = RNG.normal(0, 1, (runs, topics)) + np.linspace(0, 1.5, runs)[:, None]
    found = tukey_hsd(values)
    assert found.test == f"tukey: {PERMUTATIONS} permutations, seed {SEED}"
    off_diagonal = ~np.eye(runs, dtype=bool)
    np.testing.assert_allclose(found.p[off_diagonal], drawn(values)[off_diagonal], atol=0.015)
    assert found.p.min() >= 1 / (1 + PERMUTATIONS)


def test_of_two_runs_it_is_the_sign_flip_test() -> None:
    values = RNG.random((2, 10))
    assert tukey_hsd(values).p[0, 1] == pytest.approx(sign_flip(values[:1] - values[1:])[0])


def test_of_very_many_topics_sums_are_drawn_as_normal_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = RNG.random((6, 80)) + np.linspace(0, 0.15, 6)[:, None]
    values[1, :9] = values[4, 5:25] = NAN
    dealt = tukey_hsd(values)
    monkeypatch.setattr(tukey, "MANY_TOPICS", 79)
    normal = tukey_hsd(values)
    assert normal.test == f"tukey: {PERMUTATIONS} normal draws, seed {SEED}"
    np.testing.assert_allclose(normal.p, dealt.p, atol=0.03)


def test_the_order_of_runs_and_topics_changes_nothing() -> None:
    values = RNG.random((7, 15))
    rows, columns = RNG.permutation(7), RNG.permutation(15)
    again = tukey_hsd(values[np.ix_(rows, columns)]).p
    assert (again == tukey_hsd(values).p[np.ix_(rows, rows)]).all()


def test_what_is_the_same_for_all_runs_on_a_topic_changes_nothing() -> None:
    values = RNG.random((4, 12))
    values[3, 4:6] = NAN
    np.testing.assert_allclose(tukey_hsd(values + RNG.random(12) * 5).p, tukey_hsd(values).p)


def test_a_value_that_is_not_there_is_dealt_to_nobody() -> None:
    values = np.concatenate([RNG.random((3, 6)), np.full((3, 2), NAN)], axis=1)
    values[0, 6] = 5.0
    assert (tukey_hsd(values).p == tukey_hsd(values[:, :6]).p).all()
    nobody = tukey_hsd(np.array([[0.1, 0.9, NAN, NAN], [NAN, NAN, 0.1, 0.2]]))
    assert nobody.p.tolist() == [[1, 1], [1, 1]]


def test_a_run_with_few_values_does_not_hide_what_others_tell() -> None:
    values = RNG.normal(0, 0.1, (4, 30)) + np.array([[0.0], [0.0], [0.4], [0.4]])
    values[3, 2:] = NAN
    p = tukey_hsd(values).p
    assert p[0, 2] < 0.001
    assert p[0, 3] > p[0, 2]


def test_no_difference_is_no_difference() -> None:
    assert (tukey_hsd(np.full((5, 9), 0.4)).p == 1).all()


@pytest.mark.parametrize(
    ("runs", "topics", "gaps"),
    [(4, 8, 0.0), (6, 8, 0.25), (10, 6, 0.0)],
    ids=["4 x 8", "6 x 8 with gaps", "10 x 6"],
)
def test_where_no_run_is_better_five_leaderboards_of_100_name_one(
    runs: int, topics: int, gaps: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tukey, "PERMUTATIONS", 400)
    tukey._held_orders.cache_clear()
    rng, worlds = np.random.default_rng(runs), 2000
    # Topics differ much, and so does how far runs are apart on them.
    scale, level = rng.exponential(1, topics), rng.normal(0, 3, topics)
    named = 0
    for _ in range(worlds):
        values = level + scale * rng.normal(0, 1, (runs, topics)) ** 3
        values[rng.random(values.shape) < gaps] = NAN
        named += tukey_hsd(values).p.min() < 0.05
    tukey._held_orders.cache_clear()
    assert abs(named / worlds - 0.05) < 0.015
