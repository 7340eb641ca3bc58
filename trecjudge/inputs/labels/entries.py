"""The labels of a file, whatever wrote it: each with its line, its item, and its person."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.labels.battle_rows import read_battle, sides_of, voter_of
from trecjudge.inputs.labels.label_files import (
    column_of,
    is_assessments,
    is_assignment,
    is_battle_table,
    is_judged_report,
    is_label_table,
    read_assessments,
    read_assignments,
    read_attestations,
    table_delimiter,
)
from trecjudge.inputs.labels.workbooks import is_workbook, read_workbook
from trecjudge.inputs.sources.comma_separated import BrokenCsv, csv_records, remove_formula_mark
from trecjudge.inputs.sources.values import as_id, decoded_lines, objects
from trecjudge.records import AskedNugget, Item, Judgment, Place
from trecjudge.records.battles import REVERSED
from trecjudge.records.nuggets import plain_name

# Who said what: the labels that one record has, each with the person who gave it.
Said = tuple[str, str | None]
"""A label, and who gave it; None for a person who is not named, OF_ALL for what all agreed on."""
OF_ALL = ""

_WHO = r"(?:annotator|assessor|rater|coder|worker|labell?er|user)"
_PERSON = re.compile(
    rf"{_WHO}(?:ids?|names?|emails?|s)?|(?:labell?ed|annotated|assessed|rated|completed)by|username"
)
_NUMBERED = re.compile(r"(?:label|rating|annotation|assessment)\d+|(?:gold|human)label\d+")
_OF_PERSON = re.compile(rf"{_WHO}\d+(?:label)?")
_OF_ALL = re.compile(
    r"gold|adjudication|(?:gold|final|adjudicated|consensus|agreed|majority)(?:label|rating|vote)"
)
_LISTS = ("labels", "annotations", "ratings", "votes", "annotatorlabels", "humanlabels")
_NO_PERSON = re.compile(
    r"ids?|names?|text|type|kind|source|time|timestamp|date|reason|explanation|comment|notes?|counts?"
    r"|confidence|score|prob|probability|evidence|set|version|raw|index|language|status|model|judge"
    r"|predicted|old|previous|key"
)
"""What may follow `label_` and is no person, such as `label_confidence`."""


def said_in(record: Mapping[str, Any]) -> list[Said]:
    """Return the labels of a record: of one person, or of several in columns or a list.

    `label`, with the person in `annotator`, `assessor_id`, `rater`, …; `label_2`, `label_3`;
    without `label`, `label_anna` or `annotator_1`; `labels` as a list, or an object by person.
    Beside those of several people, `gold_label` or `adjudicated` is what all of them agreed on.
    """
    person, columns, lists = _parts(tuple(record))
    if person is None and not lists and len(columns) == 1:  # as most files have it
        label = label_text(record[columns[0][0]])
        if label is not None:
            return [(label, columns[0][1])]
    who = label_text(record[person]) if person else None
    found: list[Said] = []
    for column, name in columns:
        if isinstance(value := record[column], list | Mapping):
            found += _labels_in_list(value, None)
        elif (label := label_text(value)) is not None and (name, label) != (OF_ALL, "-"):
            found.append((label, who if name is None else name))
    for column in lists:
        found += _labels_in_list(record[column], record[person] if person else None)
    return found


def person_of(record: Mapping[str, Any]) -> str | None:
    """Return who gave the labels of a record, None where it does not say."""
    person, _, _ = _parts(tuple(record))
    return label_text(record[person]) if person else None


def other_columns(names: Iterable[str]) -> list[str]:
    """Return the columns of a record that have labels of further people: `label_2`, `label_3`."""
    _, columns, _ = _parts(tuple(names))
    return [name for name, person in columns if person == name and _fold_name(name) != "label"]


def _fold_name(name: str) -> str:
    return re.sub(r"[\W_]", "", str(name)).casefold()


@lru_cache(maxsize=256)
def _parts(names: tuple[str, ...]) -> tuple[str | None, list[tuple[str, str | None]], list[str]]:
    """Return the field of the person, the columns of labels with their persons, and the lists."""
    folded = {name: _fold_name(name) for name in names}
    own = [name for name in names if folded[name] == "label"][:1]
    more = [name for name in names if _NUMBERED.fullmatch(folded[name])]
    if not own:
        more += [n for n in names if _OF_PERSON.fullmatch(folded[n]) or _is_named(n)]
    person = next((name for name in names if _PERSON.fullmatch(folded[name])), None)
    # A column that has others beside it is a person's own, whoever that is.
    columns = [(name, name if more and person is None else None) for name in own]
    columns += [(name, name) for name in names if name in more]
    lists = [name for name in names if folded[name] in _LISTS]
    agreed = [name for name in names if _OF_ALL.fullmatch(folded[name])][:1]
    several = more or lists or (own and person)
    if agreed and (several or not own):
        columns.append((agreed[0], OF_ALL if several else None))
    return person, columns, lists


def _is_named(name: str) -> bool:
    start, _, rest = name.casefold().partition("_")
    return start == "label" and rest.isidentifier() and not _NO_PERSON.fullmatch(rest)


def _labels_in_list(value: object, people: object) -> Iterator[Said]:
    """Yield the labels of a list or an object; `people` may name as many persons."""
    if isinstance(value, Mapping):
        entries: list[tuple[object, object]] = list(value.items())
    elif isinstance(value, list):
        named = isinstance(people, list) and len(people) == len(value)
        names = people if named and isinstance(people, list) else [None] * len(value)
        entries = list(zip(names, value, strict=True))
    else:
        entries = []
    for person, entry in entries:
        who = None if person is None else label_text(person)
        if isinstance(entry, Mapping):
            yield from ((label, name or who) for label, name in said_in(entry))
        elif (label := label_text(entry)) is not None:
            yield label, who


def label_text(value: object) -> str | None:
    """Return a label as text: a word, a truth value, a number (1.0 is `1`); None for others."""
    if isinstance(value, str):
        text = value.strip()
        if text[1:2] == "," and text[2:].isdecimal():
            text = text.replace(",", ".")  # as spreadsheets of many languages write 0.5
        if text[-2:] == ".0" and text[:-2].isdecimal():
            return text[:-2]  # pandas writes whole numbers of a column with gaps as 1.0
        return text or None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return (str(int(value)) if value.is_integer() else repr(value)) if isfinite(value) else None
    return str(value) if isinstance(value, int) else None


# The labels of a file, whatever wrote it: each with its line, its item, and who gave it.
ItemKey = tuple[str, str, int | None, str | None] | tuple[str, str, int | None, str | None, str]
"""(topic_id, run_id, sentence_index, doc_id); None where an item has no sentence or no document.

