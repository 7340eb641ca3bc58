"""What the offline judge says of a search for sentences: of its misses, and of an order by it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from retrieval_data import Collection

from trecjudge.baseline.index.index import Index
from trecjudge.baseline.records import RetrievedPassage
from trecjudge.baseline.terms import terms_of
from trecjudge.judging.offline.features import find
from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import compare
from trecjudge.judging.offline.wording import read_wording
from trecjudge.records import FULL
from trecjudge.stats.paired import sign_flip

HITS_WITHIN = 3
FEWEST_WORDS = 8
"""Shorter evidence may stand in another document by chance."""
Order = Sequence[str]
"""Documents, the best first."""
_prepared = cache(prepare)


def is_hit(order: Order, right: Mapping[str, int]) -> bool:
    """Return whether a right document is among the first three."""
    return any(doc_id in right for doc_id in order[:HITS_WITHIN])


@dataclass(frozen=True, slots=True)
class Misses:
    """How many of the questions missed, and what the first three documents of these have.

    `same_words`: the right document's evidence, as the judge finds it, word for word. `full`: full
    support, by the judge. `either` counts both.
    """

    questions: int
    missed: int
    same_words: int
    full: int
    either: int

    def __str__(self) -> str:
        hits = self.questions - self.missed
        return (
            f"hit@3 {hits / self.questions:.4f}; of {self.missed} misses {self.same_words} have the"
            f" same evidence word for word, {self.full} full support by the judge; hit@3 with the"
            f" first {(hits + self.same_words) / self.questions:.4f}, with either"
            f" {(hits + self.either) / self.questions:.4f}"
        )


def misses_of(orders: Mapping[str, Order], given: Collection) -> Misses:
    """Return what the misses of these sentences are."""
    texts = {document.doc_id: document.text for document in given.documents}
    words = cache(lambda doc_id: _words(texts[doc_id]))
    same, full = set(), set()
    missed = [q for q in orders if not is_hit(orders[q], given.sentences.grades[q])]
    for query in missed:
        sentence, first = given.sentences.texts[query], orders[query][:HITS_WITHIN]
        found = {i: compare(sentence, _prepared(texts[i])).label for i in first}
        if FULL in found.values():
            full.add(query)
        for doc_id in given.sentences.grades[query]:
            right = compare(sentence, _prepared(texts[doc_id]))
            evidence = _words(texts[doc_id][right.start : right.end])
            is_long = len(evidence.split()) >= FEWEST_WORDS
            if is_long and any(evidence in words(i) for i in first):
                same.add(query)
    return Misses(len(orders), len(missed), len(same), len(full), len(same | full))


def _words(text: str) -> str:
    words = " ".join(re.findall(r"\w+", text.lower()))
    return f" {words} "


@dataclass(frozen=True, slots=True)
class Measured:
    """A passage with its score; `share` of the question's idf in one place, numbers it lacks."""

    doc_id: str
    score: float
    share: float
    lacking: float


def measured(question: str, passages: Sequence[RetrievedPassage], index: Index) -> list[Measured]:
    """Return passages as the judge measures them; the share is on the scale of BM25."""
    terms = terms_of(question)
    idf = index.idf(terms)
    mass = sum(weight * idf[term] for term, weight in terms.items())
    wording = read_wording(question)
    rows = []
    for passage in passages:
        found = find(wording, _prepared(passage.chunk.text))
        share, lacking = mass * found.in_passage, found.features.numbers_missing
        rows.append(Measured(passage.chunk.doc_id, passage.score, share, lacking))
    return rows


def ordered_by(rows: Sequence[Measured], share: float, number: float) -> Order:
    """Return the documents by score plus `share` of what is there, less `number` each lacking."""
    best = sorted(rows, key=lambda m: -(m.score + share * m.share - number * m.lacking))
    return [row.doc_id for row in best]


def change(
    before: Mapping[str, Order], after: Mapping[str, Order], given: Collection
) -> tuple[int, int, float]:
    """Return hits won and lost, and the p of a test by sign flips of whole topics."""
    of_topic: dict[str, list[int]] = defaultdict(list)
    for query, order in before.items():
        right = given.sentences.grades[query]
        gain = is_hit(after[query], right) - is_hit(order, right)
        of_topic[given.topic_of[query]].append(gain)
    gains = [gain for row in of_topic.values() for gain in row]
    (p,) = sign_flip(np.array([[float(sum(row)) for row in of_topic.values()]]))
    return gains.count(1), gains.count(-1), float(p)
