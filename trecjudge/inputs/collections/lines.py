"""Lines of JSON, a piece at a time: only lines that may have a wanted id are read."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from queue import Queue
from threading import Thread

import numpy as np
import orjson

from trecjudge.errors import InputError
from trecjudge.files import open_regular
from trecjudge.inputs.documents.names import ADDRESSES, IDENTIFYING, plain
from trecjudge.inputs.documents.record import document_of
from trecjudge.inputs.sources.containers import BOM, Piece
from trecjudge.inputs.sources.values import as_id
from trecjudge.settings.limits import limits

PLAIN = re.compile(r"[\w .:#,;@()|~-]*", re.ASCII)
"""Ids that every writer of JSON leaves as they are."""
NUMBER = re.compile(rb'"([^"\\]{1,100}+)"\s*+:\s*+(-?\d{1,40}+)(?=[\s,}\]])')
"""A field with an integer."""
INTEGER = re.compile(rb":\s*+(-?\d{1,40}+)(?=[\s,}\]])")
DIGITS = re.compile(r"-?\d{1,40}", re.ASCII)
BEYOND_ASCII, IN_HTML = re.compile(r"[^\x00-\x7f]"), re.compile("[<>&]")
IN_SCRIPTS, IN_PAGES = re.compile("['+`]"), re.compile("[=']")
"""Characters that some writers of JSON escape."""
Write = Callable[[str], str]
MARKS = bytes.maketrans(b"<>&'[]\t\r\n", b'"' * 9)
"""All that may stand beside an id in a table or in markup, or in it, as one mark."""
ENCODINGS = ("latin-1", "cp1252")
"""What tables and markup may be written in besides UTF-8."""
_NAMES = b"|".join(b"[^<>A-Za-z0-9]?".join(bytes([c]) for c in n.encode()) for n in IDENTIFYING)
NAMES_ID = re.compile(
    rb"<(?:[\w.-]+:)?(?:%b)[\s>]|<[\w.:-]+\s(?:[^<>]*\s)?(?:%b)\s*="
    rb"|<[\w.:-]+\s[^<>]*name\s*=\s*[\"'](?:%b)[\"']" % (_NAMES, _NAMES, _NAMES),
    re.IGNORECASE,
)
"""An element or attribute of markup that has an id."""
WORD = 8
"""Bytes that are compared at a time."""
PIECE = 1 << 18
"""Bytes that are looked through at a time."""
SHOWN = 3
"""Lines of a file that are read to see what it has."""
AHEAD = 4
"""Pieces that are unpacked ahead of what is looked through."""
SAMPLE = 100
"""Lines that show how a file writes its ids."""


class StringFilter:
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
        quotes = np.flatnonzero(np.frombuffer(piece, np.uint8) == ord('"'))
        sizes = np.diff(quotes)
        fit = np.flatnonzero(self._lengths[np.minimum(sizes, self._longest)])
        ends, lengths = quotes[fit + 1], sizes[fit] - 1
        words = np.ndarray((len(piece) - WORD + 1,), np.uint64, piece, strides=(1,))
        # What stands before a short string does not count.
        last = words[ends - WORD] >> (8 * np.maximum(WORD - lengths, 0)).astype(np.uint64)
        at = np.searchsorted(self._ends, last)
        near = self._ends[np.minimum(at, len(self._ends) - 1)]
        return bool(np.any(near == last))


class RawIds:
    """Wanted ids, and what shows that some bytes may have one of them.

    Of an id in which quotation marks or the like stand, the longest part between them shows it.
    """

    def __init__(self, ids: Iterable[str]) -> None:
        self.ids = frozenset(filter(None, ids))
        strings = {max(form.split(b'"'), key=len) for i in self.ids for form in _in_json(i)}
        spaced = {s for i in strings for s in (b" " + i, i + b" ", b" " + i + b" ")}
        self.in_strings = frozenset(strings | spaced)
        """What stands between two quotation marks of JSON, a space before or behind it included."""
        parts = (form.translate(MARKS).split(b'"') for i in self.ids for form in _in_markup(i))
        marks = {max(map(bytes.strip, found), key=len) for found in parts}
        self.in_marks = frozenset(filter(None, marks))
        """What stands between two marks of a table or of markup, without spaces around it."""
        self.numbers = frozenset(i.encode() for i in self.ids if DIGITS.fullmatch(i))
        """Those that may be written as numbers."""

    def may_be_in_json(self, text: bytes) -> bool:
        """Return whether JSON may have a wanted id: a string or number of it is one."""
        strings = text.split(b'"')
        return not self.in_strings.isdisjoint(strings) or self.may_be_number_in(text)

    def may_be_number_in(self, text: bytes) -> bool:
        """Return whether JSON may have a wanted id that is written as a number."""
        if not self.numbers or self.numbers.isdisjoint(INTEGER.findall(text)):
            return False
        fields = NUMBER.findall(text)
        return any(number in self.numbers and _may_have_id(key) for key, number in fields)

    def may_be_in_row(self, text: bytes) -> bool:
        """Return whether a row of a table may have a wanted id."""
        marked = text.translate(MARKS)
        if not self.in_marks.isdisjoint(map(bytes.strip, marked.split(b'"'))):
            return True
        if marked.isascii():
            return False
        parts = marked.decode(errors="ignore").split('"')
        return not self.ids.isdisjoint(map(str.strip, parts))  # without other blanks than ASCII's

    def may_be_in_element(self, text: bytes) -> bool:
        """Return whether an element of markup may have a wanted id, or surely has no id."""
        return self.may_be_in_row(text) or NAMES_ID.search(text) is None


def _in_json(doc_id: str) -> Iterator[bytes]:
    """Yield an id as writers of JSON write it: some escape more than they must."""
    if PLAIN.fullmatch(doc_id):
        yield doc_id.encode()
        return
    text = orjson.dumps(doc_id.encode(errors="replace").decode())[1:-1].decode()
    choices: tuple[tuple[Write, ...], ...] = (
        (_make_escaper(BEYOND_ASCII, "04x"), _make_escaper(BEYOND_ASCII, "04X")),
        (lambda written: written.replace("/", "\\/"),),
        (_make_escaper(IN_HTML, "04x"), _make_escaper(IN_HTML, "04X")),
        (_make_escaper(IN_SCRIPTS, "04X"),),
        (_make_escaper(IN_PAGES, "04x"),),
        (lambda written: written.replace('\\"', "\\u0022"),),
    )
    forms = {text}
    for writers in choices:
        forms |= {write(form) for form in forms for write in writers}
    yield from map(str.encode, forms)


def _make_escaper(some: re.Pattern[str], digits: str) -> Write:
    """Return what escapes some characters, with small or capital letters in their numbers."""

    def escape(found: re.Match[str]) -> str:
        units = found[0].encode("utf-16-be")
        pairs = (units[n] << 8 | units[n + 1] for n in range(0, len(units), 2))
        return "".join(f"\\u{unit:{digits}}" for unit in pairs)

    return lambda text: some.sub(escape, text)


def _in_markup(doc_id: str) -> Iterator[bytes]:
    """Yield an id as it stands in tables and in markup."""
    entities = (html.escape(doc_id), html.escape(doc_id, quote=False))
    for form in dict.fromkeys((doc_id, *entities, doc_id.replace('"', '""'))):
        yield form.encode(errors="replace")
        if not form.isascii():
            yield form.encode("ascii", "xmlcharrefreplace")
            for name in ENCODINGS:
                with suppress(UnicodeEncodeError):
                    yield form.encode(name)


@lru_cache(maxsize=1024)
def _may_have_id(key: bytes) -> bool:
    name = plain(key.decode(errors="replace"))
    return name in IDENTIFYING or name in ADDRESSES


@dataclass(frozen=True, slots=True)
class LineShape:
    """What every line of a file has, by its first ones: others are read, whatever ids they have.

    `key` is the key of the id as it is written, up to the mark that begins the id if it is text;
    None where all lines must be read.
    """

    key: bytes | None = None
    end: bytes = b"}"
    alike: re.Pattern[bytes] | None = None
    """Matches lines that all begin as the first ones; None where these begin in several ways."""

    @classmethod
    def of(cls, lines: Iterable[bytes]) -> LineShape:
        """Return the shape of lines."""
        keys: set[str] | None = None
        lines = [line for line in lines if not line.isspace()]
        for line in lines:
            try:
                record = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            document = document_of(record)
            if document is None or not RawIds([document.doc_id]).may_be_in_json(line):
                return cls()
            raw = re.escape(document.doc_id.encode(errors="surrogatepass"))
            inner = re.findall(rb'"([^"\\]{1,100}+)"\s*+:\s*+"?' + raw + rb'"?\s*+[,}]', line)
            own = {k for k, v in record.items() if as_id(v) == document.doc_id}
            own |= {key.decode() for key in inner}
            keys = own if keys is None else keys & own
        end = b"}\r" if lines and all(line.endswith(b"}\r") for line in lines) else b"}"
        key = next((k for k in map(orjson.dumps, sorted(keys or ())) if k in lines[0]), None)
        if key is None:
            return cls()
        text = re.search(re.escape(key) + rb'\s*+:\s*+"', lines[0])
        if text and all(text[0] in line for line in lines):  # what is null, say, gives no id
            key = text[0]
        beginning = lines[0][: lines[0].index(key) + len(key)]
        if not all(line.startswith(beginning) for line in lines):
            return cls(key, end)
        one = rb"%b(?>.*)(?<=%b)\n" % (re.escape(beginning), re.escape(end))
        return cls(key, end, re.compile(b"(?:%b)*+" % one))

    def is_regular(self, piece: bytes) -> bool:
        """Return whether all lines of a piece are surely as the others."""
        return self.alike is not None and self.alike.fullmatch(piece) is not None

    def odd_lines(self, lines: list[bytes]) -> list[int]:
        """Return the numbers, from 0, of the lines that are not as all others."""
        key, end = self.key, self.end
        return [
            number
            for number, line in enumerate(lines)
            if key is None or key not in line or line[:1] != b"{" or not line.endswith(end)
        ]


def candidates(
    pieces: Iterable[Piece], ids: RawIds, at: Callable[[], None]
) -> Iterator[tuple[int, int, bytes | None]]:
    """Yield (place, number, line) of the lines to read; None for one that is too long.

    `place` is the byte at which it begins. `at` is called now and then.
    """
    shape, begins, number = LineShape(), True, 1
    strings, most = StringFilter(ids.in_strings), limits().record
    for place, piece in pieces:
        at()
        if piece is None:
            yield place, number, None
            number += 1
            continue
        first, number = number, number + piece.count(b"\n")
        if piece.isspace():  # gigabytes may be blank
            continue
        regular = not begins and len(piece) <= most and shape.is_regular(piece)
        if regular and not (strings.may_be_in(piece) or ids.may_be_number_in(piece)):
            continue
        lines = (piece if place else piece.removeprefix(BOM)).split(b"\n")
        if not lines[-1]:
            lines.pop()
        if begins:
            shape = LineShape.of(lines[:SAMPLE])
        chosen = dict.fromkeys(range(len(lines)) if len(piece) > most else shape.odd_lines(lines))
        if begins:  # whatever ids they have: a collection has some
            chosen |= dict.fromkeys([n for n in range(len(lines)) if n not in chosen][:SHOWN])
            begins = False
        if len(chosen) < len(lines) and ids.may_be_in_json(piece):
            chosen |= dict.fromkeys(n for n, line in enumerate(lines) if ids.may_be_in_json(line))
        if chosen:
            for n, line in enumerate(lines):
                if n in chosen and line and not line.isspace():
                    yield place, first + n, line if len(line) <= most else None
                place += len(line) + 1


def line_start(path: Path, place: int, end: int) -> int:
    """Return where the first line begins that begins at a byte of a plain file, or after it.

    Where none begins before `end`, what is returned is not before `end`.
    """
    if not place:
        return 0
    with open_regular(path) as file:
        file.seek(place - 1)
        while (text := file.readline(PIECE)) and not text.endswith(b"\n"):
            if file.tell() >= end:
                break
        return file.tell()


def range_of(path: Path, start: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of the lines of a plain file that begin from where one does to `end`."""
    with open_regular(path) as file:
        file.seek(start)
        chunk = b"\n"
        while file.tell() < end and (chunk := file.read(min(PIECE, end - file.tell()))):
            yield chunk
        while not chunk.endswith(b"\n") and (chunk := file.readline(PIECE)):
            yield chunk


def line_number(path: Path, place: int) -> int:
    """Return how many lines of a plain file end before a byte."""
    with open_regular(path) as file:
        count = 0
        while file.tell() < place and (chunk := file.read(min(PIECE, place - file.tell()))):
            count += chunk.count(b"\n")
        return count


def read_ahead(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield chunks that a thread of its own unpacks meanwhile. Raises what it raises."""
    queue: Queue[bytes | Exception] = Queue(AHEAD)

    def fill() -> None:
        try:
            for chunk in chunks:
                queue.put(chunk)
        except (InputError, MemoryError) as error:
            queue.put(error)
        queue.put(b"")

    # With the limits that are set here.
    Thread(target=copy_context().run, args=(fill,), daemon=True).start()
    while chunk := queue.get():
        if isinstance(chunk, Exception):
            raise chunk
        yield chunk
