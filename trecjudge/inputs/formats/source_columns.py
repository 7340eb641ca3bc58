"""Columns of Markdown tables whose cells name sources, without any brackets around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from trecjudge.inputs.formats.citation_words import SOURCE
from trecjudge.inputs.formats.marks import SQUARE, Mark
from trecjudge.text.layout import BORDER, is_ruler

_HEADER = re.compile(rf"[\s*_]*(?:{SOURCE})[\s*_:]*", re.IGNORECASE)
_LONGEST = 300
"""Characters of a cell that names a source; a longer one says something."""
Cell = tuple[int, int]
"""Where the text of a cell begins and ends."""


def source_columns(text: str) -> Iterator[list[Mark]]:
    """Yield the cells of each column headed "Source" or the like, as what may be marks."""
    if "|" not in text or "--" not in text:
        return
    start, columns, before = 0, dict[int, list[Mark]](), list[Cell]()
    for line in text.split("\n"):
        cells = _cells(line, start) if "|" in line else []
        if before and cells and is_ruler(line):
            yield from columns.values()
            named = (i for i, cell in enumerate(before) if _HEADER.fullmatch(text[slice(*cell)]))
            columns = {index: [] for index in named}
        elif not cells:
            yield from columns.values()
            columns = {}
        for index, marks in columns.items():
            begin, end = cells[index] if index < len(cells) else (0, 0)
            if 0 < end - begin <= _LONGEST and not is_ruler(line):
                marks.append(Mark(begin, end, SQUARE, text[begin:end]))
        before, start = cells, start + len(line) + 1
    yield from columns.values()


def _cells(line: str, start: int) -> list[Cell]:
    """Return where the cells of a row stand in the text, without white space."""
    inner = line.strip(" \t>")
    begin = line.find(inner) + inner.startswith("|")
    end = line.find(inner) + len(inner) - (inner.endswith("|") and len(inner) > 1)
    borders = [begin - 1, *(b.start() for b in BORDER.finditer(line, begin, end)), end]
    cells = []
    for left, right in pairwise(borders):
        written = line[left + 1 : right]
        at = start + left + 1 + len(written) - len(written.lstrip())
        cells.append((at, at + len(written.strip())))
    return cells
