"""What a retriever offers to those who answer questions, and what it takes to rerank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from trecjudge.baseline.index.protocol import Only
from trecjudge.baseline.records import Retrieved


class Retriever(Protocol):
    """Finds passages for a question in an index, by one method and its settings."""

    async def retrieve(self, question: str, most: int, only: Only | None = None) -> Retrieved:
        """Return at most `most` passages, the best first."""


class Ranks(Protocol):
    """Scores texts for a question, to rerank them: a model, or an endpoint's `/rerank`."""

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a score for each text, in this order; higher is better.

        Raises JudgmentFailed for this question, ModelError for all.
        """
