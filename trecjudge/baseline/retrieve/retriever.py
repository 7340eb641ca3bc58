"""The retriever over an index: words, vectors or both; then recency, reranking, one a document."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from trecjudge.baseline.index.index import Index
from trecjudge.baseline.index.records import Filter, Hits, VectorMaker, VectorModel
from trecjudge.baseline.index.vectors import NAME as WORDLLAMA
from trecjudge.baseline.index.vectors import open_embeds
from trecjudge.baseline.records import Chosen, Chunk, Method, SearchResult
from trecjudge.baseline.retrieve.ranking import (
    BY_WORDS,
    NEAREST,
    ModelRanks,
    PlannedRanks,
    Ranks,
    ScoredChunk,
    Threshold,
    add_closeness,
    by_vectors,
    cosine_confidence,
    fuse_scores,
    idf_mass,
    one_per_document,
    order_by_score,
    passages_of,
    raise_recent,
    read_threshold,
    rerank,
    threshold_path,
    weigh_question,
    word_confidence,
)
from trecjudge.baseline.terms import terms_of
from trecjudge.errors import InputError
from trecjudge.inputs.documents.index_file import index_address
from trecjudge.models.model import Model
from trecjudge.models.opening import ModelOptions
from trecjudge.models.retrieval.asking import open_ranker
from trecjudge.text.credentials import public

DEPTH = 100
"""Chunks that each way of searching gives at least, to be fused, raised and reranked."""
CHUNKS_EACH = 5
"""Chunks to find for each document wanted, where one of each is kept."""
SMALL = (
    f"dense: the small vectors of {WORDLLAMA} find far less than words do: of 500 sentences 47 % in"
    " the first 3 passages, bm25 77 %, hybrid 77 %"
)
"""What is measured by `tests/benchmarks/bench_retrieval.py`."""
TRIES = 3
"""How often a search begins anew because a refresh took away what it had found."""


@dataclass(frozen=True, slots=True)
class RetrieverSettings:
    """How passages are found.

    `method` `auto` is what the index has: `hybrid` where it has vectors and something makes those
    of questions, else `bm25`. Passages with a score below `min_score` are left out; what a score is
    depends on the method. `closeness` adds to BM25 how close together a chunk has the words of the
    question. `rerank` is how many of the first are reranked, 0 for none. `recency` is a half-life
    in days, 0 for none. `one_per_document` keeps only the best passage of each document.

    `threshold` is the file of the least confidence of an answer; None for the one beside the index,
    if it is there; with `abstains` False none counts. `embeddings` and `reranking` are the sections
    of a workflow for the endpoints that make vectors and rerank.
    """

    method: Chosen = "auto"
    min_score: float | None = None
    closeness: bool = True
    rerank: int = 0
    recency: float = 0.0
    one_per_document: bool = False
    rerank_by: Literal["model", "endpoint"] = "model"
    threshold: Path | None = None
    abstains: bool = True
    embeddings: Mapping[str, Any] = field(default_factory=dict)
    reranking: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IndexRetriever:
    """Finds passages in an index.

    `embeds` makes vectors of questions: `dense` and `hybrid` need it, and with it the confidence is
    a cosine. `ranks` is what reranks. `threshold` is the least confidence of what is answered.
    Raises InputError where the index lacks what the settings ask for.
    """

    index: Index
    settings: RetrieverSettings = field(default_factory=RetrieverSettings)
    embeds: VectorMaker | None = None
    ranks: Ranks | None = None
    threshold: Threshold | None = None

    def __post_init__(self) -> None:
        own = self.index.facts.vectors
        if self.embeds is not None and own is not None and self.embeds.model != own:
            raise InputError(f"the index has vectors of {own}, not of {self.embeds.model}")
        if self.method != "bm25" and self.confidence_by == BY_WORDS:
            lacking = "the index has no vectors" if own is None else "nothing makes vectors"
            raise InputError(f"{self.method}: {lacking}; there is: bm25")
        if self.settings.rerank and self.ranks is None:
            raise InputError("to rerank needs a model, or an endpoint that reranks")
        if self.threshold is not None:
            self.threshold.check(self.confidence_by)

    @property
    def method(self) -> Method:
        """How passages are found here."""
        if self.settings.method != "auto":
            return self.settings.method
        return "bm25" if self.confidence_by == BY_WORDS else "hybrid"

    @property
    def confidence_by(self) -> str:
        """What gives the confidence: only scores by the same can be compared."""
        own = self.index.facts.vectors
        return BY_WORDS if self.embeds is None or own is None else by_vectors(own)

    @property
    def _chunks_each(self) -> int:
        """How many chunks to find for a passage that is kept."""
        return CHUNKS_EACH if self.settings.one_per_document else 1

    async def retrieve(self, question: str, most: int, only: Filter | None = None) -> SearchResult:
        """Return at most `most` passages, the best first.

        Raises JudgmentFailed, ModelError where an endpoint is asked.
        """
        begun = time.perf_counter()
        found = await self._retrieve_settled(question, most, only)
        return replace(found, seconds=time.perf_counter() - begun, most=most)

    async def _retrieve_settled(
        self, question: str, most: int, only: Filter | None
    ) -> SearchResult:
        for _ in range(TRIES - 1):
            try:
                return await self._retrieve(question, most, only)
            except KeyError:  # the index was refreshed between the search and the reading
                continue
        return await self._retrieve(question, most, only)

    async def _retrieve(self, question: str, most: int, only: Filter | None) -> SearchResult:
        # More than is wanted: what comes after may raise a chunk from further down.
        depth = max(DEPTH, most * self._chunks_each, self.settings.rerank)
        version = self.index.facts.version
        terms = terms_of(question)
        words = self.index.by_words(terms, depth, only) if terms else []
        near = await self._near(question, depth, only)
        if self.confidence_by == BY_WORDS:
            confidence = word_confidence(words, terms, self.index.idf(terms))
        else:
            confidence = cosine_confidence(near[:NEAREST])
        found = self._candidates(question, terms, words, near)
        found = await self._reorder(found, question)
        return SearchResult(
            question,
            passages_of(found[:most]),
            self.method,
            confidence,
            self.confidence_by,
            None if self.threshold is None else confidence >= self.threshold.least,
            version,
        )

    async def _near(self, question: str, most: int, only: Filter | None) -> Hits:
        """Return the nearest chunks; none where nothing makes vectors, or of the question none."""
        if self.embeds is None or self.confidence_by == BY_WORDS or not question.strip():
            return []
        (vector,) = await self.embeds.embed([question])
        # Of a question without a known word the vector is zeros, and all chunks are as near.
        return self.index.by_vector(vector, most, only) if vector.any() else []

    def _candidates(
        self, question: str, terms: Mapping[str, float], words: Hits, near: Hits
    ) -> list[ScoredChunk]:
        method = self.method
        words, near = [] if method == "dense" else words, [] if method == "bm25" else near
        # Many are found both ways: each is read once.
        numbers = list(dict.fromkeys(number for number, _ in (*words, *near)))
        chunks = dict(zip(numbers, self.index.chunks(numbers), strict=True))
        by_cosine = _score_chunks(near, "dense", chunks)
        if method == "dense":
            return by_cosine
        by_word = _score_chunks(words, "bm25", chunks)
        if self.settings.closeness:
            by_word = add_closeness(by_word, weigh_question(question, terms, self.index.idf))
        if method == "bm25":
            return by_word
        return fuse_scores(by_word, by_cosine, idf_mass(terms, self.index.idf(terms)))

    async def _reorder(self, found: list[ScoredChunk], question: str) -> list[ScoredChunk]:
        if self.settings.recency > 0:
            found = raise_recent(found, self.settings.recency)
        if self.ranks is not None and self.settings.rerank:
            found = await rerank(found, question, self.ranks, self.settings.rerank)
        least = self.settings.min_score
        if least is not None:
            found = [candidate for candidate in found if candidate.score >= least]
        return one_per_document(found) if self.settings.one_per_document else found


def _score_chunks(found: Hits, part: str, chunks: Mapping[int, Chunk]) -> list[ScoredChunk]:
    """Return what a search found as candidates in order; `part` is the name of its score."""
    return order_by_score(
        ScoredChunk(chunks[number], score, {part: score}) for number, score in found
    )


def usual_method(held: VectorModel | None, options: ModelOptions) -> Method:
    """Return what `auto` is for an index with vectors of `held`: None for one without.

    `hybrid` where something can make vectors of questions. A plan asks no endpoint for them.
    """
    if held is None:
        return "bm25"
    is_asked = options.use and not options.plan
    is_here = find_spec(WORDLLAMA) is not None if held.name == WORDLLAMA else is_asked
    return "hybrid" if is_here else "bm25"


@asynccontextmanager
async def open_retriever(
    where: str,
    index: Index,
    settings: RetrieverSettings,
    model: Model,
    options: ModelOptions,
    warn: Callable[[str], None],
) -> AsyncIterator[IndexRetriever]:
    """Yield the retriever of an index that is named `where`.

    A plan reranks by the grades that are cached, and asks no endpoint. Raises InputError for what
    the index or the settings lack.
    """
    if options.plan and settings.rerank_by == "endpoint":
        settings = replace(settings, rerank=0)
    async with AsyncExitStack() as stack:
        if settings.method == "auto":
            settings = replace(settings, method=usual_method(index.facts.vectors, options))
            if settings.method == "bm25" and index.facts.vectors is not None:
                warn(f"found by words only: nothing makes vectors of {index.facts.vectors} here")
        if settings.method == "dense" and getattr(index.facts.vectors, "name", "") == WORDLLAMA:
            warn(SMALL)
        embeds = await _open_embeds(index, settings, options, warn, stack)
        ranks: Ranks | None = None
        if settings.rerank and settings.rerank_by == "endpoint":
            ranker = open_ranker(options, settings.reranking, warn)
            ranks = await stack.enter_async_context(ranker)
        elif settings.rerank:
            ranks = _model_ranks(model, options.plan)
        found = IndexRetriever(index, settings, embeds, ranks)
        if settings.abstains:
            found = replace(found, threshold=_valid_threshold(where, found, warn))
        yield found


async def _open_embeds(
    index: Index,
    settings: RetrieverSettings,
    options: ModelOptions,
    warn: Callable[[str], None],
    stack: AsyncExitStack,
) -> VectorMaker | None:
    """Return what makes vectors of questions; only a search by words can do without."""
    held, by_words = index.facts.vectors, settings.method == "bm25"
    if held is None:
        return None
    is_asked = held.name != WORDLLAMA
    if is_asked and (not options.use or (options.plan and by_words)):
        return None
    opened = open_embeds(None, held, options, settings.embeddings, warn)
    try:
        return await stack.enter_async_context(opened)
    except InputError as error:
        if is_asked or not by_words:
            raise
        warn(f"the confidence is by words: {error}")
        return None


def _model_ranks(model: Model, plan: bool) -> Ranks:
    if not model.available:
        raise InputError("--rerank needs a model: add --use-env-llm")
    return PlannedRanks(ModelRanks(model)) if plan else ModelRanks(model)


def _valid_threshold(
    where: str, retriever: IndexRetriever, warn: Callable[[str], None]
) -> Threshold | None:
    """Return the threshold that holds here. Raises InputError if the one named does not."""
    named = retriever.settings.threshold
    path = named
    if path is None and not index_address(where):
        beside = threshold_path(where)
        path = beside if beside.exists() else None
    if path is None:
        return None
    threshold = read_threshold(path)
    try:
        threshold.check(retriever.confidence_by, name_of(where))
    except InputError as error:
        if named is not None:
            raise
        warn(str(error))
        return None
    if threshold.index_version != retriever.index.facts.version:
        warn("the index has changed since its threshold was calibrated")
    return threshold


def name_of(where: str) -> str:
    """Return the name of an index without its folder, its server or a password."""
    return public(where).rstrip("/").rpartition("/")[2].partition("?")[0]
