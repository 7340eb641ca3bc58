"""Tables written in a form by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from trecjudge.errors import InputError, unknown
from trecjudge.results.leaderboards.spreadsheet import csv_line
from trecjudge.show.paper.fragment import fragment
from trecjudge.show.paper.grid import Grid
from trecjudge.show.paper.latex import latex
from trecjudge.show.paper.markdown import markdown

Form = Literal["markdown", "latex", "html", "csv"]


def spreadsheet(grid: Grid) -> str:
    """Return the rows as CSV with a header, numbers with all their digits."""
    names = list(grid.records[0]) if grid.records else []
    lines = [csv_line(names)]
    lines += [csv_line(_text(record[name]) for name in names) for record in grid.records]
    return "".join(lines)


def _text(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


FORMS: Mapping[str, Callable[[Grid], str]] = {
    "markdown": markdown,
    "latex": latex,
    "html": fragment,
    "csv": spreadsheet,
}


def render_table(grid: Grid, form: str) -> str:
    """Return a table in a form. Raises InputError for one that there is not."""
    if form not in FORMS:
        raise InputError(unknown("form of a table", form, FORMS))
    return FORMS[form](grid)
