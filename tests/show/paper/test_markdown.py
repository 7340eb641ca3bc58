"""Tables in Markdown, read back by a real parser."""

from __future__ import annotations

from html import unescape

import pytest
from markdown_it import MarkdownIt

from tests.show.paper.grids import grid
from trecjudge.show.paper.markdown import escape_markdown, markdown


def test_a_table_has_a_column_a_measure_and_its_notes_below() -> None:
    assert markdown(grid("a", "b|c")).splitlines() == [
        r"|  | run | M\_1 ↓ |",
        "| --: | :-- | --: |",
        r"| 1 | a | **0.500** \[0.1, 0.9\] (unjudged 1 of 2: 0.0 to 1.0) |",
        r"| 2 | b\|c | 0.500 \[0.1, 0.9\] |",
        "",
        r"Means over 3 topics. p \< 0.05.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a|b",
        "a_b_c",
        "*x*",
        "`x`",
        "<b>x</b>",
        "[a](b)",
        "a\\|b",
        "~~x~~",
        "&lt;",
        "![a](b)",
        "# a",
    ],
)
def test_a_name_is_shown_as_it_is(text: str) -> None:
    page = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown(grid(text)))
    cells = [line for line in page.splitlines() if line.startswith("<td")]
    assert len(cells) == 3
    assert unescape(cells[1].partition(">")[2].removesuffix("</td>")) == text


def test_a_name_stays_on_one_line() -> None:
    assert escape_markdown("a\nb\x1b") == r"a b\\x1b"
