""""""

from __future__ import annotations

import pytest

from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import compare
from trecjudge.text.forms import has_humps, in_one, in_two, join_forms, neighbours_in, parts_of


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("totalRevenue", ["total", "revenu"]),
        ("WiFi", []),
        ("RestaurantsTakeOut", ["restaur", "take", "out"]),
        ("CO2", []),
        ("NATO", []),
        ("McGill", []),
    ],
)
def test_parts(written: str, parts: list[str]) -> None:
    assert list(parts_of([written])) == parts
    assert has_humps(written) is bool(parts)


def test_in_two_are_neighbours_only() -> None:
    forms, email = {"smart", "phone"}, join_forms([["e", "mail"]])
    assert in_two("smartphones", forms, join_forms([["smart", "phone"]])) == ("smart", "phone")
    assert in_two("smartphones", forms, join_forms([["phone", "smart"]])) is None
    assert in_two("email", {"e"}, email) == ("e", "mail")


def test_in_one() -> None:
    assert in_one("Wi", "Fi", "fi", {"wifi"}) == "wifi"
    assert in_one("health", "care", "care", {"healthcar"}) == "healthcar"
    assert in_one("a", "part", "part", {"apart"}) is None


def test_neighbours_stand_side_by_side_in_a_segment() -> None:
    row = join_forms([["cat", "sleep"], ["dog", "bark", "dog"]])
    forms = ["cat", "sleep", "dog", "bark", "dog", "dog"]
    assert neighbours_in(row, forms) == [True, False, True, True, False]


@pytest.mark.parametrize(
    ("sentence", "document", "label"),
    [
        ("The inn has Wi-Fi.", "The inn has WiFi.", "full_support"),
        ("The inn has wi fi.", "The inn has Wi-Fi.", "full_support"),
        ("The inn has a website.", "The inn has a web site.", "full_support"),
        ("The pole is 355 feet tall.", "The pole is 108 m tall.", "full_support"),
        ("The pole is 355 feet tall.", "The pole is 120 m tall.", "no_support"),
        ("Elm has an elevator.", '{"name": "Elm", "elevator": false}', "no_support"),
        ("Elm has an elevator.", '{"name": "Elm", "elevator": true}', "full_support"),
        ("Elm has no elevator.", '{"name": "Elm", "elevator": false}', "full_support"),
        ("Elm has no elevator.", '{"name": "Elm", "elevator": true}', "no_support"),
    ],
)
def test_the_same_in_another_writing(sentence: str, document: str, label: str) -> None:
    assert compare(sentence, prepare(document)).label == label
