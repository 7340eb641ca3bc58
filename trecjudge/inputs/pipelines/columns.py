"""Records that one object holds by column, as data frames and data sets write themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.pipelines.fields import holds_records, parts_among
from trecjudge.inputs.pipelines.layers import GIVEN, REPLIED
from trecjudge.inputs.pipelines.parts import TOPICS

Record = dict[str, Any]
Complain = Callable[[str], None]
"""Called with what is wrong about an object."""


def split_columns(record: Record, complain: Complain) -> list[Record]:
    """Return the records of an object that holds columns, or records by id; or the object itself.

    Columns are lists, objects by the numbers of rows, or rows whose cells `columns` names. Other
    values belong to every record. Where columns differ in length, that is complained of.
    """
    only_objects = bool(record) and all(isinstance(v, dict) for v in record.values())
    if only_objects and all(map(_is_record, record, record.values())):
        return [_with_id(name, inner) for name, inner in record.items()]
    columns = _columns(record)
    if not columns:
        return [record]
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        complain(f"holds columns of unequal lengths: {listed}")
        return []
    shared = {k: v for k, v in record.items() if not isinstance(v, list | dict)}
    rows = zip(*columns.values(), strict=True)
    return [shared | dict(zip(columns, row, strict=True)) for row in rows]


def _is_record(name: str, value: Record) -> bool:
    return plain(name) not in (*GIVEN, *REPLIED) and holds_records(value)


def _with_id(name: str, record: Record) -> Record:
    """Return a record with the id under which an object has it; numbers are only of rows."""
    has_id = name.isdecimal() or not set(TOPICS).isdisjoint(map(plain, record))
    return record if has_id else {"topic_id": name, **record}


def _columns(record: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the columns of an object by name, none where it is one record."""
    names, rows = record.get("columns"), record.get("data")
    if isinstance(names, list) and isinstance(rows, list) and all(type(r) is list for r in rows):
        # A row that is short makes a column short, which is then found.
        return {str(n): [row[at] for row in rows if at < len(row)] for at, n in enumerate(names)}
    stacks = {name: value for name, value in record.items() if isinstance(value, list | dict)}
    if len(stacks) < 2 or len(set(map(type, stacks.values()))) > 1:
        return {}
    columns = {
        name: value if isinstance(value, list) else list(value.values())
        for name, value in stacks.items()
        if isinstance(value, list) or all(map(str.isdecimal, value))
    }
    parts = parts_among(columns)
    # One record may have several answers and contexts: only lists of contexts are a column then.
    asked = {"question": str} if "question" in parts else {"contexts": list}
    cells: dict[str, type] = {"answer": str, **asked}
    fit = all(
        part in parts
        and columns[parts[part]]
        and all(cell is None or isinstance(cell, kind) for cell in columns[parts[part]])
        for part, kind in cells.items()
    )
    return columns if fit else {}
