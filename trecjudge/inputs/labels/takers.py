"""What a judge needs to take labels of others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from trecjudge.records import AskedNugget, Item, Judgment


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
