"""An index made to hold documents: opened or made, refreshed, closed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from typing import Any

from trecjudge.baseline.chunking import ChunkSettings
from trecjudge.baseline.index.opening import make_index
from trecjudge.baseline.index.protocol import Changes, IndexFacts, IndexSource
from trecjudge.baseline.index.vectors import open_embeds
from trecjudge.models.opening import ModelOptions


async def build_index(
    where: str,
    chunking: ChunkSettings | None,
    sources: Iterable[IndexSource],
    vectors: str | None,
    options: ModelOptions,
    embeddings: Mapping[str, Any],
    warn: Callable[[str], None],
    remove_others: bool = True,
) -> tuple[Changes, IndexFacts]:
    """Make an index hold these documents; return what changed, and what the index says of itself.

    `vectors` None takes those that the index has; `embeddings` are settings of their endpoint.
    Raises InputError, ModelError, and JudgmentFailed where vectors are missing: the index then
    stays as it was.
    """
    with closing(make_index(where, chunking)) as held:
        opened = open_embeds(vectors, held.facts.vectors, options, embeddings, warn)
        async with opened as embeds:
            changes = await held.refresh(sources, embeds, remove_others)
        return changes, held.facts
