"""The records of a run file, whatever holds them: lines, one object around them, a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, unreported
from trecjudge.inputs.pipelines.columns import Complain, unstacked
from trecjudge.inputs.pipelines.fields import named
from trecjudge.inputs.pipelines.passages import passages_joined
from trecjudge.inputs.pipelines.tables import is_table, table_records
from trecjudge.inputs.pipelines.wrappers import records_in
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.values import first_objects, objects
from trecjudge.records import Place

ROWS_LOOKED_AT = 20
"""First rows of a table, one of which has a passage where each row has one."""
Row = tuple[int, dict[str, Any]]


def run_records(file: Path | Opened, report: OnFinding) -> Iterator[Row]:
    """Yield (line, record) of a run file, under the names that formats know.

    What is no record is reported and passed over. Raises InputError if the file cannot be read.
    """
    opened = Opened.of(file)
    if is_table(opened):
        rows = ((line, named(record)) for line, record in table_records(opened, report))
        return passages_joined(rows, ROWS_LOOKED_AT)
    return passages_joined(_objects(opened, report), 1)


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
            rows = islice(table_records(Opened(opened.path), unreported), count)
            # The answer may stand in a later row of the same response.
            return [{"answer": "", **named(record)} for _, record in rows]
        return []
    records = first_objects(opened, count)
    found = (inner for record in records for inner in _inside(record, unreported))
    return list(islice(found, count))


def _objects(opened: Opened, report: OnFinding) -> Iterator[Row]:
    for line, record in objects(opened, report):
        complain = partial(_complain, report, Place(str(opened.path), line))
        for inner in _inside(record, complain):
            yield line, inner


def _complain(report: OnFinding, place: Place, message: str) -> None:
    report(Finding("record_unknown_shape", place, message))


def _inside(record: dict[str, Any], complain: Complain) -> Iterator[dict[str, Any]]:
    """Yield the records of an object that holds them by column or in a list, or it itself."""
    for whole in unstacked(record, complain):
        yield from records_in(whole)
