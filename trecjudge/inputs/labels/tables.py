"""Labels of people in a table: CSV or TSV with a header, as spreadsheets save it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.nuggets.assessments import table_delimiter
from trecjudge.inputs.sources.comma_separated import BrokenCsv, csv_records
from trecjudge.inputs.sources.values import decoded_lines
from trecjudge.records import Place

_KEYS = ("topic_id", "run_id", "sentence_index", "doc_id", "answer_id", "nugget_id", "nugget")
"""Columns that are named as the fields of JSONL, in any case."""


def rows_of(path: Path, report: OnFinding) -> Iterator[tuple[int, dict[str, str | int]]]:
    """Yield (line, record) of each row; an empty cell is no field."""
    try:
        for line, cells in csv_records(decoded_lines(path, report), table_delimiter(path)):
            yield line, _record(cells)
    except BrokenCsv as error:
        message = f"is no CSV from here on: {error}"
        report(Finding("row_unreadable", Place(str(path), error.line), message))


def _record(cells: dict[str, str]) -> dict[str, str | int]:
    record: dict[str, str | int] = {}
    for name, cell in cells.items():
        known = name.casefold()
        if text := cell.strip():
            record[known if known in _KEYS else name] = text
    index = str(record.get("sentence_index", "")).removesuffix(".0")
    if index.isascii() and index.isdecimal():
        record["sentence_index"] = int(index)
    return record
