"""Records from tables that tools export: CSV, TSV, and Parquet where pyarrow is installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.pipelines.cells import cell_value
from trecjudge.inputs.pipelines.fields import holds_records
from trecjudge.inputs.sources.comma_separated import BrokenCsv, csv_records, delimiter_of
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.streams import too_large
from trecjudge.inputs.sources.values import decoded_lines
from trecjudge.records import Place
from trecjudge.settings.limits import limits

PARQUET = b"PAR1"
NOTHING = frozenset(("", "nan", "None", "null", "NaN"))
"""What a cell holds where there is nothing."""
BATCH = 256
"""Rows of Parquet that are held at a time."""
Row = tuple[int, dict[str, Any]]


def is_table(file: Opened) -> bool:
    """Return whether a file is Parquet, or has a header of answers and of what they answer."""
    first = next(iter(file.first(1)), b"")
    return first.startswith(PARQUET) or _delimiter(first) is not None


def _delimiter(first: bytes) -> str | None:
    """Return what separates the cells of a header of records, None for any other line."""
    is_json = first[:1] in (b"{", b"[")
    return None if is_json else delimiter_of(first.decode(errors="replace"), holds_records)


def table_records(file: Opened, report: OnFinding) -> Iterator[Row]:
    """Yield (line or row, record) of a table.

    What is broken or too large is reported and passed over. Raises InputError where the file cannot
    be read.
    """
    first = next(iter(file.first(1)), b"")
    delimiter = _delimiter(first) or ","
    file.close()  # both kinds are opened by their path
    found = _parquet(file) if first.startswith(PARQUET) else _csv(file, delimiter, report)
    for number, record in found:
        if excess := limits().excess(record):
            report(too_large(Place(str(file.path), number), excess))
        else:
            yield number, record


def _csv(file: Opened, delimiter: str, report: OnFinding) -> Iterator[Row]:
    try:
        for line, cells in csv_records(decoded_lines(file.path, report), delimiter):
            yield line, _row(cells)
    except BrokenCsv as broken:
        place = Place(str(file.path), broken.line)
        report(Finding("line_not_json", place, f"is not CSV: {broken}; the rest is not read"))


def _parquet(file: Opened) -> Iterator[Row]:
    try:
        from pyarrow.parquet import ParquetFile  # heavy, and an extra
    except ImportError as error:
        message = "is Parquet; pip install 'trecjudge[parquet]', or export it as JSONL or CSV"
        raise InputError(f"{file.path}: {message}") from error
    number = 0
    try:
        for batch in ParquetFile(file.path).iter_batches(BATCH):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except (OSError, ValueError) as error:  # pyarrow's own errors are both
        raise InputError(f"{file.path}: cannot be read beyond row {number}: {error}") from error


def _row(cells: Mapping[str, str]) -> dict[str, Any]:
    return {key: cell_value(cell) for key, cell in cells.items() if cell.strip() not in NOTHING}
