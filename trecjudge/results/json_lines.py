"""Records that a command writes to a file: a JSON object a line or, by its name, Parquet."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from trecjudge.errors import OutputError
from trecjudge.files import open_target

PARQUET = ".parquet"
AT_A_TIME = 20_000
"""Rows that are objects at a time; a table of Arrow takes a tenth of their memory."""


@contextmanager
def open_json_lines(path: Path) -> Iterator[BinaryIO]:
    """Open a file for lines of JSON objects, whole or not at all; `.parquet` is a table of them.

    A column is a key; where an object lacks it, or it is null, the row has no value. Raises
    OutputError where the file cannot be written, the extra `parquet` is missing, or values of one
    key are of several kinds.
    """
    if path.suffix.lower() != PARQUET:
        with open_target(path) as file:
            yield file
        return
    pyarrow, parquet = import_pyarrow(path, "a name that ends in .jsonl needs none")
    with tempfile.TemporaryFile() as lines:
        yield lines
        lines.seek(0)
        try:
            table = _table_of(pyarrow, lines)
        except (ValueError, TypeError) as error:  # pyarrow's own errors are these
            raise OutputError(f"{path}: cannot be Parquet: {error}; give a .jsonl file") from error
    with open_target(path) as file:
        parquet.write_table(table, file)


def import_pyarrow(target: Path, otherwise: str) -> tuple[Any, Any]:
    """Return the packages pyarrow and pyarrow.parquet; `otherwise` says what needs neither.

    Raises OutputError where they are not installed.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        message = f"Parquet needs a package: pip install 'trecjudge[parquet]'; {otherwise}"
        raise OutputError(f"{target}: {message}") from error
    return pyarrow, parquet


def _table_of(pyarrow: Any, lines: Iterable[bytes]) -> Any:
    """Return the table of JSON objects, with a column for each key that one of them has."""
    rest, tables = iter(lines), []
    while rows := [orjson.loads(line) for line in islice(rest, AT_A_TIME)]:
        names = dict.fromkeys(name for row in rows for name in row)
        tables.append(pyarrow.table({name: [row.get(name) for row in rows] for name in names}))
    return pyarrow.concat_tables(tables or [pyarrow.table({})], promote_options="permissive")
