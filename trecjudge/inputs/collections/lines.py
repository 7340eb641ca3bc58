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
from trecjudge.inputs.collections.arrays import Strings, all_lines_are, has_integers
from trecjudge.inputs.collections.filters import RawIds
from trecjudge.inputs.documents.record import document_of
from trecjudge.inputs.sources.containers import BOM
from trecjudge.inputs.sources.values import as_id
from trecjudge.settings.limits import limits

PIECE = 1 << 18
"""Bytes that are looked through at a time."""
LONGEST = 100
"""Bytes of the beginning of a line that may be the same everywhere."""
SHOWN = 3
"""Lines of a file that are read to see what it has."""
AHEAD = 4
"""Pieces that are unpacked ahead of what is looked through."""
SAMPLE = 100
"""Lines that show how a file writes its ids."""
Piece = tuple[int, int, bytes | None]
"""Whole lines: where they begin, the number of the first from 1; None for one that is too long."""


@dataclass(frozen=True, slots=True)
class LineShape:
    """What every line of a file has, by its first ones: others are read, whatever ids they have.

    `key` is the key of the id as it is written, up to the mark that begins the id if it is text;
    None where all lines must be read.
    """

    key: bytes | None
    beginning: bytes = b""
    """How every line begins, up to that key; empty where they begin in several ways."""
    end: bytes = b"}"

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
                return cls(None)
            raw = re.escape(document.doc_id.encode(errors="surrogatepass"))
            inner = re.findall(rb'"([^"\\]{1,100}+)"\s*+:\s*+"?' + raw + rb'"?\s*+[,}]', line)
            own = {k for k, v in record.items() if as_id(v) == document.doc_id}
            own |= {key.decode() for key in inner}
            keys = own if keys is None else keys & own
        end = b"}\r" if lines and all(line.endswith(b"}\r") for line in lines) else b"}"
        known = (orjson.dumps(key) for key in sorted(keys or ()))
        for key in known:
            if key in lines[0]:
                text = re.search(re.escape(key) + rb'\s*+:\s*+"', lines[0])
                if text and all(text[0] in line for line in lines):
                    key = text[0]  # what is null, say, gives no id
                beginning = lines[0][: lines[0].index(key) + len(key)]
                alike = all(line.startswith(beginning) for line in lines)
                return cls(key, beginning if alike and len(beginning) < LONGEST else b"", end)
        return cls(None)

    def is_regular(self, piece: bytes) -> bool:
        """Return whether all lines of a piece are surely as the others."""
        return bool(self.beginning) and all_lines_are(piece, self.beginning, self.end)

    def odd(self, lines: list[bytes]) -> list[int]:
        """Return the numbers, from 0, of the lines that are not as all others."""
        key, end = self.key, self.end
        if key is None:
            return list(range(len(lines)))
        return [
            number
            for number, line in enumerate(lines)
            if key not in line or line[:1] != b"{" or not line.endswith(end)
        ]


def candidates(
    pieces: Iterable[Piece], ids: RawIds, at: Callable[[], None]
) -> Iterator[tuple[int, int, bytes | None]]:
    """Yield (place, number, line) of the lines to read; None for one that is too long.

    `place` is the byte at which it begins. `at` is called now and then.
    """
    shape, begins = LineShape(None), True
    strings, most = Strings(ids.in_strings), limits().record
    for place, number, piece in pieces:
        at()
        if piece is None:
            yield place, number, None
            continue
        if piece.isspace():  # gigabytes may be blank
            continue
        regular = not begins and len(piece) <= most and shape.is_regular(piece)
        if (
            regular
            and not strings.may_be_in(piece)
            and not (ids.numbers and has_integers(piece) and ids.may_be_number_in(piece))
        ):
            continue
        lines = piece.split(b"\n")
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
                    yield place, number + n, line if len(line) <= most else None
                place += len(line) + 1


def pieces_of(chunks: Iterable[bytes], place: int = 0) -> Iterator[Piece]:
    """Yield the whole lines of chunks of bytes, which begin at `place`.

    Raises InputError where the chunks break off, after the lines before that.
    """
    number, most = 1, limits().record
    rest: list[bytes] = []
    size, blank = 0, True
    broken: InputError | None = None
    source = iter(chunks)
    while True:
        try:
            chunk = next(source, b"")
        except InputError as error:
            chunk, broken = b"", error
        end = chunk.rfind(b"\n") + 1
        if end or not chunk:
            head = chunk[: chunk.find(b"\n") + 1] if size > most else chunk[:end]
            if size > most:  # the line before is passed over
                if not blank or not (head.isspace() or not head):
                    yield place, number, None
                place, number = place + size + len(head), number + 1
                rest, size, head = [], 0, chunk[len(head) : end]
            piece = b"".join((*rest, head))
            if not chunk and broken is not None and not _is_json(piece):
                piece = b""  # half a record
            if piece:
                yield place, number, piece.removeprefix(BOM) if not place else piece
                place, number = place + len(piece), number + piece.count(b"\n")
            rest, size, blank = [], 0, True
        if broken is not None:
            raise broken
        if not chunk:
            return
        tail = chunk[end:]
        size += len(tail)
        blank = blank and (not tail or tail.isspace())
        if size <= most:
            rest.append(tail)
        else:
            rest = []


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


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
