"""JSON values of a file in any layout: lines, an array, members, or one after another."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, brief, ignore
from trecjudge.inputs.sources.containers import Opened
from trecjudge.records import Place
from trecjudge.settings.limits import InputLimits, limits

# Values of JSON in other layouts than lines: arrays, members of objects, one after another.
_IN_STRING = re.compile(r'[^"\\\n]*+(?:\\.[^"\\\n]*+)*+', re.DOTALL)
"""The rest of a string: up to its end, to a line end (it may hold none) or to half an escape."""
_TOKEN = re.compile(rf'"{_IN_STRING.pattern}"|[\[{{]+|[\]}}]+|"', re.DOTALL)
_SCALAR = re.compile(r'[^\s,\[\]{}"]*+')
_BETWEEN_VALUES = re.compile(r"[ \t\r\n,\[\]]*+")
_BEFORE_MEMBER, _BEFORE_VALUE = re.compile(r"[ \t\r\n,{]*+"), re.compile(r"[ \t\r\n:]*+")
_KEY = re.compile(r'[\s,]*("(?:[^"\\]|\\.)*")\s*:\s*')
_OBJECT_END = re.compile(r"\s*\}\s*")
_DECODER = json.JSONDecoder()


class Decoder(json.JSONDecoder):
    """Reads JSON with NaN and Infinity as null, as Python and pandas write them.

    `constants` are those of the last value.
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


class JsonSkipper:
    """Follows a value that is too large to be held to its end, in pieces of its text."""

    def __init__(self) -> None:
        self.over = False
        self._depth = 0
        self._in_string = False
        self._is_scalar: bool | None = None

    def find_end(self, text: str, at: int) -> int:
        """Return where to go on: at the value's end, which makes it `over`, or inside it.

        A string that holds a line end is broken: the value is taken to end there.
        """
        if self._is_scalar is None:
            self._is_scalar = text[at] not in '"[{'
        if self._is_scalar:
            at = _end(_SCALAR, text, at)
            self.over = at < len(text)
            return at
        if self._in_string:
            at = self._pass_string(text, at)
        while not self.over and not self._in_string:
            found = _TOKEN.search(text, at)
            if found is None:
                return len(text)
            at = self._pass_token(found, text)
        return at

    def _pass_token(self, found: re.Match[str], text: str) -> int:
        """Return where to go on after a string, the beginning of one, or some brackets."""
        first, length = found[0][0], found.end() - found.start()
        if first == '"':
            if length == 1:
                return self._pass_string(text, found.end())
        elif first in "[{":
            self._depth += length
        elif length >= self._depth:
            self.over = True
            return found.start() + self._depth
        else:
            self._depth -= length
        self.over = not self._depth
        return found.end()

    def _pass_string(self, text: str, at: int) -> int:
        """Return where a string ends, or where its text breaks off."""
        at = _end(_IN_STRING, text, at)
        rest = text[at : at + 2]
        self._in_string = rest in ("", "\\")
        if rest.startswith('"'):
            self.over = not self._depth
            return at + 1
        self.over = not self._in_string
        return at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


