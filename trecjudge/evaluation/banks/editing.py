"""A bank as a table for people who clean it, and changed as that table says."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from trecjudge.errors import InputError
from trecjudge.files import whole
from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.nuggets.bank import IMPORTANCE, RUBRIC_LETTERS, Bank
from trecjudge.inputs.nuggets.criteria import weight_of
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

# A bank as a table for people who clean it: a row for each nugget or answer, TSV or JSONL.
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


# A bank changed as its table says: rows kept, dropped, added, and what cannot be read.
KEPT = ("", "y", "yes", "1", "true", "x")
DROPPED = ("n", "no", "0", "false")
NO_TOPIC = "\0"
LEVEL = ("kind", "text", "importance", "weight", "aggregator", "group", "source")
"""Columns that all rows of a nugget share."""


@dataclass(slots=True)
class _Rows:
    """The rows of one nugget; `broken` is whether one of them cannot be read."""

    first: Place
    kept: list[Row] = field(default_factory=list)
    broken: bool = False


@dataclass(frozen=True, slots=True)
class BankEdit:
    """The banks after an edit, and how many nuggets are as they were, changed, new and gone."""

    banks: Sequence[Bank]
    same: int = 0
    changed: int = 0
    added: int = 0
    dropped: int = 0


def edit_banks(banks: Sequence[Bank], path: Path, report: OnFinding) -> BankEdit:
    """Return banks as a table says.

    A nugget of which a row cannot be read stays as it is in the bank, and that is reported; one
    without a row, or whose rows are not kept, goes. A row without a nugget_id is a new nugget. A
    bank without any row stays.
    """
    known = {bank.topic_id: bank for bank in banks}
    by_topic = _by_nugget(path, known, report)
    done = [
        _edit_bank(bank, by_topic[bank.topic_id], report) if bank.topic_id in by_topic else bank
        for bank in banks
    ]
    before = {(b.topic_id, n.nugget_id): n for b in banks for n in b.nuggets}
    after = {(b.topic_id, n.nugget_id): n for b in done for n in b.nuggets}
    same = sum(before.get(key) == nugget for key, nugget in after.items())
    added = len(after.keys() - before.keys())
    dropped = len(before.keys() - after.keys())
    return BankEdit(done, same, len(after) - same - added, added, dropped)


def _by_nugget(
    path: Path, banks: Mapping[str, Bank], report: OnFinding
) -> dict[str, dict[str, _Rows]]:
    found: dict[str, dict[str, _Rows]] = {}
    for place, row in read_table(path, report):
        if row is None:
            # Nobody knows whose row it was: no nugget without a row may go.
            found.setdefault("", {}).setdefault("", _Rows(place)).broken = True
            continue
        why = _wrong(row, banks)
        if why:
            report(Finding("table_row_unusable", place, why, brief(row)))
        nuggets = found.setdefault(row["topic_id"].strip() or NO_TOPIC, {})
        name = row["nugget_id"].strip() or f"new {place.line}"
        rows = nuggets.setdefault(name, _Rows(place))
        if why:
            rows.broken = True
        elif row["keep"].strip().casefold() in KEPT:
            _add(rows, row, place, report)
    if found.pop("", None):
        for topic_id, bank in banks.items():
            there = found.setdefault(topic_id, {})
            for nugget in bank.nuggets:
                there.setdefault(nugget.nugget_id, _Rows(Place(str(path)), broken=True))
    return found


def _add(rows: _Rows, row: Row, place: Place, report: OnFinding) -> None:
    """Add a row to those of its nugget; where they differ in what they share, the first counts."""
    first = rows.kept[0] if rows.kept else row
    differing = [name for name in LEVEL if row[name] != first[name]]
    if differing:
        message = f"nugget {row['nugget_id']!r} has another {differing[0]} than at {rows.first}"
        report(Finding("table_rows_differ", place, message, brief(row[differing[0]])))
    rows.kept.append(row)


def _wrong(row: Row, banks: Mapping[str, Bank]) -> str:
    """Return why a row cannot be used; empty where it can."""
    topic_id, keep = row["topic_id"].strip(), row["keep"].strip().casefold()
    if topic_id not in banks:
        return f"is of topic {topic_id!r}; the banks are of {', '.join(list(banks)[:10])}"
    if keep not in (*KEPT, *DROPPED):
        return f"keep is {row['keep']!r}, must be y or n"
    if keep in DROPPED:
        return ""
    if not row["text"].strip():
        return "has no text"
    if _importance(row) is None:
        return f"importance is {row['importance']!r}, must be vital, okay, A, B, C or empty"
    if isinstance(weight := _weight(row), str):
        return f"weight is {row['weight']!r}, {weight}"
    if row["aggregator"].strip().upper() not in ("", "AND", "OR"):
        return f"aggregator is {row['aggregator']!r}, must be AND or OR"
    if row["kind"].strip().casefold() not in ("", QUESTION, STATEMENT):
        return f"kind is {row['kind']!r}, must be question or statement"
    return ""


def _importance(row: Row) -> str | None:
    label = row["importance"].strip()
    if label.upper() in RUBRIC_LETTERS:
        return label.upper()
    return IMPORTANCE.get(label.casefold())


def _weight(row: Row) -> float | str | None:
    """Return the weight of a row, None for none; for what is no weight, what is wrong with it."""
    text = row["weight"].strip()
    return weight_of(text) if text else None


def _edit_bank(bank: Bank, found: Mapping[str, _Rows], report: OnFinding) -> Bank:
    before = {nugget.nugget_id: nugget for nugget in bank.nuggets}
    nuggets: list[Nugget] = []
    taken = set(before)
    for name, rows in found.items():
        old = before.get(name)
        if rows.broken:
            nuggets += [old] if old else []
        elif rows.kept:
            fresh = name if old else _free(rows.kept[0]["nugget_id"].strip(), taken)
            taken.add(fresh)
            nuggets.append(_nugget(fresh, rows.kept, old, rows.first, report))
    return bank if tuple(nuggets) == bank.nuggets else replace(bank, nuggets=tuple(nuggets))


def _free(wanted: str, taken: Iterable[str]) -> str:
    names, number = set(taken), len(set(taken)) + 1
    while not wanted or wanted in names:
        wanted, number = str(number), number + 1
    return wanted


def _nugget(
    name: str, rows: Sequence[Row], old: Nugget | None, place: Place, report: OnFinding
) -> Nugget:
    row, kind = rows[0], rows[0]["kind"].strip().casefold()
    weight = _weight(row)
    answers = {answer.text: answer for answer in map(answer_of, rows) if answer.text.strip()}
    is_question = kind == QUESTION or (not kind and bool(answers))
    repeated = sum(bool(row["answer"].strip()) for row in rows) - len(answers)
    if repeated or (answers and not is_question):
        what = "an answer twice" if repeated else "an answer, and is a statement"
        report(Finding("table_rows_differ", place, f"nugget {row['text']!r} has {what}"))
    own = () if answers else documents_of(row)
    return Nugget(
        name,
        row["text"],
        is_question=is_question,
        answers=tuple(answers.values()) if is_question else (),
        together=row["aggregator"].strip().upper() == "AND",
        importance=_importance(row) or "",
        # The documents of an answered question itself are in no cell.
        documents=old.documents if answers and old and is_question else own,
        group=row["group"],
        source=row["source"],
        weight=weight if isinstance(weight, float) else None,
    )
