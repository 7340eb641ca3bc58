"""Records of JSONL read where they lie: at given bytes of a file, as it is unpacked."""

from __future__ import annotations

import hashlib
import io
import os
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from trecjudge.errors import InputError, OutputError, why
from trecjudge.files import keep_private, open_regular, remove_left_parts, resolve_links, whole_path
from trecjudge.findings import Finding, OnFinding, brief, ignore
from trecjudge.inputs.collections.schemes.registry import address_of
from trecjudge.inputs.collections.units import FoundDocument, Unit
from trecjudge.inputs.documents.collection import Records
from trecjudge.inputs.sources.containers import BOM, bare_name, is_json
from trecjudge.inputs.sources.packing import (
    CHUNK,
    UNREADABLE,
    Refused,
    error_of,
    is_packed,
    unpacking,
)
from trecjudge.inputs.sources.values import values_of_line
from trecjudge.records import Document, Place
from trecjudge.settings.limits import SWELLS, limits

GZIP = b"\x1f\x8b"
SPACING = 16 << 20
"""Unpacked bytes from one place to the next; each takes 32 kB, so 10 GB take 20 MB."""
BUFFER = 1 << 18
"""Unpacked bytes that are taken at a time: each time it is read on from such a place."""
DIGEST = hashlib.sha256().digest_size
USUAL = 10
"""How many times its size a packed file of JSON usually becomes."""


