"""Amounts in any unit, times of day, and parts in words."""

from __future__ import annotations

import pytest

from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import compare
from trecjudge.text.amounts import amounts

SAME = [
    ("It closes at 3pm.", "It closes at 15:00."),
    ("It closes at 3:30 p.m. today.", "It closes at 15:30 today."),
    ("It closes at 12 am.", "It closes at 0:00."),
    ("Es schließt um 15 Uhr.", "Es schließt um 15:00."),
    ("The trip takes 2 hours.", "The trip takes 120 minutes."),
    ("The trip takes two hours.", "The trip takes 120 minutes."),
    ("The trip takes one and a half hours.", "The trip takes 90 minutes."),
    ("It took three weeks.", "It took 21 days."),
    ("It took two years.", "It took 24 months."),
    ("Rest it for three-quarters of an hour.", "Rest it for 45 minutes."),
    ("The can holds half a litre.", "The can holds 500 ml."),
    ("The glass holds 25 cl.", "The glass holds 250 ml."),
    ("A dose has 2 grams.", "A dose has 2,000 mg."),
    ("The pier is 2 km long.", "The pier is 2,000 metres long."),
    ("A quarter of the members voted.", "25 % of the members voted."),
    ("Two-thirds of the members voted.", "66.7 percent of the members voted."),
    ("Die Hälfte der Mitglieder kam.", "50 % der Mitglieder kam."),
    ("La mitad de los miembros vino.", "El 50 % de los miembros vino."),
    ("Половина членов пришла.", "50 % членов пришла."),
]
OTHER = [
    ("It closes at 3pm.", "It closes at 16:00."),
    ("The trip takes 2 hours.", "The trip takes 90 minutes."),
    ("The trip takes one and a half hours.", "The trip takes 30 minutes."),
    ("The can holds half a litre.", "The can holds 250 ml."),
    ("A quarter of the members voted.", "35 % of the members voted."),
    ("The pier is 2 km long.", "The pier is 200 metres long."),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equal_amounts_support_each_other(one: str, other: str) -> None:
    for sentence, document in ((one, other), (other, one)):
        (mine,), (its,) = amounts(sentence), amounts(document)
        assert mine.equals(its)
        assert compare(sentence, prepare(document)).label == "full_support"


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_amounts_do_not(one: str, other: str) -> None:
    for sentence, document in ((one, other), (other, one)):
        (mine,), (its,) = amounts(sentence), amounts(document)
        assert not mine.equals(its)
        assert compare(sentence, prepare(document)).label != "full_support"


@pytest.mark.parametrize("text", ["", "It won 2:1.", "Room 15 is full.", "Bus 3 Uhrmacher"])
def test_what_is_no_amount(text: str) -> None:
    assert not amounts(text)
