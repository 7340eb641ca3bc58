"""The forms of a table for a paper or a page: Markdown, HTML, CSV, and LaTeX beside."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Literal

from trecjudge.errors import InputError, unknown
from trecjudge.findings import visible
from trecjudge.results.leaderboards.writing import csv_line
from trecjudge.show.formats import cell_text
from trecjudge.show.paper.grid import Cell, Grid, GridColumn
from trecjudge.show.paper.latex import PAGE, Layout, latex
from trecjudge.show.templates import holdable

# A table in Markdown, as GitHub and pandoc read it.
MARKUP = re.compile(r"([\\`*_{}\[\]<>|~&#$^])")


def markdown(grid: Grid) -> str:
    """Return a table, a column for each head, with its notes below."""
    return "\n".join(_markdown_lines(grid)) + "\n"


def _markdown_lines(grid: Grid) -> Iterator[str]:
    yield _markdown_row(_markdown_head(column) for column, _, _ in grid.heads)
    yield _markdown_row(":--" if column.kind == "text" else "--:" for column, _, _ in grid.heads)
    for row in grid.rows:
        yield _markdown_row(" ".join(map(_markdown_cell, own)) for _, own in grid.joined(row))
    if grid.notes:
        yield ""
        yield escape_markdown(" ".join(grid.notes))


def _markdown_row(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_head(column: GridColumn) -> str:
    return f"{escape_markdown(column.head)}{' ↓' if column.arrow else ''}"


def _markdown_cell(cell: Cell) -> str:
    return f"**{escape_markdown(cell.text)}**" if cell.bold else escape_markdown(cell.text)


def escape_markdown(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return MARKUP.sub(r"\\\1", " ".join(visible(text).split()))


# A table as a fragment of HTML, to be put into a page of any style.
def fragment(grid: Grid) -> str:
    """Return a `table` element with its notes as caption."""
    return "\n".join(_html_lines(grid)) + "\n"


def _html_lines(grid: Grid) -> Iterator[str]:
    yield "<table>"
    if grid.notes:
        yield f"<caption>{_html_text(' '.join(grid.notes))}</caption>"
    heads = "".join(f'<th scope="col">{_html_head(column)}</th>' for column, _, _ in grid.heads)
    yield f"<thead><tr>{heads}</tr></thead>"
    yield "<tbody>"
    for row in grid.rows:
        cells = (_html_cell(column, own) for column, own in grid.joined(row))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody>"
    yield "</table>"


def _html_head(column: GridColumn) -> str:
    return f"{_html_text(column.head)}{' &darr;' if column.arrow else ''}"


def _html_cell(column: GridColumn, cells: Sequence[Cell]) -> str:
    inside = " ".join(_html_part(cell, place) for place, cell in enumerate(cells))
    if column.head == "run":
        return f'<th scope="row">{inside}</th>'
    return f"<td>{inside}</td>"


def _html_part(cell: Cell, place: int) -> str:
    text = f"<b>{_html_text(cell.text)}</b>" if cell.bold else _html_text(cell.text)
    return f"<small>{text}</small>" if place else text


def _html_text(text: str) -> str:
    return escape(str(holdable(visible(text))))


# Tables written in a form by its name.
Form = Literal["markdown", "latex", "html", "csv"]


def spreadsheet(grid: Grid) -> str:
    """Return the rows as CSV with a header, numbers with all their digits."""
    names = list(grid.records[0]) if grid.records else []
    lines = [csv_line(names)]
    lines += [csv_line(cell_text(record[name]) for name in names) for record in grid.records]
    return "".join(lines)


FORMS: Mapping[str, Callable[[Grid, Layout], str]] = {
    "markdown": lambda grid, _: markdown(grid),
    "latex": latex,
    "html": lambda grid, _: fragment(grid),
    "csv": lambda grid, _: spreadsheet(grid),
}


def render_table(grid: Grid, form: str, layout: Layout = PAGE) -> str:
    """Return a table in a form, LaTeX by a layout. Raises InputError for an unknown form."""
    if form not in FORMS:
        raise InputError(unknown("form of a table", form, FORMS))
    return FORMS[form](grid, layout)
