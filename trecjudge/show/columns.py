"""Tables that fit a terminal: names are shortened, numbers never; what does not fit is below."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.text import Text

from trecjudge.findings import visible, visible_line
from trecjudge.show.words import disambiguate, longest_part, shorten, stack_header

GAP = 2
LONGEST_WORD = 24
"""Columns of a word in a header: a longer one is shortened in the middle."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of a table, its cells as text.

    A `key` is repeated in every part of a table that is too wide for one. `least` is the width to
    which cells may be shortened in the middle; None for numbers.
    """

    header: str
    cells: Sequence[str]
    is_left: bool = False
    is_key: bool = False
    least: int | None = None

    def of(self, text: Callable[[str], str]) -> TextColumn:
        """Return the column with `text` applied to header and cells."""
        cells = [text(cell) for cell in self.cells]
        return TextColumn(text(self.header), cells, self.is_left, self.is_key, self.least)


@dataclass(frozen=True, slots=True)
class _SizedColumn:
    """A column with the widths that it can have."""

    column: TextColumn
    mark: str
    natural: int
    least: int

    @classmethod
    def of(cls, column: TextColumn, width: int | None, mark: str) -> _SizedColumn:
        cells = max(map(cell_len, column.cells), default=0)
        word = longest_part(column.header)
        if width is None:
            return cls(column, mark, max(cells, word), max(cells, word))
        word = min(word, LONGEST_WORD)
        natural = max(cells, word)
        if column.least is None or cells <= column.least:
            return cls(column, mark, natural, natural)
        return cls(column, mark, natural, min(max(column.least, word), natural))

    def header(self, width: int) -> list[str]:
        return [shorten(line, width, self.mark) for line in stack_header(self.column.header, width)]

    def lines(self, texts: Iterable[str], width: int) -> list[str]:
        return [self._padded(text, width) for text in texts]

    def cells(self, width: int) -> list[str]:
        return self.lines(disambiguate(self.column.cells, width, self.mark), width)

    def _padded(self, text: str, width: int) -> str:
        blanks = " " * (width - cell_len(text))
        return f"{text}{blanks}" if self.column.is_left else f"{blanks}{text}"


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table at most as wide as the terminal, or of any width with `wide`.

    Columns that do not fit beside the others follow in a further part, behind its keys.
    """

    columns: Sequence[TextColumn]
    title: str = ""
    wide: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        width = None if self.wide else options.max_width
        if self.title:
            title = textwrap.wrap(
                visible(self.title),
                options.max_width,
                break_long_words=False,
                break_on_hyphens=False,
            )
            yield from (Text(line, "italic") for line in title)
        for place, (headers, rows) in enumerate(self._parts(width, options.ascii_only)):
            yield from (Text("") for _ in range(bool(place)))
            yield from (Text(line, "bold") for line in headers)
            yield from map(Text, rows)

    def _parts(self, width: int | None, ascii_only: bool) -> Iterator[tuple[list[str], list[str]]]:
        # What a terminal cannot encode is written escaped, and wider.
        mark, clean = ("...", _escape) if ascii_only else ("…", _one_line)
        laid = [_SizedColumn.of(column.of(clean), width, mark) for column in self.columns]
        for part in _split_columns(laid, width):
            yield _lines(part, _widths(part, width))


def _one_line(text: str) -> str:
    """Return a cell without what would move the cells behind it."""
    return visible_line(text).replace("\t", "\\x09")


def _escape(text: str) -> str:
    return _one_line(text).encode("ascii", "backslashreplace").decode()


def _split_columns(laid: Sequence[_SizedColumn], width: int | None) -> Iterator[list[_SizedColumn]]:
    """Yield the columns part by part, each with the keys and as many others as fit."""
    keys = [one for one in laid if one.column.is_key]
    part = list(keys)
    for one in laid:
        if one.column.is_key:
            continue
        if width is not None and len(part) > len(keys) and _least_width([*part, one]) > width:
            yield part
            part = list(keys)
        part.append(one)
    yield part


def _least_width(part: Sequence[_SizedColumn]) -> int:
    return sum(one.least for one in part) + GAP * (len(part) - 1)


def _widths(part: Sequence[_SizedColumn], width: int | None) -> list[int]:
    """Return the width of each column; where the line is too long, the widest are shortened."""
    whole = [max(one.natural, cell_len(one.column.header)) for one in part]
    if width is None or sum(whole) + GAP * (len(whole) - 1) <= width:
        return whole
    widths = [one.natural for one in part]
    excess = sum(widths) + GAP * (len(widths) - 1) - width
    while excess > 0:
        room = [w if w > one.least else 0 for w, one in zip(widths, part, strict=True)]
        widest = max(range(len(room)), key=room.__getitem__, default=0)
        if not room or not room[widest]:
            break
        widths[widest] -= 1
        excess -= 1
    return widths


def _lines(part: Sequence[_SizedColumn], widths: Sequence[int]) -> tuple[list[str], list[str]]:
    headers = [one.header(width) for one, width in zip(part, widths, strict=True)]
    height = max(map(len, headers), default=0)
    # Headers with fewer lines stand at the bottom, directly above their cells.
    tops = [[""] * (height - len(lines)) + lines for lines in headers]
    padded = [o.lines(t, w) for o, t, w in zip(part, tops, widths, strict=True)]
    cells = [one.cells(width) for one, width in zip(part, widths, strict=True)]
    return _join_columns(padded), _join_columns(cells)


def _join_columns(columns: Sequence[Sequence[str]]) -> list[str]:
    return [(" " * GAP).join(row).rstrip() for row in zip(*columns, strict=True)]
