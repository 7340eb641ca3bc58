"""The records of a run file, whatever holds them: lines, one object around them, a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, unreported
from trecjudge.inputs.pipelines.chats import responses_in
from trecjudge.inputs.pipelines.columns import unstacked
from trecjudge.inputs.pipelines.fields import Row, named, noting_keys, record_keys
from trecjudge.inputs.pipelines.passages import passages_joined
from trecjudge.inputs.pipelines.tables import is_table, table_records
from trecjudge.inputs.pipelines.traces import Traces, is_span
from trecjudge.inputs.pipelines.wrappers import records_in
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.values import first_objects, objects
from trecjudge.records import Place

ROWS_LOOKED_AT = 20
"""First rows of a table, one of which has a passage where each row has one."""


def run_records(file: Path | Opened, report: OnFinding) -> Iterator[Row]:
    """Yield (line, record) of a run file, under the names that formats know.

    What is no record is reported and passed over, and a key of `--keys` that no record has. Raises
    InputError if the file cannot be read.
    """
    opened, met = Opened.of(file), set[str]()
    rows = _rows(opened, report)
    yield from noting_keys(rows, met) if record_keys() else rows
    for part in record_keys().keys() - met:
        message = f"no record has {record_keys()[part]!r}, which `--keys` names for the {part}"
        report(Finding("key_not_there", Place(str(opened.path)), message, record_keys()[part]))


def _rows(opened: Opened, report: OnFinding) -> Iterator[Row]:
    if is_table(opened):
        rows = ((line, named(record)) for line, record in table_records(opened, report))
        return passages_joined(_records(rows), ROWS_LOOKED_AT)
    return passages_joined(_records(_objects(opened, report)), 1)


def first_records(file: Path | Opened, count: int) -> list[dict[str, Any]]:
    """Return the first few records of a run file, as far as they can be read."""
    opened = Opened.of(file)
    try:
        return _first(opened, count)
    finally:
        if opened is not file:
            opened.close()


def _first(opened: Opened, count: int) -> list[dict[str, Any]]:
    if is_table(opened):
        with suppress(InputError):  # reported where the file is read
            rows = islice(table_records(Opened(opened.path), unreported, count), count)
            # The answer may stand in a later row of the same response.
            return [{"answer": "", **named(record)} for _, record in rows]
        return []
    records = first_objects(opened, count)
    whole = (inner for record in records for inner in unstacked(record, unreported))
    return [record for _, record in islice(_records(enumerate(whole), begun=True), count)]


def _objects(opened: Opened, report: OnFinding) -> Iterator[Row]:
    """Yield (line, object); one that holds records by column as those records."""
    for line, record in objects(opened, report):
        complain = partial(_complain, report, Place(str(opened.path), line))
        for whole in unstacked(record, complain):
            yield line, whole


def _complain(report: OnFinding, place: Place, message: str) -> None:
    report(Finding("record_unknown_shape", place, message))


def _records(found: Iterable[Row], begun: bool = False) -> Iterator[Row]:
    """Yield (line, record) of what objects hold, and after them those of the traces.

    `begun`: not all is read, so that a trace without an answer may get one.
    """
    traces = Traces()
    for line, record in found:
        for inner in records_in(record):
            if inner is not record and is_span(inner):  # those of tracks are passed on
                traces.add(line, inner)
            else:
                yield line, inner
    for line, trace in traces.records():
        if begun:
            trace.setdefault("outputs", None)
        yield from ((line, record) for record in responses_in(trace))
