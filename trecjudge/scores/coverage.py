"""How much of a run there is, how much of it could be judged, and how much of it is copied."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from trecjudge.records import Judgment, Response

MOSTLY = 0.5
"""A run with a larger share of copied sentences is named under the table."""


@dataclass(slots=True)
class Coverage:
    """Coverage of a run: responses of expected topics, items judged of expected.

    `samples` are the ids of further responses to a topic, by topic. They are no `responses`: three
    samples of one topic are one of one.
    """

    responses: int = 0
    expected_responses: int = 0
    judged: int = 0
    expected: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)
    """The first item that failed in each way, and why."""
    samples: dict[str, list[str]] = field(default_factory=dict)
    by_judge: dict[str, list[int]] = field(default_factory=dict)
    """[judged, expected] of each judge."""
    copied: int = 0
    copied_of: int | None = None
    """Sentences that stand word for word in a document of their response, and how many were looked
    for: those of eight words and more. None where no response came with text of documents."""

    def counts(self, judge: str) -> tuple[int, int]:
        """Return how many items a judge judged, and how many there are; "" is all of them."""
        judged, expected = (
            self.by_judge.get(judge, (0, 0)) if judge else (self.judged, self.expected)
        )
        return judged, expected

    @property
    def copied_share(self) -> float | None:
        """The share of long sentences that are copied, 0 to 1; None where that is not known."""
        return self.copied / self.copied_of if self.copied_of else None

    @property
    def mostly_copied(self) -> bool:
        """Whether more than half of the long sentences are copied."""
        return (self.copied_share or 0.0) > MOSTLY

    @property
    def sample_counts(self) -> dict[str, int]:
        """How many topics have several samples, and how many samples these are."""
        further = sum(map(len, self.samples.values()))
        return {"topics": len(self.samples), "samples": len(self.samples) + further}

    def add(self, response: Response, judgments: Sequence[Judgment]) -> None:
        """Count one response with its judgments."""
        if response.sample:
            self.samples.setdefault(response.topic_asked, []).append(response.topic_id)
        else:
            self.responses += 1
        if response.copies is not None:
            self.copied += len(response.copies.at)
            self.copied_of = (self.copied_of or 0) + response.copies.of
        self.expected += len(judgments)
        for judgment in judgments:
            counts = self.by_judge.setdefault(judgment.judge, [0, 0])
            counts[1] += 1
            if judgment.failure is None:
                self.judged += 1
                counts[0] += 1
            else:
                kind = judgment.failure.kind
                self.failures[kind] = self.failures.get(kind, 0) + 1
                self.examples.setdefault(kind, failure_text(judgment))

    def take(self, other: Coverage) -> None:
        """Add what was counted apart, of later responses."""
        self.responses += other.responses
        for topic_id, ids in other.samples.items():
            self.samples.setdefault(topic_id, []).extend(ids)
        if other.copied_of is not None:
            self.copied += other.copied
            self.copied_of = (self.copied_of or 0) + other.copied_of
        self.judged += other.judged
        self.expected += other.expected
        for kind, count in other.failures.items():
            self.failures[kind] = self.failures.get(kind, 0) + count
        for kind, text in other.examples.items():
            self.examples.setdefault(kind, text)
        for name, (judged, expected) in other.by_judge.items():
            counts = self.by_judge.setdefault(name, [0, 0])
            counts[0] += judged
            counts[1] += expected


def judged_by_judge(runs: Iterable[Coverage], judges: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Return how many items each judge judged in all runs, and how many there are."""
    found = dict.fromkeys(judges, (0, 0))
    for run in runs:
        for judge, (judged, expected) in found.items():
            more, of = run.counts(judge)
            found[judge] = (judged + more, expected + of)
    return found


def failure_text(judgment: Judgment) -> str:
    """Return which item is unjudged, and why."""
    index = judgment.sentence_index
    sentence = "" if index is None else f", sentence {index + 1}"
    nugget = "" if judgment.nugget is None else f", nugget {judgment.nugget.nugget_id!r}"
    message = judgment.failure.message if judgment.failure else ""
    return f"run {judgment.run_id}, topic {judgment.topic_id}{sentence}{nugget}: {message}"
