"""Where runs stand: ranks, ties, groups, intervals, and what is not defined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from trecjudge.measures import MOST_COMPARED, are_compared
from trecjudge.results.statistics import RunScore
from trecjudge.stats.correlation import Aggregate, letter_groups, rank_runs

RNG = np.random.default_rng(3)


Entry = tuple[RunScore, Sequence[float | None]]


def entry(run_id: str, values: Sequence[float | None], **fields: float | None) -> Entry:
    known = [v for v in values if v is not None]
    mean = sum(known) / len(known) if known else None
    bounds = {"lowest": mean, "highest": mean} | fields
    return RunScore(run_id, "M", mean, judged=3, expected=4, **bounds), values


def found(
    *entries: Entry, lower: bool = False, aggregate: Aggregate = "mean"
) -> dict[str, RunScore]:
    scores = [replace(score, lower_is_better=lower) for score, _ in entries]
    values = {score.run_id: own for score, own in entries}
    return {s.run_id: s for s in rank_runs(scores, values, aggregate)}


def test_ranks_and_ties() -> None:
    runs = found(entry("a", [0.5, 0.5]), entry("b", [1.0, 0.0]), entry("c", [1, 1]))
    assert [(s.run_id, s.rank, s.ties) for s in runs.values()] == [
        ("c", 1, []),
        ("a", 2, ["b"]),
        ("b", 2, ["a"]),
    ]


def test_the_lowest_can_be_the_best() -> None:
    runs = found(entry("a", [0.5]), entry("b", [0.1]), lower=True)
    assert [(s.run_id, s.rank, s.lower_is_better) for s in runs.values()] == [
        ("b", 1, True),
        ("a", 2, True),
    ]


def test_a_run_without_a_mean_is_last_and_all_of_it_is_null() -> None:
    runs = found(entry("a", [None, None], lowest=0.0, highest=1.0), entry("b", [0.0, 0.0]))
    assert list(runs) == ["b", "a"]
    a = runs["a"]
    assert (a.mean, a.rank, a.low, a.ties, a.groups, a.topics) == (None, None, None, [], [], 0)
    assert (a.lowest, a.highest, a.judged, a.expected) == (0.0, 1.0, 3, 4)


def test_topics_that_do_not_enter_the_mean_are_not_counted() -> None:
    assert found(entry("a", [0.5, None, 1.0]))["a"].topics == 2


def test_groups_of_runs_that_cannot_be_separated() -> None:
    noise = RNG.normal(0, 0.05, (3, 30))
    runs = found(
        entry("good", (0.80 + noise[0]).tolist()),
        entry("near", (0.79 + noise[1]).tolist()),
        entry("poor", (0.30 + noise[2]).tolist()),
    )
    assert {run: s.groups for run, s in runs.items()} == {
        "good": ["a"],
        "near": ["a"],
        "poor": ["b"],
    }


def test_an_interval_is_around_its_mean() -> None:
    a = found(entry("a", RNG.random(30).tolist()))["a"]
    assert a.low is not None and a.mean is not None and a.high is not None
    assert a.low < a.mean < a.high


@pytest.mark.parametrize("values", [[0.5], [None, 0.5]], ids=["one topic", "one value"])
def test_one_value_has_no_interval(values: list[float | None]) -> None:
    assert found(entry("a", values))["a"].low is None


def test_what_is_no_mean_has_neither_interval_nor_group() -> None:
    a = found(entry("a", [0.1, 0.9]), aggregate="other")["a"]
    assert (a.low, a.high, a.groups, a.rank) == (None, None, [], 1)


def test_names_of_runs_change_nothing_but_the_order_of_ties() -> None:
    values = RNG.random((6, 20))
    before = found(*(entry(f"r{i}", v.tolist()) for i, v in enumerate(values)))
    after = found(*(entry(f"x{9 - i}", v.tolist()) for i, v in enumerate(values)))
    for i in range(6):
        ours, theirs = before[f"r{i}"], after[f"x{9 - i}"]
        assert (ours.low, ours.high, ours.rank) == (theirs.low, theirs.high, theirs.rank)
        assert ours.groups == theirs.groups


def test_names_of_topics_change_nothing_where_values_tie() -> None:
    values = (RNG.random((4, 20)) < np.array([[0.5], [0.6], [0.45], [0.9]])).astype(float)
    outcomes = set()
    for _ in range(5):
        shuffled = values[:, RNG.permutation(20)]
        runs = found(*(entry(f"r{i}", v.tolist()) for i, v in enumerate(shuffled)))
        outcomes.add(tuple((s.run_id, s.low, s.high, tuple(s.groups)) for s in runs.values()))
    assert len(outcomes) == 1


def test_names_of_runs_change_no_group_where_means_tie() -> None:
    values = np.array([RNG.permutation([1.0] * n + [0.0] * (24 - n)) for n in [20] * 4 + [12] * 4])
    before = found(*(entry(f"r{i}", v.tolist()) for i, v in enumerate(values)))
    after = found(*(entry(f"r{7 - i}", v.tolist()) for i, v in enumerate(values)))
    for i in range(8):
        assert before[f"r{i}"].groups == after[f"r{7 - i}"].groups


def test_no_topic_at_all() -> None:
    assert found(entry("a", []))["a"].groups == []


def test_runs_that_are_too_many_have_neither_ties_nor_groups() -> None:
    many = [entry(f"r{i}", [0.5, 0.5, float(i == 0)]) for i in range(MOST_COMPARED + 1)]
    assert {(s.rank, *s.ties, *s.groups) for s in found(*many).values()} == {(1,), (2,)}


@pytest.mark.parametrize(
    ("runs", "topics", "wanted"), [(150, 800, True), (1000, 20, True), (1000, 21, False)]
)
def test_how_many_are_tested(runs: int, topics: int, wanted: bool) -> None:
    assert are_compared(runs, topics) is wanted


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
