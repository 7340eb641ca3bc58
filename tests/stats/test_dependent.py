"""Drop rules on measures that are one another's complement, or equal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.stats.texts import by_topic, figure, scores
from trecjudge.stats.dependent import without_repeats
from trecjudge.stats.release_gate import GateRule

A, B, JUDGED = [1.0, 0.5, 0.25], [0.0, 0.5, 0.75], figure(1, 1, 1, 9, 9)
RULES = [GateRule("drop", "A", 0.05), GateRule("drop", "B", 0.02)]


@pytest.mark.parametrize(
    ("second", "lower", "judged", "kept"),
    [
        pytest.param(B, True, 9, ["A 0.02"], id="the complement, of the other direction"),
        pytest.param(B, False, 9, ["A 0.05", "B 0.02"], id="the complement of one direction"),
        pytest.param(A, False, 9, ["A 0.02"], id="equal"),
        pytest.param(A, True, 9, ["A 0.05", "B 0.02"], id="equal, of the other direction"),
        pytest.param([1.0, 0.5, 0.2], False, 9, ["A 0.05", "B 0.02"], id="equal but on one topic"),
        pytest.param([7.0, 6.5, 6.25], False, 9, ["A 0.05", "B 0.02"], id="parallel by chance"),
        pytest.param(A, False, 8, ["A 0.05", "B 0.02"], id="equal but for what is unjudged"),
    ],
)
def test_a_second_measure(second: list[float], lower: bool, judged: int, kept: list[str]) -> None:
    table = scores(by_topic("r", A, "A") + by_topic("r", second, "B"))
    figures = {
        ("r", "A"): JUDGED,
        ("r", "B"): replace(figure(1, 1, 1, judged, 9), lower_is_better=lower),
    }
    rules, stands = without_repeats(RULES, [table, table], [figures, figures])
    assert [f"{rule.measure} {rule.limit:g}" for rule in rules] == kept
    assert stands == ({} if len(kept) > 1 else {"B": "A"})


def test_of_two_limits_for_a_measure_the_lower_one_counts() -> None:
    table = scores(by_topic("r", A, "A"))
    rules, stands = without_repeats([RULES[0], GateRule("drop", "A", 0.01)], [table], [{}])
    assert ([rule.limit for rule in rules], stands) == ([0.01], {})
