"""Documents in Parquet: which column has the ids, and the ids of rows that have none."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from trecjudge.errors import InputError
from trecjudge.files import open_regular
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.documents.names import (
    ALL_TEXTS,
    IDENTIFYING,
    KNOWN,
    LISTS,
    NESTED,
    id_keys,
    plain,
    shape_of,
)
from trecjudge.inputs.sources.containers import Opened, bare_name
from trecjudge.inputs.sources.parquet import PARQUET, parquet_rows_of
from trecjudge.inputs.sources.parquet_rows import PAGE, as_json, rows_of
from trecjudge.inputs.sources.values import as_id, too_large
from trecjudge.records import Place
from trecjudge.settings.limits import limits

if TYPE_CHECKING:
    from pyarrow import Schema
    from pyarrow.parquet import ParquetFile

NO_PACKAGE = "is Parquet; pip install 'trecjudge[parquet]', or export it as JSONL"
IDS = 4096
"""Rows whose ids are read at a time."""
SOME = 3
"""Ids of a file that are given as examples."""
TEXT = re.compile(r"(?:dictionary<values=)?(?:large_)?string(?:_view)?(?:,.*)?")
"""A type of text as pyarrow writes it; pandas writes a category as a dictionary."""
Entry = tuple[int, Any, str | None]
"""(line or row from 1, record, id if it is outside the record, as a key)."""


def is_parquet(beginning: bytes) -> bool:
    """Return whether a file that begins so is Parquet."""
    return beginning.startswith(PARQUET)


def id_of_row(path: Path, row: int) -> str:
    """Return the id of a row, from 0, of a file without a column of ids: `shard_00000_12`."""
    return f"{bare_name(path)}_{row}"


def parquet_entries(opened: Opened, report: OnFinding) -> Iterator[Entry]:
    """Yield all rows of a file of Parquet as entries; another process reads them."""
    path, column = opened.path, None
    opened.close()
    try:
        for number, row in parquet_rows_of(opened, report):
            if number == 1:
                texts = {name: isinstance(value, str) for name, value in row.items()}
                inner = (row[key] for key in shape_of(row).nested if isinstance(row[key], dict))
                column = _guess_column(path, texts, any(map(id_keys, inner)), report)
            yield number, row, _key_of(row, column, path, number)
    except InputError as error:
        message = str(error).removeprefix(f"{path}: ")
        report(Finding("collection_unreadable", Place(str(path)), message))


def wanted_entries(
    path: Path, ids: frozenset[str], report: OnFinding, met: Callable[[str], None]
) -> Iterator[Entry]:
    """Yield those rows of a file that have one of the ids: the ids are read first.

    `met` is called with a few ids that it has. Raises InputError, MemoryError, OSError, ValueError.
    """
    from pyarrow.parquet import ParquetFile  # heavy, and an extra

    with open_regular(path) as raw, ParquetFile(raw, pre_buffer=False, buffer_size=PAGE) as file:
        schema = file.schema_arrow
        names = schema.names
        columns = [name for name in names if plain(name) in IDENTIFYING]
        nested = _has_nested_ids(schema)
        has_texts = any(plain(name) in ALL_TEXTS for name in names)
        only_lists = not (columns or has_texts) and any(plain(name) in LISTS for name in names)
        texts = {field.name: bool(TEXT.fullmatch(str(field.type))) for field in schema}
        column = _guess_column(path, texts, nested, report)
        columns += [column] if column else []
        if has_texts:  # vectors, say, are not needed
            names = [name for name in names if plain(name) in KNOWN or name == column]
        first = 0
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            if nested or only_lists:
                rows = list(range(size))
            elif columns:
                rows = _rows_with(file, group, columns, ids, path, met)
            else:
                rows = _rows_named(path, first, size, ids)
                for row in range(first, min(size, SOME)):
                    met(id_of_row(path, row))
            found = rows_of(file, rows, row_groups=[group], columns=names) if rows else ()
            for number, value in found:
                if excess := _excess(value):
                    report(too_large(Place(str(path), first + number + 1), excess))
                    continue
                row = orjson.loads(orjson.dumps(value, default=as_json))
                number += first + 1
                yield number, row, _key_of(row, column, path, number)
            first += size


def _guess_column(
    path: Path, texts: Mapping[str, bool], nested: bool, report: OnFinding
) -> str | None:
    """Return the column of ids where none has a known name; None where one has, else "".

    It is the first one of text that has "id" in its name; `texts` says which columns are text, and
    `nested` whether a column of objects has ids.
    """
    if nested or any(plain(name) in IDENTIFYING for name in texts):
        return None
    column = next((name for name, is_text in texts.items() if is_text and "id" in name.lower()), "")
    if column:
        message = f"has ids in the column {column!r}, whose name is not known"
        report(Finding("id_field_guessed", Place(str(path)), message, column))
    return column


def _key_of(row: Mapping[str, Any], column: str | None, path: Path, number: int) -> str | None:
    """Return the id of a row that has none under a known name."""
    if column is None:
        return None
    return as_id(row.get(column)) if column else id_of_row(path, number - 1)


def _has_nested_ids(schema: Schema) -> bool:
    from pyarrow.types import is_struct

    inner = (f.type for f in schema if plain(f.name) in NESTED and is_struct(f.type))
    return any(plain(field.name) in IDENTIFYING for struct in inner for field in struct)


def _excess(row: dict[str, Any]) -> str:
    most = limits()
    if sum(len(value) for value in row.values() if isinstance(value, str)) > most.record:
        return most.too_long
    return most.excess(row)


def _rows_named(path: Path, first: int, size: int, ids: Collection[str]) -> list[int]:
    """Return the rows, from 0 in their group, that wanted ids name by their number."""
    named = re.compile(rf"{re.escape(id_of_row(path, 0)[:-1])}(0|[1-9]\d{{0,17}})", re.ASCII)
    numbers = (int(found[1]) - first for i in ids if (found := named.fullmatch(i)))
    return sorted(number for number in numbers if 0 <= number < size)


def _rows_with(
    file: ParquetFile,
    group: int,
    columns: list[str],
    ids: frozenset[str],
    path: Path,
    met: Callable[[str], None],
) -> list[int]:
    """Return the rows, from 0 in their group, in which some column has a wanted id, or none has."""
    from pyarrow.types import is_decimal

    rows: set[int] = set()
    first = taken = 0
    for batch in file.iter_batches(IDS, row_groups=[group], columns=columns, use_threads=False):
        taken += batch.nbytes + len(batch)
        if excess := limits().excess_of_unpacked(taken, path.stat().st_size):
            raise InputError(f"{path}: cannot be read: {excess}")
        without = set(range(len(batch)))
        for column in batch.columns:
            found = column.to_pylist()
            if is_decimal(column.type):
                found = [value and as_json(value) for value in found]
            values = [as_id(value) for value in found]
            if not first:
                for value in list(filter(None, values))[:SOME]:
                    met(value)
            if not ids.isdisjoint(values):
                rows.update(first + n for n, value in enumerate(values) if value in ids)
            without = {n for n in without if values[n] is None} if None in values else set()
        rows.update(first + n for n in without)  # read, to be reported
        first += len(batch)
    return sorted(rows)
