"""Similarity of passages: the cosine of their TF-IDF vectors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from trecjudge.judging.offline.wording import SHIPPED
from trecjudge.text.tokens import tokenize

Weighed = tuple[str, float]
"""The form of a token and its idf weight, 0 to 1."""
Vector = Mapping[str, float]
"""Weight of each form of a text, in the order of first occurrence; of length 1, or empty."""

_LONGEST_REMEMBERED = 32
_DECIMALS = 12
"""Sums in another order differ in later ones: the order of documents must not count."""


def weighed_forms(text: str) -> list[Weighed]:
    """Return the tokens of a text in their order, weighed by the shipped table.

    No token goes over white space, and most words come again: each is looked up once.
    """
    return [
        form
        for word in text.split()
        for form in (_remembered(word) if len(word) <= _LONGEST_REMEMBERED else _weigh_words(word))
    ]


def _weigh_words(word: str) -> tuple[Weighed, ...]:
    return tuple(
        (token.form, SHIPPED.weight(token.form, word[token.start : token.end]))
        for token in tokenize(word)
    )


_remembered = lru_cache(maxsize=1 << 15)(_weigh_words)


def vector_of(forms: Iterable[Weighed]) -> Vector:
    """Return the TF-IDF vector of a text's tokens, tf x idf over its length; empty without any.

    Salton and Buckley, Information Processing & Management 1988. idf is from the shipped table
    only, so that no other text changes a vector. A form weighs what its first token does.
    """
    counts: dict[str, int] = {}
    weights: dict[str, float] = {}
    for form, weight in forms:
        counts[form] = counts.get(form, 0) + 1
        weights.setdefault(form, weight)
    raw = {form: count * weights[form] for form, count in counts.items()}
    length = math.sqrt(math.fsum(weight * weight for weight in raw.values()))
    return {form: weight / length for form, weight in raw.items()} if length else {}


def mean_cosine(vectors: Sequence[Vector]) -> float:
    """Return the mean cosine over all pairs of vectors, 0 to 1; 0 with fewer than two.

    The cosines of all ordered pairs add up to |sum of the vectors|^2 less the |vector|^2, which are
    1 (or 0 of an empty one): so n vectors cost one pass, not n^2. Rounded to 12 decimals.
    """
    count = len(vectors)
    if count < 2:
        return 0.0
    sums: dict[str, float] = {}
    for vector in vectors:
        for form, weight in vector.items():
            sums[form] = sums.get(form, 0.0) + weight
    with_words = sum(1 for vector in vectors if vector)
    # Exact sums, so that the order of documents does not matter; the n cosines with itself go out.
    pairs = math.fsum(total * total for total in sums.values()) - with_words
    return min(1.0, max(0.0, round(pairs / (count * (count - 1)), _DECIMALS)))
