"""Text in the columns of a terminal: names shortened in the middle, headers, lines that fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count, takewhile

from rich.cells import cell_len, chop_cells

PART = re.compile(r"[^\s_]*_+|\S+")


def shorten(text: str, width: int, mark: str = "…") -> str:
    """Return a text in so many columns of a terminal; of a long one the middle is left out."""
    if cell_len(text) <= width:
        return text
    room = max(width - cell_len(mark), 0)
    behind = room // 2
    return f"{_first(text, room - behind)}{mark}{_first(text[::-1], behind)[::-1]}"


def cut(text: str, width: int, mark: str = "…") -> str:
    """Return a text on one line in so many columns; of a long one the end is left out."""
    line = " ".join(text.split())
    if cell_len(line) <= width:
        return line
    return f"{_first(line, max(width - cell_len(mark), 0)).rstrip()}{mark}"


def _first(text: str, width: int) -> str:
    # A text is as wide as it has characters, or wider: more of it is never needed.
    return chop_cells(text[: width + 1], width)[0] if width and text else ""


def disambiguate(texts: Sequence[str], width: int, mark: str = "…") -> list[str]:
    """Return each text in so many columns; those that would look alike show where they differ.

    Where no place shows that, they end in a number: different texts never look the same.
    """
    short = {text: shorten(text, width, mark) for text in dict.fromkeys(texts)}
    for same in _alike(short):
        columns = zip(*same, strict=False)
        common = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, columns))
        short |= {text: _around(text, common, width, mark) for text in same}
    numbers = NumberedForms(width, mark)
    whole = {text for text, form in short.items() if text == form}
    numbers.taken = whole | set(short.values())
    for same in _alike(short):
        short |= {text: numbers.next_form(text) for text in sorted(set(same) - whole)}
    return [short[text] for text in texts]


def _alike(short: Mapping[str, str]) -> list[list[str]]:
    found: dict[str, list[str]] = {}
    for text, form in short.items():
        found.setdefault(form, []).append(text)
    return [same for same in found.values() if len(same) > 1]


class NumberedForms:
    """Texts in so many columns as they come, one by one: each of a form that no other one has."""

    def __init__(self, width: int, mark: str = "…") -> None:
        self.taken: set[str] = set()
        self._width, self._mark = width, mark
        self._known: dict[str, str] = {}

    def of(self, text: str) -> str:
        """Return the form of a text, always the same one."""
        if text not in self._known:
            if (form := shorten(text, self._width, self._mark)) in self.taken:
                form = self.next_form(text)
            self.taken.add(form)
            self._known[text] = form
        return self._known[text]

    def next_form(self, text: str) -> str:
        """Return the start of a text with the first number that makes a form of its own."""
        tails = (f"{self._mark}{number}" for number in count(2))
        forms = (f"{_first(text, max(self._width - cell_len(t), 0))}{t}" for t in tails)
        form = next(form for form in forms if form not in self.taken)
        self.taken.add(form)
        return form


def _around(text: str, place: int, width: int, mark: str) -> str:
    """Return the start of a text, and what stands at a place of it."""
    start = _first(text[:place], width // 4)
    gap = mark if place > len(start) else ""
    rest = cut(text[place:], max(width - cell_len(start) - cell_len(gap), 0), mark)
    return f"{start}{gap}{rest}"


def stack_header(header: str, width: int) -> list[str]:
    """Return a header in lines of this width, parted at spaces and behind `_`, never in a word."""
    lines: list[str] = []
    for part in PART.findall(header):
        last = lines[-1] if lines else ""
        joined = f"{last}{part}" if last.endswith("_") else f"{last} {part}"
        if lines and cell_len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(part)
    return lines


def longest_part(header: str) -> int:
    """Return the width of a header's widest part."""
    return max(map(cell_len, PART.findall(header)), default=0)


def within(parts: Iterable[str], width: int, gap: str = ", ") -> str:
    """Return the first parts, as many as fit into so many columns whole."""
    line = ""
    for part in parts:
        more = f"{line}{gap}{part}" if line else part
        if cell_len(more) > width:
            break
        line = more
    return line


def format_size(size: float) -> str:
    """Return a number of bytes as a person reads it: `980 bytes`, `2.5 kB`, `1.4 GB`."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size:.0f} bytes"
