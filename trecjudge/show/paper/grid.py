"""A table before it is written: columns, cells, and the sentences that explain it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from trecjudge.show.tables import number

MINUS = "-"


@dataclass(frozen=True, slots=True)
class GridColumn:
    """A column, or a part of one: columns in a row that have one `head` belong together.

    A `number` is set by its decimal point, a `detail` smaller. `arrow` marks a measure of which
    less is better. Where they share a cell, the text of a `named` one stands behind its `part`.
    """

    head: str
    kind: Literal["text", "number", "detail"] = "text"
    part: str = ""
    arrow: bool = False
    named: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a row and a column; `bold` where it is the best, or counts as different."""

    text: str
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: its name, columns and rows, and notes, which are whole sentences.

    `records` are the same rows for a spreadsheet, numbers with all their digits.
    """

    name: str
    columns: Sequence[GridColumn]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str]
    records: Sequence[Mapping[str, object]]

    @property
    def heads(self) -> list[tuple[GridColumn, int, int]]:
        """The columns that belong together: the first of them, and from where to where."""
        found, start = [], 0
        for _, own in groupby(self.columns, lambda column: column.head):
            together = list(own)
            found.append((together[0], start, start + len(together)))
            start += len(together)
        return found


def join_cells(columns: Sequence[GridColumn], cells: Sequence[Cell]) -> Iterator[Cell]:
    """Yield what stands in columns that share a cell; `named` ones in parentheses."""
    for column, cell in zip(columns, cells, strict=True):
        if cell.text:
            text = f"({column.part} {cell.text})" if column.named else cell.text
            yield Cell(text, cell.bold)


def decimal(value: float | None, digits: int) -> str:
    """Return a number with so many decimals, `n/a` for None; never a negative zero."""
    text = number(value, digits)
    return text.removeprefix(MINUS) if text.strip("-0.") == "" else text


def bracket_interval(low: float | None, high: float | None, digits: int) -> str:
    """Return an interval, `[0.410, 0.600]`; nothing where there is none."""
    if low is None or high is None:
        return ""
    return f"[{decimal(low, digits)}, {decimal(high, digits)}]"
