"""The labels of a file, whatever wrote it: each with its line, its item, and who gave it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.labels.said import said_in
from trecjudge.inputs.nuggets.assessments import (
    column_of,
    is_assessments,
    is_label_table,
    read_assessments,
    table_delimiter,
)
from trecjudge.inputs.nuggets.assignments import is_assignment, read_assignments
from trecjudge.inputs.nuggets.autoargue_judgments import is_judged_report, read_attestations
from trecjudge.inputs.sources.comma_separated import BrokenCsv, csv_records, remove_formula_mark
from trecjudge.inputs.sources.values import as_id, decoded_lines, objects
from trecjudge.records import AskedNugget, Item, Judgment, Place
from trecjudge.records.nuggets import plain_name

ItemKey = tuple[str, str, int | None, str | None] | tuple[str, str, int | None, str | None, str]
"""(topic_id, run_id, sentence_index, doc_id); None where an item has no sentence or no document.

An item on a nugget has a fifth part, the nugget's name: its id, its text, or its answer's id.
"""

NUGGET_KEYS = ("answer_id", "nugget_id", "nugget")
"""Keys of a record that name a nugget, by the answer's id, its own id, or any of its names."""

LabelledItem = tuple[Any, ...]
"""The part of a key after the response: (sentence_index, doc_id), and a nugget's name."""


def key_of(judgment: Judgment) -> ItemKey:
    """Return the key of the judged item, by which its label is found."""
    nugget = judgment.nugget
    key = (judgment.topic_id, judgment.run_id, judgment.sentence_index, judgment.doc_id)
    return key if nugget is None else (*key, next(iter(nugget.names), ""))


def label_of(labels: Mapping[ItemKey, str], judgment: Judgment) -> tuple[ItemKey, str | None]:
    """Return the label of a judged item, None for none, and the key that it is found by."""
    key = key_of(judgment)
    for name in judgment.nugget.names if judgment.nugget else ():
        other = (*key[:4], name)
        if other in labels:
            return other, labels[other]
    return key, labels.get(key)


@runtime_checkable
class TakesLabels(Protocol):
    """A judge that can take labels of others for its items."""

    def given(self, item: Item, label: str) -> Judgment:
        """Return the judgment that a label makes. Raises JudgmentFailed for an unknown one."""


@runtime_checkable
class DecidesSome(TakesLabels, Protocol):
    """A judge that takes labels for some of its items, and decides on the others itself."""

    def decides_itself(self, item: Item) -> bool:
        """Return whether no label of others can be on an item."""


@runtime_checkable
class TakesNuggetLabels(Protocol):
    """A judge that can take labels of others for the nuggets of a topic's bank."""

    def asked(self, item: Item) -> list[tuple[int | None, AskedNugget | None]]:
        """Return the labelled parts of an item, as (sentence index or None, nugget or None).

        Raises JudgmentFailed where the topic has no bank.
        """

    def given_nugget(self, item: Item, nugget: AskedNugget | None, label: str) -> Judgment:
        """Return the judgment that a label makes. Raises JudgmentFailed for an unknown one."""


def labels_of(judges: Iterable[object]) -> Sequence[str]:
    """Return the labels that judges have in common, `label_names`; none where they differ."""
    takers = [judge for judge in judges if isinstance(judge, TakesLabels)]
    own = {tuple(getattr(judge, "label_names", ())) for judge in takers}
    return own.pop() if len(own) == 1 else ()


def takes_labels(judge: object) -> bool:
    """Return whether a judge can take labels of others."""
    return isinstance(judge, TakesLabels | TakesNuggetLabels)


_KEYS = ("topic_id", "run_id", "sentence_index", "doc_id", "answer_id", "nugget_id", "nugget")
"""Columns that are named as the fields of JSONL, in any spelling."""
Entry = tuple[int, ItemKey, str, str | None]
"""The line of a label, its item, itself, and who gave it."""


def entries_of(path: Path, report: OnFinding) -> Iterator[Entry]:
    """Yield the labels of a file; other records are reported."""
    if not is_label_table(path):
        yield from _labels(path, objects(path, report), report)
    elif is_assessments(path):
        for line, key, label in read_assessments(path, report):
            yield line, key, label, None
    else:
        yield from _labels(path, _rows_of(path, report), report)


def owners_of(files: Sequence[Path]) -> list[str]:
    """Return whose each of several files is, by its name or else its folder's; nobody's, of one."""
    if len(files) == 1:
        return [""]
    names = [file.name.partition(".")[0] for file in files]
    if len({*names}) < len(names):
        base = os.path.commonpath([file.parent for file in files])
        names = [file.relative_to(base).parts[0] for file in files]
    return names


def _labels(
    path: Path, records: Iterable[tuple[int, Mapping[str, Any]]], report: OnFinding
) -> Iterator[Entry]:
    for number, record in records:
        if (key := _own_key(record)) is not None and (said := said_in(record)):
            for label, person in said:
                yield number, key, label, person
        elif reader := _reader_of(record):
            given = reader(record, Place(str(path), number), report)
            yield from ((number, key, label, None) for key, label in given)
        else:
            message = (
                "needs topic_id, run_id and label (and sentence_index, doc_id of a citation,"
                " or nugget)"
            )
            report(Finding("label_unusable", Place(str(path), number), message, brief(record)))


def _reader_of(record: Mapping[str, Any]) -> Callable[..., Iterator[tuple[ItemKey, str]]] | None:
    """Return what reads the labels of another tool's record, None for other records."""
    if is_assignment(record):
        return read_assignments
    return read_attestations if is_judged_report(record) else None


def _own_key(record: Mapping[str, Any]) -> ItemKey | None:
    """Return the item that the labels of a record are on, None if it names none."""
    topic_id, run_id = as_id(record.get("topic_id")), as_id(record.get("run_id"))
    index = record.get("sentence_index")
    # 3.0 is sentence 3: pandas writes whole numbers of a column with gaps as floats.
    if not (index is None or (isinstance(index, int | float) and index % 1 == 0)):
        return None
    if topic_id is None or run_id is None:
        return None
    at = None if index is None else int(index)
    key = (topic_id, run_id, at, as_id(record.get("doc_id")))
    if record.keys().isdisjoint(NUGGET_KEYS):
        return key
    nugget = next((found for name in NUGGET_KEYS if (found := as_id(record.get(name)))), None)
    return key if nugget is None else (*key, plain_name(nugget))


def _rows_of(path: Path, report: OnFinding) -> Iterator[tuple[int, dict[str, str | int]]]:
    """Yield (line, record) of each row; an empty cell is no field."""
    try:
        for line, cells in csv_records(decoded_lines(path, report), table_delimiter(path)):
            yield line, _record(cells)
    except BrokenCsv as error:
        message = f"is no CSV from here on: {error}"
        report(Finding("row_unreadable", Place(str(path), error.line), message))


def _record(cells: dict[str, str]) -> dict[str, str | int]:
    record: dict[str, str | int] = {}
    for name, cell in cells.items():
        known = column_of(name)
        if text := remove_formula_mark(cell.strip()):
            record[known if known in _KEYS else name] = text
    index = str(record.get("sentence_index", "")).removesuffix(".0")
    if index.isascii() and index.isdecimal():
        record["sentence_index"] = int(index)
    return record
