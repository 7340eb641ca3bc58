"""Tables for a spreadsheet, and forms by their names."""

from __future__ import annotations

import pytest

from tests.show.paper.grids import grid
from trecjudge.errors import InputError
from trecjudge.show.paper.grid import Grid
from trecjudge.show.paper.writing import written


def test_a_spreadsheet_has_every_digit_and_no_formulas() -> None:
    text = written(grid("=1+1", "a,b"), "csv")
    assert text == 'run,M_1,M_1_low,M_1_tied\n\'=1+1,0.5,,false\n"a,b",0.5,,false\n'


@pytest.mark.parametrize("form", ["markdown", "latex", "html", "csv"])
def test_a_table_without_rows_is_written(form: str) -> None:
    assert written(Grid("x", grid().columns, [], [], []), form)


def test_a_form_that_there_is_not() -> None:
    with pytest.raises(InputError, match="unknown form of a table 'latx'; did you mean 'latex'"):
        written(grid("a"), "latx")
