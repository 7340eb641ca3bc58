"""Labels by people or another tool: how they are read, and what a judge needs to take them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, shown
from trecjudge.inputs.sources.values import as_id, objects
from trecjudge.records import FULL, NONE, PARTIAL, Item, Judgment, Place
from trecjudge.records.nuggets import plain_name

ItemKey = tuple[str, str, int | None, str | None] | tuple[str, str, int | None, str | None, str]
"""(topic_id, run_id, sentence_index, doc_id); None where an item has no sentence or no document.

Of an item on a nugget the name of it comes last: its id, its answer's, or its text.
"""

NUGGET_KEYS = ("answer_id", "nugget_id", "nugget")
"""Keys of a record that name a nugget: the id of its answer, its own, or either or its text."""

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
    nugget = judgment.nugget
    key = (judgment.topic_id, judgment.run_id, judgment.sentence_index, judgment.doc_id)
    return key if nugget is None else (*key, next(iter(nugget.names), ""))


def read_labels(path: Path, report: OnFinding) -> dict[ItemKey, str]:
    """Return the labels of a JSONL file of topic_id, run_id, sentence_index, doc_id, label.

    The first label of an item counts. Raises InputError if there is none.
    """
    return {key: label for key, (label, _) in placed_labels(path, report).items()}


def placed_labels(path: Path, report: OnFinding) -> dict[ItemKey, tuple[str, Place]]:
    """Return the labels as `read_labels` does, each with its place in the file."""
    labels: dict[ItemKey, tuple[str, Place]] = {}
    for number, record in objects(path, report):
        place = Place(str(path), number)
        entry = _entry(record)
        if entry is None:
            message = "needs topic_id, run_id and label (and sentence_index, doc_id of a citation)"
            report(Finding("label_unusable", place, message, shown(record)))
            continue
        key, label = entry
        first, where = labels.setdefault(key, (label, place))
        if first != label:
            report(label_duplicate(key, (label, place), (first, where)))
    if not labels:
        raise InputError(f"{path}: no labels in it; give JSONL of topic_id, run_id, label, …")
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
    at = None if index is None else int(index)
    key = (topic_id, run_id, at, as_id(record.get("doc_id")))
    nugget = next((found for name in NUGGET_KEYS if (found := as_id(record.get(name)))), None)
    return (key, label) if nugget is None else ((*key, plain_name(nugget)), label)
