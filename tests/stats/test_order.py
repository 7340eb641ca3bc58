"""How far an order holds: decisions of tests, without each team, between two leaderboards."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tests.commandline import command
from tests.reading import lines_of
from tests.stats.texts import by_topic, scores
from trecjudge.errors import InputError
from trecjudge.evaluation.teams import teams_in
from trecjudge.findings import ignore
from trecjudge.stats.alignment import Rules
from trecjudge.stats.meta import moved_orders
from trecjudge.stats.order import Decisions, team_orders

DICE = np.random.default_rng(3)


def test_decisions_are_pairs_that_tests_tell_apart() -> None:
    clear = np.array([[0.9] * 20, [0.5] * 20, [0.1] * 20]) + DICE.normal(0, 0.01, (3, 20))
    assert Decisions.of(clear, clear) == Decisions(3, 3, 3, 3, 0)
    assert Decisions.of(clear, -clear) == Decisions(3, 3, 3, 0, 3)
    unclear = DICE.normal(0, 1, (3, 20))
    found = Decisions.of(clear, unclear - unclear.mean(axis=1, keepdims=True))
    assert (found.truth, found.judge, found.same, found.opposite) == (3, 0, 0, 0)


def test_a_team_has_the_share_of_its_pairs_that_are_in_order() -> None:
    runs = [f"r{n}" for n in range(9)]
    teams = {run: "abc"[n % 3] for n, run in enumerate(runs)}
    truth, judge = (DICE.integers(0, 5, 9).astype(float) for _ in range(2))
    found = {one.team: one for one in team_orders(runs, teams, (truth, judge), None)}
    for team in "abc":
        right = untied = 0.0
        for i, j in combinations(range(9), 2):
            of_one = (teams[runs[i]] == team) != (teams[runs[j]] == team)
            if of_one and truth[i] != truth[j]:
                untied += 1
                sign = np.sign(truth[i] - truth[j]) * np.sign(judge[i] - judge[j])
                right += (1 + sign) / 2
        assert found[team].own == pytest.approx(right / untied, abs=1e-6)
        assert found[team].runs == 3


def test_without_the_team_that_is_wrong_the_order_is_right() -> None:
    runs = ["a1", "a2", "b1", "c1", "d1", "e1"]
    truth = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    judge = np.array([0.1, 0.2, 0.7, 0.6, 0.5, 0.4])
    by_run = tuple(side[:, None] + DICE.normal(0, 0.2, (6, 8)) for side in (truth, judge))
    found = list(team_orders(runs, {"a1": "a", "a2": "a"}, (truth, judge), (by_run[0], by_run[1])))
    assert (found[0].team, found[0].own, found[0].others) == ("a", 0.0, 1.0)
    assert all(one.others is not None and one.others < 1 for one in found[1:])
    low, high = found[1].interval
    assert low is not None and high is not None and low <= (found[1].own or 0) <= high


PLAIN = {"a": [9, 8, 9, 8], "b": [6, 5, 6, 5], "c": [3, 2, 3, 2], "d": [1, 0, 1, 0]}


def board(values: dict[str, list[float]]) -> str:
    return "".join(by_topic(run, [*own, *own]) for run, own in values.items())


def test_a_bank_of_its_own_moves_the_order() -> None:
    human, plain = scores(board(PLAIN), "human"), scores(board(PLAIN), "plain")
    liked = scores(board(PLAIN | {"c": [10, 10, 10, 10]}), "liked")
    (moved,) = moved_orders(human, plain, liked, Rules(), ignore)
    assert (moved.before, moved.after, moved.difference) == (1.0, 0.333333, -0.666667)
    assert moved.tau == 0.333333
    assert [one for one in moved.moves if one[1] != one[2]] == [
        ("c", 3, 1),
        ("a", 1, 2),
        ("b", 2, 3),
    ]


def test_teams_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "teams.tsv"
    path.write_text("r1\tred\n\nr2, blue\n")
    assert teams_in(path) == {"r1": "red", "r2": "blue"}
    for text, message in (("r1 red\n", "teams.tsv:1: must"), ("r\ta\nr\tb\n", ":2: run 'r' has")):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            teams_in(path)


def test_teams_of_a_job_are_those_of_its_records(tmp_path: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    records = (
        {
            "metadata": {"run_id": run, "topic_id": str(topic), "team_id": run[0]},
            "responses": [{"text": "word " * n * topic}],
        }
        for n, run in enumerate(("a1", "a2", "b1", "b2"), 1)
        for topic in range(1, 9)
    )
    runs.write_text(lines_of(*records))
    job = ("--rag-responses", runs, "--judge", "length", "--out-dir", tmp_path, "--name")
    for name in ("x", "y"):
        assert command(*job, name, "-q").status == 0
    done = command(
        "judges", "meta", tmp_path / "x", "--truth", tmp_path / "y", "--teams", tmp_path / "x"
    )
    assert done.status == 0, done.err
    rows = [line.split()[:3] for line in done.out.splitlines()]
    assert ["a", "2", "1.0000"] in rows and ["b", "2", "1.0000"] in rows
