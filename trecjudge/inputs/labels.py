"""Labels by people or another tool: how they are read, and what a judge needs to take them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, shown
from trecjudge.inputs.packed import Group, PackedRows
from trecjudge.inputs.sources.values import as_id, objects
from trecjudge.records import FULL, NONE, PARTIAL, Item, Judgment, Place

ItemKey = tuple[str, str, int | None, str | None]
"""(topic_id, run_id, sentence_index, doc_id); None where an item has no sentence or no document."""

LabelledItem = tuple[int | None, str | None]
"""(sentence_index, doc_id): the part of a key behind its response."""
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
    """A judge that can take a label from somebody else."""

    def given(self, item: Item, label: str) -> Judgment:
        """Return the judgment that a label makes. Raises JudgmentFailed for an unknown one."""


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
    return (judgment.topic_id, judgment.run_id, judgment.sentence_index, judgment.doc_id)


@dataclass(slots=True)
class Labels(Mapping[ItemKey, str]):
    """The labels of a file by item, packed: the first of each item.

    Looked up response by response, as judgments come, a few responses at a time.
    """

    path: Path
    rows: PackedRows = field(default_factory=PackedRows)
    """(sentence_index, doc_id, label, line) by (topic_id, run_id), as they stand in the file."""
    size: int = 0
    """Items that have a label."""
    _unpacked: dict[Group, dict[LabelledItem, tuple[str, int]]] = field(default_factory=dict)

    def of(self, group: Group) -> dict[LabelledItem, tuple[str, int]]:
        """Return the labels on a response, (topic_id, run_id), each with its line."""
        found = self._unpacked.get(group)
        if found is None:
            found = {}
            for index, doc_id, label, line in self.rows.rows(group):
                found.setdefault((index, doc_id), (label, line))
            if len(self._unpacked) >= MOST_UNPACKED:
                self._unpacked.pop(next(iter(self._unpacked)))
            self._unpacked[group] = found
        return found

    def __getitem__(self, key: ItemKey) -> str:
        topic_id, run_id, index, doc_id = key
        return self.of((topic_id, run_id))[index, doc_id][0]

    def __iter__(self) -> Iterator[ItemKey]:
        """Yield the labelled items, by response."""
        for topic_id, run_id in self.rows:
            yield from ((topic_id, run_id, *item) for item in self.of((topic_id, run_id)))

    def __len__(self) -> int:
        return self.size

    def close(self, report: OnFinding) -> None:
        """Count the items; report those that are labelled twice, not alike."""
        found = []
        for group in self.rows:
            first = self.of(group)
            self.size += len(first)
            for index, doc_id, label, line in self.rows.rows(group):
                before, where = first[index, doc_id]
                if before != label:
                    second, earlier = (label, self._place(line)), (before, self._place(where))
                    found.append(label_duplicate((*group, index, doc_id), second, earlier))
        for finding in sorted(found, key=lambda one: one.place.line or 0):
            report(finding)

    def _place(self, line: int) -> Place:
        return Place(str(self.path), line)


def read_labels(path: Path, report: OnFinding) -> Labels:
    """Return the labels of a JSONL file of topic_id, run_id, sentence_index, doc_id, label.

    The first label of an item counts. Raises InputError if there is none.
    """
    labels = Labels(path)
    for number, record in objects(path, report):
        entry = _entry(record)
        if entry is None:
            message = "needs topic_id, run_id and label (and sentence_index, doc_id of a citation)"
            place = Place(str(path), number)
            report(Finding("label_unusable", place, message, shown(record)))
            continue
        (*group, index, doc_id), label = entry
        labels.rows.add((group[0], group[1]), (index, doc_id, label, number))
    if not labels.rows.size:
        raise InputError(f"{path}: no labels in it; give JSONL of topic_id, run_id, label, …")
    labels.close(report)
    return labels


def label_duplicate(
    item: tuple[Any, ...], second: tuple[str, Place], first: tuple[str, Place]
) -> Finding:
    """Return the finding of an item that is labelled twice, not alike: the first label counts."""
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
    return (
        topic_id,
        run_id,
        None if index is None else int(index),
        as_id(record.get("doc_id")),
    ), label
