"""Lines of bytes that come in pieces: blank ones cost nothing, too long ones are never held."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

VISIBLE = re.compile(rb"\S")
BLANK = 32
"""The largest byte that may be blank."""
Line = tuple[int, int, bytes | None]
"""Its number from 1, the place where it ends, and its text; None for one that is too long."""


def numbered(pieces: Iterable[bytes], most: int, cut: bool = False) -> Iterator[Line]:
    """Yield every line that is not blank, with its line end.

    With `cut`, the beginning of the first line that is longer than `most` bytes is the last.
    """
    number, before, size, blank = 1, 0, 0, True
    rest: list[bytes] = []
    for piece in pieces:
        at, whole = 0, len(piece)
        if blank and piece.isspace():
            begin = piece.rfind(b"\n") + 1
            if begin:
                number += piece.count(b"\n")
                rest.clear()
                size = 0
            at = begin
        while at < whole:
            if not size and piece[at] <= BLANK:
                found = VISIBLE.search(piece, at)
                begin = piece.rfind(b"\n", at, found.start() if found else whole) + 1
                if begin:
                    number += piece.count(b"\n", at, begin)
                    at = begin
                if at == whole:
                    break
            end = piece.find(b"\n", at) + 1
            text = piece[at : end or whole]
            at, size = end or whole, size + len(text)
            is_long = size - bool(end) > most
            blank = blank and text.isspace()
            if not is_long:
                rest.append(text)
            elif cut and not blank:
                yield number, before + at, (b"".join(rest) + text)[: most + 1]
                return
            else:
                rest.clear()
            if end:
                if not blank:
                    yield number, before + at, None if is_long else b"".join(rest)
                rest.clear()
                number, size, blank = number + 1, 0, True
        before += whole
    if not blank:
        yield number, before, b"".join(rest) if size <= most else None
