"""What to label next: doubt, near ties, and the order that they make."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from trecjudge.stats.labelling import Candidate, Candidates, doubt, drawn, near_ties
from trecjudge.stats.ppi import corrected


def candidate(run: str = "r", reach: float = 0.1, share: float | None = 0.5) -> Candidate:
    return Candidate(run, "t", 0, "d", reach, share)


@pytest.mark.parametrize(
    ("share", "wanted"), [(math.nan, 0.25), (0.5, 0.25), (0.0, 0.1275), (1.0, 0.1275)]
)
def test_doubt_is_largest_in_the_middle_and_where_nothing_is_judged(
    share: float, wanted: float
) -> None:
    assert doubt(share) == pytest.approx(wanted)


def test_a_run_has_as_many_near_ties_as_are_hard_to_separate_from_it() -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, (3, 20))
    values = np.array([[0.5], [0.5], [0.9]]) + noise
    found = near_ties(["a", "b", "c"], values)
    assert found["a"] == pytest.approx(found["b"], abs=0.05)
    assert found["c"] < 0.01 < 0.3 < found["a"] <= 1.0


def test_equal_runs_are_near_ties_and_those_a_constant_apart_are_none() -> None:
    values = np.array([[0.1, 0.2], [0.1, 0.2], [0.3, 0.4]])
    assert near_ties(["a", "b", "c"], values) == {"a": 1.0, "b": 1.0, "c": 0.0}


def test_topics_without_a_value_are_left_out() -> None:
    values = np.array([[0.1, np.nan], [0.1, 0.2]])
    assert near_ties(["a", "b"], values) == {"a": 0.0, "b": 0.0}


def ranked(ties: dict[str, float], *given: Candidate) -> tuple[list[int], list[float]]:
    """Return the places of candidates in their order, and the gains in it."""
    held = Candidates()
    for run_id, topic_id in sorted({(c.run_id, c.topic_id) for c in given}, reverse=True):
        own = [(p, c) for p, c in enumerate(given) if (c.run_id, c.topic_id) == (run_id, topic_id)]
        held.add(run_id, topic_id, own)
    gains, order = held.ranked(ties)
    return [held.places[number] for number in order], gains[order].tolist()


def test_the_order() -> None:
    far, sure, doubtful = candidate("far"), candidate(share=1.0), candidate()
    wide = candidate(reach=0.3, share=1.0)
    places, gains = ranked({"r": 2.0, "far": 0.1}, far, sure, doubtful, wide)
    assert places == [3, 2, 1, 0]
    assert gains[0] == pytest.approx(0.09 * 0.1275 * 2)


def items(sizes: list[int]) -> list[str]:
    """Return the topics of the items of responses of so many items."""
    return [f"t{t}" for t, n in enumerate(sizes) for _ in range(n)]


def test_a_long_response_is_drawn_as_often_as_a_short_one() -> None:
    candidates, rng = items([1, 1, 1, 19, 19]), np.random.default_rng(5)
    found = Counter(candidates[place] for _ in range(3000) for place in drawn(candidates, 2, rng))
    assert [found[f"t{t}"] / 3000 for t in range(5)] == pytest.approx([0.4] * 5, abs=0.03)


def test_further_items_are_drawn_once_all_responses_have_one() -> None:
    candidates = items([1, 4, 2])
    for budget, wanted in ((3, [1, 1, 1]), (5, [1, 2, 2]), (6, [1, 3, 2]), (99, [1, 4, 2])):
        places = drawn(candidates, budget, np.random.default_rng(1))
        assert places == sorted(set(places))
        found = Counter(candidates[place] for place in places)
        assert [found[f"t{t}"] for t in range(3)] == wanted


def test_labels_drawn_so_correct_a_judge_that_is_wrong_on_long_responses() -> None:
    """Half of 100 responses have 1 item, where the judge is right, half 19, where it is wrong."""
    truth, judged = np.array([1.0] * 50 + [0.0] * 50), np.ones(100)
    candidates, rng = items([1] * 50 + [19] * 50), np.random.default_rng(0)
    means, held = [], []
    for _ in range(400):
        topics = {int(candidates[p][1:]) for p in drawn(candidates, 30, rng)}
        estimates = np.array([truth[t] if t in topics else np.nan for t in range(100)])
        found = corrected(judged, estimates, estimates, np.zeros(100, dtype=bool))
        assert found is not None
        means.append(found.mean)
        held.append((found.low or 0.0) <= 0.5 <= (found.high or 0.0))
    assert np.mean(means) == pytest.approx(0.5, abs=0.02)
    assert np.mean(held) > 0.93


def test_ties_go_by_topic_run_sentence_and_document() -> None:
    keys = [
        ("b", "t", 0, "d"),
        ("a", "t", 10, "d"),
        ("a", "t", 9, "e"),
        ("a", "t", 9, "d"),
        ("a", "t", None, "x"),
        ("z", "s", 0, "d"),
    ]
    places, _ = ranked({"a": 1, "b": 1, "z": 1}, *(Candidate(*key, 0.1, 0.5) for key in keys))
    assert places == [5, 4, 3, 2, 1, 0]
