"""Rows of CSV, at the lines of the file where they end, and what separates their cells."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from trecjudge.settings.limits import IN_ALL, limits

DELIMITERS = ("\t", ",", ";")
"""What separates cells; spreadsheets write `;` where the comma is decimal."""
MARK = "'"
FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""Text that a spreadsheet may calculate; with marks before it, text that looks marked already."""
LONGEST_HEADER = 100_000
"""Characters of a first line that may be a header."""


def remove_formula_mark(cell: str) -> str:
    """Return a cell without the mark that keeps a spreadsheet from calculating it."""
    return cell[1:] if cell.startswith(MARK) and FORMULA.match(cell) else cell


def delimiter_of(line: str, is_header: Callable[[Sequence[str]], object]) -> str | None:
    """Return what separates the cells of a first line that is a header, None where it is none."""
    if len(line) > LONGEST_HEADER:
        return None
    parted = ((d, [cell.strip(' "') for cell in line.split(d)]) for d in DELIMITERS if d in line)
    return next((delimiter for delimiter, cells in parted if is_header(cells)), None)


def names_delimiter(line: str) -> bool:
    """Return whether a line is no row, but tells a spreadsheet what separates cells: `sep=;`."""
    start, _, rest = line.strip('" \r\n').partition("=")
    return start == "sep" and len(rest) <= 1


class BrokenCsv(Exception):
    """The rest of a file is not CSV; `line` is where that was found."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def csv_rows(
    lines: Iterable[tuple[int, str]], delimiter: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) of numbered lines; cells may hold line ends. Raises BrokenCsv."""
    number = size = marks = 0
    most = limits()
    csv.field_size_limit(most.record)  # of its own, whole documents are too long for it

    def texts() -> Iterator[str]:
        nonlocal number, size, marks
        for at, text in lines:
            if not number and names_delimiter(text):
                continue
            number, size = at, size + len(text)
            if size > most.record:
                raise csv.Error(f"a row {most.too_long}")
            marks += text.count(delimiter)
            if marks > IN_ALL * most.entries:
                raise csv.Error(f"a row {most.too_many}")
            yield f"{text}\n"

    try:
        for cells in csv.reader(texts(), delimiter=delimiter):
            size = marks = 0
            yield number, cells
    except csv.Error as error:
        raise BrokenCsv(number, str(error)) from error


def csv_records(
    lines: Iterable[tuple[int, str]], delimiter: str = ","
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line, cells by the names of the header) of rows that are not empty.

    Raises BrokenCsv.
    """
    header: list[str] = []
    for line, cells in csv_rows(lines, delimiter):
        if header and any(map(str.strip, cells)):
            yield line, dict(zip(header, cells, strict=False))
        header = header or [cell.strip() for cell in cells]
