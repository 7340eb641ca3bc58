"""A run from an index: everything is opened, every topic answered, the files written."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections import deque
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
)
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from trecjudge.baseline.generate.answers import AnswerSettings
from trecjudge.baseline.generate.formats import RunFacts, RunFormat
from trecjudge.baseline.index.index import Index
from trecjudge.baseline.records import Answer, SearchResult
from trecjudge.baseline.retrieve.retriever import RetrieverSettings
from trecjudge.errors import ModelError
from trecjudge.files import fixed_time, open_target
from trecjudge.findings import plural
from trecjudge.inputs.documents.index_file import index_address
from trecjudge.inputs.provenance import provenance_path
from trecjudge.inputs.retrieved import retrieved_path
from trecjudge.inputs.sources.containers import bare_name
from trecjudge.models.model import Model
from trecjudge.records import ProvenanceLine, Topic
from trecjudge.version import __version__

LOOK_AHEAD = 4
"""Topics begun and not yet handed out, for each request that may be under way."""


@dataclass(slots=True)
class RunCounts:
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
    seconds: list[float] = field(default_factory=list)
    """How long each search took."""
    abstentions: dict[str, str] = field(default_factory=dict)
    """Why there is no answer, by topic."""
    _answers: Any = field(default_factory=hashlib.sha256, repr=False, compare=False)
    _passages: Any = field(default_factory=hashlib.sha256, repr=False, compare=False)
    answers: list[dict[str, Any]] | None = None
    """The answers as objects; None where nobody asks for them."""

    def add(self, answer: Answer) -> None:
        """Count an answer."""
        self.failed += answer.failure is not None
        if answer.failure is None and not answer.sentences:
            self.abstentions[answer.topic.topic_id] = answer.abstained
        self.answered += bool(answer.sentences)
        for sentence in answer.sentences:
            self.sentences += 1
            self.cited += bool(sentence.support)
            self.citations += len(sentence.support)
            self.words += len(sentence.text.split())
        said = [(s.text, [one.passage.chunk.doc_id for one in s.support]) for s in answer.sentences]
        self._answers.update(orjson.dumps([answer.topic.topic_id, said]))
        for passage in (p for found in answer.retrieved for p in found.passages):
            place = passage.chunk.doc_id, passage.chunk.start, passage.chunk.end
            self._passages.update(orjson.dumps([answer.topic.topic_id, place]))
        self.seconds += [found.seconds for found in answer.retrieved]
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

    @property
    def retrieval_ms(self) -> dict[str, float] | None:
        """How long half of the searches took at most, and 95 of 100, in ms; None without any."""
        if not (times := sorted(self.seconds)):
            return None
        ranks = {"p50": 0.5, "p95": 0.95}
        return {n: 1000 * times[math.ceil(p * len(times)) - 1] for n, p in ranks.items()}

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as JSON-ready data.

        The digests are of what the answers say and cite, and of the passages in their order: runs
        that have one of them in common answer, or retrieve, alike.
        """
        names = ("answered", "abstained", "failed", "sentences", "cited", "citations", "words")
        last = ("mean_confidence", "confidence_by", "abstentions", "retrieval_ms")
        objects = () if self.answers is None else ("answers",)
        return {name: getattr(self, name) for name in (*names, *last, *objects)} | {
            "answers_sha256": self._answers.hexdigest(),
            "passages_sha256": self._passages.hexdigest(),
        }


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run to make in the file `path`; `index` names the index.

    `carries` puts the documents that are cited into the run. `objects` keeps each answer as an
    object too.
    """

    index: str
    path: Path
    run_id: str
    format: RunFormat
    team_id: str = "trecjudge"
    retriever: RetrieverSettings = field(default_factory=RetrieverSettings)
    generating: AnswerSettings = field(default_factory=AnswerSettings)
    carries: bool = False
    objects: bool = False

    def facts(self, model: Model, index: Index) -> RunFacts:
        """Return what all records say of the run."""
        asked = str((model.record() or {}).get("model", "")) if model.available else ""
        carried = index.document if self.carries else None
        named = index_name(self.index)
        how = self.describe(asked)
        mask = self.generating.mask
        return RunFacts(self.run_id, self.team_id, how, carried, named, fixed_time(), mask)

    def describe(self, model: str) -> str:
        """Return in one sentence how it is made; without a model it says that it is extractive."""
        by = self.retriever.method + (", reranked" if self.retriever.rerank else "")
        passages = f"the best {self.generating.top} passages by {by}"
        tool = f"trecjudge {__version__}"
        if not model:
            return (
                f"{tool}, extractive, no model: whole sentences of {passages}, chosen by how much"
                " of the topic's words they cover"
            )
        rounds = plural(self.generating.rounds, "further round")
        again = f"; up to {rounds} of retrieval" if self.generating.rounds else ""
        return f"{tool}, {model}: answers from {passages}, each quote checked word for word{again}"


async def answer_all(
    topics: Iterable[Topic],
    answer: Callable[[Topic], Coroutine[Any, Any, Answer]],
    in_flight: int,
) -> AsyncIterator[Answer]:
    """Yield the answers in the order of the topics; what is begun and not yielded is bounded."""
    window: deque[asyncio.Task[Answer]] = deque()
    try:
        for topic in topics:
            window.append(asyncio.create_task(answer(topic)))
            if len(window) >= LOOK_AHEAD * in_flight:
                yield await window.popleft()
        while window:
            yield await window.popleft()
    finally:
        for task in window:
            task.cancel()
        # Wait until they are cancelled: a task that is dropped would go on, and pay for calls.
        await asyncio.gather(*window, return_exceptions=True)


async def write_run(
    made: AsyncIterable[Answer],
    path: Path,
    format_: RunFormat,
    facts: RunFacts,
    as_object: Callable[[Answer], dict[str, Any]] | None = None,
) -> RunCounts:
    """Write a run, its provenance and what it retrieved, each whole or not at all.

    `as_object` makes the objects of `RunCounts.answers`, where they are wanted.

    Returns what it has. A topic that failed has no record: an empty one would pass for an
    abstention. Raises OutputError if they cannot be written, and ModelError, with no file changed,
    if every topic failed.
    """
    counts, why = RunCounts(answers=None if as_object is None else []), ""
    with (
        open_target(path) as run,
        open_target(provenance_path(path)) as trail,
        open_target(retrieved_path(path)) as searches,
    ):
        async for answer in made:
            counts.add(answer)
            if answer.failure is not None:
                why = why or answer.failure.message
                continue
            record = format_.record(answer, facts)
            if as_object is not None and counts.answers is not None:
                counts.answers.append(as_object(answer))
            run.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
            for line in provenance_lines(answer, facts):
                trail.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
            for line in retrieved_lines(answer, facts):
                searches.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
        if counts.failed and not counts.answered + counts.abstained:
            raise ModelError(f"no topic could be answered, nothing is written: {why}")
    return counts


def provenance_lines(answer: Answer, facts: RunFacts) -> Iterator[dict[str, Any]]:
    """Yield a line for each citation of each sentence; none for an answer that abstained."""
    for number, sentence in enumerate(answer.sentences):
        for support in sentence.support:
            passage, chunk = support.passage, support.passage.chunk
            line = ProvenanceLine(
                run_id=facts.run_id,
                topic_id=answer.topic.topic_id,
                sentence_index=number,
                doc_id=chunk.doc_id,
                start=support.start,
                end=support.end,
                quote=support.quote,
                score=passage.score,
                rank=passage.rank,
                retriever=answer.retrieved[-1].method,
                document_version=chunk.document.version,
                document_digest=chunk.digest,
                index=facts.index,
                index_version=answer.retrieved[-1].index_version,
                time=facts.time,
            )
            record = asdict(line)
            if not facts.time:
                # Two equal jobs write equal bytes.
                del record["time"]
            yield record


def retrieved_lines(answer: Answer, facts: RunFacts) -> Iterator[dict[str, Any]]:
    """Yield a line for each search of an answer, with its passages; two equal jobs write the same.

    How long it took is in the log.
    """
    for found in answer.retrieved:
        named = {"run_id": facts.run_id, "topic_id": answer.topic.topic_id}
        passages = [
            {"rank": p.rank, "doc_id": p.chunk.doc_id, "start": p.chunk.start, "end": p.chunk.end}
            | {"score": p.score, "parts": dict(p.parts), "text": facts.hide(p.chunk.text)}
            for p in found.passages
        ]
        yield named | {
            "question": facts.hide(found.question),
            "retriever": found.method,
            "k": found.most,
            "index": facts.index,
            "index_version": found.index_version,
            "passages": passages,
        }


def retrieval_event(topic: Topic, found: SearchResult, facts: RunFacts) -> dict[str, Any]:
    """Return the fields of the log's event RETRIEVAL: what one search found, and in how many ms."""
    return {
        "run_id": facts.run_id,
        "topic_id": topic.topic_id,
        "question": facts.hide(found.question),
        "retriever": found.method,
        "k": found.most,
        "ms": round(1000 * found.seconds, 3),
        "confidence": found.confidence,
        "index": facts.index,
        "index_version": found.index_version,
        "passages": [
            {"doc_id": p.chunk.doc_id, "start": p.chunk.start, "end": p.chunk.end, "score": p.score}
            for p in found.passages
        ],
    }


def retrieval_log(run: Path) -> Path:
    """Return where the log of a run's searches is."""
    return run.with_name(f"{bare_name(run)}.retrieval.log")


def index_name(where: str) -> str:
    """Return how an index is named in a file: its path, or its address without user and secret."""
    if not index_address(where):
        return where
    scheme = where.partition("://")[0]
    address, _, query = where.partition("://")[2].partition("?")
    # A question mark may be a part of the secret: then no part is known to be none.
    unclear = "@" in query and "@" not in address
    return f"{scheme}://{'' if unclear else address.rpartition('@')[2]}"
