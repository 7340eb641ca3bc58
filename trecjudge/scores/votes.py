"""How the voters of a judge agree, counted while its judgments are read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from trecjudge.records import Judgment, Vote

DIGITS = 4
Cell = tuple[str, str, str]
"""(topic_id, label of one voter, label of the other)"""


@dataclass(slots=True)
class JudgeVotes:
    """The counts of one judge, of the items on which two voters at least decided."""

    items: int = 0
    differ: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    pairs: dict[tuple[str, str], Counter[Cell]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    weighted: dict[Cell, float] = field(default_factory=lambda: defaultdict(float))
    sampled: Counter[str] = field(default_factory=Counter)
    """Of each voter with samples, the items with two of them at least."""
    flipped: Counter[str] = field(default_factory=Counter)
    """Of these, the items where its samples differ."""

    def add(self, topic_id: str, votes: Sequence[Vote]) -> None:
        """Add the votes on an item."""
        self.failed.update(vote.voter for vote in votes if vote.failure)
        given = [(vote.voter, vote.label) for vote in votes if vote.label is not None]
        if len(given) < 2:
            return
        self.items += 1
        self.differ += len({label for _, label in given}) > 1
        for (one, own), (other, theirs) in combinations(given, 2):
            self.pairs[one, other][topic_id, own, theirs] += 1
            self.weighted[topic_id, own, theirs] += 1 / (len(given) - 1)
        for name, labels in _samples(given).items():
            self.sampled[name] += 1
            self.flipped[name] += len(set(labels)) > 1

    def take(self, other: JudgeVotes) -> None:
        """Add what was counted apart."""
        self.items += other.items
        self.differ += other.differ
        for name in ("failed", "sampled", "flipped"):
            getattr(self, name).update(getattr(other, name))
        for pair, cells in other.pairs.items():
            self.pairs[pair].update(cells)
        for cell, weight in other.weighted.items():
            self.weighted[cell] += weight

    def as_dict(self, judge: str) -> dict[str, Any]:
        """Return the figures as JSON values."""
        from trecjudge.stats.voters import alpha_of_all, voter_pair  # numpy: not at start

        alpha = alpha_of_all(self.weighted)
        pairs = [voter_pair(names, cells).as_dict() for names, cells in self.pairs.items()]
        flips = [self._flips(name) for name in self.sampled]
        return {
            "judge": judge,
            "items": self.items,
            "differ": self.differ,
            "alpha": alpha.pooled,
            "alpha_interval": list(alpha.interval),
            "pairs": pairs,
            "samples": flips,
            "failed": dict(self.failed),
        }

    def _flips(self, voter: str) -> dict[str, Any]:
        items, differ = self.sampled[voter], self.flipped[voter]
        rate = round(differ / items, DIGITS)
        return {"voter": voter, "items": items, "differ": differ, "flip_rate": rate}


def _samples(given: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the labels of those voters that gave several samples."""
    found: dict[str, list[str]] = {}
    for voter, label in given:
        name, apart, _ = voter.rpartition("#")
        if apart:
            found.setdefault(name, []).append(label)
    return {name: labels for name, labels in found.items() if len(labels) > 1}


@dataclass(slots=True)
class VoteTally:
    """Counts votes by judge: no more is held than topics, pairs of voters and pairs of labels."""

    judges: dict[str, JudgeVotes] = field(default_factory=dict)

    def add(self, judgments: Iterable[Judgment]) -> None:
        """Add the votes on a response."""
        for judgment in judgments:
            if judgment.votes:
                own = self.judges.setdefault(judgment.judge, JudgeVotes())
                own.add(judgment.topic_id, judgment.votes)

    def take(self, other: VoteTally) -> None:
        """Add what was counted apart."""
        for judge, own in other.judges.items():
            self.judges.setdefault(judge, JudgeVotes()).take(own)

    def figures(self) -> list[dict[str, Any]]:
        """Return how the voters of each judge agree; empty where no judge has voters."""
        return [own.as_dict(judge) for judge, own in self.judges.items()]
