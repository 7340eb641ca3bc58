"""Letters of groups: runs share one exactly where they cannot be separated."""

from __future__ import annotations

import numpy as np
import pytest

from trecjudge.stats.standing import letter_groups

Pairs = list[tuple[int, int]]


def letters(runs: int, apart: Pairs) -> list[str]:
    alike = np.ones((runs, runs), dtype=bool)
    for i, j in apart:
        alike[i, j] = alike[j, i] = False
    return ["".join(row) for row in letter_groups(alike)]


@pytest.mark.parametrize(
    ("runs", "apart", "wanted"),
    [
        pytest.param(1, [], ["a"], id="one run"),
        pytest.param(3, [], ["a", "a", "a"], id="none apart"),
        pytest.param(3, [(0, 1), (0, 2), (1, 2)], ["a", "b", "c"], id="all apart"),
        pytest.param(3, [(0, 2)], ["a", "ab", "b"], id="the middle one with both"),
        pytest.param(4, [(0, 2), (0, 3), (1, 3)], ["a", "ab", "bc", "c"], id="a chain"),
        pytest.param(3, [(0, 1)], ["a", "b", "ab"], id="the last with both"),
        pytest.param(0, [], [], id="no run"),
    ],
)
def test_letters(runs: int, apart: Pairs, wanted: list[str]) -> None:
    assert letters(runs, apart) == wanted


@pytest.mark.parametrize("seed", range(5))
def test_runs_share_a_letter_exactly_where_they_are_alike(seed: int) -> None:
    alike = np.random.default_rng(seed).random((25, 25)) < 0.6
    alike = alike & alike.T | np.eye(25, dtype=bool)
    found = [set(row) for row in letter_groups(alike)]
    shared = np.array([[bool(a & b) for b in found] for a in found])
    assert (shared == alike).all()


def test_letters_go_on_after_z() -> None:
    found = letter_groups(np.eye(60, dtype=bool))
    assert [found[i][0] for i in (0, 25, 26, 27, 52)] == ["a", "z", "aa", "ab", "ba"]
