"""CSV that a spreadsheet takes for text and numbers, and never for formulas."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable

MARK = "'"
FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""Text that a spreadsheet may calculate; with marks before it, text that looks marked already."""
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
# Semicolons too: in many countries spreadsheets separate columns by them.
QUOTED = re.compile(r"[,;\"\t\r\n]")


def csv_line(cells: Iterable[str]) -> str:
    """Return a line of CSV; a cell that a spreadsheet would calculate has a `'` before it."""
    return ",".join(map(_cell, cells)) + "\n"


def tsv_line(cells: Iterable[str]) -> str:
    """Return a line of TSV, as safe; tabs and line ends in a cell are blanks."""
    return "\t".join(_marked(" ".join(cell.split())) for cell in cells) + "\n"


def csv_cells(line: str, delimiter: str = ",") -> list[str]:
    """Return the cells of a line of CSV as they were before `csv_line`; none where it is broken."""
    try:
        cells = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []
    return [_unmarked(cell) for cell in cells]


def _marked(text: str) -> str:
    return MARK + text if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def _cell(text: str) -> str:
    text = _marked(text)
    if not QUOTED.search(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _unmarked(cell: str) -> str:
    return cell[1:] if cell.startswith(MARK) and FORMULA.match(cell) else cell
