"""Rows of CSV, at the lines of the file where they end."""

from __future__ import annotations

import pytest

from trecjudge.inputs.sources.comma_separated import BrokenCsv, csv_rows


def test_a_row_stands_at_the_line_where_it_ends() -> None:
    lines = [(1, "id,text"), (3, 'a,"The ferry'), (4, 'is blue."'), (7, "b,Late")]
    rows = [(1, ["id", "text"]), (4, ["a", "The ferry\nis blue."]), (7, ["b", "Late"])]
    assert list(csv_rows(lines)) == rows


def test_what_breaks_off_is_at_its_line() -> None:
    rows = csv_rows([(1, "a;1"), (5, "b\r2;x")], ";")
    assert next(rows) == (1, ["a", "1"])
    with pytest.raises(BrokenCsv, match="new-line character") as broken:
        next(rows)
    assert broken.value.line == 5
