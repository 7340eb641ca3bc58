"""Searches for all topics of a file: a TREC run, or the threshold of an answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from trecjudge.baseline.index.records import Filter
from trecjudge.baseline.retrieve.ranking import Threshold, threshold_for
from trecjudge.baseline.retrieve.retriever import IndexRetriever
from trecjudge.baseline.terms import question_of
from trecjudge.errors import InputError, JudgmentFailed
from trecjudge.files import open_target
from trecjudge.findings import plural
from trecjudge.records import Topic
from trecjudge.results.trec import run_lines

MOST_LISTED = 10
"""Topics without a document that a message names."""


@dataclass(slots=True)
class SearchCounts:
    """What a run file has: topics and lines; `nothing` found no document, `failed` say why."""

    topics: int = 0
    lines: int = 0
    nothing: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def first_without(self) -> str:
        """The first topics that found nothing."""
        rest = " …" if len(self.nothing) > MOST_LISTED else ""
        return ", ".join(map(repr, self.nothing[:MOST_LISTED])) + rest

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


async def write_run(
    path: Path,
    topics: Iterable[Topic],
    retriever: IndexRetriever,
    most: int,
    only: Filter | None,
    tag: str,
) -> SearchCounts:
    """Write what each topic finds, whole or not at all; the retriever keeps one of each document.

    A topic whose reranking failed is left out, and told: its other order is another system's.
    Raises ModelError, OutputError.
    """
    assert retriever.settings.one_per_document
    done = SearchCounts()
    with open_target(path) as file:
        for topic in topics:
            try:
                found = await retriever.retrieve(question_of(topic), most, only)
            except JudgmentFailed as failed:
                done.failed[topic.topic_id] = f"{failed.kind}: {failed}"
                continue
            ranked = [(passage.chunk.doc_id, passage.score) for passage in found.passages]
            file.writelines(line.encode() for line in run_lines(topic.topic_id, ranked, tag))
            done.topics += 1
            done.lines += len(ranked)
            if not ranked:
                done.nothing.append(topic.topic_id)
    return done


@dataclass(frozen=True, slots=True)
class ThresholdCalibration:
    """A threshold, with the confidences of the questions that it is from."""

    threshold: Threshold
    answerable: list[float]
    others: list[float]

    def as_dict(self) -> dict[str, Any]:
        """Return threshold and shares as JSON values; the AUC and `refused` need others."""
        return asdict(self.threshold) | {
            "kept": self.share_answered,
            "refused": self.share_refused,
            "auc": self.auc,
        }

    @property
    def share_answered(self) -> float:
        """The share of the answerable questions that are answered."""
        return sum(one >= self.threshold.least for one in self.answerable) / len(self.answerable)

    @property
    def share_refused(self) -> float | None:
        """The share of the others that are not answered, None without any."""
        below = sum(one < self.threshold.least for one in self.others)
        return below / len(self.others) if self.others else None

    @property
    def auc(self) -> float | None:
        """How often an answerable question has more confidence than another; None without any."""
        if not self.others:
            return None
        from trecjudge.stats.agreement import separation  # numpy: no other search needs it

        return separation(self.answerable, self.others)

    def lines(self) -> list[str]:
        """Return in words what was found."""
        line = self.threshold
        known, others = (
            plural(line.questions, "answerable topic"),
            plural(line.others, "other topic"),
        )
        refused = "no other topics: how many are refused is not known; add --against TOPICS"
        if self.others:
            refused = f"{others}: {self.share_refused:.0%} are refused, AUC {self.auc:.3f}"
        return [
            f"threshold {line.least:.4f}, by {line.by}",
            f"{known}: {self.share_answered:.0%} are answered",
            refused,
        ]


async def calibrate_threshold(
    retriever: IndexRetriever,
    answerable: Iterable[Topic],
    others: Iterable[Topic],
    only: Filter | None,
    index: str,
) -> ThresholdCalibration:
    """Return the threshold between topics that the index answers and, if given, others.

    `index` is its name. Raises InputError if a topic is in both, JudgmentFailed, ModelError.
    """
    known = {topic.topic_id: question_of(topic) for topic in answerable}
    wrong = {topic.topic_id: question_of(topic) for topic in others}
    if both := sorted(set(known.values()) & set(wrong.values())):
        raise InputError(f"{plural(len(both), 'topic')} in both files, such as {both[0][:60]!r}")
    inside = [(await retriever.retrieve(q, 1, only)).confidence for q in known.values()]
    outside = [(await retriever.retrieve(q, 1, only)).confidence for q in wrong.values()]
    least = threshold_for(inside, outside)
    version = retriever.index.facts.version
    counts = (len(inside), len(outside))
    line = Threshold(least, retriever.confidence_by, index, version, *counts)
    return ThresholdCalibration(line, inside, outside)
