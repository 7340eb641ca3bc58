"""The retriever that is asked for: with vectors, what reranks, and the line of an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from trecjudge.baseline.index.embedding import NAME as WORDLLAMA
from trecjudge.baseline.index.embedding import embeds_for
from trecjudge.baseline.index.endpoint import EndpointEmbeds
from trecjudge.baseline.index.index import Index
from trecjudge.baseline.index.opening import is_address
from trecjudge.baseline.index.protocol import Embeds
from trecjudge.baseline.retrieve.model_ranks import ModelRanks, PlannedRanks
from trecjudge.baseline.retrieve.protocol import Ranks
from trecjudge.baseline.retrieve.retriever import IndexRetriever, RetrieverSettings
from trecjudge.baseline.retrieve.threshold import Threshold, read_threshold, threshold_path
from trecjudge.errors import InputError
from trecjudge.models.model import Model
from trecjudge.models.opening import ModelOptions
from trecjudge.models.retrieval.vectors import open_ranker, open_vectors
from trecjudge.text.credentials import public


@dataclass(frozen=True, slots=True)
class Retrieving:
    """How passages are found; `where` names the index.

    `threshold` is the file of the least confidence of an answer; None for the one beside the index,
    if it is there. `embeddings` and `rerank` are settings of their endpoints. A plan reranks by the
    grades that are cached, and asks no endpoint. `with_line` is whether a threshold counts.
    """

    where: str
    settings: RetrieverSettings
    options: ModelOptions
    warn: Callable[[str], None]
    rerank_by: Literal["model", "endpoint"] = "model"
    threshold: Path | None = None
    embeddings: Mapping[str, Any] = field(default_factory=dict)
    rerank: Mapping[str, Any] = field(default_factory=dict)
    with_line: bool = True

    @asynccontextmanager
    async def opened(self, index: Index, model: Model) -> AsyncIterator[IndexRetriever]:
        """Yield the retriever. Raises InputError for what the index or the settings lack."""
        not_asked = self.options.plan and self.rerank_by == "endpoint"
        settings = replace(self.settings, rerank=0) if not_asked else self.settings
        async with AsyncExitStack() as stack:
            embeds = await self._embeds(index, stack)
            ranks = await self._ranks(model, stack) if settings.rerank else None
            found = IndexRetriever(index, settings, embeds, ranks)
            yield replace(found, threshold=self._line(found)) if self.with_line else found

    async def _embeds(self, index: Index, stack: AsyncExitStack) -> Embeds | None:
        """Return what makes vectors of questions; only a search by words can do without."""
        held, by_words = index.facts.vectors, self.settings.method == "bm25"
        if held is None:
            return None
        if held.name == WORDLLAMA:
            try:
                return embeds_for(None, held)
            except InputError as error:
                if not by_words:
                    raise
                self.warn(f"the confidence is by words: {error}")
                return None
        if not self.options.use or (self.options.plan and by_words):
            return None
        opened = open_vectors(self.options, self.embeddings, self.warn)
        vectors = await stack.enter_async_context(opened)
        return await EndpointEmbeds.of(vectors)

    async def _ranks(self, model: Model, stack: AsyncExitStack) -> Ranks:
        if self.rerank_by == "endpoint":
            opened = open_ranker(self.options, self.rerank, self.warn)
            return await stack.enter_async_context(opened)
        if not model.available:
            raise InputError("--rerank needs a model: add --use-env-llm")
        return PlannedRanks(ModelRanks(model)) if self.options.plan else ModelRanks(model)

    def _line(self, retriever: IndexRetriever) -> Threshold | None:
        """Return the threshold that holds here. Raises InputError if the one named does not."""
        path = self.threshold
        if path is None and not is_address(self.where):
            beside = threshold_path(self.where)
            path = beside if beside.exists() else None
        if path is None:
            return None
        line = read_threshold(path)
        try:
            line.check(retriever.confidence_by, name_of(self.where))
        except InputError as error:
            if self.threshold is not None:
                raise
            self.warn(str(error))
            return None
        if line.index_version != retriever.index.facts.version:
            self.warn("the index has changed since its threshold was calibrated")
        return line


def name_of(where: str) -> str:
    """Return the name of an index without its folder, its server or a password."""
    return public(where).rstrip("/").rpartition("/")[2].partition("?")[0]
