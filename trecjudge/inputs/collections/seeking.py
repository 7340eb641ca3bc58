"""Records read where they lie: at a byte of a file, or in a row of Parquet."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import orjson

from trecjudge.errors import InputError, why
from trecjudge.files import open_regular
from trecjudge.findings import Finding, OnFinding, shown, unreported
from trecjudge.inputs.collections.schemes.registry import address_of
from trecjudge.inputs.collections.seek_tables import GZIP, sought
from trecjudge.inputs.collections.units import FoundDocument, Unit
from trecjudge.inputs.documents.names import plain, shape_of
from trecjudge.inputs.documents.record import document_of
from trecjudge.inputs.pipelines.tables import PARQUET, check_parquet, parquet_rows_of
from trecjudge.inputs.sources.containers import BOM, Opened, bare_name
from trecjudge.inputs.sources.packing import CHUNK, UNREADABLE, breaks_off, is_packed, unpacking
from trecjudge.inputs.sources.values import as_id
from trecjudge.inputs.sources.zstd_places import FramesReader
from trecjudge.records import Document, Place
from trecjudge.settings.limits import SWELLS, limits

ID_COLUMNS = ("id", "docid", "documentid")
"""The columns of a Parquet file that hold the id of a row, as `plain` names them."""
USUAL = 10
"""How many times its size a packed file of JSON usually becomes."""


class LinesFrom:
    """The lines of a file from given bytes on; these are asked for in ascending order."""

    def __init__(self, file: IO[bytes], size: int | None) -> None:
        """Read from a file at its beginning; any place up to `size` can be sought, if it is one."""
        self._file, self._size = file, size
        self._most = limits().record
        self._begin, self._line = -1, b""
        self._end = 0
        self._read: deque[bytes] = deque(maxlen=8)
        """The pieces that were read last, one after another, up to the end of what was read."""

    def at(self, place: int) -> tuple[int, bytes]:
        """Return (byte, line) of the first line that begins at a byte, or after it.

        The line is empty at the end of the file, and longer than the limit where a line there is
        too long. Raises what `UNREADABLE` has, and ValueError where a packed file breaks off.
        """
        if place > self._begin:
            whole = not self._line or self._line.endswith(b"\n")
            if (place <= self._end and whole) or self._go(place):
                self._begin, self._line = self._end, self._take(self._most + 1)
            if not self._line.endswith(b"\n") and breaks_off(self._file):
                raise ValueError("the data break off")
        return self._begin, self._line

    def last(self) -> tuple[int, bytes]:
        """Return (byte, line) of the last line, once the end was reached."""
        if self._size is None:
            text = b"".join(self._read)
        else:
            self._file.seek(max(0, self._end - self._most))
            text = self._file.read(self._most)
        begin = text.rstrip(b"\r\n").rfind(b"\n") + 1
        return self._end - len(text) + begin, text[begin:]

    def _go(self, place: int) -> bool:
        """Go to where a line begins, at a byte or after it; return False if that is too far."""
        before = max(self._end, place - len(BOM))
        if self._size is not None:
            self._end = self._file.seek(min(before, self._size))
        else:
            while self._end < before and self._take(min(CHUNK, before - self._end), read=True):
                pass
        if self._end < before:
            if self._file.read(1):
                raise ValueError("becomes too large when unpacked (--limit unpacked)")
            return True
        head = self._take(max(0, place - self._end), read=True)
        if place == 0 or head.endswith(b"\n") or (place == len(BOM) and head == BOM):
            return True
        rest = self._take(self._most + 1)
        if len(rest) > self._most and not rest.endswith(b"\n"):
            self._begin, self._line = self._end - len(rest), rest
            return False
        return True

    def _take(self, size: int, read: bool = False) -> bytes:
        """Return the rest of the line, or the next bytes, and note how far they go."""
        found = self._file.read(size) if read else self._file.readline(size)
        self._end += len(found)
        if found:
            self._read.append(found[-CHUNK:])
        return found


def documents_at(unit: Unit, report: OnFinding) -> Iterator[FoundDocument]:
    """Yield the documents at the places of a unit that have the ids which are wanted there.

    Others are left out. Where a file is not the one that the ids speak of, that is a finding
    `address_differs`; where it cannot be read, `collection_unreadable`; where a record is there and
    cannot be, one that has the id as its value. An id without any of these is surely not there.
    Raises InputError where Parquet cannot be read here at all.
    """
    places = sorted(unit.places)
    if unit.rows:
        check_parquet(unit.path)
        yield from _rows_at(unit.path, places, report)
        return
    tables = unit.tables
    while True:
        records = Records(unit.path, places, report)
        try:
            with _lines_of(unit.path, places, tables) as lines:
                yield from records.read(lines)
            return
        except UNREADABLE as error:
            if tables is None:
                message = f"cannot be read to the end: {why(error)}"
                report(Finding("collection_unreadable", Place(str(unit.path)), message))
                return
            tables = None  # what cannot be sought can perhaps be read from its beginning
            places = records.left


class Records:
    """Records of JSONL at the places of a file; `left` are the places that were not read yet."""

    def __init__(self, path: Path, places: Sequence[tuple[int, str]], report: OnFinding) -> None:
        self.path, self.report = path, report
        self.left = list(places)
        self._differs = False

    def read(self, lines: LinesFrom) -> Iterator[FoundDocument]:
        """Yield the documents that have the ids which are wanted at their places."""
        while self.left:
            place, doc_id = self.left[0]
            begin, line = lines.at(place)
            document = document_in(line)
            if begin == place and document is not None and document.doc_id == doc_id:
                yield FoundDocument(document, str(self.path), place)
            else:
                self._check(doc_id, place, lines)
            del self.left[0]

    def _check(self, doc_id: str, place: int, lines: LinesFrom) -> None:
        """Report why a document may be there though it was not found at its place."""
        begin, line = lines.at(place)
        if len(line) > limits().record:
            message = f"the line at byte {place} {limits().too_long}; passed over"
            self.report(Finding("record_too_large", Place(str(self.path)), message, doc_id))
            return
        there = id_in(line)
        if line and begin == place and there is None:
            message = f"the record at byte {place} is no JSON of a document"
            self.report(Finding("line_not_json", Place(str(self.path)), message, doc_id))
            return
        if not line:
            begin, line = lines.last()
            there = id_in(line)
        # All that lies before a record that is at its place is there, too.
        if not self._differs and not stands_at(self.path, begin, there):
            self._differs = True
            self.report(differs(self.path, doc_id, begin, there))


def differs(path: Path, doc_id: str, place: int, there: str | None) -> Finding:
    """Return the finding on a file that is not the one that ids of documents speak of."""
    what = "a record of no known id" if there is None else shown(there)
    message = f"has {what} at {place}: not the file of that name in which {shown(doc_id)} lies"
    return Finding("address_differs", Place(str(path)), f"{message}; it is read through", doc_id)


def stands_at(path: Path, place: int, doc_id: str | None) -> bool:
    """Return whether an id says that its document lies at this place of this file."""
    address = address_of(doc_id) if doc_id else None
    name = file_name(path)
    return address is not None and (address.file, address.place) == (name, place)


def file_name(path: Path) -> str:
    """Return the name of a file as addresses have it: in lower case, without endings."""
    return bare_name(Path(path.name.lower()))


def document_in(line: bytes) -> Document | None:
    """Return the document on a line of JSON, None for a line that has none, or too much."""
    most = limits()
    if len(line) > most.record or most.excess_of_text(line):
        return None
    with suppress(orjson.JSONDecodeError):
        record = orjson.loads(line.removeprefix(BOM))
        if isinstance(record, dict) and not most.excess(record):
            return document_of(record, by_address=False)
    return None


def id_in(line: bytes) -> str | None:
    """Return the id of the document on a line of JSON, None where there is none."""
    document = document_in(line)
    return None if document is None else document.doc_id


def first_id(path: Path) -> str | None:
    """Return the id of the first record of a file, None where it cannot be told."""
    try:
        file = Opened(path)
        first = file.first(1)
        file.close()
        if not first or not first[0].startswith(PARQUET):
            return id_in(first[0]) if first else None
        for _, row in list(parquet_rows_of(file, unreported, 1)):
            return _id_of_row(path, row, id_column(row), 0)
    except (InputError, *UNREADABLE):
        pass
    return None


def id_column(row: dict[str, Any]) -> str | None:
    """Return the column of a row that has its id: one of ID_COLUMNS, else a text named so."""
    named = [key for name in ID_COLUMNS for key in row if plain(key) == name]
    texts = (key for key, value in row.items() if "id" in key.lower() and isinstance(value, str))
    return named[0] if named else next(texts, None)


def _id_of_row(path: Path, row: dict[str, Any], column: str | None, number: int) -> str | None:
    return as_id(row[column]) if column else f"{file_name(path)}_{number}"


@contextmanager
def _lines_of(
    path: Path, places: Sequence[tuple[int, str]], tables: Path | None
) -> Iterator[LinesFrom]:
    """Open a file of lines; packed data are sought where that is possible, else read through."""
    with ExitStack() as files:
        file = files.enter_context(open_regular(path))
        first = file.peek(len(GZIP))
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        if not is_packed(first):
            yield LinesFrom(file, size)
        elif (frames := FramesReader.of(file)) is not None:
            text = io.BufferedReader(frames)
            size = text.seek(0, io.SEEK_END)
            text.seek(0)
            yield LinesFrom(text, size)
        else:
            file.seek(0)
            found: IO[bytes] = file
            if tables is not None and first.startswith(GZIP):
                last = min(places[-1][0], USUAL * size) if places else 0
                found = files.enter_context(sought(file, path, len(places), last, tables))
            if found is file:
                yield LinesFrom(files.enter_context(unpacking(file)), None)
            else:
                yield LinesFrom(found, max(limits().unpacked, SWELLS * size))


def _rows_at(
    path: Path, places: Sequence[tuple[int, str]], report: OnFinding
) -> Iterator[FoundDocument]:
    """Yield the documents in rows of Parquet, as `documents_at` does."""
    wanted: dict[int, list[str]] = {}
    for row, doc_id in places:
        wanted.setdefault(row, []).append(doc_id)
    rows, file = list(wanted), Opened(path)

    def tell(finding: Finding) -> None:
        row = rows[(finding.place.line or 1) - 1]
        for doc_id in wanted[row]:
            message = f"row {row}: {finding.message}"
            report(Finding("record_too_large", Place(str(path)), message, doc_id))

    try:
        first: dict[str, Any] = dict(*(row for _, row in parquet_rows_of(file, unreported, 1)))
        column = id_column(first)
        shape, differing = shape_of(first), False
        known = (*shape.texts, *shape.titles, *shape.urls, *shape.dates, *shape.versions)
        columns = {*known, *([column] if column else ())} if shape.texts else None
        kept = None if columns is None else sorted(columns)
        for number, record in parquet_rows_of(file, tell, None, kept, rows):
            row = rows[number - 1]
            if excess := limits().excess(record):
                tell(Finding("record_too_large", Place(str(path), number), excess))
                continue
            there = _id_of_row(path, record, column, row)
            for doc_id in wanted[row]:
                if there == doc_id and (document := document_of(record, doc_id)):
                    yield FoundDocument(document, str(path), row)
                elif not differing and not stands_at(path, row, there):
                    differing = True
                    report(differs(path, doc_id, row, there))
    except InputError as error:
        message = str(error).removeprefix(f"{path}: ")
        report(Finding("collection_unreadable", Place(str(path)), message))
