"""A bank as a table for people who clean it: a row for each nugget or answer, TSV or JSONL."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from trecjudge.errors import InputError
from trecjudge.files import whole
from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.nuggets.bank import Bank
from trecjudge.inputs.sources.comma_separated import (
    FORMULA,
    MARK,
    BrokenCsv,
    csv_rows,
    delimiter_of,
    remove_formula_mark,
)
from trecjudge.inputs.sources.containers import first_line
from trecjudge.inputs.sources.values import as_id, decoded_lines, objects
from trecjudge.records import GoldAnswer, Nugget, Place

COLUMNS: Final = (
    *("keep", "topic_id", "nugget_id", "kind", "text", "importance", "weight", "aggregator"),
    *("answer_id", "answer", "documents", "group", "source"),
)
NEEDED: Final = ("topic_id", "nugget_id", "text")
QUESTION, STATEMENT = "question", "statement"
BETWEEN = " | "
"""Stands between the ids of documents in a cell."""
LINES = (".jsonl", ".json")

Row = Mapping[str, str]

_ESCAPED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_UNESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}


def write_table(banks: Iterable[Bank], path: Path) -> int:
    """Write banks as a table, TSV, or JSONL by the file's name; return how many rows it has."""
    rows = [row for bank in banks for nugget in bank.nuggets for row in _rows(bank, nugget)]
    if path.suffix in LINES:
        lines = [json.dumps(_json_row(row), ensure_ascii=False) for row in rows]
    else:
        # A weight below 0 is a number to a spreadsheet, and no formula.
        cells = ([row[n] if n == "weight" else safe(row[n]) for n in COLUMNS] for row in rows)
        lines = [_line(row) for row in (COLUMNS, *cells)]
    with whole(path) as file:
        file.writelines(f"{line}\n".encode() for line in lines)
    return len(rows)


def _rows(bank: Bank, nugget: Nugget) -> Iterator[dict[str, str]]:
    row = {
        "keep": "y",
        "topic_id": bank.topic_id,
        "nugget_id": nugget.nugget_id,
        "kind": QUESTION if nugget.is_question else STATEMENT,
        "text": nugget.text,
        "importance": nugget.importance,
        "weight": "" if nugget.weight is None else _as_weight(nugget.weight),
        "aggregator": ("AND" if nugget.together else "OR") if nugget.is_question else "",
        "answer_id": "",
        "answer": "",
        "documents": BETWEEN.join(nugget.documents),
        "group": nugget.group,
        "source": nugget.source,
    }
    if not (nugget.is_question and nugget.answers):
        yield row
        return
    for answer in nugget.answers:
        documents = BETWEEN.join(answer.documents)
        given = {"answer_id": answer.answer_id, "answer": answer.text, "documents": documents}
        yield row | given


def _json_row(row: Row) -> dict[str, object]:
    return {**row, "documents": row["documents"].split(BETWEEN) if row["documents"] else []}


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="").writerow(cells)
    return text.getvalue()


def safe(text: str) -> str:
    """Return a text for one cell: on one line, and no formula to a spreadsheet."""
    plain = re.sub(r"\\(?=[ntr\\\n\t\r])", r"\\\\", text)
    plain = re.sub(r"[\n\t\r]", lambda found: _ESCAPED[found[0]], plain)
    return f"{MARK}{plain}" if FORMULA.match(plain) else plain


def unsafe(cell: str) -> str:
    """Return the text that `safe` made a cell of."""
    return re.sub(r"\\([ntr\\])", lambda found: _UNESCAPED[found[1]], remove_formula_mark(cell))


def read_table(path: Path, report: OnFinding) -> Iterator[tuple[Place, dict[str, str] | None]]:
    """Yield (place, row) of a table; None for a row that cannot be read, which is reported.

    Raises InputError for a table that is none.
    """
    if path.suffix in LINES:
        for number, record in objects(path, report):
            place = Place(str(path), number)
            yield place, {name: _as_cell(record.get(name)) for name in COLUMNS}
        return
    head: list[str] = []
    # A spreadsheet may have saved it with another separator.
    delimiter = delimiter_of(first_line(path).decode(errors="replace"), set(NEEDED).issubset)
    try:
        for number, cells in csv_rows(decoded_lines(path, report), delimiter or "\t"):
            if not head:
                head = [cell.strip().casefold() for cell in cells]
                _check(path, head)
                continue
            place = Place(str(path), number)
            if len(cells) > len(head):
                message = f"has {len(cells)} cells, its head has {len(head)}"
                report(Finding("table_row_unusable", place, message, brief(cells)))
                yield place, None
                continue
            row = dict.fromkeys(COLUMNS, "")
            yield place, row | dict(zip(head, map(unsafe, cells), strict=False))
    except BrokenCsv as error:
        message = f"is no table from here on: {error}"
        report(Finding("row_unreadable", Place(str(path), error.line), message))
        yield Place(str(path), error.line), None
    if not head:
        raise InputError(f"{path}: is empty; its head must have {', '.join(COLUMNS)}")


def _check(path: Path, head: Sequence[str]) -> None:
    lacking = [name for name in NEEDED if name not in head]
    if lacking:
        message = f"its head has no {', no '.join(lacking)}; the columns are {', '.join(COLUMNS)}"
        raise InputError(f"{path}: {message}")


def _as_cell(value: object) -> str:
    if isinstance(value, list):
        return BETWEEN.join(as_id(entry) or "" for entry in value)
    if isinstance(value, bool):
        return "y" if value else "n"
    if isinstance(value, float):
        return _as_weight(value)
    return value if isinstance(value, str) else as_id(value) or ""


def _as_weight(weight: float) -> str:
    return str(int(weight) if weight.is_integer() else weight)


def documents_of(row: Row) -> tuple[str, ...]:
    """Return the ids of the documents of a row, each once."""
    parts = (part.strip() for part in row["documents"].split(BETWEEN.strip()))
    return tuple(dict.fromkeys(filter(None, parts)))


def answer_of(row: Row) -> GoldAnswer:
    """Return the answer of a row."""
    return GoldAnswer(row["answer"], documents_of(row), row["answer_id"].strip())
