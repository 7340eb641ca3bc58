"""Finds the end of a JSON value that is too large to be held, in pieces of its text."""

from __future__ import annotations

import re
from dataclasses import dataclass

_IN_STRING = re.compile(r'[^"\\\n]*+(?:\\.[^"\\\n]*+)*+', re.DOTALL)
"""The rest of a string: up to its end, to a line end (it may hold none) or to half an escape."""
_TOKEN = re.compile(rf'"{_IN_STRING.pattern}"|[\[{{]+|[\]}}]+|"', re.DOTALL)
_SCALAR = re.compile(r'[^\s,\[\]{}"]*+')


@dataclass(slots=True)
class Passing:
    """Follows a value to its end; it gets the text in pieces, the first from the beginning."""

    depth: int = 0
    in_string: bool = False
    begun: bool = False
    is_scalar: bool = False
    over: bool = False

    def end(self, text: str, at: int) -> int:
        """Return where to go on: at the value's end, which makes it `over`, or inside it.

        A string that holds a line end is broken: the value is taken to end there.
        """
        if not self.begun:
            self.begun, self.is_scalar = True, text[at] not in '"[{'
        if self.is_scalar:
            return self._ends_at(_end(_SCALAR, text, at), text)
        if self.in_string:
            at = self._string(text, at)
        while not self.over and not self.in_string:
            found = _TOKEN.search(text, at)
            if found is None:
                return len(text)
            at = self._after(found, text)
        return at

    def _after(self, found: re.Match[str], text: str) -> int:
        """Return where to go on after a string, the beginning of one, or some brackets."""
        first, length = found[0][0], found.end() - found.start()
        if first == '"':
            if length == 1:
                return self._string(text, found.end())
        elif first in "[{":
            self.depth += length
        elif length >= self.depth:
            self.over = True
            return found.start() + self.depth
        else:
            self.depth -= length
        self.over = not self.depth
        return found.end()

    def _string(self, text: str, at: int) -> int:
        """Return where a string ends, or where its text breaks off."""
        at = _end(_IN_STRING, text, at)
        rest = text[at : at + 2]
        self.in_string = rest in ("", "\\")
        if rest.startswith('"'):
            self.over = not self.depth
            return at + 1
        self.over = not self.in_string
        return at

    def _ends_at(self, at: int, text: str) -> int:
        self.over = at < len(text)
        return at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
