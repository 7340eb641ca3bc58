"""Where records come from: files and folders, plain or gzip, as (line number, JSON value)."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import orjson

from trecjudge.errors import InputError
from trecjudge.findings import Finding, Report, shown
from trecjudge.records import Place

BOM = b"\xef\xbb\xbf"


def files_below(path: Path) -> list[Path]:
    """Return `path` itself or, for a folder, every file in it at any depth, sorted by name.

    Hidden files and folders are passed over. Raises InputError if `path` is not there.
    """
    if os.path.isfile(path):  # unlike Path.is_file, False for a name too long
        return [path]
    if not os.path.isdir(path):
        raise InputError(f"{path}: no such file or folder")
    return sorted(_walk(path, set()))


def _walk(folder: Path, seen: set[str]) -> Iterator[Path]:
    """Yield the files below a folder; linked folders too, each folder once."""
    real = os.path.realpath(folder)
    if real in seen:
        return
    seen.add(real)
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _walk(entry, seen)
        elif entry.is_file() or entry.is_symlink():  # a link to nowhere is found when it is read
            yield entry


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open `path` for reading, unpacking gzip, which is known by its first two bytes."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        if packed:
            with gzip.open(file) as unpacked:
                yield unpacked  # type: ignore[misc]
        else:
            yield file


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, text) of every line that is not blank.

    Lines end at LF alone, so U+2028 inside a string splits none; a byte order mark is dropped.
    Raises InputError if the file cannot be read, or gzip data break off.
    """
    try:
        with open_bytes(path) as file:
            for number, line in enumerate(file, 1):
                text = line.removeprefix(BOM) if number == 1 else line
                if text.strip():
                    yield number, text.strip(b" \r\n")  # a tab may stand for an empty column
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def count_lines(path: Path) -> int:
    """Return the number of lines of a file, 0 if it cannot be read."""
    try:
        with open_bytes(path) as file:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
    except (OSError, EOFError, ValueError, zlib.error):
        return 0


def values(path: Path, report: Report) -> Iterator[tuple[int, Any]]:
    """Yield (line, JSON value) of a JSONL file, one array, or objects one after another.

    A line that cannot be read is reported and passed over.
    """
    reader = lines(path)
    first = True
    for number, line in reader:
        first, is_first = False, first
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            if is_first and (line[:1] == b"[" or line == b"{"):
                yield from _pretty(path, line, reader, report)
                return
            yield from _salvage(Place(str(path), number), line, error, report)
            continue
        for entry in value if isinstance(value, list) else [value]:
            yield number, entry


def _pretty(
    path: Path, first: bytes, rest: Iterator[tuple[int, bytes]], report: Report
) -> Iterator[tuple[int, Any]]:
    """Read a file whose first line only opens an array or object: pretty-printed JSON."""
    whole = b"\n".join([first, *(line for _, line in rest)])
    try:
        value = orjson.loads(whole)
    except orjson.JSONDecodeError as error:
        yield from _salvage(Place(str(path), 1), whole, error, report)
        return
    for entry in value if isinstance(value, list) else [value]:
        yield 1, entry


def _salvage(
    place: Place, line: bytes, error: ValueError, report: Report
) -> Iterator[tuple[int, Any]]:
    """Yield the values of a line that holds several; report a line that holds none, or a rest."""
    try:
        text = line.decode()
    except UnicodeDecodeError as bad:
        report(Finding("bad_utf8", place, f"is not UTF-8 at byte {bad.start}", shown(line)))
        return
    decoder, position = json.JSONDecoder(parse_constant=_refuse), 0
    while position < len(text):
        try:
            value, position = decoder.raw_decode(text, position)
            # Only this decoder lets half a character pass; nothing could write it out again.
            json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            why = f"is not JSON: {error}"
            report(Finding("line_not_json", place, why, shown(text[position:])))
            return
        for entry in value if isinstance(value, list) else [value]:
            yield place.line or 1, entry
        while text[position : position + 1].isspace():
            position += 1


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON number")


def objects(path: Path, report: Report) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, object) of a file; a value that is no object is reported and passed over."""
    for number, value in values(path, report):
        if isinstance(value, dict):
            yield number, value
        else:
            place = Place(str(path), number)
            message = f"holds {type(value).__name__}, not an object"
            report(Finding("record_not_an_object", place, message, shown(value)))


def as_id(value: object) -> str | None:
    """Return a string or an integer as an id; None for anything else, and for empty text.

    The integer 7 and the text "7" are one id; "007" is another.
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value).strip() or None


def as_text(value: object) -> str:
    """Return a string as it is and anything else, null included, as no text."""
    return value if isinstance(value, str) else ""
