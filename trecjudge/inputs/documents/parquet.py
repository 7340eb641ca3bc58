"""Documents in Parquet: which column has the ids, and the ids of rows that have none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.documents.names import id_keys, shape_of
from trecjudge.inputs.pipelines.tables import PARQUET, parquet_rows_of
from trecjudge.inputs.sources.containers import Opened, bare_name
from trecjudge.inputs.sources.values import as_id
from trecjudge.records import Place

NO_PACKAGE = "is Parquet; pip install 'trecjudge[parquet]', or export it as JSONL"


def is_parquet(beginning: bytes) -> bool:
    """Return whether a file that begins so is Parquet."""
    return beginning.startswith(PARQUET)


def guessed_column(texts: Mapping[str, bool]) -> str:
    """Return the column of ids where none has a known name; empty if there is none.

    It is the first one of text that has "id" in its name; `texts` says which columns are text.
    """
    return next((name for name, text in texts.items() if text and "id" in name.lower()), "")


def _names_id(row: Mapping[str, Any]) -> bool:
    """Return whether a row has a field of ids that is known, even a null one."""
    parts = [row, *(part for key in shape_of(row).nested if isinstance(part := row[key], dict))]
    return any(id_keys(part) for part in parts)


def column_guessed(path: Path, column: str) -> Finding:
    """Return the finding on a column of ids that was guessed."""
    message = f"has ids in the column {column!r}, whose name is not known"
    return Finding("id_field_guessed", Place(str(path)), message, column)


def id_of_row(path: Path, row: int) -> str:
    """Return the id of a row, from 0, of a file without a column of ids: `shard_00000_12`."""
    return f"{bare_name(path)}_{row}"


def parquet_entries(
    opened: Opened, report: OnFinding
) -> Iterator[tuple[int, dict[str, Any], str | None]]:
    """Yield (number from 1, row, id if it is in no known column) of a file of Parquet."""
    path, known, column = opened.path, False, ""
    opened.close()
    try:
        for number, row in parquet_rows_of(opened, report):
            if number == 1:
                known = _names_id(row)
                texts = {name: isinstance(value, str) for name, value in row.items()}
                column = "" if known else guessed_column(texts)
                if column:
                    report(column_guessed(path, column))
            own = as_id(row.get(column)) if column else id_of_row(path, number - 1)
            yield number, row, None if known else own
    except InputError as error:
        message = str(error).removeprefix(f"{path}: ")
        report(Finding("collection_unreadable", Place(str(path)), message))
