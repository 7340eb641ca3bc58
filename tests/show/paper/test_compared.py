"""Comparisons and correlations as tables."""

from __future__ import annotations

from dataclasses import replace

from trecjudge.results.statistics import Unjudged
from trecjudge.show.paper.tables import correlation_grid, difference_grid
from trecjudge.stats.comparison import Difference
from trecjudge.stats.meta import Correlated, Correlation
from trecjudge.stats.resampling import NO_INTERVAL, Interval

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
    grid = difference_grid([replace(DIFFERENCE, unjudged_after=gaps, holm=0.5)])
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
