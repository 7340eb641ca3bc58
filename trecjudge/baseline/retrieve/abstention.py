"""How likely the documents answer a question at all, and from when on an answer is tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trecjudge.baseline.index.protocol import Found, VectorModel

NEAREST = 20
"""Chunks whose mean cosine is the confidence."""
BY_WORDS = "top BM25 over idf"


@dataclass(frozen=True, slots=True)
class Threshold:
    """The least `confidence` of a question that is answered, calibrated on one index.

    `by` names what gave the confidence; it holds for no other. `index` is the index it was
    calibrated on, `index_version` what that held then.
    """

    least: float
    by: str
    index: str = ""
    index_version: str = ""
    questions: int = 0
    others: int = 0


def by_vectors(model: VectorModel) -> str:
    """Return the name of the confidence that a model's vectors give."""
    return f"mean cosine of {NEAREST}, {model.name} {model.digest[:12]}"


def cosine_confidence(near: Found) -> float:
    """Return the mean cosine of the nearest chunks, -1 to 1; 0 where there is none."""
    nearest = [score for _, score in near[:NEAREST]]
    return sum(nearest) / len(nearest) if nearest else 0.0


def word_confidence(words: Found, terms: Mapping[str, float], idf: Mapping[str, float]) -> float:
    """Return the top BM25 score over the idf of all terms, 0 to about 2; weak (AUC .86)."""
    mass = sum(weight * idf.get(term, 0.0) for term, weight in terms.items())
    return words[0][1] / mass if words and mass > 0 else 0.0