class LinesFrom:
    """The lines of a file from given bytes on; these are asked for in ascending order.

    Any place up to `size` can be sought; None where the file is read through. Where it is not
    `sure`, packed data may end where they break off.
    """

    def __init__(self, file: IO[bytes], size: int | None, sure: bool = True) -> None:
        self.broken = False
        """Whether they broke off, or may have, before what was asked for."""
        self._file, self._size, self._sure = file, size, sure
        self._most = limits().record
        self._begin, self._line = -1, b""
        self._end = 0
        self._read: deque[bytes] = deque(maxlen=8)
        """The pieces that were read last, one after another, up to the end of what was read."""

    def at(self, place: int) -> tuple[int, bytes]:
        """Return (byte, line) of the first line that begins at a byte, or after it.

        The line is empty at the end of the file, and longer than the limit where a line there is
        too long. Raises what `UNREADABLE` has.
        """
        if place > self._begin:
            whole = not self._line or self._line.endswith(b"\n")
            if (place <= self._end and whole) or self._go(place):
                self._begin, self._line = self._end, self._take(self._most + 1)
            ended = not self._line.endswith(b"\n") and len(self._line) <= self._most
            self.broken = ended and (error_of(self._file) is not None or not self._sure)
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
                raise Refused("becomes too large when unpacked (--limit unpacked)")
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
    `address_differs`; where it is damaged, `collection_unreadable`; where a record is there and
    cannot be read, one that has the id as its value. An id without any of these is surely not
    there. Raises OSError, or InputError where more is unpacked than the limits allow.
    """
    left, tables = sorted(unit.places), unit.tables
    while True:
        try:
            with _lines_of(unit.path, left, tables) as lines:
                yield from _documents_on_lines(unit.path, left, lines, report)
            if not left:
                return
            tables = ""  # it has ended early: read from its beginning it says why
        except UNREADABLE as error:
            if tables:  # what cannot be sought can perhaps be read from its beginning
                tables = ""
                continue
            if isinstance(error, Refused):
                raise InputError(f"{unit.path}: {error}") from error
            if getattr(error, "errno", None):
                raise
            report(_unreadable(unit.path, why(error)))
            return


def _documents_on_lines(
    path: Path, left: list[tuple[int, str]], lines: LinesFrom, report: OnFinding
) -> Iterator[FoundDocument]:
    """Yield the documents at places, and remove each place from those that are `left`.

    Ends where packed data break off; where records are missing, no other is at its place.
    """
    while left:
        place, doc_id = left[0]
        begin, line = lines.at(place)
        if lines.broken:
            return
        document = _document_in(line)
        if begin == place and document is not None and document.doc_id == doc_id:
            yield FoundDocument(document, str(path), place)
        elif len(line) > limits().record:
            message = f"the line at byte {place} {limits().too_long}; passed over"
            report(Finding("record_too_large", Place(str(path)), message, doc_id))
        elif line and begin == place and document is None:
            message = f"the record at byte {place} is no JSON of a document"
            report(Finding("line_not_json", Place(str(path)), message, doc_id))
        else:
            if not line:
                begin, line = lines.last()
                document = _document_in(line)
                is_begun = line.startswith(b"{") and not line.endswith(b"\n")
                if is_begun and not is_json(line):
                    report(_unreadable(path, "it ends in the middle of a record"))
                    left.clear()
                    return
            # Before a record that is at its place nothing is missing.
            there = document.doc_id if document else None
            if not stands_at(path, begin, there):
                report(differs(path, doc_id, begin, there))
                left.clear()
                return
        del left[0]


def _unreadable(path: Path, reason: str) -> Finding:
    message = f"cannot be read to the end: {reason}; it is cut or damaged"
    return Finding("collection_unreadable", Place(str(path)), message)


def _document_in(line: bytes) -> Document | None:
    """Return the document on a line of JSON, None for a line that has none, or too much."""
    if len(line) <= limits().record:
        for _, value in values_of_line("", 1, line.removeprefix(BOM), limits(), ignore):
            for document, _ in Records(Path(), ignore).documents(1, value):
                return document
    return None


def stands_at(path: Path, place: int, doc_id: str | None) -> bool:
    """Return whether an id says that its document lies at this place of this file."""
    address = address_of(doc_id) if doc_id else None
    return address is not None and (address.file, address.place) == (file_name(path), place)


def differs(path: Path, doc_id: str, place: int, there: str | None) -> Finding:
    """Return the finding on a file that is not the one that ids of documents speak of."""
    what = "a record of no known id" if there is None else brief(there)
    message = f"has {what} at {place}: not the file of that name in which {brief(doc_id)} lies"
    return Finding("address_differs", Place(str(path)), f"{message}; it is read through", doc_id)


def file_name(path: Path) -> str:
    """Return the name of a file as addresses have it: in lower case, without endings."""
    return bare_name(Path(path.name.lower()))


@contextmanager
def _lines_of(path: Path, places: Sequence[tuple[int, str]], tables: str) -> Iterator[LinesFrom]:
    """Open a file of lines; packed data are sought where that is possible, else read through."""
    with ExitStack() as files:
        file = files.enter_context(open_regular(path))
        first = file.peek(len(GZIP))
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        if not is_packed(first):
            yield LinesFrom(file, size)
            return
        sought = None
        if tables and first.startswith(GZIP):
            last = min(places[-1][0], USUAL * size)
            sought = files.enter_context(_sought(file, path, len(places), last, Path(tables)))
        if sought is not None:
            yield LinesFrom(sought, max(limits().unpacked, SWELLS * size), sure=False)
        else:
            yield LinesFrom(files.enter_context(unpacking(file)), None)


@contextmanager
def _sought(
    file: BinaryIO, path: Path, places: int, last: int, folder: Path
) -> Iterator[IO[bytes] | None]:
    """Yield a gzip file to be read at any place; None where that would not pay.

    It pays where `places` are few between the beginning and the `last` one. It needs the package
    `indexed_gzip`, an extra. What is learned of the file is kept in a folder, as far as it can be
    written; what is kept there and does not fit the file is made anew.
    """
    try:
        import indexed_gzip  # an extra
    except ImportError:
        indexed_gzip = None
    if indexed_gzip is None or places * SPACING > last:
        yield None
        return
    state = f"{resolve_links(path)}\0{os.fstat(file.fileno()).st_size}\0{path.stat().st_mtime_ns}"
    key = hashlib.sha256(os.fsencode(state)).digest()
    table = folder / f"gzip1-{key.hex()[:32]}.places"
    known = _read_table(table, key)
    options = {"spacing": SPACING, "buffer_size": BUFFER, "skip_crc_check": True}
    with indexed_gzip.IndexedGzipFile(fileobj=file, **options) as found:
        if known:
            found.import_index(fileobj=io.BytesIO(known))
        before = sum(1 for _ in found.seek_points())
        yield cast(IO[bytes], found)
        if sum(1 for _ in found.seek_points()) > before:
            _write_table(table, key, found)


def _read_table(table: Path, key: bytes) -> bytes:
    try:
        written = table.read_bytes()
        text = zlib.decompress(written[DIGEST:])
    except (OSError, zlib.error):
        return b""
    return text if hashlib.sha256(key + text).digest() == written[:DIGEST] else b""


def _write_table(table: Path, key: bytes, file: Any) -> None:
    written = io.BytesIO()
    file.export_index(fileobj=written)
    text = written.getvalue()
    try:
        keep_private(table.parent)
        remove_left_parts(table.parent, "gzip1")
        with whole_path(table, private=True) as partial:
            partial.write_bytes(hashlib.sha256(key + text).digest() + zlib.compress(text, 1))
    except (OSError, OutputError):  # it is read through again
        return
