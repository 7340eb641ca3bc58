"""Text in the columns of a terminal: names shortened in the middle, headers, lines that fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from rich.cells import cell_len, chop_cells

PART = re.compile(r"[^\s_]*_+|\S+")


def shortened(text: str, width: int, mark: str = "…") -> str:
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
    """Return as much of a text as so many columns hold."""
    # A text is as wide as it has characters, or wider: more of it is never needed.
    return chop_cells(text[: width + 1], width)[0] if width and text else ""


def told_apart(texts: Sequence[str], width: int, mark: str = "…") -> list[str]:
    """Return each text in so many columns; those that would look alike show where they differ."""
    short = {text: shortened(text, width, mark) for text in dict.fromkeys(texts)}
    alike: dict[str, list[str]] = {}
    for text, form in short.items():
        alike.setdefault(form, []).append(text)
    for same in alike.values():
        if len(same) > 1:
            columns = zip(*same, strict=False)
            common = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, columns))
            short |= {text: _around(text, common, width, mark) for text in same}
    return [short[text] for text in texts]


def _around(text: str, place: int, width: int, mark: str) -> str:
    """Return the start of a text, and what stands at a place of it."""
    start = _first(text[:place], width // 4)
    gap = mark if place > len(start) else ""
    rest = cut(text[place:], max(width - cell_len(start) - cell_len(gap), 0), mark)
    return f"{start}{gap}{rest}"


def stacked(header: str, width: int) -> list[str]:
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