An item on a nugget has a fifth part, the nugget's name: its id, its text, or its answer's id. A
battle has its other run in the place of the document: its label is for the run that sorts first.
"""

NUGGET_KEYS = ("answer_id", "nugget_id", "nugget")
"""Keys of a record that name a nugget, by the answer's id, its own id, or any of its names."""

LabelledItem = tuple[Any, ...]
"""The part of a key after the response: (sentence_index, doc_id), and a nugget's name."""


def key_of(judgment: Judgment) -> ItemKey:
    """Return the key of the judged item, by which its label is found."""
    nugget = judgment.nugget
    if judgment.opponent is not None:
        a, b = sorted((judgment.run_id, judgment.opponent.run_id))
        return judgment.topic_id, a, None, b
    key = (judgment.topic_id, judgment.run_id, judgment.sentence_index, judgment.doc_id)
    return key if nugget is None else (*key, next(iter(nugget.names), ""))


def is_other_side(judgment: Judgment) -> bool:
    """Return whether a judgment says again what another one says of the same battle."""
    against = judgment.opponent
    return against is not None and (against.again or against.run_id < judgment.run_id)


def label_of(labels: Mapping[ItemKey, str], judgment: Judgment) -> tuple[ItemKey, str | None]:
    """Return the label of a judged item, None for none, and the key that it is found by."""
    key = key_of(judgment)
    if judgment.opponent is not None:
        label = labels.get(key)
        own = key[1] == judgment.run_id
        return key, label if own or label is None else REVERSED.get(label, label)
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
Spent = dict[str | None, dict[ItemKey, float]]
"""The seconds that people say they looked at items, by person; None is whoever is not named."""


def entries_of(path: Path, report: OnFinding, spent: Spent) -> Iterator[Entry]:
    """Yield the labels of a file; other records are reported. Seconds go to `spent`."""
    if is_workbook(path):
        rows = read_workbook(path, report)
        labelled = ((row, record) for row, record in rows if said_in(record) or sides_of(record))
        yield from _labels(path, labelled, report, spent)
    elif not is_label_table(path):
        yield from _labels(path, objects(path, report), report, spent)
    elif not is_battle_table(path) and is_assessments(path):
        for line, key, label in read_assessments(path, report):
            yield line, key, label, None
    else:
        yield from _labels(path, _rows_of(path, report), report, spent)


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
    path: Path, records: Iterable[tuple[int, Mapping[str, Any]]], report: OnFinding, spent: Spent
) -> Iterator[Entry]:
    for number, record in records:
        if "seconds" in record:
            _add_seconds(record, spent)
        if sides := sides_of(record):
            person = person_of(record) or voter_of(record)
            for battle, label in read_battle(record, sides, Place(str(path), number), report):
                yield number, battle, label, person
            continue
        if (key := _own_key(record)) is not None and (said := said_in(record)):
            for label, person in said:
                yield number, key, label, person
        elif key is not None and record.get("skipped"):
            continue  # a person says why it has no label
        elif reader := _reader_of(record):
            given = reader(record, Place(str(path), number), report)
            yield from ((number, key, label, None) for key, label in given)
        else:
            message = (
                "needs topic_id, run_id and label (and sentence_index, doc_id of a citation,"
                " or nugget)"
            )
            report(Finding("label_unusable", Place(str(path), number), message, brief(record)))


def _add_seconds(record: Mapping[str, Any], spent: Spent) -> None:
    """Add the seconds of a record, which are at least 0; of an item given twice the longer ones."""
    text, key = label_text(record["seconds"]) or "", _own_key(record)
    with suppress(ValueError):
        seconds = float(text)
        if key is not None and isfinite(seconds) and seconds >= 0:
            own = spent.setdefault(person_of(record), {})
            own[key] = max(seconds, own.get(key, 0.0))


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
