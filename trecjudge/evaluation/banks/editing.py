"""A bank changed as its table says: rows kept, dropped, added, and what cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from trecjudge.evaluation.banks import tables
from trecjudge.evaluation.banks.tables import Row, answer_of, documents_of
from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.nuggets.bank import Bank
from trecjudge.inputs.nuggets.criteria import weight_of
from trecjudge.inputs.nuggets.entry import IMPORTANCE, RUBRIC_LETTERS
from trecjudge.records import Nugget, Place

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
    for place, row in tables.read_table(path, report):
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
    if row["kind"].strip().casefold() not in ("", tables.QUESTION, tables.STATEMENT):
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
    is_question = kind == tables.QUESTION or (not kind and bool(answers))
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
