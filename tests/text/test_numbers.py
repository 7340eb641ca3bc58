from __future__ import annotations

import pytest

from trecjudge.text.numbers import compose_numbers, other_writings, scale_number
from trecjudge.text.tokens import read_forms


def numbers_in(text: str) -> list[str]:
    written, forms = read_forms(text)
    return [
        f"{' '.join(written[first:stop])} = {number}"
        for first, stop, number in compose_numbers(written, forms)
    ]


def test_number_of_several_words() -> None:
    cases = {
        "digits and a scale": ("1.5 million people", ["1.5 million = 1500000"]),
        "one before a scale": ("one thousand", ["one thousand = 1000"]),
        "a before a scale": ("a hundred", ["a hundred = 100"]),
        "tens and units": ("twenty-five ships", ["twenty five = 25"]),
        "as English has it": (
            "two hundred and fifty thousand",
            ["two hundred and fifty thousand = 250000"],
        ),
        "two factors": ("six thousand two hundred", ["six thousand two hundred = 6200"]),
        "two": ("3 million in 2 million", ["3 million = 3000000", "2 million = 2000000"]),
        "digits do not go on": ("2 million 12 months later", ["2 million = 2000000"]),
        "digits side by side": ("in 20 5 years", []),
        "a pronoun": ("one of a kind", []),
        "only a scale": ("millions of them", []),
        "no whole number": ("1.2345 thousand", []),
        "one word": ("twelve", []),
        "nothing": ("", []),
    }
    wrong = {
        name: found
        for name, (text, expected) in cases.items()
        if (found := numbers_in(text)) != expected
    }
    assert not wrong


@pytest.mark.parametrize(
    ("number", "scale", "expected"),
    [
        ("1.5", "million", "1500000"),
        ("20", "thousand", "20000"),
        ("0.5", "million", "500000"),
        ("3", "bn", "3000000000"),
        ("1.2345", "thousand", ""),
        ("12.5.1999", "million", ""),
        ("two", "million", ""),
        ("3", "car", ""),
    ],
    ids=[
        "decimal",
        "whole",
        "below one",
        "short scale",
        "no whole number",
        "date",
        "word",
        "no scale",
    ],
)
def test_scaled(number: str, scale: str, expected: str) -> None:
    assert scale_number(number, scale) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It cost $5.", ["dollar"]),
        ("It grew 5%.", ["percent", "cent"]),
        ("It grew 5 percent.", ["cent"]),
        ("It cost 2 million.", ["2000000"]),
        ("It is so.", []),
    ],
    ids=["currency", "sign", "word", "number", "none"],
)
def test_other_writings(text: str, expected: list[str]) -> None:
    assert other_writings(text, *read_forms(text)) == expected
