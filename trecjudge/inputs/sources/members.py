"""The members of large JSON objects one by one: `{id: value, ...}` need not fit into memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trecjudge.findings import OnFinding
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.streams import JsonStream

KEY = re.compile(r'[\s,]*("(?:[^"\\]|\\.)*")\s*:\s*')
OF_MEMBERS, BEFORE_A_VALUE = re.compile(r"[ \t\r\n,{]*+"), re.compile(r"[ \t\r\n:]*+")
"""What is passed over before a member, and between its key and its value."""
END = re.compile(r"\s*\}\s*")
_DECODER = json.JSONDecoder()


def first_members(text: str, most: int = 20) -> tuple[dict[str, Any], str | None]:
    """Return (members, rest): the first members of the object that a text begins with.

    A value is None where the text breaks off in it. The rest is what follows the object, None where
    its end is not reached.
    """
    found: dict[str, Any] = {}
    position = text.find("{") + 1
    while len(found) < most and (key := KEY.match(text, position)):
        try:
            name = json.loads(key[1], strict=False)
            found[name] = None
            found[name], position = _DECODER.raw_decode(text, key.end())
        except (ValueError, RecursionError):
            return found, None
    end = END.match(text, position)
    return found, text[end.end() :] if end else None


class Members(JsonStream):
    """Reads the members of one object, or of several one after another, on any lines of a file."""

    def __init__(self, file: Path | Opened, report: OnFinding) -> None:
        super().__init__(file, report)
        self._closed = False

    def members(self) -> Iterator[tuple[int, str, Any]]:
        """Yield (line, key, value); report and stop where nothing more can be read."""
        try:
            while self._skip(OF_MEMBERS):
                if self._text[self._position] == "}":
                    self._position += 1
                    self._closed = True
                    continue
                self._closed = False
                key = self._next()
                if key is None or not isinstance(key[1], str) or not self._skip(BEFORE_A_VALUE):
                    raise ValueError("no key of an object")
                found = self._next()
                if found is not None:
                    yield found[0], key[1], found[1]
            if not self._closed:
                raise ValueError("the object is not closed")
        except ValueError as error:
            self._complain(error)
