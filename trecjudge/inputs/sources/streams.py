"""Values of JSON in other layouts than lines: arrays, or one after another, on any lines."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, shown
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.passing import Passing
from trecjudge.records import Place
from trecjudge.settings.limits import limits

_PASSED_OVER = re.compile(r"[ \t\r\n,\[\]]*+")


class Decoder(json.JSONDecoder):
    """Reads JSON with NaN and Infinity as null, as Python and pandas write them.

    `constants` are those that it met in the last value.
    """

    def __init__(self) -> None:
        self.constants: list[str] = []
        super().__init__(parse_constant=self.constants.append)

    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        """Return (value, position after it)."""
        self.constants.clear()
        return super().raw_decode(s, idx)

    def report(self, place: Place, report: OnFinding) -> None:
        """Report the constants of the last value."""
        if self.constants:
            names = " and ".join(sorted(set(self.constants)))
            message = f"holds {names}, which is no JSON number"
            report(Finding("number_not_json", place, message, names))


def too_large(place: Place, excess: str, then: str = "passed over") -> Finding:
    """Return the finding on a value beyond a limit; `excess` names the limit."""
    return Finding("record_too_large", place, f"{excess}; {then}")


class TooLarge(Exception):
    """A value beyond a limit; the message names the limit."""


class JsonStream:
    """Incremental parser for multi-line JSON: an array's entries, or values one after another.

    It holds no more of the text than the current value needs. `chunks` are the bytes to read, where
    only the beginning of the file is looked at.
    """

    def __init__(
        self, file: Path | Opened, report: OnFinding, chunks: Iterator[bytes] | None = None
    ) -> None:
        opened = Opened.of(file)
        self._path = opened.path
        self._report = report
        self._chunks = opened.chunks() if chunks is None else chunks
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()
        self._decoder = Decoder()
        self._most = limits()
        self._text = ""
        self._many = False
        self._position = 0
        self._line = 1
        self._open = 0
        self._ended = False
        self._broken: InputError | None = None

    def read(self) -> Iterator[tuple[int, Any]]:
        """Yield (line, value); report and stop where nothing more can be read.

        Raises InputError where packed data break off, after what could be read.
        """
        try:
            while self._skip(_PASSED_OVER):
                found = self._next()
                if found is not None:
                    yield found
            if self._open:
                raise ValueError("the array is not closed")
        except ValueError as error:
            if self._broken is None:
                self._complain(error)
        if self._broken is not None:
            raise self._broken

    def _next(self) -> tuple[int, Any] | None:
        """Return the next (line, value) and go past it; None, reported, where it is too large.

        Raises ValueError where it is no JSON.
        """
        line = self._line
        try:
            value, end = self._value()
            excess = self._most.excess(value)
            if not excess:
                self._decoder.report(Place(str(self._path), line), self._report)
                if self._text.find("\\u", self._position, end) >= 0:
                    # Half a character cannot be written.
                    json.dumps(value, ensure_ascii=False).encode()
                self._stand_at(end)
                return line, value
        except RecursionError:
            excess = self._most.too_deep
        except TooLarge as error:
            excess = str(error)
        self._report(too_large(Place(str(self._path), line), excess))
        self._pass_over()
        return None

    def _pass_over(self) -> None:
        """Go past the current value without ever holding all of it. Raises ValueError."""
        passing = Passing()
        while True:
            self._stand_at(passing.end(self._text, self._position))
            if passing.over:
                return
            if self._ended:
                raise ValueError("a value that is too large is not closed")
            self._more(1)

    def _stand_at(self, end: int) -> None:
        self._line += self._text.count("\n", self._position, end)
        self._position = end

    def _value(self) -> tuple[Any, int]:
        """Return (value, position after it), reading on while it is not complete.

        Raises TooLarge.
        """
        while True:
            held, most = len(self._text) - self._position, self._most.record
            if self._many and (excess := self._most.excess_of_text(self._held_of_value())):
                raise TooLarge(excess)
            try:
                value, end = self._decoder.raw_decode(self._text, self._position)
                # A number at the end of what is held may go on.
                if end < len(self._text) or self._ended or not isinstance(value, int | float):
                    if end - self._position > most:
                        raise TooLarge(self._most.too_long)
                    return value, end
            except json.JSONDecodeError:
                if self._ended:
                    raise
            except ValueError as error:
                raise TooLarge("has an integer of too many digits") from error
            if held > most:
                raise TooLarge(self._most.too_long)
            # Doubled: to parse a value from its start at every chunk would take quadratic time.
            self._more(min(2 * held, most + 1 - held))

    def _held_of_value(self) -> str:
        """Return the text of the current value, as far as it is held."""
        return self._text[self._position : Passing().end(self._text, self._position)]

    def _skip(self, passed_over: re.Pattern[str]) -> bool:
        """Go to the next value; return False at the end."""
        while True:
            begin, found = self._position, passed_over.match(self._text, self._position)
            end = found.end() if found else begin
            self._open += self._text.count("[", begin, end) - self._text.count("]", begin, end)
            self._stand_at(end)
            if end < len(self._text):
                return True
            if self._ended:
                return False
            self._more(1)

    def _more(self, wanted: int) -> None:
        """Hold at least `wanted` characters more, dropping what was read."""
        parts = [self._text[self._position :]]
        self._position, size = 0, 0
        while size < wanted and not self._ended:
            try:
                chunk = next(self._chunks, b"")
            except InputError as error:
                self._broken, chunk = error, b""
            self._ended = not chunk
            whole = self._ended and self._broken is None
            parts.append(self._utf8.decode(chunk, final=whole))
            size += len(parts[-1])
        self._text = "".join(parts)
        self._many = bool(self._most.excess_of_text(self._text))

    def _complain(self, error: Exception) -> None:
        place = Place(str(self._path), self._line)
        if isinstance(error, UnicodeDecodeError):
            self._report(Finding("bad_utf8", place, "is not UTF-8 from here on"))
            return
        found = shown(self._text[self._position : self._position + 80])
        message = f"is not JSON from here on: {type(error).__name__}: {error}"
        self._report(Finding("line_not_json", place, message, found))
