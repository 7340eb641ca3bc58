"""The facts of a document: what it states, by rules, and whether a response states it too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from trecjudge.judging.claims.by_words import LexicalDetector
from trecjudge.judging.claims.search import Library
from trecjudge.judging.claims.statements import bare, no_claim
from trecjudge.records import Document, Evidence, Fact, Response
from trecjudge.text.sentences import sentence_spans


def facts_of(document: Document) -> tuple[Fact, ...]:
    """Return the facts of a document, to its end: its sentences that claim something."""
    return _facts(document.text, len(document.full_text) - len(document.text))


@lru_cache(maxsize=1024)
def _facts(text: str, offset: int) -> tuple[Fact, ...]:
    """Return the facts of a text that begins at `offset` of its document's full text."""
    return tuple(
        Fact(bare(text[start:end]), start + offset, end + offset)
        for start, end in sentence_spans(text)
        if no_claim(text[start:end]) is None
    )


def facts_found(
    document: Document,
    response: Response,
    detector: LexicalDetector,
    quoted: Sequence[Evidence] = (),
) -> list[Fact]:
    """Return the facts of a document, each with whether the response states it.

    `quoted` are passages of the document that a model gave as the source of what the response
    states: a fact of which they have at least half is stated. Others are looked for by `detector`.
    """
    stated = Library([Document("", response.text)]) if response.has_text else Library([])
    return [
        replace(fact, found=_is_quoted(fact, quoted) or detector.states(fact.text, stated))
        for fact in facts_of(document)
    ]


def _is_quoted(fact: Fact, quoted: Sequence[Evidence]) -> bool:
    """Return whether one of the passages has at least half of a fact."""
    shared = (min(fact.end, one.end) - max(fact.start, one.start) for one in quoted)
    return any(2 * common >= fact.end - fact.start for common in shared)
