"""Rows of CSV, at the lines of the file where they end."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from trecjudge.settings.limits import IN_ALL, limits


class BrokenCsv(Exception):
    """The rest of a file is not CSV; `line` is where that was found."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def csv_rows(
    lines: Iterable[tuple[int, str]], delimiter: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) of numbered lines; cells may hold line ends. Raises BrokenCsv."""
    number = size = 0
    most = limits()
    csv.field_size_limit(most.record)  # of its own, whole documents are too long for it

    def texts() -> Iterator[str]:
        nonlocal number, size
        for at, text in lines:
            number, size = at, size + len(text)
            if size > most.record:
                raise csv.Error(f"a row {most.too_long}")
            if text.count(delimiter) > IN_ALL * most.entries:
                raise csv.Error(f"a row {most.too_many}")
            yield f"{text}\n"

    try:
        for cells in csv.reader(texts(), delimiter=delimiter):
            size = 0
            yield number, cells
    except csv.Error as error:
        raise BrokenCsv(number, str(error)) from error
