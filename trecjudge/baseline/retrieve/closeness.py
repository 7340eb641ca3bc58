"""How close together a chunk has the words of a question: scores on top of BM25.

BM25 counts words wherever they stand in a chunk. Two scores tell more, on its scale: the best two
sentences in a row, and the neighbours of the question that are neighbours in the chunk too (the
ordered pairs of Metzler and Croft, SIGIR 2005).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trecjudge.baseline.index.terms import terms as analysed
from trecjudge.baseline.retrieve.candidates import Candidate, ordered
from trecjudge.text.sentences import split_sentences

K1, B = 0.9, 0.4
"""How repetition and length count in a window."""
WINDOW_WORDS = 44.0
"""The usual length of two sentences, in words."""
WINDOW_WEIGHT, PAIRS_WEIGHT = 0.5, 0.25
"""How much either counts beside BM25: chosen on one half of the queries, and as good on the other
(`tests/benchmarks/bench_retrieval.py`)."""

FIRST = 50
"""Candidates that are looked at: with 100 the same is found, in nearly twice the time."""

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Wording:
    """The terms of a question, each with its weight times idf, and its pairs with theirs."""

    terms: Mapping[str, float]
    pairs: Mapping[Pair, float]


def wording_of(
    question: str,
    terms: Mapping[str, float],
    idf: Callable[[Iterable[str]], Mapping[str, float]],
) -> Wording:
    """Return the wording of a question whose terms are known."""
    forms = analysed(question)
    rare = idf({*forms, *terms})
    weighed = {term: weight * rare.get(term, 0.0) for term, weight in terms.items()}
    pairs = {pair for pair in pairwise(forms) if pair[0] in terms or pair[1] in terms}
    return Wording(weighed, {pair: sum(rare.get(form, 0.0) for form in pair) for pair in pairs})


def by_closeness(candidates: Sequence[Candidate], wording: Wording) -> list[Candidate]:
    """Return candidates, the best first, with the scores of window and pairs added.

    Only the first `FIRST` are looked at: what is added is never below 0, so that they can only rise
    above the others.
    """
    closer = [_closer(candidate, wording) for candidate in candidates[:FIRST]]
    return ordered([*closer, *candidates[FIRST:]])


def _closer(candidate: Candidate, wording: Wording) -> Candidate:
    sentences = [analysed(sentence) for sentence in split_sentences(candidate.chunk.text)]
    window = WINDOW_WEIGHT * best_window(sentences, wording.terms)
    pairs = PAIRS_WEIGHT * pairs_there(sentences, wording.pairs)
    return candidate.scored(candidate.score + window + pairs, window=window, pairs=pairs)


def best_window(sentences: Sequence[Sequence[str]], terms: Mapping[str, float]) -> float:
    """Return the highest BM25 score of two sentences in a row, 0 where no term is there."""
    counts = [Counter(form for form in sentence if form in terms) for sentence in sentences]
    lengths = [len(sentence) for sentence in sentences]
    # The last sentence has none after it; of no sentence there is no window.
    windows = zip(counts, [*counts[1:], Counter()], lengths, [*lengths[1:], 0], strict=False)
    return max((_score(a + b, m + n, terms) for a, b, m, n in windows if a or b), default=0.0)


def _score(counts: Mapping[str, int], length: int, terms: Mapping[str, float]) -> float:
    norm = K1 * (1 - B + B * length / WINDOW_WORDS)
    return sum(terms[term] * count / (count + norm) for term, count in counts.items())


def pairs_there(sentences: Iterable[Sequence[str]], pairs: Mapping[Pair, float]) -> float:
    """Return the sum over the pairs that stand in one of the sentences."""
    there = {pair for sentence in sentences for pair in pairwise(sentence) if pair in pairs}
    return sum(pairs[pair] for pair in sorted(there))
