"""Candidates in order: words close together, several rankings fused, newer documents raised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from itertools import pairwise

from trecjudge.baseline.index.filters import first_day
from trecjudge.baseline.records import Chunk, RetrievedPassage
from trecjudge.baseline.terms import terms as analysed
from trecjudge.text.sentences import split_sentences


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A chunk with its score so far, and the parts of it by name."""

    chunk: Chunk
    score: float
    parts: dict[str, float]

    def with_score(self, score: float, **parts: float) -> ScoredChunk:
        """Return it with another score, and further parts."""
        return replace(self, score=score, parts=self.parts | parts)


def order_by_score(candidates: Iterable[ScoredChunk]) -> list[ScoredChunk]:
    """Return candidates by score, the best first; of equal ones by document and place in it."""
    return sorted(candidates, key=lambda c: (-c.score, c.chunk.doc_id, c.chunk.start))


def one_per_document(candidates: Iterable[ScoredChunk]) -> list[ScoredChunk]:
    """Return the first candidate of each document, in the order given."""
    first: dict[str, ScoredChunk] = {}
    for candidate in candidates:
        first.setdefault(candidate.chunk.doc_id, candidate)
    return list(first.values())


def passages_of(candidates: Sequence[ScoredChunk]) -> tuple[RetrievedPassage, ...]:
    """Return candidates as passages, ranked as they stand."""
    return tuple(
        RetrievedPassage(c.chunk, c.score, n, c.parts) for n, c in enumerate(candidates, 1)
    )


RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."""


def fuse_rankings(*rankings: Sequence[ScoredChunk], k: int = RRF_K) -> list[ScoredChunk]:
    """Return the candidates of all rankings by the sum of 1 / (k + rank), the best first.

    A chunk that two rankings have keeps the parts of both. Ranks count from 1.
    """
    scores: dict[tuple[str, int, int], ScoredChunk] = {}
    for ranking in rankings:
        for rank, candidate in enumerate(ranking, 1):
            chunk, gain = candidate.chunk, 1 / (k + rank)
            place = (chunk.doc_id, chunk.start, chunk.end)
            known = scores.get(place, candidate.with_score(0.0))
            scores[place] = known.with_score(known.score + gain, **candidate.parts)
    return order_by_score(scores.values())


def day_of(written: str) -> date | None:
    """Return the day of a date in any shape that an index reads, None for no date."""
    day = first_day(written)
    return date.fromisoformat(day[:10]) if day else None


def raise_recent(candidates: Iterable[ScoredChunk], half_life: float) -> list[ScoredChunk]:
    """Return candidates with scores raised by a factor of 1 to 2, the best first.

    The factor is 1 + 2^(-age / half_life), with the age in days before the newest of them: 2 for
    the newest, 1.5 after a half-life. A document without a date keeps its score. So the same
    question gives the same order tomorrow. A date still to come, which may be a slip of the pen,
    counts as the newest, and takes nothing from the others.
    """
    given = [(candidate, day_of(candidate.chunk.document.date)) for candidate in candidates]
    newest = _newest([day for _, day in given if day])
    raised = []
    for candidate, day in given:
        if day and newest:
            factor = 1 + 2 ** (-max((newest - day).days, 0) / half_life)
            candidate = candidate.with_score(candidate.score * factor, recency=factor)
        raised.append(candidate)
    return order_by_score(raised)


def _newest(days: Sequence[date]) -> date | None:
    """Return the newest day that was; where all are still to come, the last; None without any."""
    today = datetime.now(UTC).date()
    return max((day for day in days if day <= today), default=max(days, default=None))


K1, B = 0.9, 0.4
"""How repetition and length count in a window."""
# BM25 counts words wherever they stand in a chunk. Two scores tell more, on its scale: the best
# two sentences in a row, and the neighbours of the question that are neighbours in the chunk too
# (the ordered pairs of Metzler and Croft, SIGIR 2005).
WINDOW_WORDS = 44.0
"""The usual length of two sentences, in words."""
WINDOW_WEIGHT, PAIRS_WEIGHT = 0.5, 0.25
"""How much either counts beside BM25: chosen on one half of the queries, and as good on the other
(`tests/benchmarks/bench_retrieval.py`)."""

FIRST = 50
"""Candidates that are looked at: with 100 the same is found, in nearly twice the time."""

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class WeightedQuestion:
    """The terms of a question, each with its weight times idf, and its pairs with theirs."""

    terms: Mapping[str, float]
    pairs: Mapping[Pair, float]


def weigh_question(
    question: str,
    terms: Mapping[str, float],
    idf: Callable[[Iterable[str]], Mapping[str, float]],
) -> WeightedQuestion:
    """Return the wording of a question whose terms are known."""
    forms = analysed(question)
    rare = idf({*forms, *terms})
    weighed = {term: weight * rare.get(term, 0.0) for term, weight in terms.items()}
    pairs = {pair for pair in pairwise(forms) if pair[0] in terms or pair[1] in terms}
    return WeightedQuestion(
        weighed, {pair: sum(rare.get(form, 0.0) for form in pair) for pair in pairs}
    )


def add_closeness(
    candidates: Sequence[ScoredChunk], wording: WeightedQuestion
) -> list[ScoredChunk]:
    """Return candidates, the best first, with the scores of window and pairs added.

    Only the first `FIRST` are looked at: what is added is never below 0, so that they can only rise
    above the others.
    """
    closer = [_closer(candidate, wording) for candidate in candidates[:FIRST]]
    return order_by_score([*closer, *candidates[FIRST:]])


def _closer(candidate: ScoredChunk, wording: WeightedQuestion) -> ScoredChunk:
    sentences = [analysed(sentence) for sentence in split_sentences(candidate.chunk.text)]
    window = WINDOW_WEIGHT * best_window(sentences, wording.terms)
    pairs = PAIRS_WEIGHT * weigh_pairs(sentences, wording.pairs)
    return candidate.with_score(candidate.score + window + pairs, window=window, pairs=pairs)


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


def weigh_pairs(sentences: Iterable[Sequence[str]], pairs: Mapping[Pair, float]) -> float:
    """Return the sum over the pairs that stand in one of the sentences."""
    there = {pair for sentence in sentences for pair in pairwise(sentence) if pair in pairs}
    return sum(pairs[pair] for pair in sorted(there))
