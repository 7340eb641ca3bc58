"""Reranking that sees no personal data: it is masked before a model or an endpoint is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trecjudge.baseline.generate.masking import masked
from trecjudge.baseline.retrieve.protocol import Ranks
from trecjudge.baseline.retrieve.retriever import IndexRetriever


@dataclass(frozen=True, slots=True)
class MaskedRanks:
    """What `ranks` gives for texts without personal data of a known form."""

    ranks: Ranks

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the score of each text; see `Ranks.scores`."""
        hidden = [masked(text).text for text in texts]
        return await self.ranks.scores(masked(question).text, hidden)


def hiding(retriever: IndexRetriever) -> IndexRetriever:
    """Return a retriever whose reranking, if any, sees no personal data of a known form."""
    ranks = retriever.ranks
    return retriever if ranks is None else replace(retriever, ranks=MaskedRanks(ranks))
