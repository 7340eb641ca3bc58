"""Answers without a model: the sentences of the passages that cover the question best."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from trecjudge.baseline.generate.limits import Limits
from trecjudge.baseline.generate.quotable import Quotable, quotable
from trecjudge.baseline.generate.records import AnswerSentence, Support
from trecjudge.baseline.records import Passage
from trecjudge.baseline.retrieve.questions import terms_of
from trecjudge.text.frequencies import Frequencies, read_frequencies
from trecjudge.text.tokens import read_forms

AGAIN = 0.5
"""What a word of the question is still worth each time that it was covered before."""
SAME = 0.7
"""The share of the shorter one's words from which on two sentences say the same."""
LEAST = 0.02
"""A sentence must bring this share of what the first one brought."""
TRUST = 20
"""The rank at which a passage counts about half of the first."""


@dataclass(slots=True)
class _Choice:
    """A sentence that may be taken, and how far the most similar one taken is like it, 0 to 1."""

    sentence: Quotable
    forms: frozenset[str]
    like: float = 0.0

    def gain(self, weights: Mapping[str, float], covered: Counter[str]) -> float:
        """Return what it adds: new weight of the question, less what repeats (MMR)."""
        new = sum(weights[form] * AGAIN ** covered[form] for form in self.forms & weights.keys())
        rank = self.sentence.passage.rank
        trust = TRUST / (TRUST - 1 + max(rank, 1))
        return new * trust * (1 - self.like) / math.sqrt(max(len(self.forms), 1))


def extracted(
    question: str, passages: Sequence[Passage], limits: Limits
) -> tuple[AnswerSentence, ...]:
    """Return whole sentences of the passages; none where no sentence has a word of the question.

    Each next one is that with the greatest gain: greedy weighted coverage with maximal marginal
    relevance (Carbonell and Goldstein, 1998). They stand by document, that of the first one first.
    """
    weights = weighted_terms(question)
    choices = [_Choice(s, s.forms) for s in quotable(passages)]
    taken = _taken([c for c in choices if c.forms & weights.keys()], weights, limits)
    return tuple(_answered(sentence, passages, limits) for sentence in _in_order(taken))


def weighted_terms(question: str) -> dict[str, float]:
    """Return how much each word of a question counts: its rarity, more where it is repeated."""
    frequencies, counts = _frequencies(), terms_of(question)
    written = dict(zip(*reversed(read_forms(question)), strict=True))
    return {
        # Words of the request ("I want to know") count less than one.
        form: frequencies.weight(form, written.get(form, form))
        * (1 + math.log(count) if count >= 1 else count)
        for form, count in counts.items()
    }


@cache
def _frequencies() -> Frequencies:
    return read_frequencies()


def _taken(choices: list[_Choice], weights: Mapping[str, float], limits: Limits) -> list[Quotable]:
    taken: list[Quotable] = []
    covered: Counter[str] = Counter()
    least = 0.0
    while choices:
        # Of equal ones the first counts: it stands in the better passage.
        best = max(choices, key=lambda choice: choice.gain(weights, covered))
        gain = best.gain(weights, covered)
        if gain <= least:
            break
        choices.remove(best)
        if not limits.fit([s.text for s in _in_order([*taken, best.sentence])]):
            continue  # a shorter one may fit
        least = least or LEAST * gain
        taken.append(best.sentence)
        covered.update(best.forms)
        choices = _unlike(choices, best)
    return taken


def _unlike(choices: Iterable[_Choice], taken: _Choice) -> list[_Choice]:
    """Return the choices that do not say the same as the one taken."""
    kept = []
    for choice in choices:
        shorter = min(len(choice.forms), len(taken.forms)) or 1
        choice.like = max(choice.like, len(choice.forms & taken.forms) / shorter)
        if choice.like < SAME:
            kept.append(choice)
    return kept


def _in_order(taken: Iterable[Quotable]) -> list[Quotable]:
    """Return sentences by document, that taken first before the others, and as they stand there."""
    by_document: dict[str, list[Quotable]] = {}
    for sentence in taken:
        by_document.setdefault(sentence.passage.chunk.doc_id, []).append(sentence)
    each = by_document.values()
    return [s for listed in each for s in sorted(listed, key=lambda s: s.start)]


def _answered(sentence: Quotable, passages: Sequence[Passage], limits: Limits) -> AnswerSentence:
    """Return a sentence with the documents that have it word for word, its own first."""
    support = {sentence.passage.chunk.doc_id: _support(sentence.passage, sentence.start, sentence)}
    for passage in passages:
        at = passage.chunk.text.find(sentence.quote)
        if at >= 0 and len(support) < limits.citations:
            found = _support(passage, passage.chunk.start + at, sentence)
            support.setdefault(passage.chunk.doc_id, found)
    return AnswerSentence(sentence.text, tuple(support.values()))


def _support(passage: Passage, start: int, sentence: Quotable) -> Support:
    return Support(passage, start, start + len(sentence.quote), sentence.quote)
