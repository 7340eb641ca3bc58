"""CSV that a spreadsheet takes for text and numbers, and never for formulas."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable

from trecjudge.inputs.sources.comma_separated import FORMULA, MARK, remove_formula_mark

NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
# Semicolons too: in many countries spreadsheets separate columns by them.
QUOTED = {",": re.compile(r"[,;\"\t\r\n]"), "\t": re.compile(r"^\"|[\t\r\n]")}
"""What is quoted in a cell, by what separates cells."""


def csv_line(cells: Iterable[str], separator: str = ",") -> str:
    """Return a line of CSV, or of TSV; what a spreadsheet would calculate has a `'` before it."""
    return separator.join(_cell(cell, QUOTED[separator]) for cell in cells) + "\n"


def csv_cells(line: str, delimiter: str = ",") -> list[str]:
    """Return the cells of a line of CSV as they were before `csv_line`; none where it is broken."""
    try:
        cells = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []
    return list(map(remove_formula_mark, cells))


def _cell(text: str, quoted: re.Pattern[str]) -> str:
    if FORMULA.match(text) and not NUMBER.fullmatch(text):
        text = MARK + text
    if not quoted.search(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
