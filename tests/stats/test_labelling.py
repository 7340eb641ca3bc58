"""What to label next: doubt, rivals, and the order that they make."""

from __future__ import annotations

import numpy as np
import pytest

from trecjudge.stats.labelling import Candidate, ranked, rivalry


def candidate(run: str = "r", reach: float = 0.1, share: float | None = 0.5) -> Candidate:
    return Candidate(run, "t", 0, "d", reach, share)


@pytest.mark.parametrize(
    ("share", "doubt"), [(None, 0.25), (0.5, 0.25), (0.0, 0.1275), (1.0, 0.1275)]
)
def test_doubt_is_largest_in_the_middle_and_where_nothing_is_judged(
    share: float | None, doubt: float
) -> None:
    assert candidate(share=share).doubt == pytest.approx(doubt)


def test_a_run_has_as_many_rivals_as_are_hard_to_tell_from_it() -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, (3, 20))
    values = np.array([[0.5], [0.5], [0.9]]) + noise
    found = rivalry(["a", "b", "c"], values)
    assert found["a"] == pytest.approx(found["b"], abs=0.05)
    assert found["c"] < 0.01 < 0.3 < found["a"] <= 1.0


def test_equal_runs_are_rivals_and_those_a_constant_apart_are_none() -> None:
    values = np.array([[0.1, 0.2], [0.1, 0.2], [0.3, 0.4]])
    assert rivalry(["a", "b", "c"], values) == {"a": 1.0, "b": 1.0, "c": 0.0}


def test_topics_without_a_value_are_left_out() -> None:
    values = np.array([[0.1, np.nan], [0.1, 0.2]])
    assert rivalry(["a", "b"], values) == {"a": 0.0, "b": 0.0}


def test_the_order() -> None:
    far, sure, doubtful = candidate("far"), candidate(share=1.0), candidate()
    wide = candidate(reach=0.3, share=1.0)
    found = ranked(iter([far, sure, doubtful, wide]), {"r": 2.0, "far": 0.1})
    assert [one for _, one in found] == [wide, doubtful, sure, far]
    assert found[0][0] == pytest.approx(0.09 * 0.1275 * 2)


def test_ties_go_by_name() -> None:
    found = ranked(iter([candidate("b"), candidate("a")]), {"a": 1, "b": 1})
    assert [one.run_id for _, one in found] == ["a", "b"]
