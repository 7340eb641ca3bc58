"""Verdicts on claims: attributed, unattributed, contradicted or ambiguous, with their sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from trecjudge.judging.claims.search import Passage, source_of
from trecjudge.records import NOTHING_SPENT, Evidence, Source, Usage
from trecjudge.text.quotes import find_quote_span

ATTRIBUTED: Final = "ATTRIBUTED"
UNATTRIBUTED: Final = "UNATTRIBUTED"
CONTRADICTED: Final = "CONTRADICTED"
AMBIGUOUS: Final = "AMBIGUOUS"
Label = Literal["ATTRIBUTED", "UNATTRIBUTED", "CONTRADICTED", "AMBIGUOUS"]

EXACT: Final = "EXACT"
PARAPHRASE: Final = "PARAPHRASE"
INFERENCE: Final = "INFERENCE"
NEAREST = 3
"""Passages listed as sources of a claim that none of them holds."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision on a claim, why, and the passages behind it, the most important first.

    `expected` is the weight (1 full, 0.5 partial, 0 none) to be expected of a person, where the
    detector has calibrated probabilities.
    """

    label: Label
    reason: str
    detector: str
    sources: tuple[Source, ...] = ()
    match: str = ""
    usage: Usage = NOTHING_SPENT
    expected: float | None = None


def sources_of(passages: Sequence[Passage]) -> tuple[Source, ...]:
    """Return the passages with what is known of their documents."""
    return tuple(passage.source for passage in passages)


def match_of(claim: str, sources: Sequence[Source]) -> str:
    """Return how a claim follows: word for word, from one passage, or from several documents."""
    bare = claim.rstrip(" .!。！")
    if any(find_quote_span(source.excerpt, bare) for source in sources):
        return EXACT
    return INFERENCE if len({source.doc_id for source in sources}) > 1 else PARAPHRASE


def locate_quote(quote: str, passages: Sequence[Passage]) -> Source | None:
    """Return where a quote stands: in the passages, else anywhere in their documents."""
    documents = {p.document.doc_id: p.document for p in passages}
    for passage in passages:
        if span := find_quote_span(passage.text, quote):
            start, end = passage.start + span[0], passage.start + span[1]
            text = passage.document.full_text
            evidence = Evidence(start, end, text[start:end])
            return source_of(passage.document, evidence, round(passage.likeness, 4))
    for document in documents.values():
        if span := find_quote_span(document.full_text, quote):
            return source_of(document, Evidence(*span, document.full_text[slice(*span)]))
    return None
