"""A leaderboard as a table: what scores in its cells, and the sentences that explain it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trecjudge.errors import InputError
from trecjudge.evaluation.standings import Standings
from trecjudge.results.statistics import Corrected, RunScore
from trecjudge.show.paper.tables import leaderboard_grid, letters

PLAIN = RunScore("a", "M", 0.5, 4, 8, 8, 0.4, 0.6, 0.5, 0.5, rank=1, groups=["a"])


def board(*scores: RunScore) -> Standings:
    """Return a leaderboard that ranks by the first measure."""
    measures = dict.fromkeys(score.measure for score in scores)
    by_measure = {m: {s.run_id: s for s in scores if s.measure == m} for m in measures}
    return Standings("x", by_measure, list(measures)[:1])


def texts(*scores: RunScore, wanted: tuple[str, ...] = (), digits: int = 2) -> list[list[str]]:
    """Return the cells of a table."""
    return [
        [cell.text for cell in row]
        for row in leaderboard_grid(board(*scores), wanted, False, digits).rows
    ]


def test_a_run_shows_what_is_known_of_it() -> None:
    cases = {
        "a mean": ({}, ["1", "a", "0.50", "[0.40, 0.60]", "a"]),
        "a tie": ({"ties": ["b"]}, ["1=", "a", "0.50", "[0.40, 0.60]", "a="]),
        "no interval": ({"low": None, "high": None}, ["1", "a", "0.50", "a"]),
        "unjudged items with their bounds": (
            {"judged": 5, "lowest": 0.25, "highest": 1.0},
            ["?", "a", "0.50", "[0.40, 0.60]", "a", "3 of 8: 0.25 to 1.00"],
        ),
        "unjudged items of a leaderboard that was moved": (
            {"judged": 0, "expected": 3, "only_unjudged": True, "lowest": None, "highest": None},
            ["?", "a", "0.50", "[0.40, 0.60]", "a", "3: no bounds"],
        ),
        "nothing judged": (
            {"mean": None, "rank": None, "groups": [], "low": None, "high": None, "judged": 0}
            | {"lowest": 0.0, "highest": 1.0},
            ["?", "a", "unjudged", "8 of 8: 0.00 to 1.00"],
        ),
        "not defined": (
            {"mean": None, "rank": None, "groups": [], "low": None, "high": None},
            ["?", "a", "n/a"],
        ),
        "no -0": ({"mean": -0.001, "low": None, "groups": []}, ["1", "a", "0.00"]),
        "labels of people": (
            {"human": Corrected(2, 0.6, 0.5, 0.7)},
            ["1", "a", "0.50", "[0.40, 0.60]", "a", "0.60 [0.50, 0.70]"],
        ),
    }
    wrong = {
        name: found
        for name, (change, wanted) in cases.items()
        if (found := texts(replace(PLAIN, **change))) != [wanted]
    }
    assert not wrong


# type: ignore[arg-type]


def test_the_best_is_bold_and_lower_may_be_better() -> None:
    worse = replace(PLAIN, run_id="b", mean=0.9, rank=2)
    scores = [replace(one, lower_is_better=True) for one in (worse, PLAIN)]
    grid = leaderboard_grid(board(*scores))
    assert [(row[1].text, row[2].bold) for row in grid.rows] == [("a", True), ("b", False)]
    assert grid.columns[2].arrow
    assert "Arrow: lower is better." in grid.notes


def test_a_run_without_a_measure_keeps_its_row() -> None:
    other = replace(PLAIN, run_id="b", measure="N", rank=1)
    assert texts(PLAIN, other, wanted=("M", "N")) == [
        ["1", "a", "0.50", "[0.40, 0.60]", "a", "n/a", "", ""],
        ["?", "b", "n/a", "", "", "0.50", "[0.40, 0.60]", "a"],
    ]


def test_a_measure_that_is_not_there() -> None:
    with pytest.raises(InputError, match="x: unknown measure 'O'; there are: M"):
        leaderboard_grid(board(PLAIN), ["O"])


@pytest.mark.parametrize(
    ("topics", "note"),
    [
        ((4, 4), "Means over 4 topics."),
        ((3, 4), "Means over 3 to 4 topics."),
        ((1, 1), "Values of 1 topic."),
    ],
)
def test_the_notes_count_topics(topics: tuple[int, int], note: str) -> None:
    scores = [replace(PLAIN, run_id=str(i), topics=n) for i, n in enumerate(topics)]
    assert leaderboard_grid(board(*scores)).notes[0] == note


def test_letters_are_never_claimed_that_a_run_does_not_have() -> None:
    cases = [
        (["a"], "a"),
        (["b", "a"], "ab"),
        (["a", "b", "c", "d"], "a-d"),
        (["a", "c", "d", "e"], "a,c-e"),
        (["y", "z", "aa"], "y-aa"),
        (["z", "ab"], "z,ab"),
        ([], ""),
    ]
    wrong = [(groups, found) for groups, text in cases if (found := letters(groups)) != text]
    assert not wrong
