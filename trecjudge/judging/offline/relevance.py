"""Relevance of a text to a topic, and likeness of passages, by weighted words."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from trecjudge.judging.offline.wording import SHIPPED, Term, read_wording
from trecjudge.text.tokens import tokenize

# Similarity of passages: the cosine of their TF-IDF vectors.
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


# Relevance of a text to a topic: BM25-style coverage of the topic's terms, in grades 0 to 3.
Unit = Literal["response", "sentence", "document"]
Parts = tuple[tuple[str, str], ...]
"""The parts of a topic: (`title`, `problem_statement`, `background` or `body`; its text)."""

SHARES: Mapping[str, float] = {
    "title": 4.0,
    "problem_statement": 3.0,
    "background": 1.0,
    "body": 2.0,
}
"""Weights of the parts of a topic, whichever of them it has: fixed beforehand, not fitted."""

_MOST_TERMS = 40
_MOST_MISSING = 5
_K1 = 0.9
_B = 0.4
_LONG = 250.0
"""BM25's k1 and b (Robertson et al., 1994; values of Anserini), and the length it holds normal."""

_FILE = Path(__file__).with_name("relevance.json")


@dataclass(frozen=True, slots=True)
class Relevance:
    """Coverage of a topic by a text: `score` is 0 to 1, `grade` cuts it, 0 to 3.

    `missing` are the heaviest terms of the topic that the text lacks, as written, at most five.
    """

    score: float
    grade: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TopicTerms:
    """A topic's terms by form: the weights sum to 1; `written` is each as the topic has it."""

    weights: Mapping[str, float]
    written: Mapping[str, str]


def relevance(topic: Parts, text: str, unit: Unit) -> Relevance:
    """Return how far `text` covers the topic; the same pair always gives the same.

    score = sum over the topic's terms t of w(t) * s(tf(t)), where w is the idf weight, normalised
    within each part of the topic and then over the parts by `SHARES`, and
    s(tf) = tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / 250)), at most 1. The cuts are those of
    `relevance.json` for the unit.
    """
    wanted = wanted_terms(topic)
    score, missing = coverage(wanted, text)
    return Relevance(score, sum(score >= cut for cut in read_cuts()[unit]), missing)


def coverage(wanted: TopicTerms, text: str) -> tuple[float, tuple[str, ...]]:
    """Return (score, the heaviest missing terms)."""
    counts, length = _counts(text)
    norm = _K1 * (1 - _B + _B * length / _LONG)
    score, absent = 0.0, []
    for form, weight in wanted.weights.items():
        if count := counts.get(form):
            score += weight * min(1.0, count * (_K1 + 1) / (count + norm))
        else:
            absent.append((-weight, wanted.written[form]))
    return min(1.0, score), tuple(word for _, word in sorted(absent)[:_MOST_MISSING])


@lru_cache(maxsize=256)
def wanted_terms(topic: Parts) -> TopicTerms:
    """Return the terms of a topic: of each part its 40 heaviest, so that no part drowns another."""
    weights: dict[str, float] = {}
    written: dict[str, str] = {}
    parts = [(SHARES[name], text, terms) for name, text in topic if (terms := _heaviest(text))]
    whole = sum(share for share, _, _ in parts)
    for share, text, terms in parts:
        total = sum(weight for _, weight in terms)
        for term, weight in terms:
            added = share / whole * weight / total
            weights[term.form] = weights.get(term.form, 0.0) + added
            written.setdefault(term.form, text[term.start : term.end])
    return TopicTerms(weights, written)


def _heaviest(text: str) -> list[tuple[Term, float]]:
    """Return the content terms of a text that weigh most: idf * (1 + occurrences beyond k1)."""
    terms = [term for term in read_wording(text).terms if term.content]
    counts, _ = _counts(text)
    weighted = [
        (term, term.weight * counts[term.form] * (_K1 + 1) / (counts[term.form] + _K1))
        for term in terms
        if counts.get(term.form)
    ]
    return sorted(weighted, key=lambda pair: -pair[1])[:_MOST_TERMS]


@lru_cache(maxsize=512)
def _counts(text: str) -> tuple[Mapping[str, int], int]:
    """Return how often each form occurs, and how many tokens there are."""
    forms = Counter(token.form for token in tokenize(text))
    return forms, forms.total()


@lru_cache(maxsize=1)
def read_cuts() -> Mapping[str, tuple[float, float, float]]:
    """Return the scores from which on a unit has grade 1, 2, 3; how they were set is in the file.

    Raises KeyError if the file has no "how".
    """
    content = json.loads(_FILE.read_text(encoding="utf-8"))
    del content["how"]
    return {unit: tuple(cuts) for unit, cuts in content.items()}
