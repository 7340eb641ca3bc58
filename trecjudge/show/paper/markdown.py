"""A table in Markdown, as GitHub and pandoc read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trecjudge.findings import visible
from trecjudge.show.paper.grid import Cell, Column, Grid, together

MARKUP = re.compile(r"([\\`*_{}\[\]<>|~&#$^])")


def markdown(grid: Grid) -> str:
    """Return a table, a column for each head, with its notes below."""
    return "\n".join(_lines(grid)) + "\n"


def _lines(grid: Grid) -> Iterator[str]:
    yield _row(_head(column) for column, _, _ in grid.heads)
    yield _row(":--" if column.kind == "text" else "--:" for column, _, _ in grid.heads)
    for row in grid.rows:
        yield _row(_cells(grid.columns[s:e], row[s:e]) for _, s, e in grid.heads)
    if grid.notes:
        yield ""
        yield escaped(" ".join(grid.notes))


def _row(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _head(column: Column) -> str:
    return f"{escaped(column.head)}{' ↓' if column.arrow else ''}"


def _cells(columns: Sequence[Column], cells: Sequence[Cell]) -> str:
    found = together(columns, cells)
    texts = (f"**{escaped(c.text)}**" if c.bold else escaped(c.text) for c in found)
    return " ".join(texts)


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return MARKUP.sub(r"\\\1", " ".join(visible(text).split()))
