"""Tables in Markdown, read back by a real parser."""

from __future__ import annotations

from html import unescape
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from tests.show.paper.grids import grid
from trecjudge.errors import InputError
from trecjudge.show.paper.forms import escape_markdown, fragment, markdown, render_table
from trecjudge.show.paper.grid import Grid


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


@pytest.mark.parametrize("run", ["<script>x</script>", "a\"&'b", "a\x00\x1bb", "\ud800x", "ü中"])
def test_a_name_is_text(run: str) -> None:
    table = ElementTree.fromstring(fragment(grid(run, "b")).replace("&darr;", "↓"))
    rows = table.findall("tbody/tr")
    assert [len(list(row)) for row in rows] == [3, 3]
    name = rows[0].find("th")
    assert name is not None and len(name) == 0
    assert (name.text or "").replace("\\x00", "\x00").replace("\\x1b", "\x1b") in (run, "x")


def test_the_best_is_bold_and_details_are_small() -> None:
    text = fragment(grid("a", "b"))
    assert "<td><b>0.500</b> <small>[0.1, 0.9]</small> <small>(unjudged 1 of 2" in text
    assert '<th scope="col">M_1 &darr;</th>' in text
    assert "<caption>Means over 3 topics. p &lt; 0.05.</caption>" in text


def test_a_spreadsheet_has_every_digit_and_no_formulas() -> None:
    text = render_table(grid("=1+1", "a,b"), "csv")
    assert text == 'run,M_1,M_1_low,M_1_tied\n\'=1+1,0.5,,false\n"a,b",0.5,,false\n'


@pytest.mark.parametrize("form", ["markdown", "latex", "html", "csv"])
def test_a_table_without_rows_is_written(form: str) -> None:
    assert render_table(Grid("x", grid().columns, [], [], []), form)


def test_a_form_that_there_is_not() -> None:
    with pytest.raises(InputError, match="unknown form of a table 'latx'; did you mean 'latex'"):
        render_table(grid("a"), "latx")