class JsonStream:
    """Reads JSON on any lines: an array's entries, values one after another, or members.

    No more of the text is held than the current value needs. `chunks` are the bytes to read, where
    only the beginning of the file is looked at.
    """

    def __init__(
        self, file: Path | Opened, report: OnFinding, chunks: Iterator[bytes] | None = None
    ) -> None:
        opened = Opened.of(file)
        self._path = str(opened.path)
        self._report = report
        self._chunks = opened.chunks() if chunks is None else chunks
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()
        self._decoder = Decoder()
        self._most = limits()
        self._text = ""
        self._has_many = False
        self._position, self._line = 0, 1
        self._open = 0
        self._ended = False
        self._broken: InputError | None = None

    def read(self) -> Iterator[tuple[int, Any]]:
        """Yield (line, value); report and stop where nothing more can be read.

        Raises InputError where packed data break off, after what could be read.
        """
        try:
            while self._skip(_BETWEEN_VALUES):
                found = self._next()
                if found is not None:
                    yield found
            if self._open:
                raise ValueError("the array is not closed")
        except ValueError as error:
            if self._broken is None:
                self._report_broken(error)
        if self._broken is not None:
            raise self._broken

    def members(self) -> Iterator[tuple[int, str, Any]]:
        """Yield (line, key, value) of the members of one object, or of several.

        Reports and stops where nothing more can be read.
        """
        is_closed = False
        try:
            while self._skip(_BEFORE_MEMBER):
                is_closed = self._text[self._position] == "}"
                if is_closed:
                    self._position += 1
                    continue
                key = self._next()
                if key is None or not isinstance(key[1], str) or not self._skip(_BEFORE_VALUE):
                    raise ValueError("no key of an object")
                found = self._next()
                if found is not None:
                    yield found[0], key[1], found[1]
            if not is_closed:
                raise ValueError("the object is not closed")
        except ValueError as error:
            self._report_broken(error)

    def _next(self) -> tuple[int, Any] | None:
        """Return the next (line, value) and go past it; None, reported, where it is too large.

        Raises ValueError where it is no JSON.
        """
        line = self._line
        try:
            value, end = self._decode()
            excess = self._most.excess(value)
            if not excess:
                self._decoder.report(Place(self._path, line), self._report)
                if self._text.find("\\u", self._position, end) >= 0:
                    # Half a character cannot be written.
                    json.dumps(value, ensure_ascii=False).encode()
                self._go_to(end)
                return line, value
        except RecursionError:
            excess = self._most.too_deep
        except TooLarge as error:
            excess = str(error)
        self._report(too_large(Place(self._path, line), excess))
        self._pass_over()
        return None

    def _pass_over(self) -> None:
        """Go past the current value without ever holding all of it. Raises ValueError."""
        skipper = JsonSkipper()
        while True:
            self._go_to(skipper.find_end(self._text, self._position))
            if skipper.over:
                return
            if self._ended:
                raise ValueError("a value that is too large is not closed")
            self._read_on(1)

    def _go_to(self, end: int) -> None:
        self._line += self._text.count("\n", self._position, end)
        self._position = end

    def _decode(self) -> tuple[Any, int]:
        """Return (value, position after it), reading on while it is not complete.

        Raises TooLarge.
        """
        while True:
            held, most = len(self._text) - self._position, self._most.record
            if self._has_many:
                end = JsonSkipper().find_end(self._text, self._position)
                if excess := self._most.excess_of_text(self._text[self._position : end]):
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
            self._read_on(min(2 * held, most + 1 - held))

    def _skip(self, between: re.Pattern[str]) -> bool:
        while True:
            begin, end = self._position, _end(between, self._text, self._position)
            self._open += self._text.count("[", begin, end) - self._text.count("]", begin, end)
            self._go_to(end)
            if end < len(self._text):
                return True
            if self._ended:
                return False
            self._read_on(1)

    def _read_on(self, wanted: int) -> None:
        """Hold at least `wanted` characters more, dropping what was read."""
        parts = [self._text[self._position :]]
        self._position, size = 0, 0
        while size < wanted and not self._ended:
            try:
                chunk = next(self._chunks, b"")
            except InputError as error:
                self._broken, chunk = error, b""
            self._ended = not chunk
            parts.append(self._utf8.decode(chunk, final=self._ended and self._broken is None))
            size += len(parts[-1])
        self._text = "".join(parts)
        self._has_many = bool(self._most.excess_of_text(self._text))

    def _report_broken(self, error: Exception) -> None:
        place = Place(self._path, self._line)
        if isinstance(error, UnicodeDecodeError):
            self._report(Finding("bad_utf8", place, "is not UTF-8 from here on"))
            return
        found = brief(self._text[self._position : self._position + 80])
        message = f"is not JSON from here on: {type(error).__name__}: {error}"
        self._report(Finding("line_not_json", place, message, found))


def first_members(text: str, most: int = 20) -> tuple[dict[str, Any], str | None]:
    """Return (members, rest): the first members of the object that a text begins with.

    A value is None where the text breaks off in it. The rest is what follows the object, None where
    its end is not reached.
    """
    found: dict[str, Any] = {}
    position = text.find("{") + 1
    while len(found) < most and (key := _KEY.match(text, position)):
        try:
            name = json.loads(key[1], strict=False)
            found[name] = None
            found[name], position = _DECODER.raw_decode(text, key.end())
        except (ValueError, RecursionError):
            return found, None
    end = _OBJECT_END.match(text, position)
    return found, text[end.end() :] if end else None


