"""What the statistics commands show: numbers, intervals, p values, hostile names."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tests.stats.texts import by_topic, scores
from trecjudge.records import FULL, NONE, Evidence, Failure, Judgment
from trecjudge.show.comparison import (
    correlation_table,
    difference_table,
    moved_lines,
    verdict_lines,
)
from trecjudge.show.formats import interval, number, probability
from trecjudge.show.tables import TextTable, candidate_table, table
from trecjudge.stats.comparison import compare, pairs_of
from trecjudge.stats.flips import Flip, VerdictChanges
from trecjudge.stats.labelling import LabelCandidate
from trecjudge.stats.meta import Correlated, Correlation
from trecjudge.stats.resampling import NO_INTERVAL, Interval


def printed(grid: TextTable) -> list[list[str]]:
    """Return the rows as words."""
    file = io.StringIO()
    Console(file=file, width=250).print(grid)
    return [line.split() for line in file.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("value", "text"), [(None, "n/a"), (0.5, "0.5000"), (-1e-9, "-0.0000"), (12345.6, "12345.6000")]
)
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("p", "text"), [(None, "n/a"), (1.0, "1.0000"), (0.0001, "0.0001"), (3.2e-7, "3e-07")]
)
def test_p_values(p: float | None, text: str) -> None:
    assert probability(p) == text


def test_intervals() -> None:
    assert interval(Interval(-0.1, 0.25)) == "-0.100 to 0.250"
    assert interval(NO_INTERVAL) == "n/a"


def test_a_hostile_name_steers_neither_terminal_nor_markup() -> None:
    file = io.StringIO()
    Console(file=file, width=80, force_terminal=True).print(table(("x",), [("[red]a\x1b[2J",)]))
    assert "[red]a\\x1b[2J" in file.getvalue()


def test_a_coefficient_a_row() -> None:
    found = Correlation("kendall", 0.5, NO_INTERVAL, Interval(0.1, 0.9))
    one = Correlated("judge", "H", "M", ["a", "b", "c"], 0, [1, 2, 3], [1, 3, 2], [found])
    rows = printed(correlation_table([one]))
    assert rows[1] == [
        "judge",
        "M",
        "H",
        "kendall",
        "0.5000",
        "n/a",
        "0.100",
        "to",
        "0.900",
        "3",
        "0",
    ]


def test_a_difference_a_row_and_its_topics_below() -> None:
    table = scores(by_topic("a", [0.1, 0.5]) + by_topic("b", [0.4, 0.5]))
    found = compare(pairs_of([table]))
    rows = printed(difference_table(found))
    assert rows[1][:7] == ["M", "lb:", "a", "lb:", "b", "0.3000", "0.4500"]
    assert rows[1][7] == "+0.1500"
    assert list(moved_lines(found)) == ["moved most, M, lb: a -> lb: b: t000 0.100 -> 0.400"]


def test_nothing_moved() -> None:
    table = scores(by_topic("a", [0.1]) + by_topic("b", [0.1]))
    assert list(moved_lines(compare(pairs_of([table])))) == []


def judged(label: str, **fields: object) -> Judgment:
    return Judgment("r", "t", 3, "d", label=label, **fields)  # type: ignore[arg-type]


def test_flips_are_shown_with_what_either_side_had() -> None:
    failed = Judgment("r", "t", 3, "d", failure=Failure("transport", "reset"))
    found = VerdictChanges(only_before=2)
    found.counts.update({(FULL, NONE): 1, (FULL, FULL): 5, (NONE, "unjudged"): 1})
    found.flips = [
        Flip("Said.", judged(FULL, evidence=Evidence(0, 4, "Seen")), judged(NONE, reason="why")),
        Flip("Said too.", judged(NONE), failed),
    ]
    assert list(verdict_lines(found)) == [
        "verdicts: 7 items on both sides, 2 decided differently; 2 only on the first side,"
        " 0 only on the second",
        "  1 x full_support -> no_support",
        "  1 x no_support -> unjudged",
        "r t sentence 4 d: full_support -> no_support: Said.",
        "    before: no reason given 'Seen'",
        "    after: why ''",
        "r t sentence 4 d: no_support -> unjudged: Said too.",
        "    before: no reason given ''",
        "    after: reset ''",
    ]


def test_only_the_first_flips_are_shown() -> None:
    found = VerdictChanges(flips=[Flip("S.", judged(FULL), judged(NONE))] * 50)
    lines = list(verdict_lines(found))
    assert len(lines) == 1 + 3 * 20 + 1
    assert lines[-1] == "  … 50 in all; --json has them all"


def test_an_item_to_label_a_row() -> None:
    rows = printed(candidate_table([(0.001, LabelCandidate("r", "t", None, None, 0.1, None))]))
    assert rows[1] == ["1", "r", "t", "unjudged", "1.00e-03"]


def test_a_nugget_to_label_is_named() -> None:
    fact = LabelCandidate("r", "t", None, None, 0.1, None, nugget="tin")
    rows = printed(candidate_table([(0.001, fact)]))
    assert rows[0] == ["run", "topic", "sentence", "document", "nugget", "judged", "gain"]
    assert rows[1] == ["1", "r", "t", "tin", "unjudged", "1.00e-03"]
