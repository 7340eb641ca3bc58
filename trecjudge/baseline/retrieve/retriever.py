"""The retriever over an index: words, vectors or both; then recency, reranking, one a document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trecjudge.baseline.index.index import Index
from trecjudge.baseline.index.protocol import Embeds, Hits, Only
from trecjudge.baseline.records import Method, Retrieved
from trecjudge.baseline.retrieve.abstention import (
    BY_WORDS,
    NEAREST,
    by_vectors,
    cosine_confidence,
    word_confidence,
)
from trecjudge.baseline.retrieve.candidates import (
    Candidate,
    one_per_document,
    ordered,
    passages_of,
)
from trecjudge.baseline.retrieve.closeness import by_closeness, wording_of
from trecjudge.baseline.retrieve.fusion import fused
from trecjudge.baseline.retrieve.protocol import Ranks
from trecjudge.baseline.retrieve.questions import terms_of
from trecjudge.baseline.retrieve.recency import by_recency
from trecjudge.baseline.retrieve.reranking import reranked
from trecjudge.baseline.retrieve.threshold import Threshold
from trecjudge.errors import InputError

DEPTH = 100
"""Chunks that each way of searching gives at least, to be fused, raised and reranked."""
CHUNKS_EACH = 5
"""Chunks to find for each document wanted, where one of each is kept."""
TRIES = 3
"""How often a search begins anew because a refresh took away what it had found."""


@dataclass(frozen=True, slots=True)
class RetrieverSettings:
    """How passages are found.

    `closeness` adds to BM25 how close together a chunk has the words of the question. `rerank` is
    how many of the first are reranked, 0 for none. `recency` is a half-life in days, 0 for none.
    `one_per_document` keeps only the best passage of each document.
    """

    method: Method = "bm25"
    closeness: bool = True
    rerank: int = 0
    recency: float = 0.0
    one_per_document: bool = False


@dataclass(frozen=True, slots=True)
class IndexRetriever:
    """Finds passages in an index.

    `embeds` makes vectors of questions: `dense` and `hybrid` need it, and with it the confidence is
    a cosine. `ranks` is what reranks. `threshold` is the least confidence of what is answered.
    Raises InputError where the index lacks what the settings ask for.
    """

    index: Index
    settings: RetrieverSettings = field(default_factory=RetrieverSettings)
    embeds: Embeds | None = None
    ranks: Ranks | None = None
    threshold: Threshold | None = None

    def __post_init__(self) -> None:
        own = self.index.facts.vectors
        if self.embeds is not None and own is not None and self.embeds.model != own:
            raise InputError(f"the index has vectors of {own}, not of {self.embeds.model}")
        if self.settings.method != "bm25" and self.confidence_by == BY_WORDS:
            lacking = "the index has no vectors" if own is None else "nothing makes vectors"
            raise InputError(f"{self.settings.method}: {lacking}; there is: bm25")
        if self.settings.rerank and self.ranks is None:
            raise InputError("to rerank needs a model, or an endpoint that reranks")
        if self.threshold is not None:
            self.threshold.check(self.confidence_by)

    @property
    def confidence_by(self) -> str:
        """What gives the confidence: only scores by the same can be compared."""
        own = self.index.facts.vectors
        return BY_WORDS if self.embeds is None or own is None else by_vectors(own)

    @property
    def _chunks_each(self) -> int:
        """How many chunks to find for a passage that is kept."""
        return CHUNKS_EACH if self.settings.one_per_document else 1

    async def retrieve(self, question: str, most: int, only: Only | None = None) -> Retrieved:
        """Return at most `most` passages, the best first.

        Raises JudgmentFailed, ModelError where an endpoint is asked.
        """
        for _ in range(TRIES - 1):
            try:
                return await self._retrieve(question, most, only)
            except KeyError:  # the index was refreshed between the search and the reading
                continue
        return await self._retrieve(question, most, only)

    async def _retrieve(self, question: str, most: int, only: Only | None) -> Retrieved:
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
        found = await self._ordered(found, question)
        return Retrieved(
            question,
            passages_of(found[:most]),
            self.settings.method,
            confidence,
            self.confidence_by,
            None if self.threshold is None else confidence >= self.threshold.least,
            version,
        )

    async def _near(self, question: str, most: int, only: Only | None) -> Hits:
        """Return the nearest chunks; none where nothing makes vectors, or of the question none."""
        if self.embeds is None or self.confidence_by == BY_WORDS or not question.strip():
            return []
        (vector,) = await self.embeds.embed([question])
        return self.index.by_vector(vector, most, only) if vector.any() else []

    def _candidates(
        self, question: str, terms: Mapping[str, float], words: Hits, near: Hits
    ) -> list[Candidate]:
        method = self.settings.method
        by_cosine = [] if method == "bm25" else ordered(self._given(near, "dense"))
        if method == "dense":
            return by_cosine
        by_word = ordered(self._given(words, "bm25"))
        if self.settings.closeness:
            by_word = by_closeness(by_word, wording_of(question, terms, self.index.idf))
        return by_word if method == "bm25" else fused(by_word, by_cosine)

    def _given(self, found: Hits, part: str) -> list[Candidate]:
        """Return chunks that a search found as candidates; `part` is the name of its score."""
        chunks = self.index.chunks([number for number, _ in found])
        pairs = zip(chunks, found, strict=True)
        return [Candidate(chunk, score, {part: score}) for chunk, (_, score) in pairs]

    async def _ordered(self, found: list[Candidate], question: str) -> list[Candidate]:
        if self.settings.recency > 0:
            found = by_recency(found, self.settings.recency)
        if self.ranks is not None and self.settings.rerank:
            found = await reranked(found, question, self.ranks, self.settings.rerank)
        return one_per_document(found) if self.settings.one_per_document else found
