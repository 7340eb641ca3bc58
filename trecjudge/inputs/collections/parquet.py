"""The wanted documents of a file of Parquet: the ids are read first, then only their rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from trecjudge.errors import InputError
from trecjudge.files import open_regular
from trecjudge.findings import OnFinding
from trecjudge.inputs.documents.files import Records
from trecjudge.inputs.documents.names import ALL_TEXTS, IDENTIFYING, KNOWN, LISTS, NESTED, plain
from trecjudge.inputs.documents.parquet import column_guessed, guessed_column, id_of_row
from trecjudge.inputs.pipelines.parquet_rows import PAGE, as_json, rows_of
from trecjudge.inputs.sources.streams import too_large
from trecjudge.inputs.sources.values import as_id
from trecjudge.records import Document, Place
from trecjudge.settings.limits import limits

if TYPE_CHECKING:
    from pyarrow import Schema
    from pyarrow.parquet import ParquetFile

IDS = 4096
"""Rows whose ids are read at a time."""
SOME = 3
TEXT = re.compile(r"(?:dictionary<values=)?(?:large_)?string(?:_view)?(?:,.*)?")
"""A type of text as pyarrow writes it; pandas writes a category as a dictionary."""


def documents_of_rows(
    path: Path, ids: frozenset[str], report: OnFinding, met: Callable[[str], None]
) -> Iterator[tuple[int, Document]]:
    """Yield (row from 0, document) of those rows of a file that have one of the ids.

    `met` is called with a few ids that it has. Raises InputError, MemoryError, OSError, ValueError.
    """
    from pyarrow.parquet import ParquetFile  # heavy, and an extra

    with open_regular(path) as raw, ParquetFile(raw, pre_buffer=False, buffer_size=PAGE) as file:
        schema = file.schema_arrow
        names = schema.names
        columns = [name for name in names if plain(name) in IDENTIFYING]
        nested = _has_nested_ids(schema)
        has_known_ids = nested or bool(columns)
        has_texts = any(plain(name) in ALL_TEXTS for name in names)
        only_lists = not (columns or has_texts) and any(plain(name) in LISTS for name in names)
        texts = {field.name: bool(TEXT.fullmatch(str(field.type))) for field in schema}
        guessed = "" if has_known_ids else guessed_column(texts)
        if guessed:
            report(column_guessed(path, guessed))
            columns = [guessed]
        if has_texts:  # vectors, say, are not needed
            names = [name for name in names if plain(name) in KNOWN or name == guessed]
        records, first = Records(path, report), 0
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
                place = Place(str(path), first + number + 1)
                if excess := _excess(value):
                    report(too_large(place, excess))
                    continue
                row = orjson.loads(orjson.dumps(value, default=as_json))
                own = as_id(row.get(guessed)) if guessed else id_of_row(path, first + number)
                key = None if has_known_ids else own
                for document, _ in records.documents(first + number + 1, row, key):
                    yield first + number, document
            first += size
        records.report_guesses()


def _has_nested_ids(schema: Schema) -> bool:
    """Return whether a column of objects has ids in them."""
    from pyarrow.types import is_struct

    inner = (f.type for f in schema if plain(f.name) in NESTED and is_struct(f.type))
    return any(plain(field.name) in IDENTIFYING for struct in inner for field in struct)


def _excess(row: dict[str, Any]) -> str:
    """Return what is too much about a row."""
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
