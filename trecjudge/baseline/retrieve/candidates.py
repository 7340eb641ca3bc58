"""Chunks on their way to be passages, each with the scores that it was given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from trecjudge.baseline.records import Chunk, Passage


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk with its score so far, and the parts of it by name."""

    chunk: Chunk
    score: float
    parts: dict[str, float]

    def scored(self, score: float, **parts: float) -> Candidate:
        """Return it with another score, and further parts."""
        return replace(self, score=score, parts=self.parts | parts)


def ordered(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return candidates by score, the best first; of equal ones by document and place in it."""
    return sorted(candidates, key=lambda c: (-c.score, c.chunk.doc_id, c.chunk.start))


def one_per_document(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the first candidate of each document, in the order given."""
    first: dict[str, Candidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.chunk.doc_id, candidate)
    return list(first.values())


def passages_of(candidates: Sequence[Candidate]) -> tuple[Passage, ...]:
    """Return candidates as passages, ranked as they stand."""
    return tuple(Passage(c.chunk, c.score, n, c.parts) for n, c in enumerate(candidates, 1))
