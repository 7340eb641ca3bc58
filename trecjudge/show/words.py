"""Words of the terminal: counted nouns, names shortened in the middle, lines that fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len, chop_cells

PART = re.compile(r"[^\s_]*_+|\S+")


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return `1 run`, `2 runs`; `plural` where that is not the noun with an s."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def shortened(text: str, width: int, mark: str = "…") -> str:
    """Return a text in so many columns of a terminal, its middle left out where it is too long."""
    if cell_len(text) <= width:
        return text
    room = max(width - cell_len(mark), 0)
    behind = room // 2
    return f"{_first(text, room - behind)}{mark}{_first(text[::-1], behind)[::-1]}"


def cut(text: str, width: int, mark: str = "…") -> str:
    """Return a text on one line in so many columns, its end left out where it is too long."""
    line = " ".join(text.split())
    if cell_len(line) <= width:
        return line
    return f"{_first(line, max(width - cell_len(mark), 0)).rstrip()}{mark}"


def _first(text: str, width: int) -> str:
    """Return as much of a text as so many columns hold."""
    # A text is as wide as it has characters, or wider: more of it is never needed.
    return chop_cells(text[: width + 1], width)[0] if width and text else ""


def least_width(texts: Sequence[str], least: int, mark: str = "…") -> int:
    """Return the width, at least `least`, in which no two different texts look the same."""
    different, widest = len(set(texts)), max(map(cell_len, texts), default=0)
    for width in range(least, widest):
        if len({shortened(text, width, mark) for text in set(texts)}) == different:
            return width
    return max(widest, least)


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
