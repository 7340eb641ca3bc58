"""Records from tables that tools export: CSV, TSV, and Parquet where pyarrow is installed."""

from __future__ import annotations

import atexit
import os
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from importlib.util import find_spec
from subprocess import DEVNULL, PIPE, Popen
from typing import Any

import orjson

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.pipelines import parquet_rows
from trecjudge.inputs.pipelines.cells import cell_value
from trecjudge.inputs.pipelines.fields import PASSAGES, holds_records
from trecjudge.inputs.pipelines.parts import CONTEXTS
from trecjudge.inputs.sources.comma_separated import BrokenCsv, csv_records, delimiter_of
from trecjudge.inputs.sources.containers import PIECE, Opened
from trecjudge.inputs.sources.splitting import numbered
from trecjudge.inputs.sources.streams import too_large
from trecjudge.inputs.sources.values import decoded_lines
from trecjudge.records import Place
from trecjudge.settings.limits import limits

PARQUET = b"PAR1"
NOTHING = frozenset(("", "nan", "None", "null", "NaN"))
"""What a cell holds where there is nothing."""
_SEPARATOR = re.compile(rb"(?:\xef\xbb\xbf)?\"?sep=.\"?\s*$", re.IGNORECASE)
_NUMBERED = re.compile(r"([A-Za-z_ ]{1,40}?)[_ ./\[-]{0,2}(\d{1,3})\]?")
Row = tuple[int, dict[str, Any]]


def is_table(file: Opened) -> bool:
    """Return whether a file is Parquet, or has a header of answers and of what they answer."""
    first = _first(file)
    return first.startswith(PARQUET) or _delimiter(first) is not None


def _first(file: Opened) -> bytes:
    """Return the first line, without the one in which Excel says what separates cells."""
    return next((line for line in file.first(2) if not _SEPARATOR.match(line)), b"")


def _delimiter(first: bytes) -> str | None:
    """Return what separates the cells of a header of records, None for any other line."""
    is_json = first[:1] in (b"{", b"[")
    return None if is_json else delimiter_of(first.decode(errors="replace"), holds_records)


def table_records(file: Opened, report: OnFinding, most: int | None = None) -> Iterator[Row]:
    """Yield (line or row, record) of a table, of Parquet at most the first few.

    What is broken or too large is reported and passed over. Raises InputError where the file cannot
    be read.
    """
    first = _first(file)
    delimiter = _delimiter(first) or ","
    file.close()  # both kinds are opened by their path
    in_parquet = first.startswith(PARQUET)
    found = parquet_rows_of(file, report, most) if in_parquet else _csv(file, delimiter, report)
    for number, record in found:
        if excess := limits().excess(record):
            report(too_large(Place(str(file.path), number), excess))
        else:
            yield number, _with_columns_joined(record)


def _csv(file: Opened, delimiter: str, report: OnFinding) -> Iterator[Row]:
    try:
        lines = decoded_lines(file.path, report)
        rows = ((n, text) for n, text in lines if n > 1 or not _SEPARATOR.match(text.encode()))
        for line, cells in csv_records(rows, delimiter):
            yield line, _row(cells)
    except BrokenCsv as broken:
        place = Place(str(file.path), broken.line)
        report(Finding("line_not_json", place, f"is not CSV: {broken}; the rest is not read"))


def parquet_rows_of(file: Opened, report: OnFinding, most: int | None = None) -> Iterator[Row]:
    """Yield (number from 1, row) of Parquet.

    Another process reads it: it may take too much memory, or crash. Raises InputError.
    """
    try:
        there = find_spec("pyarrow.parquet")
    except ImportError:
        there = None
    if there is None:
        message = "is Parquet; pip install 'trecjudge[parquet]', or export it as JSONL or CSV"
        raise InputError(f"{file.path}: {message}")
    process, wrong, row = _IDLE.pop() if _IDLE else _reader(), None, 1
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(orjson.dumps([os.path.abspath(file.path), most]) + b"\n")
        process.stdin.flush()
        pieces = iter(partial(os.read, process.stdout.fileno(), PIECE), b"")
        for row, end, line in numbered(pieces, limits().record):
            if excess := limits().excess_of_unpacked(end, file.size):
                raise InputError(f"{file.path}: cannot be read beyond row {row - 1}: {excess}")
            if line and line[:1] == b"[":
                wrong = orjson.loads(line)
                break
            excess = limits().excess_of_text(line) if line else limits().too_long
            if line and not excess:
                yield row, orjson.loads(line)
            else:
                report(too_large(Place(str(file.path), row), excess))
        if wrong != []:
            why = wrong[0] if wrong else "it is damaged, or takes more memory than a file may"
            raise InputError(f"{file.path}: cannot be read beyond row {row - 1}: {why}")
    except BrokenPipeError as error:
        raise InputError(f"{file.path}: cannot be read: its reader did not start") from error
    finally:
        if wrong is not None:
            _IDLE.append(process)
        else:
            _end(process)


_IDLE: list[Popen[bytes]] = []
"""Readers of Parquet that wait for the next file: to start one takes as long as many files."""


def _reader() -> Popen[bytes]:
    # The usual pool of memory reserves more than the reader may take.
    environment = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    process = Popen(
        [sys.executable, "-P", parquet_rows.__file__],
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env=environment,
    )
    atexit.register(_end, process)
    return process


def _end(process: Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def _row(cells: Mapping[str, str]) -> dict[str, Any]:
    return {key: cell_value(cell) for key, cell in cells.items() if cell.strip() not in NOTHING}


def _with_columns_joined(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with one list of contexts for its columns `context_1`, `context_2`..."""
    columns = {key: number for key in row if (number := _number_of(key)) is not None}
    if not columns:
        return row
    contexts = [row[key] for key in sorted(columns, key=columns.__getitem__)]
    return {"contexts": contexts, **{k: v for k, v in row.items() if k not in columns}}


@lru_cache(maxsize=1024)
def _number_of(column: str) -> int | None:
    """Return the number of a column of contexts, None of any other."""
    found = _NUMBERED.fullmatch(column.strip())
    name = plain(found[1]) if found else ""
    return int(found[2]) if found and name in (*CONTEXTS, *PASSAGES) else None
