"""Lines of bytes that come in pieces: blank ones cost nothing, too long ones are never held."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

Line = tuple[int, int, bytes | None]
"""Its number from 1, the place where it ends, and its text; None for one that is too long."""
Piece = tuple[int, bytes | None]
"""The place where whole lines begin, and their text; where one ends that is too long, and None."""


def numbered(pieces: Iterable[bytes], most: int, cut: bool = False) -> Iterator[Line]:
    """Yield every line that is not blank, with its line end.

    With `cut`, the beginning of the first line that is longer than `most` bytes is the last.
    """
    number = 1
    for place, lines in whole_lines(pieces, most, cut=cut):
        if lines is None:
            yield number, place, None
            number += 1
        elif lines.isspace():  # gigabytes may be blank
            number += lines.count(b"\n")
        else:
            for line in io.BytesIO(lines):
                place += len(line)
                if len(line) > most and len(line.removesuffix(b"\n")) > most:
                    if not line.isspace():
                        yield number, place, line[: most + 1] if cut else None
                        if cut:
                            return
                elif not line.isspace():
                    yield number, place, line
                number += 1


def whole_lines(
    pieces: Iterable[bytes], most: int, place: int = 0, cut: bool = False
) -> Iterator[Piece]:
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
                if blank and piece[:begin].isspace():
                    yield place, b"\n"
                elif cut:
                    yield place, piece[: min(begin, most + 1)]
                    return
                else:
                    yield place, None
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
            if cut and not blank:
                break
            held.clear()
    if held and size:
        yield place, b"".join(held)
    elif not blank:
        yield place + size, None
