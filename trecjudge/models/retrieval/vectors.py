"""Vectors and scores of texts, as an endpoint gives them."""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from trecjudge.errors import ModelError
from trecjudge.files import default_folder
from trecjudge.models.cache.store import ReplyCache
from trecjudge.models.opening import ModelOptions
from trecjudge.models.retrieval.asking import (
    TextClient,
    TextPlanner,
    TextReplies,
    TextRequests,
    TextResults,
)
from trecjudge.models.retrieval.settings import (
    EmbeddingSettings,
    RerankSettings,
    TextSettings,
    text_settings,
    vector_of,
)
from trecjudge.models.spending import Spending

PROBE = "dimensions"
"""A text whose vector shows how many dimensions there are."""


@dataclass(frozen=True, slots=True)
class EndpointVectors:
    """Vectors of length 1 from an endpoint's `/v1/embeddings`."""

    texts: TextResults

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.texts.requests.settings.model

    @property
    def digest(self) -> str:
        """The sha256 of the endpoint's address, its model and the dimensions asked for."""
        settings = self.texts.requests.settings
        assert isinstance(settings, EmbeddingSettings)
        parts = [settings.url, settings.model, str(settings.dimensions or "")]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    async def dimensions(self) -> int:
        """Return how many numbers a vector has. Raises JudgmentFailed, ModelError."""
        if self.texts.dimensions is None:
            await self.texts.lines([PROBE])
        return self.texts.dimensions or 0

    async def of(self, texts: Sequence[str]) -> Any:
        """Return a float32 array (len(texts), dimensions): rows of length 1, zeros for blank texts.

        Raises JudgmentFailed, ModelError.
        """
        numpy = importlib.import_module("numpy")
        places = [place for place, text in enumerate(texts) if text.strip()]
        lines = await self.texts.lines([texts[place] for place in places])
        found = numpy.zeros((len(texts), await self.dimensions()), dtype=numpy.float32)
        for place, line in zip(places, lines, strict=True):
            found[place] = vector_of(line)
        return found

    def spent(self) -> dict[str, Any]:
        """Return calls, results from the cache, tokens and cost so far."""
        return self.texts.door.spent()


@dataclass(frozen=True, slots=True)
class EndpointRanker:
    """Scores of texts for a question, from an endpoint's `/rerank`."""

    texts: TextResults

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.texts.requests.settings.model

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return how well each text answers the question: the more, the better.

        Each is kept by question and text: the model must not weigh the texts against one another.
        Raises JudgmentFailed, ModelError.
        """
        return [float(line) for line in await self.texts.lines(texts, question)]

    def spent(self) -> dict[str, Any]:
        """Return calls, results from the cache, tokens and cost so far."""
        return self.texts.door.spent()


@asynccontextmanager
async def open_vectors(
    options: ModelOptions, given: Mapping[str, Any], notify: Callable[[str], None]
) -> AsyncIterator[EndpointVectors]:
    """Yield what gives vectors; `given` are the settings of `embeddings:`. Raises as `open_model`.

    It shares budget and cache with the chat model that the same options open.
    """
    async with _open_texts(EmbeddingSettings, options, given, notify) as texts:
        yield EndpointVectors(texts)


@asynccontextmanager
async def open_ranker(
    options: ModelOptions, given: Mapping[str, Any], notify: Callable[[str], None]
) -> AsyncIterator[EndpointRanker]:
    """Yield what gives scores; `given` are the settings of `rerank:`. Raises as `open_model`."""
    async with _open_texts(RerankSettings, options, given, notify) as texts:
        yield EndpointRanker(texts)


@asynccontextmanager
async def _open_texts(
    owner: type[TextSettings],
    options: ModelOptions,
    given: Mapping[str, Any],
    notify: Callable[[str], None],
) -> AsyncIterator[TextResults]:
    section = owner.service.section
    if not options.use:
        raise ModelError(f"{section} of an endpoint: add --use-env-llm, so that it may be asked")
    settings = text_settings(owner, given, os.environ, options.asks)
    prices = settings.pricing
    if options.command.budget.max_cost is not None and prices is None:
        raise ModelError(
            f"--max-cost: no prices are known for {settings.model!r}; set {section}.prices"
        )
    requests = TextRequests.of(settings)
    folder = options.cache_folder or default_folder()
    cache = ReplyCache(folder, notify, options.cache_from, writes=options.asks)
    try:
        asked = set() if options.plan else options.command.asked
        replies = TextReplies(requests, cache, options.refresh, asked)
        dimensions = getattr(settings, "dimensions", None)
        if options.plan:
            planner = TextPlanner(replies, prices, seen=options.command.asked)
            yield TextResults(replies, requests, planner, settings.batch_texts, dimensions, notify)
            return
        spending = Spending(options.command.budget, prices)
        options.command.spent.append(spending)
        async with TextClient(replies, spending, options.offline, notify) as client:
            yield TextResults(replies, requests, client, settings.batch_texts, dimensions, notify)
    finally:
        cache.close()
