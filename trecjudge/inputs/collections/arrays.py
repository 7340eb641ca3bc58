"""Looks through a piece of lines of JSON at once: the few that may be of interest are looked at."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

WORD = 8
"""Bytes that are compared at a time."""
QUOTE, NEWLINE, COLON = b'"\n:'
SIGN, SPACE = (np.isin(np.arange(256), list(some)) for some in (b"-0123456789", b" \t\r\n"))
"""Whether a byte begins a number, and whether it is blank."""


class Strings:
    """Strings to look for between quotation marks, by their lengths and last bytes.

    None of them is empty.
    """

    def __init__(self, strings: Iterable[bytes]) -> None:
        known = list(strings)
        self._longest = max(map(len, known), default=0) + 2
        self._lengths = np.zeros(self._longest + 1, bool)
        self._lengths[[len(string) + 1 for string in known]] = True
        ends = [int.from_bytes(string[-WORD:], "little") for string in known]
        self._ends = np.unique(np.array([*ends, 0], np.uint64))

    def may_be_in(self, piece: bytes) -> bool:
        """Return whether some bytes may have one of the strings; true of few that have none."""
        piece = b"\0" * WORD + piece  # a word ends at each of its bytes
        quotes = np.flatnonzero(np.frombuffer(piece, np.uint8) == QUOTE)
        sizes = np.diff(quotes)
        fit = np.flatnonzero(self._lengths[np.minimum(sizes, self._longest)])
        ends, lengths = quotes[fit + 1], sizes[fit] - 1
        last = _words(piece)[ends - WORD]
        # What stands before a short string does not count.
        last >>= (8 * np.maximum(WORD - lengths, 0)).astype(np.uint64)
        at = np.searchsorted(self._ends, last)
        near = self._ends[np.minimum(at, len(self._ends) - 1)]
        return bool(np.any(near == last))


def all_lines_are(piece: bytes, beginning: bytes, end: bytes) -> bool:
    """Return whether each line of a piece, which ends with a line end, begins and ends so.

    Of longer beginnings and ends only the first and the last bytes are compared.
    """
    if len(piece) < 2 * WORD or not piece.endswith(b"\n"):
        return False
    ends = np.flatnonzero(np.frombuffer(piece, np.uint8) == NEWLINE)
    begins = np.concatenate(([0], ends[:-1] + 1))
    if len(piece) - begins[-1] < max(len(beginning), WORD):
        return False
    first = _words(piece)[begins] & _mask(beginning)
    if np.any(first != int.from_bytes(beginning[:WORD], "little")):
        return False
    if len(beginning) > WORD:
        rest = _words(piece)[begins + len(beginning) - WORD]
        if np.any(rest != int.from_bytes(beginning[-WORD:], "little")):
            return False
    data = np.frombuffer(piece, np.uint8)
    return all(
        bool(np.all(data[np.maximum(ends - back, 0)] == mark))
        for back, mark in enumerate(reversed(end), 1)
    )


def has_integers(piece: bytes) -> bool:
    """Return whether JSON may have integers as the values of fields; false where it has none."""
    data = np.frombuffer(piece + b"  ", np.uint8)
    after = np.flatnonzero(data[:-2] == COLON) + 1
    spaced = SPACE[data[after]]
    return bool(np.any(SIGN[data[after]] | (spaced & (SIGN | SPACE)[data[after + 1]])))


def _mask(beginning: bytes) -> np.uint64:
    return np.uint64((1 << 8 * min(WORD, len(beginning))) - 1)


def _words(piece: bytes) -> NDArray[np.uint64]:
    """Return the word that begins at each byte."""
    return np.ndarray((len(piece) - WORD + 1,), np.uint64, piece, strides=(1,))
