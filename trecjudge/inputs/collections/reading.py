"""Reads units of a collection in a process of its own, and answers with what is wanted of them.

The first line of standard input says what is wanted, each other one is a unit. Each answer is a
line of JSON, a list whose first entry is one of `ANSWERS`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import BinaryIO

from trecjudge.errors import InputError, why
from trecjudge.findings import UNREAD, Finding
from trecjudge.inputs.collections.filters import RawIds
from trecjudge.inputs.collections.lines import (
    PIECE,
    candidates,
    line_number,
    line_start,
    pieces_of,
    range_of,
    read_ahead,
)
from trecjudge.inputs.collections.parquet import documents_of_rows
from trecjudge.inputs.collections.seeking import documents_at
from trecjudge.inputs.collections.units import Unit
from trecjudge.inputs.documents.collection import entries, file_unusable, is_json_lines
from trecjudge.inputs.documents.files import Records, parts_of
from trecjudge.inputs.documents.parquet import NO_PACKAGE, is_parquet
from trecjudge.inputs.pipelines.parquet_rows import bound_memory
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.packing import Refused, is_packed
from trecjudge.inputs.sources.streams import too_large
from trecjudge.inputs.sources.tars import Member
from trecjudge.inputs.sources.values import values_of_line
from trecjudge.records import Document, Place
from trecjudge.settings.limits import Limits, limits, limits_are

ANSWERS = ("document", "sample", "finding", "at", "failed", "end")
"""A document with its place; an id that a file has; how far a unit is; what ended it."""
PAUSE = 0.2
"""Seconds between answers on how far a unit is."""
SAMPLES = 3
"""Ids of a file that are given as examples."""
MOST_FINDINGS = 1000
"""Findings of a kind on one unit that are passed on, of kinds that may be on every line."""
MEMBER = 1 << 36
"""Bytes that a file in an archive takes at most: places are counted over all of them."""


class Answers:
    """Writes answers on one unit at a time.

    `bound` is called before Parquet is read: a few bytes of it may fill memory.
    """

    def __init__(
        self, file: BinaryIO, ids: RawIds, bound: Callable[[], None] = lambda: None
    ) -> None:
        self.ids = ids
        self.bound = bound
        self._file = file
        self._told = 0.0
        self.begin()

    def begin(self) -> None:
        """Forget the unit before."""
        self._taken: set[str] = set()
        self._samples: set[str] = set()
        self._findings: dict[str, int] = {}

    def write(self, answer: str, *values: object) -> None:
        """Write one answer."""
        self._file.write(json.dumps((answer, *values)).encode() + b"\n")

    def met(self, doc_id: str) -> None:
        """Give an id as an example, if there are few yet."""
        if len(self._samples) < SAMPLES and doc_id not in self._samples:
            self._samples.add(doc_id)
            self.write("sample", doc_id)

    @property
    def has_met(self) -> bool:
        """Whether an id of the unit is known."""
        return bool(self._samples)

    def document(self, place: int, document: Document, source: str = "") -> None:
        """Answer with a document if it is wanted; the first one of an id counts."""
        self.met(document.doc_id)
        if document.doc_id in self.ids.ids and document.doc_id not in self._taken:
            self._taken.add(document.doc_id)
            self.write("document", place, source, *astuple(document))

    def finding(self, finding: Finding) -> None:
        """Answer with a finding; of kinds that may be on every line with the first ones."""
        count = self._findings[finding.kind] = self._findings.get(finding.kind, 0) + 1
        if count <= MOST_FINDINGS or finding.kind not in UNREAD:
            place = finding.place
            row = (finding.kind, place.path, place.line, finding.message, finding.value)
            self.write("finding", *row)

    def at(self, position: int) -> None:
        """Answer how far a unit is, in bytes as they lie on disk, not too often."""
        if (now := time.monotonic()) - self._told > PAUSE:
            self._told = now
            self.write("at", position)
            self._file.flush()

    def end(self) -> None:
        """Answer that a unit is read."""
        self.write("end")
        self._file.flush()


def read_unit(unit: Unit, answers: Answers) -> None:
    """Answer with what is wanted of a unit, and why it could not be read to its end."""
    answers.begin()
    path = str(unit.path)
    try:
        before = unit.path.stat()
        _read(unit, answers)
        after = unit.path.stat()
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            answers.write("failed", "was changed while it was read")
    except InputError as error:
        message, cause = str(error).removeprefix(f"{path}: "), error.__cause__
        if isinstance(cause, Refused) or getattr(cause, "errno", None):
            answers.write("failed", message)
        else:
            answers.finding(_unreadable(unit.path, error))
    except ImportError:
        answers.write("failed", NO_PACKAGE)
    except MemoryError:
        answers.write("failed", "takes more memory than reading a file may")
    except OSError as error:
        answers.write("failed", f"cannot be read: {why(error)}")
    answers.end()


def _unreadable(path: Path, error: InputError) -> Finding:
    message = str(error).removeprefix(f"{path}: ")
    return Finding("collection_unreadable", Place(str(path)), message)


def _read(unit: Unit, answers: Answers) -> None:
    if unit.places:
        for found in documents_at(unit, answers.finding):
            answers.document(found.place, found.document, found.source)
            answers.at(0)
        return
    if unit.end is not None:
        _read_range(unit, unit.end, answers)
        return
    for number, part in enumerate(parts_of(unit.path)):
        answers.at(part.position)
        source, first = "", number * MEMBER
        if isinstance(part, Member):
            source = f"{unit.path.name}{str(part.path).removeprefix(str(unit.path))}"
        try:
            for place, document in _documents(part, answers):
                answers.document(first + place, document, f"{source}@{place}" if source else "")
        except InputError as error:
            if not source or isinstance(error.__cause__, Refused):
                raise
            answers.finding(_unreadable(part.path, error))


def _read_range(unit: Unit, end: int, answers: Answers) -> None:
    """Answer with what is wanted of the lines that begin in a range of a plain file."""
    begin = line_start(unit.path, unit.start, end)
    chunks = range_of(unit.path, begin, end)
    place = begin

    def counted() -> Iterator[bytes]:
        nonlocal place
        for chunk in chunks:
            place += len(chunk)
            yield chunk

    before: list[int] = []

    def report(finding: Finding) -> None:
        if not before:  # only where there is a finding: what comes before is another's to read
            before.append(line_number(unit.path, begin))
        where = Place(finding.place.path, (finding.place.line or 0) + before[0])
        answers.finding(Finding(finding.kind, where, finding.message, finding.value))

    records = Records(unit.path, report)
    pieces = pieces_of(counted(), begin)
    lines = candidates(pieces, answers.ids, lambda: answers.at(place - begin))
    for at, document in _documents_of_lines(records, lines):
        answers.document(at, document)
    records.report = answers.finding
    records.report_guesses()


def _documents(part: Opened, answers: Answers) -> Iterator[tuple[int, Document]]:
    """Yield (place, document) of a file; documents that are surely not wanted are left out."""
    ids, report = answers.ids, answers.finding
    records, first = Records(part.path, report), part.beginning()
    if is_parquet(first):
        if isinstance(part, Member):
            message = "is Parquet in an archive; unpack the archive"
            report(Finding("collection_unreadable", Place(str(part.path)), message))
            return
        part.close()
        yield from _documents_of_parquet(part.path, answers)
        return
    if is_json_lines(part):
        position = 0

        def chunks() -> Iterator[bytes]:
            nonlocal position
            for chunk in part.chunks(PIECE):
                position = part.position  # not asked for while another thread may close the file
                yield chunk

        pieces = pieces_of(read_ahead(chunks()) if is_packed(part.on_disk) else chunks())
        lines = candidates(pieces, ids, lambda: answers.at(position))
        yield from _documents_of_lines(records, lines)
    else:
        chosen = ids.may_be_in_element if first.lstrip()[:1] == b"<" else ids.may_be_in_row

        def looked(text: bytes) -> bool:
            answers.at(part.position)
            return chosen(text) or not answers.has_met

        found = entries(part, report, looked)
        if found is None:
            report(file_unusable(part.path))
            return
        for line, record, key in found:
            answers.at(part.position)
            for document, _ in records.documents(line, record, key):
                yield line, document
    records.report_guesses()


def _documents_of_lines(
    records: Records, lines: Iterator[tuple[int, int, bytes | None]]
) -> Iterator[tuple[int, Document]]:
    path, most = str(records.path), limits()
    for place, number, line in lines:
        if line is None:
            records.report(too_large(Place(path, number), most.too_long))
            continue
        for _, value in values_of_line(path, number, line.strip(b" \r"), most, records.report):
            for document, _ in records.documents(number, value):
                yield place, document


def _documents_of_parquet(path: Path, answers: Answers) -> Iterator[tuple[int, Document]]:
    import pyarrow.parquet  # noqa: F401 (before the memory is bounded)

    answers.bound()
    try:
        yield from documents_of_rows(path, answers.ids.ids, answers.finding, answers.met)
    except MemoryError:
        message = "takes more memory than a file may"
        answers.finding(Finding("collection_unreadable", Place(str(path)), message))
    except (ValueError, TypeError) as error:  # pyarrow's own errors are these
        message = f"cannot be read: {error}"
        answers.finding(Finding("collection_unreadable", Place(str(path)), message))


def main() -> None:
    """Answer the lines of standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks ends this one
    asked = json.loads(sys.stdin.buffer.readline())
    with suppress(BrokenPipeError), limits_are(Limits(**asked["limits"])):
        answers = Answers(sys.stdout.buffer, RawIds.of(asked["wanted"]), bound_memory)
        for line in sys.stdin.buffer:
            path, start, end, places, tables = json.loads(line)
            read_unit(Unit(Path(path), start, end, [tuple(p) for p in places], tables), answers)
    os._exit(0)  # what is left to write has no reader


if __name__ == "__main__":
    main()
