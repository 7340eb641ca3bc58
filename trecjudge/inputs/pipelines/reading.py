"""The records of a run file, whatever holds them: lines, one object around them, a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import OnFinding, unreported
from trecjudge.inputs.pipelines.chats import responses_in
from trecjudge.inputs.pipelines.fields import record_keys, renamed
from trecjudge.inputs.pipelines.tables import is_table, table_records
from trecjudge.inputs.pipelines.traces import Traces, is_span
from trecjudge.inputs.pipelines.wrappers import records_in
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.values import first_objects, objects

Row = tuple[int, dict[str, Any]]


def run_records(file: Path | Opened, report: OnFinding) -> Iterator[Row]:
    """Yield (line, record) of a run file, under the names that formats know.

    What is no record is reported and passed over. Raises InputError if the file cannot be read.
    """
    opened = Opened.of(file)
    read = table_records if is_table(opened) else objects
    found = _records(read(opened, report))
    return ((line, _named(record)) for line, record in found) if record_keys() else found


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
            return [record for _, record in islice(run_records(opened.path, unreported), count)]
        return []
    found = _records(enumerate(first_objects(opened, count)), begun=True)
    return [_named(record) for _, record in islice(found, count)]


def _named(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record under the names that formats know, where `--keys` gives those it has."""
    return renamed(record, record_keys()) or record


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
