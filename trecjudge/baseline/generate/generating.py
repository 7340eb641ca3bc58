"""A run made: topics answered at once, written in their order, and counted."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from trecjudge.baseline.generate.answering import Generating
from trecjudge.baseline.generate.formats import RunFacts, RunFormat
from trecjudge.baseline.generate.provenance import Origin, write_provenance
from trecjudge.baseline.generate.records import Answer
from trecjudge.errors import ModelError
from trecjudge.files import chosen
from trecjudge.findings import counted
from trecjudge.inputs.provenance import provenance_path
from trecjudge.records import Topic
from trecjudge.version import __version__

LOOK_AHEAD = 4
"""Topics begun and not yet handed out, for each request that may be under way."""


@dataclass(slots=True)
class Made:
    """What a run has, in counts; `words` are those of all its sentences."""

    answered: int = 0
    failed: int = 0
    sentences: int = 0
    cited: int = 0
    citations: int = 0
    words: int = 0
    confidence: float = 0.0
    """The sum over topics for which something was searched."""
    confidence_by: str = ""
    searched: int = 0
    abstentions: dict[str, str] = field(default_factory=dict)
    """Why there is no answer, by topic."""

    def add(self, answer: Answer) -> None:
        """Count an answer."""
        self.failed += answer.failure is not None
        if answer.failure is None and not answer.sentences:
            self.abstentions[answer.topic.topic_id] = answer.abstained
        self.answered += bool(answer.sentences)
        self.sentences += len(answer.sentences)
        self.cited += sum(bool(sentence.support) for sentence in answer.sentences)
        self.citations += sum(len(sentence.support) for sentence in answer.sentences)
        self.words += sum(len(sentence.text.split()) for sentence in answer.sentences)
        for first in answer.retrieved[:1]:
            self.confidence += first.confidence
            self.confidence_by = first.confidence_by
            self.searched += 1

    @property
    def abstained(self) -> int:
        """How many topics have an empty answer, since nothing answers them."""
        return len(self.abstentions)

    @property
    def mean_confidence(self) -> float | None:
        """The mean confidence of the first searches; None without any."""
        return self.confidence / self.searched if self.searched else None

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as JSON-ready data."""
        return {
            "answered": self.answered,
            "abstained": self.abstained,
            "failed": self.failed,
            "sentences": self.sentences,
            "cited": self.cited,
            "citations": self.citations,
            "words": self.words,
            "mean_confidence": self.mean_confidence,
            "confidence_by": self.confidence_by,
            "abstentions": self.abstentions,
        }


def described(model: str, retriever: str, generating: Generating) -> str:
    """Return in one sentence how a run is made; without a model it says that it is extractive."""
    passages = f"the best {generating.top} passages by {retriever}"
    tool = f"trecjudge {__version__}"
    if not model:
        return (
            f"{tool}, extractive, no model: whole sentences of {passages}, chosen by how much of"
            " the topic's words they cover"
        )
    rounds = counted(generating.rounds, "further round")
    again = f"; up to {rounds} of retrieval" if generating.rounds else ""
    return f"{tool}, {model}: answers from {passages}, each quote checked word for word{again}"


async def answers(
    topics: Iterable[Topic], answer: Callable[[Topic], Awaitable[Answer]], in_flight: int
) -> AsyncIterator[Answer]:
    """Yield the answers in the order of the topics; what is begun and not yielded is bounded."""
    window: deque[asyncio.Task[Answer]] = deque()
    try:
        for topic in topics:
            window.append(asyncio.ensure_future(_one(answer, topic)))
            if len(window) >= LOOK_AHEAD * in_flight:
                yield await window.popleft()
        while window:
            yield await window.popleft()
    finally:
        for task in window:
            task.cancel()
        # Wait until they are cancelled: a task that is dropped would go on, and pay for calls.
        await asyncio.gather(*window, return_exceptions=True)


async def _one(answer: Callable[[Topic], Awaitable[Answer]], topic: Topic) -> Answer:
    return await answer(topic)


async def write_run(
    made: AsyncIterable[Answer], path: Path, format_: RunFormat, facts: RunFacts, origin: Origin
) -> Made:
    """Write a run and its provenance, each whole or not at all; return what it has.

    A topic that failed has no record: an empty one would pass for an abstention. Raises OutputError
    if they cannot be written, and ModelError, with no file changed, if every topic failed.
    """
    counts, why = Made(), ""
    with chosen(path) as run, chosen(provenance_path(path)) as trail:
        async for answer in made:
            counts.add(answer)
            if answer.failure is not None:
                why = why or answer.failure.message
                continue
            record = format_.record(answer, facts)
            run.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
            write_provenance(trail, answer, origin)
        if counts.failed and not counts.answered + counts.abstained:
            raise ModelError(f"no topic could be answered, nothing is written: {why}")
    return counts