# JSON values of a file in any layout: lines, an array, or one after another.
def values(file: Path | Opened, report: OnFinding) -> Iterator[tuple[int, Any]]:
    """Yield (line, JSON value) of a JSONL file, one array, or values one after another.

    Values that cannot be read, or are too large, are reported and passed over. Only one line, or
    one value of the other layouts, is held at a time. The file is opened once. Raises InputError if
    it cannot be read.
    """
    opened = Opened.of(file)
    held = opened.first(2)
    if held and is_multi_line(*held):
        yield from JsonStream(opened, report).read()
        return
    path, most = str(opened.path), limits()
    for number, line in opened.lines(report):
        yield from values_of_line(path, number, line, most, report)


def values_of_line(
    path: str, number: int, line: bytes, most: InputLimits, report: OnFinding
) -> Iterator[tuple[int, Any]]:
    """Yield (line, JSON value) of one line, as `values` does."""
    if excess := most.excess_of_text(line):
        report(too_large(Place(path, number), excess))
        return
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        place = Place(path, number)
        for found in _salvage(place, line, error, report):
            yield from _within_limits(place, found, most, report)
        return
    if value == [] and number > 1:
        place = Place(path, number)
        report(Finding("record_not_an_object", place, "is an empty list, not an object"))
    elif most.excess(value):
        yield from _within_limits(Place(path, number), value, most, report)
    else:
        yield from _entries(number, value)


def _within_limits(
    place: Place, value: Any, most: InputLimits, report: OnFinding
) -> Iterator[tuple[int, Any]]:
    """Yield the entries of an array on one line, or its one value; too large ones are reported."""
    for number, entry in _entries(place.line or 1, value):
        if excess := most.excess(entry):
            report(too_large(place, excess))
        else:
            yield number, entry


def first_objects(file: Path | Opened, count: int) -> list[dict[str, Any]]:
    """Return the objects on the first few lines of a file, as far as they can be read."""
    opened = Opened.of(file)
    held = opened.first(count)
    if held and is_multi_line(*held[:2]):
        with suppress(InputError):
            found = JsonStream(opened, ignore, opened.look()).read()
            return [value for _, value in islice(found, 1) if isinstance(value, dict)]
        return []
    objects_: list[Any] = []
    for line in held:
        if limits().excess_of_text(line):
            continue
        with suppress(orjson.JSONDecodeError):
            objects_ += islice(_entries(0, loads_leniently(line)), count)
    return [value for _, value in objects_ if isinstance(value, dict)][:count]


def _entries(line: int, value: Any) -> Iterator[tuple[int, Any]]:
    for entry in value if isinstance(value, list) else [value]:
        yield line, entry


def is_multi_line(first: bytes, second: bytes = b"") -> bool:
    """Return whether a file has one value on several lines, judged by its first two."""
    if first[:1] not in (b"{", b"["):
        return False
    most = limits()
    if len(first) > most.record:  # its beginning: an array is read entry by entry
        return first[:1] == b"["
    if most.excess_of_text(first):
        return False
    try:
        loads_leniently(first)
    except orjson.JSONDecodeError:
        # A line that is cut is followed by another record; a value that goes on is not.
        return first[:1] == b"[" or not second.startswith(b"{")
    return False


