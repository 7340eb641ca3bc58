"""JSON values of a file, whatever their layout: lines, an array, or one after another."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, shown
from trecjudge.inputs.sources.containers import Opened, lines
from trecjudge.records import Place

# Beyond it the file is broken: a bracket is missing, and all the rest would be held.
LARGEST = 1 << 28
"""The most characters of one value in a layout other than lines."""


def values(file: Path | Opened, report: OnFinding) -> Iterator[tuple[int, Any]]:
    """Yield (line, JSON value) of a JSONL file, one array, or values one after another.

    What cannot be read is reported and passed over. No more than one line, or one value of the
    other layouts, is held at a time. The file is opened once. Raises InputError if it cannot be
    read.
    """
    opened = Opened.of(file)
    held = opened.first(2)
    if held and _is_multi_line(*held):
        yield from JsonStream(opened, report).read()
        return
    for number, line in opened.lines():
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            yield from _salvage(Place(str(opened.path), number), line, error, report)
            continue
        yield from _entries(number, value)


def first_objects(file: Path | Opened, count: int) -> list[dict[str, Any]]:
    """Return the objects on the first few lines of a file, as far as they can be read."""
    opened = Opened.of(file)
    held = opened.first(count)
    if held and _is_multi_line(*held[:2]):
        with suppress(InputError):
            found = JsonStream(opened, _ignore, opened.look()).read()
            return [value for _, value in islice(found, 1) if isinstance(value, dict)]
        return []
    objects_: list[Any] = []
    for line in held:
        with suppress(orjson.JSONDecodeError):
            objects_ += islice(_entries(0, orjson.loads(line)), count)
    return [value for _, value in objects_ if isinstance(value, dict)][:count]


def _ignore(finding: Finding) -> None:
    """Do nothing: findings are reported where the whole file is read."""


def _entries(line: int, value: Any) -> Iterator[tuple[int, Any]]:
    """Yield the entries of an array on one line, or the one value there."""
    for entry in value if isinstance(value, list) else [value]:
        yield line, entry


def _is_multi_line(first: bytes, second: bytes = b"") -> bool:
    """Return whether a file has one value on several lines, judged by its first two."""
    if first[:1] not in (b"{", b"["):
        return False
    try:
        orjson.loads(first)
    except orjson.JSONDecodeError:
        # A line that is cut is followed by another record; a value that goes on is not.
        return first[:1] == b"[" or not second.startswith(b"{")
    return False


class JsonStream:
    """Incremental parser for multi-line JSON: an array's entries, or values one after another.

    What it holds of the text grows only until a value is complete. `chunks` are the bytes of the
    file, where it is only looked at.
    """

    def __init__(
        self, file: Path | Opened, report: OnFinding, chunks: Iterator[bytes] | None = None
    ) -> None:
        opened = Opened.of(file)
        self._path = opened.path
        self._report = report
        self._chunks = opened.chunks() if chunks is None else chunks
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()
        self._decode = _DECODER.raw_decode
        self._text = ""
        self._position = 0
        self._line = 1
        self._open = 0
        self._ended = False
        self._broken: InputError | None = None

    def read(self) -> Iterator[tuple[int, Any]]:
        """Yield (line, value); report and stop where nothing can be read on.

        Raises InputError where packed data break off, after what could be read.
        """
        try:
            while self._skip(" \t\r\n,[]"):
                value, end = self._value()
                json.dumps(value, ensure_ascii=False).encode()  # half a character cannot be written
                yield self._line, value
                self._line += self._text.count("\n", self._position, end)
                self._position = end
            if self._open:
                raise ValueError("the array is not closed")
        except (ValueError, RecursionError) as error:
            if self._broken is None:
                self._complain(error)
        if self._broken is not None:
            raise self._broken

    def _value(self) -> tuple[Any, int]:
        """Return (value, position after it), reading on while it is not complete."""
        while True:
            try:
                value, end = self._decode(self._text, self._position)
                # A number at the end of what is held may go on.
                if end < len(self._text) or self._ended or not isinstance(value, int | float):
                    return value, end
            except ValueError:
                if self._ended or len(self._text) - self._position > LARGEST:
                    raise
            # Doubled: a value read anew from its start at every chunk takes quadratic time.
            self._more(2 * (len(self._text) - self._position))

    def _skip(self, passed_over: str) -> bool:
        """Go to the next value; return False at the end."""
        while True:
            while self._position < len(self._text):
                character = self._text[self._position]
                if character not in passed_over:
                    return True
                self._line += character == "\n"
                self._open += {"[": 1, "]": -1}.get(character, 0)
                self._position += 1
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

    def _complain(self, error: Exception) -> None:
        place = Place(str(self._path), self._line)
        if isinstance(error, UnicodeDecodeError):
            self._report(Finding("bad_utf8", place, "is not UTF-8 from here on"))
            return
        found = shown(self._text[self._position : self._position + 80])
        message = f"is not JSON from here on: {type(error).__name__}: {error}"
        self._report(Finding("line_not_json", place, message, found))


def _salvage(
    place: Place, line: bytes, error: ValueError, report: OnFinding
) -> Iterator[tuple[int, Any]]:
    """Yield the values of a line that holds several; report a line that holds none, or a rest."""
    try:
        text = line.decode()
    except UnicodeDecodeError as bad:
        report(Finding("bad_utf8", place, f"is not UTF-8 at byte {bad.start}", shown(line)))
        return
    position = 0
    while position < len(text):
        try:
            value, position = _DECODER.raw_decode(text, position)
            # Only this decoder lets half a character pass; nothing could write it out again.
            json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            why = f"is not JSON: {error}"
            report(Finding("line_not_json", place, why, shown(text[position:])))
            return
        yield from _entries(place.line or 1, value)
        while text[position : position + 1].isspace():
            position += 1


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def decoded_lines(path: Path, report: OnFinding) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of every line that is not blank; one that is not UTF-8 is reported."""
    for number, line in lines(path):
        try:
            yield number, line.decode()
        except UnicodeDecodeError as bad:
            message = f"is not UTF-8 at byte {bad.start}"
            report(Finding("bad_utf8", Place(str(path), number), message, shown(line)))


def objects(file: Path | Opened, report: OnFinding) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, object) of a file; a value that is no object is reported and passed over."""
    opened = Opened.of(file)
    for number, value in values(opened, report):
        if isinstance(value, dict):
            yield number, value
        else:
            place = Place(str(opened.path), number)
            message = f"holds {type(value).__name__}, not an object"
            report(Finding("record_not_an_object", place, message, shown(value)))


def as_id(value: object) -> str | None:
    """Return a string or an integer as an id; None for anything else, and for empty text.

    The integer 7 and the text "7" are one id; "007" is another.
    """
    if isinstance(value, str):
        return value.strip() or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def as_text(value: object) -> str:
    """Return a string as it is and anything else, null included, as no text."""
    return value if isinstance(value, str) else ""
