"""What to label next: near ties, what a label tells, and the order that they make."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from trecjudge.stats.labelling import LabelCandidate, LabelCandidates, draw_sample, near_ties
from trecjudge.stats.shrinkage import USUAL


def candidate(run: str = "r", reach: float = 0.1, share: float | None = 0.5) -> LabelCandidate:
    return LabelCandidate(run, "t", 0, "d", reach, share)


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


def best(
    near: dict[str, float], *given: LabelCandidate, budget: int = 99, labels: int = 0
) -> list[tuple[int, float]]:
    """Return the places of the candidates that are picked, with their gains."""
    held = LabelCandidates()
    for run_id, topic_id in sorted({(c.run_id, c.topic_id) for c in given}, reverse=True):
        own = [(p, c) for p, c in enumerate(given) if (c.run_id, c.topic_id) == (run_id, topic_id)]
        held.add(run_id, topic_id, own, labels)
    return [(held.places[number], gain) for gain, number in held.best(near, budget)]


def test_what_moves_a_near_tie_far_comes_first() -> None:
    far, near, wide = candidate("far"), candidate(), candidate(reach=0.3)
    found = best({"r": 2.0, "far": 0.1}, far, near, wide)
    assert [place for place, _ in found] == [2, 1, 0]
    assert [gain for _, gain in found] == sorted((gain for _, gain in found), reverse=True)


def test_the_gain_is_the_variance_that_a_label_takes_out() -> None:
    ((_, alone),) = best({"r": 1.0}, candidate(reach=1.0))
    # One item, of variance 1 + 2 r^2 with the errors of its run and its response.
    assert alone == pytest.approx(1 + 2 * USUAL**2)


def test_labels_are_spread_over_responses_that_weigh_the_same() -> None:
    given = [LabelCandidate("r", f"t{n % 3}", n, "d", 0.1, 0.5) for n in range(12)]
    first = best({"r": 1.0}, *given, budget=6)
    assert Counter(place % 3 for place, _ in first) == {0: 2, 1: 2, 2: 2}
    assert best({"r": 1.0}, *given)[:6] == first


def test_an_item_of_a_response_with_labels_tells_less() -> None:
    ((_, fresh),), ((_, told),) = (
        best({"r": 1.0}, candidate(), labels=labels) for labels in (0, 9)
    )
    assert told < fresh


def test_all_are_listed_by_topic_run_sentence_and_document() -> None:
    keys = [("b", "t", 0, "d"), ("a", "t", 9, "e"), ("a", "t", 9, "d"), ("z", "s", 0, "d")]
    held = LabelCandidates()
    for run, topic in (("b", "t"), ("z", "s"), ("a", "t")):
        own = [(i, LabelCandidate(*key, 0.1, 0.5)) for i, key in enumerate(keys) if key[0] == run]
        held.add(run, topic, own)
    assert [held.places[number] for number in held.in_order()] == [3, 2, 1, 0]


def items(sizes: list[int]) -> list[str]:
    """Return the topics of the items of responses of so many items."""
    return [f"t{t}" for t, n in enumerate(sizes) for _ in range(n)]


def test_a_long_response_is_drawn_as_often_as_a_short_one() -> None:
    candidates, rng = items([1, 1, 1, 19, 19]), np.random.default_rng(5)
    found = Counter(
        candidates[place] for _ in range(3000) for place in draw_sample(candidates, 2, rng)
    )
    assert [found[f"t{t}"] / 3000 for t in range(5)] == pytest.approx([0.4] * 5, abs=0.03)


def test_further_items_are_drawn_once_all_responses_have_one() -> None:
    candidates = items([1, 4, 2])
    for budget, wanted in ((3, [1, 1, 1]), (5, [1, 2, 2]), (6, [1, 3, 2]), (99, [1, 4, 2])):
        places = draw_sample(candidates, budget, np.random.default_rng(1))
        assert places == sorted(set(places))
        found = Counter(candidates[place] for place in places)
        assert [found[f"t{t}"] for t in range(3)] == wanted
