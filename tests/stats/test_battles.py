"""Boards from battles: against arena-rank, against planted orders, and where a fit would fail."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from trecjudge.records.battles import LOSS, TIE, WIN, Battle
from trecjudge.stats.battle_worth import planned_rows, simulate_worth, table_of_rows
from trecjudge.stats.battles import (
    BattleTable,
    WinMatrix,
    bias_of,
    bounds_of,
    fit_battles,
    unbeaten,
    unconnected_sets,
)
from trecjudge.stats.pairings import pairings, possible_battles
from trecjudge.stats.ranks import rank_intervals
from trecjudge.stats.resampling import mean_intervals

# Battles of six runs: (winner or first, loser or second): decided; ties; both bad.
DECIDED = (
    "01 2, 10 3, 02 3, 20 2, 03 5, 30 1, 04 3, 40 1, 05 7, 10 6, 01 2, 12 3, 21 2, 13 6, 31 1,"
    "14 10, 15 6, 51 2, 20 3, 02 4, 21 4, 12 3, 23 1, 32 3, 24 2, 42 3, 25 4, 52 2, 30 1, 03 4,"
    "31 1, 13 5, 32 3, 23 5, 34 4, 43 5, 35 1, 53 1, 40 2, 04 5, 41 1, 14 2, 42 4, 24 3, 43 2,"
    "34 3, 45 4, 54 6, 50 1, 05 4, 15 3, 52 1, 25 3, 53 2, 35 8, 54 2, 45 1"
)
TIED = "03 1, 04 2, 05 2, 12 1, 15 1, 20 1, 24 1, 30 1, 32 1, 40 1, 52 3, 53 1"
BAD = "10 1, 13 1, 15 1, 20 1, 23 1, 30 1, 53 1"


def battles(text: str, outcome: str, topic: str = "t") -> list[Battle]:
    """Return the battles of `RUNS COUNT, ...`, where each run has a letter."""
    parts = (part.split() for part in text.split(","))
    return [
        Battle(topic, f"r{runs[0]}", f"r{runs[1]}", outcome)
        for runs, count in parts
        for _ in range(int(count))
    ]


ALL = battles(DECIDED, WIN) + battles(TIED, TIE) + battles(BAD, TIE)


def test_ratings_are_those_of_arena_rank_0_1_1() -> None:
    """Its numbers by `BradleyTerry(6, ftol=1e-16, gtol=1e-13)`, ties as half a win."""
    found = fit_battles(BattleTable.of(ALL), ties="half", prior=0).scores
    theirs = (1084.8296584691, 1157.1931104637, 999.4916134460, 954.4264212020, 919.3369804553)
    assert found == pytest.approx([*theirs, 884.7222159638761], abs=1e-6)


def test_without_ties_all_models_are_that_of_arena_rank() -> None:
    decided = BattleTable.of(battles(DECIDED, WIN))
    theirs = (1108.7106383605603, 1176.4522833228157, 1002.8134015345868, 944.9285021646781)
    for ties in ("davidson", "half"):
        found = fit_battles(decided, ties=ties, prior=0).scores  # type: ignore[arg-type]
        assert found == pytest.approx([*theirs, 908.1127914858582, 858.9823831315009], abs=1e-6)


def test_the_side_of_a_battle_does_not_matter() -> None:
    turned = [
        Battle(b.topic_id, b.run_b, b.run_a, {WIN: LOSS}.get(b.outcome or "", b.outcome))
        for b in ALL
    ]
    one, other = (fit_battles(BattleTable.of(own)) for own in (ALL, turned))
    assert one.scores == pytest.approx(other.scores, abs=1e-8)
    assert one.tie == pytest.approx(other.tie)


def test_davidsons_model_gives_back_what_it_was_planted_with() -> None:
    """With points and ties as the model expects them, the most likely parameters are its own."""
    strengths, tie, rows = (1.0, 0.2, -1.2), 0.7, []
    for a in range(3):
        for b in range(a + 1, 3):
            half = math.exp((strengths[a] - strengths[b]) / 2)
            whole = half + 1 / half + tie
            for outcome, chance in ((WIN, half), (LOSS, 1 / half), (TIE, tie)):
                rows.append(Battle("t", f"{a}", f"{b}", outcome, weight=chance / whole))
    found = fit_battles(BattleTable.of(rows), prior=0)
    assert found.strengths == pytest.approx(strengths, abs=1e-9)
    assert found.tie == pytest.approx(tie)


def test_topic_values_have_the_strength_as_their_mean() -> None:
    rows = planned_rows(9, 12, 300, 3)
    points = np.random.default_rng(1).integers(0, 2, len(rows)).astype(float)
    found = fit_battles(table_of_rows(rows, points, 9, 12))
    assert found.by_topic.mean(axis=1) == pytest.approx(found.strengths, abs=1e-9)


def test_drawing_topic_values_again_is_drawing_topics_again() -> None:
    """The bootstrap of pseudo-values beside one that fits every resample."""
    table, _ = planted(np.random.default_rng(2))
    rng, drawn = np.random.default_rng(3), []
    for _ in range(200):
        rows = [np.flatnonzero(table.topic == topic) for topic in rng.integers(30, size=30)]
        places = np.repeat(np.arange(30), [len(own) for own in rows])
        drawn.append(fit_battles(replace(table.take(np.concatenate(rows)), topic=places)))
    spread = np.std([one.strengths for one in drawn], axis=0)
    by_topic = fit_battles(table).by_topic
    assert by_topic.std(axis=1) / math.sqrt(30) == pytest.approx(spread, rel=0.2)


def planted(rng: np.random.Generator, size: int = 700) -> tuple[BattleTable, np.ndarray]:
    """Return battles of eight runs on 30 topics, and the strengths of the runs."""
    truth = np.linspace(1.2, -1.2, 8)
    answers = truth[:, None] + rng.normal(0, 0.5, (8, 30))
    rows = planned_rows(8, 30, size, 5)
    difference = answers[rows[:, 0], rows[:, 2]] - answers[rows[:, 1], rows[:, 2]]
    points = (rng.random(len(rows)) < 1 / (1 + np.exp(-difference))).astype(float)
    return table_of_rows(rows, points, 8, 30), truth


def test_a_planted_order_lies_within_its_intervals() -> None:
    rng, held, ranked = np.random.default_rng(11), [], []
    for _ in range(200):
        table, truth = planted(rng)
        by_topic = fit_battles(table).by_topic
        # Strengths of answers that vary come out a little nearer to each other.
        scale = truth @ by_topic.mean(axis=1) / (truth @ truth)
        held += [
            i.low <= s * scale <= i.high
            for s, i in zip(truth, mean_intervals(by_topic), strict=True)
        ]
        ranked += [i.low <= n <= i.high for n, i in enumerate(rank_intervals(by_topic), 1)]
    assert np.mean(held) >= 0.94
    assert np.mean(ranked) >= 0.95


def test_a_judge_that_always_says_a_gives_a_flat_board_and_a_bias_of_one() -> None:
    rows = [
        Battle(one.topic_id, one.run_a, one.run_b, WIN if one.first == "a" else LOSS, one.first)
        for one in pairings(list("abcdef"), [f"t{n}" for n in range(40)], 1)
    ]
    table = BattleTable.of(rows)
    found = fit_battles(table)
    assert np.abs(found.scores - 1000).max() < 60
    intervals = mean_intervals(found.by_topic)
    assert sum(i.low <= 0 <= i.high for i in intervals) >= 5
    assert bias_of(table).position == 1.0


def test_position_bias_is_that_of_battles_in_both_orders() -> None:
    once = [Battle(f"t{n}", "a", "b", WIN, "a") for n in range(10)]
    again = [Battle(f"t{n}", "a", "b", LOSS if n < 3 else WIN, "b", again=True) for n in range(10)]
    found = bias_of(BattleTable.of(once + again))
    assert (found.twice, found.contradicted) == (10, 3)
    assert found.position == pytest.approx(0.3)


def test_what_is_won_by_length_is_adjusted_for() -> None:
    """Where only length decides, equal lengths make all runs equal."""
    rng, rows = np.random.default_rng(4), []
    for one in pairings(list("abcd"), [f"t{n}" for n in range(60)], 1):
        own, other = (rng.normal(ord(run) / 4, 1) for run in (one.run_a, one.run_b))
        won = rng.random() < 1 / (1 + math.exp(-1.5 * (own - other)))
        rows.append(
            Battle(one.topic_id, one.run_a, one.run_b, WIN if won else LOSS, longer=own - other)
        )
    table = BattleTable.of(rows)
    plain, adjusted = fit_battles(table), fit_battles(table, adjust_length=True)
    assert bias_of(table).longer == pytest.approx(0.74, abs=0.08)
    assert adjusted.length == pytest.approx(1.5, abs=0.35)
    assert np.ptp(adjusted.strengths) < np.ptp(plain.strengths) / 2


def test_all_ties_are_a_flat_board() -> None:
    found = fit_battles(BattleTable.of(battles("01 9, 12 9, 20 9", TIE)))
    assert found.scores == pytest.approx([1000] * 3)
    assert math.isfinite(found.tie)


def of(*texts: str) -> Iterable[Battle]:
    """Return battles such as `a>b`, `a=b`, `a?b` (unjudged)."""
    outcomes = {">": WIN, "=": TIE, "?": None}
    return [Battle("t", text[0], text[2], outcomes[text[1]]) for text in texts]


def test_runs_that_always_won_have_a_finite_score_and_are_named() -> None:
    table = BattleTable.of(of("a>b", "a>c", "b>c"))
    assert unbeaten(table) == (["a"], ["c"])
    assert np.isfinite(fit_battles(table).scores).all()


def test_sets_that_never_met_are_named() -> None:
    table = BattleTable.of(of("a>b", "c>d", "b>e", "d?e"))
    assert unconnected_sets(table) == [["a", "b", "e"], ["c", "d"]]
    assert np.isfinite(fit_battles(table).scores).all()


def test_circles_are_counted() -> None:
    matrix = WinMatrix.of(BattleTable.of(of("a>b", "b>c", "c>a", "a>d", "b>d", "c=d")))
    assert matrix.triples == (1, 2)
    assert matrix.shares[0, 1] == 1.0
    assert math.isnan(matrix.shares[0, 0])


def test_an_unjudged_battle_bounds_both_runs() -> None:
    table = BattleTable.of(of("a>b", "b>c", "c>a", "a?b"))
    found = bounds_of(table, fit_battles(table), adjust_length=False)
    assert set(found) == {"a", "b"}
    for low, high in found.values():
        assert low < 0.0 < high


def test_no_topic_with_many_battles_decides() -> None:
    many = [Battle("loud", "a", "b", WIN)] * 60 + [Battle("loud", "a", "c", LOSS)] * 60
    few = [Battle(f"t{n}", *pair, LOSS) for n in range(9) for pair in (("a", "b"), ("b", "c"))]
    found = fit_battles(BattleTable.of(many + few))
    assert list(np.argsort(-found.strengths)) == [2, 1, 0]


def test_no_battles_are_no_order() -> None:
    assert fit_battles(BattleTable.of(of("a?b"))).strengths == pytest.approx([0, 0])


# Plans of battles.
def test_a_plan_has_every_pairing_once() -> None:
    found = list(pairings(list("abcde"), ["1", "2", "3"], 7))
    assert len(found) == possible_battles(5, 3) == 30
    assert len({(one.topic_id, one.run_a, one.run_b) for one in found}) == 30


def test_any_first_part_of_a_plan_is_balanced() -> None:
    rows = planned_rows(20, 15, 300, 2)  # two rounds
    met = np.bincount(np.concatenate([rows[:, 0] * 15 + rows[:, 2], rows[:, 1] * 15 + rows[:, 2]]))
    assert set(met) == {2}
    topics = np.bincount(rows[:100, 2])
    assert topics.max() - topics.min() <= 1


def test_a_plan_depends_on_names_and_the_seed_only() -> None:
    one = list(pairings(list("abcd"), ["1", "2"], 7))
    assert list(pairings(list("dbca"), ["2", "1"], 7)) == one
    assert list(pairings(list("abcd"), ["1", "2"], 8)) != one


def test_a_new_run_changes_nothing_of_what_was_planned() -> None:
    before = list(pairings(list("abcd"), ["1", "2"], 7))
    after = list(pairings(list("abcde"), ["1", "2"], 7, new=["e"]))
    assert after[: len(before)] == before
    assert all("e" in one[1:3] for one in after[len(before) :])
    assert len(after) == possible_battles(5, 2)


def test_more_battles_are_worth_more() -> None:
    few, many = simulate_worth(20, 30, [100, 2000])
    assert few.tau < many.tau < 1
