"""Records that one object holds by column, as data frames and data sets write themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trecjudge.inputs.pipelines.fields import parts_among

Record = dict[str, Any]
Complain = Callable[[str], None]
"""Called with what is wrong about an object."""


def unstacked(record: Record, complain: Complain) -> list[Record]:
    """Return the records of an object that holds columns, or the object itself.

    Columns are lists, objects by the numbers of rows, or rows whose cells `columns` names. Other
    values belong to every record. None are there where columns differ in length: that is
    complained of.
    """
    columns = _split(record) or _columns(record)
    if columns is None:
        return [record]
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        complain(f"holds columns of unequal lengths: {listed}")
        return []
    shared = {k: v for k, v in record.items() if not isinstance(v, list | dict)}
    return [
        shared | dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
    ]


def _split(record: Mapping[str, Any]) -> dict[str, list[Any]] | None:
    """Return the columns of an object that names them beside its rows, None of another."""
    names, rows = record.get("columns"), record.get("data")
    if not isinstance(names, list) or not isinstance(rows, list):
        return None
    if not all(isinstance(row, list) for row in rows):
        return None
    # A row that is short makes a column short, which is then found.
    return {str(n): [row[at] for row in rows if at < len(row)] for at, n in enumerate(names)}


def _columns(record: Mapping[str, Any]) -> dict[str, list[Any]] | None:
    """Return the columns of an object, None where it is one record."""
    stacks = {name: value for name, value in record.items() if isinstance(value, list | dict)}
    if len(stacks) < 2 or len(set(map(type, stacks.values()))) > 1:
        return None
    columns = {name: _cells(value) for name, value in stacks.items()}
    parts = parts_among(stacks)
    asked = "question" if "question" in parts else "contexts"
    if "answer" not in parts or asked not in parts:
        return None
    answers, others = columns[parts["answer"]], columns[parts[asked]]
    # One record may have several answers and contexts: only lists of contexts are a column then.
    kind = str if asked == "question" else list
    alike = all(isinstance(cell, str | None) for cell in answers or ())
    alike = alike and all(isinstance(cell, kind | None) for cell in others or ())
    if not answers or not others or not alike:
        return None
    return {name: cells for name, cells in columns.items() if cells is not None}


def _cells(value: Any) -> list[Any] | None:
    """Return the cells of a column: a list's, or those of an object by the numbers of rows."""
    if isinstance(value, list):
        return value
    return list(value.values()) if all(map(str.isdecimal, value)) else None
