"""Vectors of an index from an endpoint, asked for through the same door as the model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from trecjudge.baseline.index.embedding import ENDPOINT, NAME, embeds_for
from trecjudge.baseline.index.protocol import Embeds, VectorModel
from trecjudge.models.opening import ModelOptions
from trecjudge.models.retrieval.vectors import EndpointVectors, open_vectors


@dataclass(frozen=True, slots=True)
class EndpointEmbeds:
    """Turns texts into vectors of length 1, by the model of an endpoint."""

    vectors: EndpointVectors
    model: VectorModel

    @classmethod
    async def of(cls, vectors: EndpointVectors) -> EndpointEmbeds:
        """Return it with its dimensions, for which the endpoint is asked once.

        Raises JudgmentFailed, ModelError.
        """
        dimensions = await vectors.dimensions()
        return cls(vectors, VectorModel(vectors.model, dimensions, vectors.digest))

    async def embed(self, texts: Sequence[str]) -> Any:
        """Return a float32 array (len(texts), dimensions). Raises JudgmentFailed, ModelError."""
        return await self.vectors.of(texts)


@asynccontextmanager
async def open_embeds(
    wanted: str | None,
    held: VectorModel | None,
    options: ModelOptions,
    given: Mapping[str, Any],
    notify: Callable[[str], None],
) -> AsyncIterator[Embeds | None]:
    """Yield what makes the vectors of an index: as asked for, else as the index has them.

    `given` are the settings of `embeddings:`. Raises InputError, ModelError, JudgmentFailed.
    """
    is_of_another = wanted is None and held is not None and held.name != NAME
    if wanted != ENDPOINT and not is_of_another:
        yield embeds_for(wanted, held)
        return
    async with open_vectors(options, given, notify) as vectors:
        yield await EndpointEmbeds.of(vectors)
