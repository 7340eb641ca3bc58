"""Reads units of a collection in a process of its own, and answers with what is wanted of them."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError, why
from trecjudge.findings import UNREAD, Finding, OnFinding
from trecjudge.inputs.collections.lines import (
    PIECE,
    RawIds,
    candidates,
    line_number,
    line_start,
    range_of,
    read_ahead,
)
from trecjudge.inputs.collections.seeking import documents_at
from trecjudge.inputs.collections.units import FoundDocument, Unit
from trecjudge.inputs.documents.collection import (
    Records,
    entries,
    file_unusable,
    layout_of,
    parts_of,
)
from trecjudge.inputs.documents.parquet import NO_PACKAGE, is_parquet, wanted_entries
from trecjudge.inputs.sources.containers import Member, Opened, is_json, whole_lines
from trecjudge.inputs.sources.packing import Refused, is_packed
from trecjudge.inputs.sources.parquet_rows import bound_memory
from trecjudge.inputs.sources.values import too_large, values_of_line
from trecjudge.records import Document, Place
from trecjudge.settings.limits import hold_limits, limits

PAUSE = 0.2
"""Seconds between answers on a unit that is being read."""
SAMPLES = 3
"""Ids of a file that are given as examples."""
MOST_FINDINGS = 1000
"""Findings of a kind on one unit that are passed on, of kinds that may be on every line."""
MEMBER = 1 << 36
"""Bytes that a file in an archive takes at most: places are counted over all of them."""
Answer = tuple[str, Any]
"""A `document` that was found; a `finding`; the id of a document, as a `sample`; the bytes `at`
which the unit is, as they lie on disk; why it `failed`; and its `end`."""


class UnitAnswers:
    """Collects the answers on one unit at a time, and sends them now and then.

    `bound` is called before Parquet is read: a few bytes of it may fill memory.
    """

    def __init__(
        self,
        send: Callable[[list[Answer]], None],
        ids: RawIds,
        bound: Callable[[], None] = lambda: None,
    ) -> None:
        self.ids = ids
        self.bound = bound
        self.position = 0
        """How far the unit is."""
        self._send = send
        self._answers: list[Answer] = []
        self._sent = 0.0
        self.begin_unit()

    def begin_unit(self) -> None:
        """Forget the unit before."""
        self.position = 0
        self._found: set[str] = set()
        self._samples: set[str] = set()
        self._findings: dict[str, int] = {}

    def sample(self, doc_id: str) -> None:
        """Give an id as an example, if there are few yet."""
        if len(self._samples) < SAMPLES and doc_id not in self._samples:
            self._samples.add(doc_id)
            self._answers.append(("sample", doc_id))

    @property
    def has_sample(self) -> bool:
        """Whether an id of the unit is known."""
        return bool(self._samples)

    def document(self, found: FoundDocument) -> None:
        """Answer with a document if it is wanted; the first one of an id counts."""
        doc_id = found.document.doc_id
        self.sample(doc_id)
        if doc_id in self.ids.ids and doc_id not in self._found:
            self._found.add(doc_id)
            self._answers.append(("document", found))

    def finding(self, finding: Finding) -> None:
        """Answer with a finding; of kinds that may be on every line with the first ones."""
        count = self._findings[finding.kind] = self._findings.get(finding.kind, 0) + 1
        if count <= MOST_FINDINGS or finding.kind not in UNREAD:
            self._answers.append(("finding", finding))

    def unreadable(self, path: Path, error: object) -> None:
        """Answer that a file, or one in an archive, cannot be read to its end."""
        message = str(error).removeprefix(f"{path}: ")
        self.finding(Finding("collection_unreadable", Place(str(path)), message))

    def fail(self, message: str) -> None:
        """Answer why a unit cannot be read this time."""
        self._answers.append(("failed", message))

    def send_some(self) -> None:
        """Send what is known so far, not too often."""
        if (now := time.monotonic()) - self._sent > PAUSE:
            self._sent = now
            self._flush("at", self.position)

    def end_unit(self) -> None:
        """Answer that a unit is read."""
        self._flush("end", None)

    def _flush(self, *last: Any) -> None:
        self._send([*self._answers, last])
        self._answers.clear()


def read_unit(unit: Unit, answers: UnitAnswers) -> None:
    """Answer with what is wanted of a unit, and why it could not be read to its end."""
    answers.begin_unit()
    try:
        before = unit.path.stat()
        for found in _found_in(unit, answers):
            answers.document(found)
            answers.send_some()
        after = unit.path.stat()
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            answers.fail("was changed while it was read")
    except InputError as error:
        if isinstance(error.__cause__, Refused) or getattr(error.__cause__, "errno", None):
            answers.fail(str(error).removeprefix(f"{unit.path}: "))
        else:
            answers.unreadable(unit.path, error)
    except ImportError:
        answers.fail(NO_PACKAGE)
    except MemoryError:
        answers.fail("takes more memory than reading a file may")
    except OSError as error:
        answers.fail(f"cannot be read: {why(error)}")
    answers.end_unit()


def _found_in(unit: Unit, answers: UnitAnswers) -> Iterator[FoundDocument]:
    path = str(unit.path)
    if unit.places:
        for count, found in enumerate(documents_at(unit, answers.finding), 1):
            answers.position = count
            yield found
    elif unit.end is not None:
        for place, document in _documents_in_range(unit, unit.end, answers):
            yield FoundDocument(document, path, place)
    else:
        for number, part in enumerate(parts_of(unit.path)):
            answers.position = part.position
            within = isinstance(part, Member)
            name = f"{unit.path.name}{str(part.path).removeprefix(path)}"
            try:
                for place, document in _documents(part, answers):
                    source = f"{name}@{place}" if within else ""
                    yield FoundDocument(document, path, number * MEMBER + place, source)
            except InputError as error:
                if not within or isinstance(error.__cause__, Refused):
                    raise
                answers.unreadable(part.path, error)


def _documents_in_range(
    unit: Unit, end: int, answers: UnitAnswers
) -> Iterator[tuple[int, Document]]:
    """Yield (place, document) of the lines that begin in a range of a plain file."""
    begin = line_start(unit.path, unit.start, end)

    def chunks() -> Iterator[bytes]:
        for chunk in range_of(unit.path, begin, end):
            answers.position += len(chunk)
            yield chunk

    records = Records(unit.path, _report_behind(unit.path, begin, answers.finding))
    yield from _documents_of_lines(records, chunks(), answers, begin)


def _report_behind(path: Path, begin: int, report: OnFinding) -> OnFinding:
    """Return what reports findings on lines that are counted from a byte of a file on."""
    # Only where there is a finding: what comes before is another's to read.
    lines_before = cache(lambda: line_number(path, begin))

    def report_it(finding: Finding) -> None:
        if finding.place.line is not None:
            place = replace(finding.place, line=finding.place.line + lines_before())
            finding = replace(finding, place=place)
        report(finding)

    return report_it


def _documents(part: Opened, answers: UnitAnswers) -> Iterator[tuple[int, Document]]:
    """Yield (place, document) of a file; documents that are surely not wanted are left out."""
    records, first = Records(part.path, answers.finding), part.beginning()
    if is_parquet(first):
        if isinstance(part, Member):
            answers.unreadable(part.path, "is Parquet in an archive; unpack the archive")
            return
        part.close()
        yield from _documents_of_parquet(records, answers)
    elif layout_of(part) == "lines":

        def chunks() -> Iterator[bytes]:
            for chunk in part.chunks(PIECE):
                answers.position = part.position
                yield chunk

        pieces = read_ahead(chunks()) if is_packed(part.on_disk) else chunks()
        yield from _documents_of_lines(records, pieces, answers)
    else:
        yield from _documents_of_records(part, first, records, answers)


def _documents_of_lines(
    records: Records, chunks: Iterable[bytes], answers: UnitAnswers, begin: int = 0
) -> Iterator[tuple[int, Document]]:
    """Yield (place, document) of lines of JSON from a byte of a file on."""
    path, most = str(records.path), limits()
    broken: list[InputError] = []
    pieces = whole_lines(_up_to_error(chunks, broken), most.record, begin)
    for place, number, line in candidates(pieces, answers.ids, answers.send_some):
        if line is None:
            records.report(too_large(Place(path, number), most.too_long))
            continue
        if broken and not is_json(line):  # half a record
            break
        for _, value in values_of_line(path, number, line.strip(b" \r"), most, records.report):
            for document, _ in records.documents(number, value):
                yield place, document
    if broken:
        raise broken[0]
    records.report_guesses()


def _up_to_error(chunks: Iterable[bytes], broken: list[InputError]) -> Iterator[bytes]:
    """Yield chunks up to where they break off, and add to `broken` why."""
    try:
        yield from chunks
    except InputError as error:
        broken.append(error)


def _documents_of_records(
    part: Opened, first: bytes, records: Records, answers: UnitAnswers
) -> Iterator[tuple[int, Document]]:
    """Yield (line, document) of markup, a table or JSON in another layout than lines."""
    ids = answers.ids
    may_be_in = ids.may_be_in_element if first.lstrip()[:1] == b"<" else ids.may_be_in_row

    def is_chosen(text: bytes) -> bool:
        answers.position = part.position
        answers.send_some()
        return may_be_in(text) or not answers.has_sample

    found = entries(part, answers.finding, is_chosen)
    if found is None:
        answers.finding(file_unusable(part.path))
        return
    for line, record, key in found:
        answers.position = part.position
        answers.send_some()
        for document, _ in records.documents(line, record, key):
            yield line, document
    records.report_guesses()


def _documents_of_parquet(records: Records, answers: UnitAnswers) -> Iterator[tuple[int, Document]]:
    """Yield (row from 0, document)."""
    import pyarrow.parquet  # noqa: F401 (before the memory is bounded)

    path, ids = records.path, answers.ids.ids
    answers.bound()
    try:
        for number, row, key in wanted_entries(path, ids, answers.finding, answers.sample):
            for document, _ in records.documents(number, row, key):
                yield number - 1, document
        records.report_guesses()
    except MemoryError:
        answers.unreadable(path, "takes more memory than a file may")
    except (ValueError, TypeError) as error:  # pyarrow's own errors are these
        answers.unreadable(path, f"cannot be read: {error}")


def main() -> None:
    """Answer what comes over a connection: limits and wanted ids, then units."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks ends this one
    asking = Connection(int(sys.argv[1]))
    with suppress(EOFError, ConnectionError):  # it has ended
        most, wanted = asking.recv()
        with hold_limits(most):
            answers = UnitAnswers(asking.send, RawIds(wanted), bound_memory)
            while True:
                read_unit(asking.recv(), answers)
    os._exit(0)
