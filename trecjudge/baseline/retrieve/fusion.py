"""Several rankings made one, and scores that raise or reorder them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."""


def fused(rankings: Iterable[Sequence[int]], k: int = RRF_K) -> dict[int, float]:
    """Return the sum over rankings of 1 / (k + rank), for each number that one of them has."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, number in enumerate(ranking, 1):
            scores[number] = scores.get(number, 0.0) + 1 / (k + rank)
    return scores
