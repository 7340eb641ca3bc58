"""JSON values of a file in any layout: lines, an array, or one after another."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, brief, ignore
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.streams import Decoder, JsonStream, too_large
from trecjudge.records import Place
from trecjudge.settings.limits import InputLimits, limits


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
