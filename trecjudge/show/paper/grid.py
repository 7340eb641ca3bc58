"""A table for a paper or a page: its columns, rows and notes, before it has a form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal


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

    def joined(self, row: Sequence[Cell]) -> Iterator[tuple[GridColumn, list[Cell]]]:
        """Yield what stands in a row, by columns that share a cell; `named` ones in parentheses."""
        for first, start, end in self.heads:
            parts = zip(self.columns[start:end], row[start:end], strict=True)
            yield (
                first,
                [
                    Cell(f"({column.part} {cell.text})", cell.bold) if column.named else cell
                    for column, cell in parts
                    if cell.text
                ],
            )
