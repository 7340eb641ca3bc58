"""What a label is on: the key of an item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trecjudge.records import Judgment

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
