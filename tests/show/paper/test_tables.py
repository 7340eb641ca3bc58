"""Tables for papers: a leaderboard, a comparison."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trecjudge.errors import InputError
from trecjudge.evaluation.standings import Standings
from trecjudge.results.statistics import Corrected, RunScore, Unjudged
from trecjudge.show.paper.tables import correlation_grid, difference_grid, leaderboard_grid, letters
from trecjudge.stats.comparison import Difference
from trecjudge.stats.meta import Correlated, Correlation
from trecjudge.stats.resampling import NO_INTERVAL, Interval

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


DIFFERENCE = Difference(
    *("M", "out/old: r", "out/new: r", 9, 0.5, 0.75, Interval(0.1, 0.4), 0.01, 0.02, 1.5),
    *([], 9, [], []),
)


def test_a_difference_that_a_test_finds_is_bold() -> None:
    row = difference_grid([DIFFERENCE]).rows[0]
    assert [cell.text for cell in row] == [
        *("M", "old: r", "new: r", "9", "0.500", "0.750", "0.250", "[0.100, 0.400]"),
        *("0.0200", "1.50"),
    ]
    assert [cell.text for cell in row if cell.bold] == ["0.250"]


def test_what_all_rows_have_is_told_once() -> None:
    grid = difference_grid([DIFFERENCE, replace(DIFFERENCE, after="out/new: s")])
    assert [column.head for column in grid.columns][:3] == ["after", "mean before", "mean after"]
    assert grid.notes[:3] == ["Measure: M.", "Before: old: r.", "Topics: 9."]
    assert [record["measure"] for record in grid.records] == ["M", "M"]


def test_unjudged_items_of_a_side_have_columns() -> None:
    gaps = Unjudged(3, 12, 0.25, 1.0)
    grid = difference_grid([replace(DIFFERENCE, unjudged_after=gaps, corrected=0.5)])
    assert [cell.text for cell in grid.rows[0]][-2:] == ["n/a", "3 of 12 (0.25 to 1)"]
    assert not any(cell.bold for cell in grid.rows[0])
    assert grid.records[0]["highest_after"] == 1.0


def test_a_coefficient_has_both_intervals() -> None:
    found = [Correlation("kendall", 0.8, NO_INTERVAL, Interval(0.5, 1.0))]
    one = Correlated("out/x", "H", "M", ["a", "b"], 3, [1, 2], [1, 2], found)
    grid = correlation_grid([one], digits=1)
    assert [cell.text for cell in grid.rows[0]] == [
        *("x", "M", "H", "kendall", "2", "3", "0.8", "n/a", "[0.5, 1.0]")
    ]
    assert grid.records[0]["low_over_topics"] is None
