"""Votes are counted item by item, and their agreement is that of the field's formulas."""

from __future__ import annotations

import pytest

from tests.fakes import judgment
from trecjudge.records import Vote
from trecjudge.scores.scoring import VoteTally

OBSERVERS = {
    "a": "1 2 3 3 2 1 4 1 2 . . .",
    "b": "1 2 3 3 2 2 4 1 2 5 . 3",
    "c": ". 3 3 3 2 3 4 2 2 5 1 .",
    "d": "1 2 3 3 2 4 4 1 2 5 1 .",
}
"""The example of Krippendorff's computing pages: 12 units, alpha 0.743."""


def test_alpha_of_voters_with_missing_votes_is_krippendorffs() -> None:
    tally = VoteTally()
    units = zip(*(row.split() for row in OBSERVERS.values()), strict=True)
    for unit in units:
        votes = (
            Vote(name, failure="transport: reset") if label == "." else Vote(name, label)
            for name, label in zip(OBSERVERS, unit, strict=True)
        )
        tally.add([judgment("1", judge="j", votes=tuple(votes))])
    (found,) = tally.figures()
    assert found["alpha"] == pytest.approx(0.743, abs=5e-4)
    assert found["failed"] == {"a": 3, "b": 1, "c": 2, "d": 1}
    assert found["items"] == 11  # on the last unit only one voter decided
