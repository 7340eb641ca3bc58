"""The first passages put in another order, by what reads them."""

from __future__ import annotations

from collections.abc import Sequence

from trecjudge.baseline.retrieve.candidates import Candidate
from trecjudge.baseline.retrieve.protocol import Ranks


async def reranked(
    candidates: Sequence[Candidate], question: str, ranks: Ranks, first: int
) -> list[Candidate]:
    """Return candidates with the first `first` in the order of their new scores, the rest after.

    Of equal new scores the order stays. The rest keep their order, with scores below the others.
    """
    head, rest = candidates[:first], candidates[first:]
    if not head:
        return []
    scores = await ranks.scores(question, [candidate.chunk.text for candidate in head])
    given = [c.scored(float(s), rerank=float(s)) for c, s in zip(head, scores, strict=True)]
    given.sort(key=lambda candidate: -candidate.score)
    lowest = given[-1].score
    return [*given, *(c.scored(lowest - 1 / (1 + max(c.score, 0.0))) for c in rest)]
