"""Tables of words and of expressions, and whether all that the package ships can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from trecjudge.text.tables import read_expressions, read_rows, read_words

TABLE = r"""# Colours.
which = (?:the|this)

[english]
colour = (?:red|
    blue)  # no comment

# Of a thing.
\b{which}\s+{colour}\b[^.]{0,20}
^no

[german]
\b{which}\b
"""
SHIPPED = [
    path
    for name in ("declining", "latin", "other_scripts")
    for path in Path(__file__).parents[2].glob(f"trecjudge/**/{name}.txt")
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.txt"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_expressions_have_the_parts_that_they_name(table: Path) -> None:
    english, german = read_expressions(table)
    assert english.name == "english"
    colour = "(?:red|blue)  # no comment"
    assert english.expressions == [rf"\b(?:the|this)\s+{colour}\b[^.]{{0,20}}", "^no"]
    assert german.expressions == [r"\b(?:the|this)\b"]


def test_a_part_is_of_its_section_only(table: Path) -> None:
    english, german = read_expressions(table)
    assert set(english.parts) - set(german.parts) == {"colour"}


def test_a_part_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "table.txt"
    path.write_text("[english]\n{colour}\n", encoding="utf-8")
    with pytest.raises(KeyError, match="colour"):
        read_expressions(path)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_is_shipped_can_be_compiled(path: Path) -> None:
    for section in read_expressions(path):
        for entry in section.expressions:
            re.compile(entry)


def test_words_are_listed_by_name(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("# Colours.\nwarm:\nred\norange yellow\ncold:\nblue\n", encoding="utf-8")
    assert read_words(path) == {"warm": ["red", "orange", "yellow"], "cold": ["blue"]}


def test_rows_have_two_sides(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("# Units.\nkm: kilometer kilometre\n%: percent\n", encoding="utf-8")
    assert read_rows(path) == [(["km"], ["kilometer", "kilometre"]), (["%"], ["percent"])]
