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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1.5 million people", ["1.5 million = 1500000"], id="digits and a scale"),
        pytest.param("one thousand", ["one thousand = 1000"], id="one before a scale"),
        pytest.param("a hundred", ["a hundred = 100"], id="a before a scale"),
        pytest.param("twenty-five ships", ["twenty five = 25"], id="tens and units"),
        pytest.param(
            "two hundred and fifty thousand",
            ["two hundred and fifty thousand = 250000"],
            id="as English has it",
        ),
        pytest.param(
            "six thousand two hundred", ["six thousand two hundred = 6200"], id="two factors"
        ),
        pytest.param(
            "3 million in 2 million", ["3 million = 3000000", "2 million = 2000000"], id="two"
        ),
        pytest.param(
            "2 million 12 months later", ["2 million = 2000000"], id="digits do not go on"
        ),
        pytest.param("in 20 5 years", [], id="digits side by side"),
        pytest.param("one of a kind", [], id="a pronoun"),
        pytest.param("millions of them", [], id="only a scale"),
        pytest.param("1.2345 thousand", [], id="no whole number"),
        pytest.param("twelve", [], id="one word"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_number_of_several_words(text: str, expected: list[str]) -> None:
    assert numbers_in(text) == expected


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
