"""A table in Markdown, as GitHub and pandoc read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trecjudge.findings import visible
from trecjudge.show.paper.grid import Cell, Grid, GridColumn, join_cells

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
