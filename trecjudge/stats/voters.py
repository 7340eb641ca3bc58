"""Agreement of the voters of a judge: kappa of two, alpha of all, with intervals over topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trecjudge.stats.agreement import Agreed, accuracy, agreed, alpha, kappa
from trecjudge.stats.resampling import Array

Cell = tuple[str, str, str]
"""(topic_id, label of one voter, label of the other)"""


@dataclass(frozen=True, slots=True)
class VoterPair:
    """How two voters agree on the items that both decided; figures are None if not defined."""

    voters: tuple[str, str]
    items: int
    same: float | None
    kappa: Agreed

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        figure = {"kappa": self.kappa.pooled, "interval": list(self.kappa.interval)}
        return {"voters": list(self.voters), "items": self.items, "same": self.same} | figure


def voter_pair(voters: tuple[str, str], cells: Mapping[Cell, int]) -> VoterPair:
    """Return how two voters agree, by how many items of a topic have which two labels."""
    topics, confusion = _confusion(cells)
    same = agreed("same", accuracy, confusion, topics).pooled
    found = agreed("kappa", kappa(0), confusion, topics)
    return VoterPair(voters, sum(cells.values()), same, found)


def alpha_of_all(cells: Mapping[Cell, float]) -> Agreed:
    """Return Krippendorff's nominal alpha of all voters; items may lack some of them.

    `cells` count the pairs of votes on an item, each 1 / (votes on the item - 1). Krippendorff,
    Content Analysis, 2004, ch. 11.
    """
    topics, confusion = _confusion(cells)
    return agreed("alpha", alpha(ordinal=False), confusion, topics)


def _confusion(cells: Mapping[Cell, float]) -> tuple[Sequence[str], Array]:
    """Return the topics, sorted, and their matrices: (topics, labels, labels)."""
    topics = sorted({topic for topic, _, _ in cells})
    labels = sorted({label for _, one, other in cells for label in (one, other)})
    rows = {topic: place for place, topic in enumerate(topics)}
    places = {label: place for place, label in enumerate(labels)}
    counts = np.zeros((len(topics), len(labels), len(labels)))
    for (topic, one, other), count in cells.items():
        counts[rows[topic], places[one], places[other]] += count
    return topics, counts