def loads_leniently(text: str | bytes) -> Any:
    """Return a JSON value, with null for NaN and Infinity. Raises orjson.JSONDecodeError."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        with suppress(ValueError, RecursionError):
            held = text.decode() if isinstance(text, bytes) else text
            value, end = Decoder().raw_decode(held.strip())
            if end == len(held.strip()):
                return value
        raise


def _salvage(place: Place, line: bytes, error: ValueError, report: OnFinding) -> Iterator[Any]:
    """Yield the values of a line that holds several; report a line that holds none, or a rest."""
    try:
        text = line.decode()
    except UnicodeDecodeError as bad:
        report(Finding("bad_utf8", place, f"is not UTF-8 at byte {bad.start}", brief(line)))
        return
    decoder, position, count = Decoder(), 0, 0
    while position < len(text):
        count += 1
        if count > limits().entries:
            report(too_large(place, limits().too_many))
            return
        try:
            value, position = decoder.raw_decode(text, position)
            decoder.report(place, report)
            # Only this decoder lets half a character pass; nothing could write it out again.
            json.dumps(value, ensure_ascii=False).encode()
        except RecursionError:
            report(too_large(place, limits().too_deep))
            return
        except ValueError:
            why = f"is not JSON: {error}"
            report(Finding("line_not_json", place, why, brief(text[position:])))
            return
        yield value
        while text[position : position + 1].isspace():
            position += 1


def decoded_lines(
    file: Path | Opened, report: OnFinding, chosen: Callable[[bytes], bool] | None = None
) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of every line that is not blank, of a file in UTF-8 or Windows-1252.

    After the first one only those that are `chosen`. It is in Windows-1252, which is reported once,
    where its lines show no UTF-8 beyond ASCII. A line that is in neither is reported and passed
    over.
    """
    in_utf8 = assumed = began = False
    opened = Opened.of(file)
    for number, line in opened.lines(report):
        if began and chosen is not None and not chosen(line):
            continue
        began, place = True, Place(str(opened.path), number)
        try:
            text = line.decode()
            in_utf8 = in_utf8 or not line.isascii()
        except UnicodeDecodeError as bad:
            message = f"is not UTF-8 at byte {bad.start}"
            text = "" if in_utf8 else _of_windows(line)
            if not text:
                report(Finding("bad_utf8", place, message, brief(line)))
                continue
            if not assumed:
                message += ": read as Windows-1252, as older spreadsheets save it"
                report(Finding("encoding_assumed", place, message, brief(line)))
                assumed = True
        yield number, text


def _of_windows(line: bytes) -> str:
    """Return a line in Windows-1252 as text, none where it is rather UTF-8 that is damaged."""
    if line.decode(errors="ignore").isascii():
        with suppress(UnicodeDecodeError):
            return line.decode("cp1252")
    return ""


def objects(file: Path | Opened, report: OnFinding) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, object) of a file; a value that is no object is reported and passed over."""
    opened = Opened.of(file)
    for number, value in values(opened, report):
        if isinstance(value, dict):
            yield number, value
        else:
            place = Place(str(opened.path), number)
            message = f"holds {type(value).__name__}, not an object"
            report(Finding("record_not_an_object", place, message, brief(value)))


def as_id(value: object) -> str | None:
    """Return a string or an integer as an id; None for anything else, and for empty text.

    The integer 7 and the text "7" are one id; "007" is another.
    """
    if isinstance(value, str):
        return value.strip() or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def as_text(value: object) -> str:
    """Return a string as it is, and empty text for anything else, null included."""
    return value if isinstance(value, str) else ""


# The memory that one input may take whose records are held: topics, banks, labels.
OF_A_VALUE = 64
"""Bytes that a value takes beside its text."""
WIDE = 4
"""Bytes of a character, where a text has one beyond those of most scripts."""


@dataclass(slots=True)
class Room:
    """What is left for the records of an input; the first that does not fit is reported."""

    report: OnFinding
    left: int = field(default_factory=lambda: limits().held)

    def takes(self, place: Place, size: int) -> bool:
        """Return whether a record of so many bytes still fits, as all before it did."""
        if self.left < 0:
            return False
        self.left -= size
        if self.left < 0:
            self.report(too_large(place, limits().too_full, "the rest is not read"))
        return self.left >= 0


def estimate_memory(values: Iterable[Any]) -> int:
    """Return roughly how many bytes of memory values take."""
    size = 0
    for value in values:
        size += OF_A_VALUE
        if isinstance(value, str):
            size += len(value) if value.isascii() else WIDE * len(value)
        elif isinstance(value, dict):
            size += estimate_memory(value) + estimate_memory(value.values())
        elif isinstance(value, list | tuple):
            size += estimate_memory(value)
    return size
