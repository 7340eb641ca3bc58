"""Several rankings made one."""

from __future__ import annotations

from collections.abc import Sequence

from trecjudge.baseline.retrieve.candidates import Candidate, ordered

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."""


def fused(*rankings: Sequence[Candidate], k: int = RRF_K) -> list[Candidate]:
    """Return the candidates of all rankings by the sum of 1 / (k + rank), the best first.

    A chunk that two rankings have keeps the parts of both. Ranks count from 1.
    """
    scores: dict[tuple[str, int, int], Candidate] = {}
    for ranking in rankings:
        for rank, candidate in enumerate(ranking, 1):
            chunk, gain = candidate.chunk, 1 / (k + rank)
            place = (chunk.doc_id, chunk.start, chunk.end)
            known = scores.get(place, candidate.scored(0.0))
            scores[place] = known.scored(known.score + gain, **candidate.parts)
    return ordered(scores.values())
