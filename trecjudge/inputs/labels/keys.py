"""What a label is on, the key of an item; and what a judge needs to take labels of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from trecjudge.records import AskedNugget, Item, Judgment

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
