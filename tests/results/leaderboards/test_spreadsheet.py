"""No cell of CSV is calculated by a spreadsheet, and every one is read back as it was."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.commandline import command
from trecjudge.results.leaderboards.writing import csv_cells, csv_line

CELLS = st.text(st.sampled_from("'=+-@\uff1d,;\"|a1.e5\t\r"), max_size=6)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        pytest.param('=HYPERLINK("http://x")', '"\'=HYPERLINK(""http://x"")"', id="a link"),
        pytest.param("=1+1", "'=1+1", id="a sum"),
        pytest.param("+x", "'+x", id="plus"),
        pytest.param("-x", "'-x", id="minus"),
        pytest.param("@SUM(1)", "'@SUM(1)", id="at"),
        pytest.param("\t=1", '"\'\t=1"', id="a tab before it"),
        pytest.param("\r=1", '"\'\r=1"', id="a carriage return before it"),
        pytest.param("\uff1d1", "'\uff1d1", id="full width"),
        pytest.param("-1+1|cmd", "'-1+1|cmd", id="begins as a number"),
        pytest.param("a;=1", '"a;=1"', id="behind a semicolon"),
        pytest.param("'=1", "''=1", id="a mark of its own"),
        pytest.param("'a", "'a", id="a quote that is in nobody's way"),
        pytest.param("-0.5", "-0.5", id="a negative number"),
        pytest.param("+1", "+1", id="a number with its sign"),
        pytest.param("-2e-05", "-2e-05", id="a small number"),
        pytest.param("-inf", "'-inf", id="no number to a spreadsheet"),
        pytest.param("nDCG@20", "nDCG@20", id="a measure"),
    ],
)
def test_a_cell(text: str, written: str) -> None:
    assert csv_line([text]) == f"{written}\n"


@given(st.lists(CELLS.filter(lambda cell: "\r" not in cell), min_size=2, max_size=4))
def test_cells_are_read_back_as_they_were(cells: list[str]) -> None:
    assert csv_cells(csv_line(cells).removesuffix("\n")) == cells


@given(CELLS)
def test_no_cell_is_calculated(text: str) -> None:
    cell = next(csv.reader([csv_line([text])], strict=True), [""])[0] if text else ""
    try:
        float(cell)
    except ValueError:
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\uff1d"))


def test_a_command_there_and_back(tmp_path: Path) -> None:
    rows = 'x=1\tall\tM\t-0.5\n=HYPERLINK("http://x")\tall\tM\t0.25\n'
    (tmp_path / "board.txt").write_text(rows)
    assert command("convert", tmp_path / "board.txt", tmp_path / "b.csv", "--to", "csv").status == 0
    assert (tmp_path / "b.csv").read_text().splitlines()[1:] == [
        "x=1,all,M,-0.5",
        '"\'=HYPERLINK(""http://x"")",all,M,0.25',
    ]
    command("convert", tmp_path / "b.csv", tmp_path / "back.txt", "--to", "ir_measures")
    assert (tmp_path / "back.txt").read_text() == rows
