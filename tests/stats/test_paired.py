"""The sign-flip test against another implementation and by hand, Holm, effect sizes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, permutation_test

from trecjudge.stats.paired import (
    EXACT_UNITS,
    FLIPS,
    effect_size,
    flips,
    holm,
    holm_pairs,
    max_t,
    sign_flip,
)
from trecjudge.stats.tukey import tukey_hsd

NAN = float("nan")
RNG = np.random.default_rng(4)


def by_hand(differences: np.ndarray) -> float:
    """Return the exact two-sided p by going through all flips."""
    observed = abs(differences.sum()) - 1e-9
    sums = [abs(differences @ np.array(s)) for s in product((1, -1), repeat=len(differences))]
    return sum(total >= observed for total in sums) / len(sums)


@pytest.mark.parametrize("topics", [1, 2, 5, EXACT_UNITS])
def test_with_few_topics_it_is_exact(topics: int) -> None:
    differences = RNG.normal(0.3, 1, topics)
    assert sign_flip(differences[None])[0] == pytest.approx(by_hand(differences))


@pytest.mark.parametrize("shift", [0.0, 0.1, 0.2, 0.3])
def test_with_many_topics_it_is_that_of_another_implementation(shift: float) -> None:
    differences = RNG.normal(shift, 1, 60)
    theirs = permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=20_000, rng=1
    ).pvalue
    assert sign_flip(differences[None])[0] == pytest.approx(theirs, abs=0.015)


@pytest.mark.parametrize(
    ("differences", "exact"),
    [
        pytest.param([1.0] * 38 + [-1.0] * 2, 2 * binom.sf(37, 40, 0.5), id="equal steps"),
        pytest.param([1.0] * 30, 2.0**-29, id="all of one sign"),
        pytest.param([1.0] * 30 + [0.0] * 10, 2.0**-29, id="zeros count for nothing"),
    ],
)
def test_a_p_can_be_smaller_than_the_number_of_flips_allows(
    differences: list[float], exact: float
) -> None:
    assert exact < 1 / FLIPS
    assert sign_flip(np.array([differences]))[0] == pytest.approx(exact, rel=0.25)


def test_a_small_p_of_uneven_differences() -> None:
    differences = RNG.normal(1.1, 1, 18)
    assert sign_flip(differences[None])[0] == pytest.approx(by_hand(differences), rel=0.15)


def test_no_difference_is_no_difference() -> None:
    assert sign_flip(np.zeros((1, 5)))[0] == 1.0
    assert sign_flip(np.zeros((1, 50)))[0] == 1.0


def test_topics_that_a_pair_does_not_share_leave_the_test() -> None:
    whole = np.array([[1.0, 2.0, -0.5]])
    gaps = np.array([[1.0, NAN, 2.0, NAN, -0.5]])
    assert sign_flip(gaps)[0] == pytest.approx(sign_flip(whole)[0])
    assert np.isnan(sign_flip(np.array([[NAN, NAN]]))[0])


def test_the_two_sides_can_change_places() -> None:
    differences = RNG.normal(0.4, 1, (3, 40))
    assert sign_flip(differences).tolist() == sign_flip(-differences).tolist()


def test_flips_are_all_that_there_are_or_a_fixed_number() -> None:
    assert {tuple(row) for row in flips(3)} == set(product((1.0, -1.0), repeat=3))
    assert flips(EXACT_UNITS + 1).shape == (FLIPS, EXACT_UNITS + 1)


@pytest.mark.parametrize(
    ("p", "wanted"),
    [
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.5, 0.9], [1.0, 1.0]),
        ([0.02, NAN, 0.01], [0.02, NAN, 0.02]),
        ([NAN], [NAN]),
        ([], []),
    ],
)
def test_holm(p: list[float], wanted: list[float]) -> None:
    assert holm(np.array(p)).tolist() == pytest.approx(wanted, nan_ok=True)


def max_t_by_hand(differences: np.ndarray) -> list[float]:
    """Return step-down p by going through all flips of whole topics."""
    scaled = differences / np.sqrt((differences**2).sum(axis=1, keepdims=True))
    own = np.abs(scaled.sum(axis=1))
    flipped = [np.abs(scaled @ np.array(s)) for s in product((1, -1), repeat=differences.shape[1])]
    found, least = [0.0] * len(own), 0.0
    for row in np.argsort(-own):
        rest = own <= own[row]
        least = max(least, np.mean([max(f[rest]) >= own[row] - 1e-9 for f in flipped]))
        found[row] = least
    return found


def test_max_t_is_exact_with_few_topics() -> None:
    differences = RNG.normal(0.4, 1, (4, 8)) + RNG.normal(0, 0.5, 8)
    p = max_t(differences)
    assert p.tolist() == pytest.approx(max_t_by_hand(differences))
    assert (p <= holm(sign_flip(differences)) + 1e-12).all()
    assert max_t(-differences[::-1]).tolist() == p[::-1].tolist()


def test_max_t_of_many_topics_that_some_pairs_lack() -> None:
    differences = RNG.normal(0, 1, (5, 40))
    differences[1] += 0.8
    differences[2, 30:] = NAN
    differences[4] = NAN
    p = max_t(differences)
    assert p[1] < 0.01
    assert np.isnan(p[4])
    assert p[:4].max() == pytest.approx(sign_flip(differences)[:4].max(), abs=0.02)
    again = max_t(differences[:, RNG.permutation(40)])
    assert again.tolist() == pytest.approx(p.tolist(), nan_ok=True)
    assert max_t(differences[1:2]).tolist() == sign_flip(differences[1:2]).tolist()


def test_max_t_names_a_run_in_five_of_100_families_without_a_difference() -> None:
    rng, worlds = np.random.default_rng(5), 1500
    named = 0
    for _ in range(worlds):
        runs = rng.normal(0, 1, (6, 8)) ** 3
        named += max_t(runs[1:] - runs[0]).min() < 0.05
    assert abs(named / worlds - 0.05) < 0.015


def test_effect_size() -> None:
    assert effect_size(np.array([0.1, 0.2, 0.3, NAN])) == pytest.approx(2.0)
    assert effect_size(np.array([0.1, 0.1])) is None
    assert effect_size(np.array([0.1])) is None


def test_holm_over_all_pairs() -> None:
    noise = RNG.normal(0, 0.05, (3, 40))
    tests = holm_pairs(np.array([[0.5], [0.5], [0.9]]) + noise)
    p = tests.p
    assert tests.test == "holm: 10000 sign flips, seed 20250801"
    assert (p == p.T).all()
    assert np.diag(p).tolist() == [1.0, 1.0, 1.0]
    assert p[0, 1] > 0.05
    assert max(p[0, 2], p[1, 2]) < 0.001


def test_many_runs_can_be_separated_in_spite_of_the_correction() -> None:
    runs = np.linspace(0, 1, 60)[:, None] + RNG.normal(0, 0.05, (60, 40))
    pairs = 60 * 59 / 2
    p = holm_pairs(runs).p
    assert p[0, -1] < 1e-4 < pairs / FLIPS
    assert ((p < 0.05).sum() / 2) > 0.8 * pairs


def test_a_single_run_has_p_1_with_itself() -> None:
    for test in (holm_pairs, tukey_hsd):
        assert test(np.array([[0.1, 0.2]])).p.tolist() == [[1.0]]
