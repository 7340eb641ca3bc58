"""How likely the documents answer a question at all, and where to draw the line."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from trecjudge.baseline.index.protocol import Hits, VectorModel

NEAREST = 20
"""Chunks whose mean cosine is the confidence."""
BY_WORDS = "top BM25 over idf"


def by_vectors(model: VectorModel) -> str:
    """Return the name of the confidence that a model's vectors give."""
    return f"mean cosine of {NEAREST}, {model.name} {model.digest[:12]}"


def cosine_confidence(near: Hits) -> float:
    """Return the mean cosine of the nearest chunks, -1 to 1; 0 where there is none."""
    return sum(score for _, score in near) / len(near) if near else 0.0


def word_confidence(words: Hits, terms: Mapping[str, float], idf: Mapping[str, float]) -> float:
    """Return the top BM25 score over the idf of all terms, 0 to 1 or so: a weak sign."""
    mass = sum(weight * idf.get(term, 0.0) for term, weight in terms.items())
    return words[0][1] / mass if words and mass > 0 else 0.0


def threshold_for(answerable: Sequence[float], others: Sequence[float] = ()) -> float:
    """Return the least confidence of a question to answer, from confidences of known ones.

    With only answerable ones that is their lowest. With others that the documents do not answer it
    is where answerable ones kept and others refused, as shares, are together the most; of several
    such the lowest. Raises ValueError without an answerable one.
    """
    if not answerable:
        raise ValueError("no answerable question")
    if not others:
        return min(answerable)
    known, wrong = sorted(answerable), sorted(others)

    def gain(least: float) -> float:
        kept = 1 - bisect_left(known, least) / len(known)
        return kept + bisect_left(wrong, least) / len(wrong)

    return max(known, key=lambda least: (round(gain(least), 9), -least))


def separation(answerable: Sequence[float], others: Sequence[float]) -> float:
    """Return how often an answerable question has more confidence than another: the AUC, 0 to 1.

    A tie counts half. Raises ValueError if one of the two has none.
    """
    if not answerable or not others:
        raise ValueError("both kinds of questions are needed")
    wrong = sorted(others)
    below = sum(bisect_left(wrong, one) + bisect_right(wrong, one) for one in answerable)
    return below / (2 * len(answerable) * len(wrong))
