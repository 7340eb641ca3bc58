"""Lines of bytes that come in pieces: blank ones cost nothing, too long ones are never held."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

Line = tuple[int, int, bytes | None]
"""Its number from 1, the place where it ends, and its text; None for one that is too long."""
Piece = tuple[int, bytes | None]
"""The place where whole lines begin, and their text; where one ends that is too long, and None."""


def split_lines(pieces: Iterable[bytes], most: int, cut: bool = False) -> Iterator[Line]:
    """Yield every line that is not blank, with its line end.

    With `cut`, the beginning of the first line that is longer than `most` bytes is the last.
    """
    number, place, size, blank = 1, 0, 0, True
    rest: list[bytes] = []
    for piece in pieces:
        begin = piece.rfind(b"\n") + 1 if blank and piece.isspace() else 0
        if begin:  # gigabytes may be blank
            number, place, size = number + piece.count(b"\n"), place + begin, 0
            rest.clear()
        for text in io.BytesIO(piece[begin:]):
            place += len(text)
            ends = text.endswith(b"\n")
            if size or not ends or len(text) > most:
                size += len(text)
                blank = blank and text.isspace()
                if size - ends <= most:
                    rest.append(text)
                elif cut and not blank:
                    yield number, place, (b"".join(rest) + text)[: most + 1]
                    return
                else:
                    rest.clear()
                if not ends:
                    continue
                if not blank:
                    yield number, place, b"".join(rest) or None
                rest.clear()
                size, blank = 0, True
            elif not text.isspace():
                yield number, place, text
            number += 1
    if not blank:
        yield number, place, b"".join(rest) or None


def whole_lines(pieces: Iterable[bytes], most: int, place: int = 0) -> Iterator[Piece]:
    """Yield the lines of pieces, the first of which begins at a place, many at once.

    A line that is longer than `most` bytes may be among others only if it came in one piece.
    """
    size, blank = 0, True
    held: list[bytes] = []
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if end:
            begin = 0
            if size > most:
                begin = piece.find(b"\n") + 1
                place += size + begin
                is_blank = blank and piece[:begin].isspace()
                yield place, b"\n" if is_blank else None
            lines = b"".join((*held, memoryview(piece)[begin:end]))
            if lines:
                yield place, lines
            place += len(lines)
            held, size, blank = [], 0, True
        rest = piece[end:]
        held.append(rest)
        size += len(rest)
        blank = blank and (not rest or rest.isspace())
        if size > most:
            held.clear()
    if held and size:
        yield place, b"".join(held)
    elif not blank:
        yield place + size, None
