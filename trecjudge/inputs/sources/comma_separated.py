"""Rows of CSV, at the lines of the file where they end."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator


class BrokenCsv(Exception):
    """What follows is no CSV; `line` is where that was found."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def csv_rows(
    lines: Iterable[tuple[int, str]], delimiter: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) of numbered lines; cells may hold line ends. Raises BrokenCsv."""
    number = 0

    def texts() -> Iterator[str]:
        nonlocal number
        for at, text in lines:
            number = at
            yield f"{text}\n"

    try:
        for cells in csv.reader(texts(), delimiter=delimiter):
            yield number, cells
    except csv.Error as error:
        raise BrokenCsv(number, str(error)) from error
