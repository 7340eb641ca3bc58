"""The wanted documents of a file of Parquet: the ids are read first, then only their rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from trecjudge.errors import InputError
from trecjudge.files import open_regular
from trecjudge.findings import OnFinding
from trecjudge.inputs.documents.files import Records
from trecjudge.inputs.documents.names import ALL_TEXTS, IDENTIFYING, KNOWN, LISTS, NESTED, plain
from trecjudge.inputs.documents.parquet import column_guessed, guessed_column, id_of_row
from trecjudge.inputs.pipelines.parquet_rows import BATCHES, PAGE, as_json
from trecjudge.inputs.sources.streams import too_large
from trecjudge.inputs.sources.values import as_id
from trecjudge.records import Document, Place
from trecjudge.settings.limits import limits

if TYPE_CHECKING:
    from pyarrow import Array
    from pyarrow.parquet import ParquetFile

IDS = 4096
"""Rows whose ids are read at a time."""
SOME = 3
TEXT = re.compile(r"(?:dictionary<values=)?(?:large_)?string(?:_view)?(?:,.*)?")
"""A type of text as pyarrow writes it; pandas writes a category as a dictionary."""


def documents_of_rows(
    path: Path, ids: Collection[str], report: OnFinding, met: Callable[[str], None]
) -> Iterator[tuple[int, Document]]:
    """Yield (row from 0, document) of those rows of a file that have one of the ids.

    `met` is called with a few ids that it has. Raises InputError, MemoryError, OSError, ValueError.
    """
    from pyarrow.parquet import ParquetFile  # heavy, and an extra

    with open_regular(path) as raw, ParquetFile(raw, pre_buffer=False, buffer_size=PAGE) as file:
        schema = file.schema_arrow
        texts = {field.name: TEXT.fullmatch(str(field.type)) is not None for field in schema}
        columns = _known_columns(file)
        guessed = "" if columns else guessed_column(texts)
        if guessed:
            report(column_guessed(path, guessed))
        kinds = {plain(field.name): str(field.type) for field in schema}
        lists = any(kinds.get(name, "").startswith(("list", "large_list")) for name in LISTS)
        only_lists = lists and not columns and kinds.keys().isdisjoint(ALL_TEXTS)
        records, first = Records(path, report), 0
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            if only_lists:
                rows = list(range(size))
            elif columns or guessed:
                rows = _rows_with(file, group, columns or [guessed], ids, path, met)
            else:
                rows = _rows_named(path, first, size, ids)
                for row in range(first, min(size, SOME)):
                    met(id_of_row(path, row))
            for row, record in _records(file, group, rows, columns or [guessed]):
                place = Place(str(path), first + row + 1)
                own = as_id(record.get(guessed)) if guessed else id_of_row(path, first + row)
                if excess := _excess(record):
                    report(too_large(place, excess))
                    continue
                record = orjson.loads(orjson.dumps(record, default=as_json))
                key = None if columns else own
                for document, _ in records.documents(first + row + 1, record, key):
                    yield first + row, document
            first += size
        records.report_guesses()


def _excess(record: dict[str, Any]) -> str:
    """Return what is too much about a row."""
    most = limits()
    if sum(len(value) for value in record.values() if isinstance(value, str)) > most.record:
        return most.too_long
    return most.excess(record)


def _known_columns(file: ParquetFile) -> list[str]:
    """Return the paths of the columns that have ids under a known name."""
    schema = file.schema
    leaves = (schema.column(number) for number in range(len(schema)))
    paths = [leaf.path for leaf in leaves if not leaf.max_repetition_level]
    return [
        path
        for path in paths
        for *outer, name in [_parts(path, file.schema_arrow.names)]
        if plain(name) in IDENTIFYING and all(plain(part) in NESTED for part in outer)
    ]


def _parts(path: str, names: Collection[str]) -> list[str]:
    """Return the names in the path of a column: that of a column itself may have dots."""
    return [path] if path in names else path.split(".")


def _rows_named(path: Path, first: int, size: int, ids: Collection[str]) -> list[int]:
    """Return the rows, from 0 in their group, that wanted ids name by their number."""
    named = re.compile(rf"{re.escape(id_of_row(path, 0)[:-1])}(0|[1-9]\d{{0,17}})", re.ASCII)
    numbers = (int(found[1]) - first for i in ids if (found := named.fullmatch(i)))
    return sorted(number for number in numbers if 0 <= number < size)


def _rows_with(
    file: ParquetFile,
    group: int,
    columns: Sequence[str],
    ids: Collection[str],
    path: Path,
    met: Callable[[str], None],
) -> list[int]:
    """Return the rows, from 0 in their group, of which some column has a wanted id."""
    rows: list[int] = []
    wanted = frozenset(ids)
    first = taken = 0
    for batch in file.iter_batches(IDS, row_groups=[group], columns=columns, use_threads=False):
        taken += batch.nbytes + len(batch)
        if excess := limits().excess_of_unpacked(taken, path.stat().st_size):
            raise InputError(f"{path}: cannot be read: {excess}")
        without = set(range(len(batch)))
        for values in (_as_ids(leaf) for column in batch.columns for leaf in _leaves(column)):
            if not first:
                for value in list(filter(None, values))[:SOME]:
                    met(value)
            if not wanted.isdisjoint(values):
                rows += (first + n for n, value in enumerate(values) if value in wanted)
            without = {n for n in without if values[n] is None} if None in values else set()
        rows += (first + n for n in without)  # read, to be reported
        first += len(batch)
    return sorted(set(rows))


def _leaves(column: Array) -> Iterator[Array]:
    """Yield the columns inside one that holds several."""
    import pyarrow

    if pyarrow.types.is_struct(column.type):
        for number in range(column.type.num_fields):
            yield from _leaves(column.field(number))
    else:
        yield column


def _as_ids(column: Array) -> list[str | None]:
    import pyarrow

    values = column.to_pylist()
    if pyarrow.types.is_decimal(column.type):
        values = [None if value is None else as_json(value) for value in values]
    return [as_id(value) for value in values]


def _records(
    file: ParquetFile, group: int, rows: Sequence[int], columns: Sequence[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (row, its record) of some rows of a group, a few at a time."""
    names = file.schema_arrow.names
    tops = {_parts(column, names)[0] for column in columns}
    if any(plain(name) in ALL_TEXTS for name in names):  # vectors, say, are not needed
        names = [name for name in names if plain(name) in KNOWN or name in tops]
    left = list(reversed(rows))
    for size in BATCHES:
        try:
            first = 0
            if not left:
                return
            for batch in file.iter_batches(
                size, row_groups=[group], columns=names, use_threads=False
            ):
                while left and left[-1] < first + len(batch):
                    record = batch.slice(left[-1] - first, 1).to_pylist()[0]
                    yield left.pop(), record
                if not left:
                    return
                first += len(batch)
        except MemoryError:
            if size == BATCHES[-1]:
                raise
