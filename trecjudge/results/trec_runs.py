"""Ranked documents as a TREC run file, `topic Q0 doc rank score tag`, for every retrieval tool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trecjudge.results.trec import encode

FINE, COARSE = 6, 4
"""Decimals of a score, for scores up to `MOST_FINE` and for larger ones."""
MOST_FINE = 8.0


def run_lines(topic_id: str, ranked: Sequence[tuple[str, float]], tag: str) -> Iterator[str]:
    """Yield a line for each (document, score) of a topic, the best first; ranks count from 1.

    trec_eval sorts by the score and not by the rank, and orders ties by the id. So each score is
    written below the one before it, by the last decimal at least; and with no more decimals than a
    float of 32 bits keeps, as which trec_eval reads it.
    """
    largest = max((abs(score) for _, score in ranked), default=0.0)
    digits = FINE if largest <= MOST_FINE else COARSE
    topic, name = encode(topic_id), encode(tag)
    last: int | None = None
    for rank, (doc_id, score) in enumerate(ranked, 1):
        units = round(score * 10**digits)
        last = units if last is None else min(units, last - 1)
        yield f"{topic} Q0 {encode(doc_id)} {rank} {last / 10**digits:.{digits}f} {name}\n"
