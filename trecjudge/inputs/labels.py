"""Labels by people or another tool: how they are read, and what a judge needs to take them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, shown
from trecjudge.inputs.nuggets.assessments import KINDS, assessments, is_table
from trecjudge.inputs.nuggets.assignments import assignments, is_assignment
from trecjudge.inputs.nuggets.autoargue_judgments import attestations, is_judged_report
from trecjudge.inputs.packed import Group, PackedRows
from trecjudge.inputs.sources.paths import files_below
from trecjudge.inputs.sources.values import as_id, objects
from trecjudge.records import FULL, NONE, PARTIAL, AskedNugget, Item, Judgment, Place
from trecjudge.records.nuggets import plain_name

ItemKey = tuple[str, str, int | None, str | None] | tuple[str, str, int | None, str | None, str]
"""(topic_id, run_id, sentence_index, doc_id); None where an item has no sentence or no document.

An item on a nugget has a fifth part, the nugget's name: its id, its text, or its answer's id.
"""

NUGGET_KEYS = ("answer_id", "nugget_id", "nugget")
"""Keys of a record that name a nugget, by the answer's id, its own id, or any of its names."""

LabelledItem = tuple[Any, ...]
"""The part of a key after the response: (sentence_index, doc_id), and a nugget's name."""
MOST_UNPACKED = 64
"""Responses whose labels are held unpacked: a runner has some under way at a time."""

_SUPPORT = {
    "full": FULL,
    "fullsupport": FULL,
    "partial": PARTIAL,
    "partialsupport": PARTIAL,
    "none": NONE,
    "no": NONE,
    "nosupport": NONE,
}


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


def takes_labels(judge: object) -> bool:
    """Return whether a judge can take labels of others."""
    return isinstance(judge, TakesLabels | TakesNuggetLabels)


def support_label(label: str) -> str | None:
    """Return the support label that a text stands for, None for anything else.

    Full, partial and no support are known by these names in any case, with anything but letters
    between and around the words: `FULL`, `Partial support`, `no_support`.
    """
    plain = unicodedata.normalize("NFKC", label).casefold()
    # Only letters: `Partial support`, `partial_support` and `[PARTIAL-SUPPORT]` are one label.
    return _SUPPORT.get("".join(filter(str.isalpha, plain)))


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


@dataclass(slots=True, eq=False)
class Labels(Mapping[ItemKey, str]):
    """The labels of a file or folder by item, held packed; an item's first label counts.

    They are looked up as judgments come: only the labels of a few responses are held unpacked.
    """

    rows: PackedRows = field(default_factory=PackedRows)
    """(item, label, line, number of the file) by (topic_id, run_id), in the order of the files."""
    files: list[str] = field(default_factory=list)
    size: int = 0
    """Items that have a label."""
    _unpacked: dict[Group, dict[LabelledItem, tuple[str, int, int]]] = field(default_factory=dict)

    def of(self, group: Group) -> dict[LabelledItem, tuple[str, int, int]]:
        """Return the labels on a response, (topic_id, run_id), each with its line and file."""
        found = self._unpacked.get(group)
        if found is None:
            found = {}
            for item, label, line, file in self.rows.rows(group):
                found.setdefault(item, (label, line, file))
            if len(self._unpacked) >= MOST_UNPACKED:
                self._unpacked.pop(next(iter(self._unpacked)))
            self._unpacked[group] = found
        return found

    def __getitem__(self, key: ItemKey) -> str:
        return self.of(key[:2])[key[2:]][0]

    def __iter__(self) -> Iterator[ItemKey]:
        """Yield the labelled items, by response."""
        for topic_id, run_id in self.rows:
            yield from ((topic_id, run_id, *item) for item in self.of((topic_id, run_id)))

    def __len__(self) -> int:
        return self.size

    def add(self, file: Path, entries: Iterable[tuple[int, ItemKey, str]]) -> None:
        """Add the labels of a file, each with its line."""
        for line, key, label in entries:
            self.rows.add(key[:2], (key[2:], label, line, len(self.files)))
        self.files.append(str(file))

    def close(self, report: OnFinding) -> None:
        """Count the items, and report those that have two different labels."""
        found = []
        for group in self.rows:
            first = self.of(group)
            self.size += len(first)
            for item, label, line, file in self.rows.rows(group):
                before, *where = first[item]
                if before != label:
                    second = label, self._place(line, file)
                    earlier = before, self._place(*where)
                    found.append((file, line, label_duplicate((*group, *item), second, earlier)))
        for _, _, finding in sorted(found, key=lambda one: one[:2]):
            report(finding)

    def _place(self, line: int, file: int) -> Place:
        return Place(self.files[file], line)


def read_labels(path: Path, report: OnFinding) -> Labels:
    """Return the labels of a file, or of all files of a folder; an item's first label counts.

    It is JSONL of topic_id, run_id, sentence_index, doc_id, label, or nugget in place of a
    document; AutoNuggetizer's assignments; Auto-ARGUE's judgments; or DRAGUN's assessments, as CSV.
    Raises InputError if there is no label.
    """
    labels = Labels()
    for file in files_below(path):
        entries = assessments(file, report) if is_table(file) else _records(file, report)
        labels.add(file, entries)
    if not labels.rows.size:
        raise InputError(f"{path}: no labels in it; give {KINDS}")
    labels.close(report)
    return labels


def _records(path: Path, report: OnFinding) -> Iterator[tuple[int, ItemKey, str]]:
    """Yield (line, key, label) of every label of a JSONL file; other records are reported."""
    for number, record in objects(path, report):
        if is_assignment(record):
            given = assignments(record, Place(str(path), number), report)
            yield from ((number, key, label) for key, label in given)
        elif is_judged_report(record):
            attested = attestations(record, Place(str(path), number), report)
            yield from ((number, key, label) for key, label in attested)
        elif entry := _entry(record):
            yield number, *entry
        else:
            message = (
                "needs topic_id, run_id and label (and sentence_index, doc_id of a citation,"
                " or nugget)"
            )
            report(Finding("label_unusable", Place(str(path), number), message, shown(record)))


def label_duplicate(
    item: tuple[Any, ...], second: tuple[str, Place], first: tuple[str, Place]
) -> Finding:
    """Return the finding of an item that has two different labels: the first one counts."""
    (label, place), (before, where) = second, first
    message = f"labels {item} {label!r}, {where} labels it {before!r}: the first counts"
    topic_id, run_id = item[:2]
    return Finding("label_duplicate", place, message, label, None, run_id, topic_id)


def _entry(record: Mapping[str, Any]) -> tuple[ItemKey, str] | None:
    """Return (key, label) of a record, or None if it lacks one of them."""
    ids = [as_id(record.get(name)) for name in ("topic_id", "run_id", "label")]
    index = record.get("sentence_index")
    # 3.0 is sentence 3: pandas writes whole numbers of a column with gaps as floats.
    if None in ids or not (index is None or (isinstance(index, int | float) and index % 1 == 0)):
        return None
    topic_id, run_id, label = map(str, ids)
    at = None if index is None else int(index)
    key = (topic_id, run_id, at, as_id(record.get("doc_id")))
    if record.keys().isdisjoint(NUGGET_KEYS):
        return key, label
    nugget = next((found for name in NUGGET_KEYS if (found := as_id(record.get(name)))), None)
    return (key, label) if nugget is None else ((*key, plain_name(nugget)), label)
