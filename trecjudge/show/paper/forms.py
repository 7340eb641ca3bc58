"""Tables written as Markdown, HTML, LaTeX or CSV."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Literal

from trecjudge.errors import InputError, unknown
from trecjudge.findings import visible
from trecjudge.results.leaderboards.writing import csv_line
from trecjudge.show.paper.grid import Cell, Grid, GridColumn, join_cells
from trecjudge.show.paper.latex import latex
from trecjudge.show.templates import holdable

MARKUP = re.compile(r"([\\`*_{}\[\]<>|~&#$^])")


def markdown(grid: Grid) -> str:
    """Return a table, a column for each head, with its notes below."""
    return "\n".join(_markdown_lines(grid)) + "\n"


def _markdown_lines(grid: Grid) -> Iterator[str]:
    yield _markdown_row(_markdown_head(column) for column, _, _ in grid.heads)
    yield _markdown_row(":--" if column.kind == "text" else "--:" for column, _, _ in grid.heads)
    for row in grid.rows:
        yield _markdown_row(_markdown_cells(grid.columns[s:e], row[s:e]) for _, s, e in grid.heads)
    if grid.notes:
        yield ""
        yield escape_markdown(" ".join(grid.notes))


def _markdown_row(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_head(column: GridColumn) -> str:
    return f"{escape_markdown(column.head)}{' ↓' if column.arrow else ''}"


def _markdown_cells(columns: Sequence[GridColumn], cells: Sequence[Cell]) -> str:
    found = join_cells(columns, cells)
    texts = (f"**{escape_markdown(c.text)}**" if c.bold else escape_markdown(c.text) for c in found)
    return " ".join(texts)


def escape_markdown(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return MARKUP.sub(r"\\\1", " ".join(visible(text).split()))


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
        cells = (_html_cell(grid.columns[s:e], row[s:e]) for _, s, e in grid.heads)
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody>"
    yield "</table>"


def _html_head(column: GridColumn) -> str:
    return f"{_html_text(column.head)}{' &darr;' if column.arrow else ''}"


def _html_cell(columns: Sequence[GridColumn], cells: Sequence[Cell]) -> str:
    found = join_cells(columns, cells)
    inside = " ".join(_html_part(cell, place) for place, cell in enumerate(found))
    if columns[0].head == "run":
        return f'<th scope="row">{inside}</th>'
    return f"<td>{inside}</td>"


def _html_part(cell: Cell, place: int) -> str:
    text = f"<b>{_html_text(cell.text)}</b>" if cell.bold else _html_text(cell.text)
    return f"<small>{text}</small>" if place else text


def _html_text(text: str) -> str:
    return escape(str(holdable(visible(text))))


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
