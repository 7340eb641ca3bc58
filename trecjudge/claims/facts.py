"""The facts of a document: what it states, by rules, and whether a response states it too."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from trecjudge.claims.offline import LexicalDetector
from trecjudge.claims.search import Library
from trecjudge.records import Document, Fact, Response
from trecjudge.text.sentences import sentence_spans
from trecjudge.text.statements import bare, no_claim


@lru_cache(maxsize=1024)
def facts_of(text: str) -> tuple[Fact, ...]:
    """Return the facts of a text, to its end: its sentences that claim something."""
    return tuple(_facts(text))


def _facts(text: str) -> Iterator[Fact]:
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        if no_claim(sentence) is None:
            yield Fact(bare(sentence), start, end)


def facts_found(document: Document, response: Response, detector: LexicalDetector) -> list[Fact]:
    """Return the facts of a document, each with whether the response states it."""
    said = Library([Document("", response.text)]) if response.text.strip() else Library([])
    return [
        Fact(fact.text, fact.start, fact.end, _states(said, fact.text, detector))
        for fact in facts_of(document.full_text)
    ]


def _states(said: Library, fact: str, detector: LexicalDetector) -> bool:
    return any(detector.holds(fact, passage) for passage in said.best(fact))
