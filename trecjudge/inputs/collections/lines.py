"""Lines of JSON, a piece at a time: only lines that may have a wanted id are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from threading import Thread

import orjson

from trecjudge.errors import InputError
from trecjudge.files import open_regular
from trecjudge.inputs.collections.filters import RawIds, Strings
from trecjudge.inputs.documents.record import document_of
from trecjudge.inputs.sources.containers import BOM
from trecjudge.inputs.sources.splitting import Piece
from trecjudge.inputs.sources.values import as_id
from trecjudge.settings.limits import limits

PIECE = 1 << 18
"""Bytes that are looked through at a time."""
SHOWN = 3
"""Lines of a file that are read to see what it has."""
AHEAD = 4
"""Pieces that are unpacked ahead of what is looked through."""
SAMPLE = 100
"""Lines that show how a file writes its ids."""


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
            if document is None or not RawIds.of([document.doc_id]).may_be_in_json(line):
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

    def odd(self, lines: list[bytes]) -> list[int]:
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
    strings, most = Strings(ids.in_strings), limits().record
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
        chosen = dict.fromkeys(range(len(lines)) if len(piece) > most else shape.odd(lines))
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
