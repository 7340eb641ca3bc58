"""A table as a fragment of HTML, to be put into a page of any style."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from trecjudge.findings import visible
from trecjudge.show.paper.grid import Cell, Grid, GridColumn, join_cells
from trecjudge.show.templates import holdable


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
