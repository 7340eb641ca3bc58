"""Vectors of an index from an endpoint, asked for through the same door as the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trecjudge.baseline.index.protocol import VectorModel
from trecjudge.models.retrieval.vectors import EndpointVectors


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
