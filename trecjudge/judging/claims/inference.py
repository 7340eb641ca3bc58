"""Inference: two passages of two documents that only together hold a claim."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from trecjudge.judging.claims.search import Passage
from trecjudge.judging.offline.wording import wording_of

# Two documents make an inference only where each adds something, and they hang together.
_INFERENCE_FROM = 0.85
_EACH_ADDS = 0.2
_MOST_COMBINED = 6


def infer_from_two(claim: str, passages: Sequence[Passage]) -> tuple[Passage, Passage] | None:
    """Return two passages of two documents that together hold a claim, and hang together.

    Each has a part that the other lacks; they share a name or a rare word that is no part of the
    claim, by which the one leads to the other.
    """
    terms = {term.form: term for term in wording_of(claim).terms}
    total = sum(term.weight for term in terms.values()) or 1.0
    read = [(p, _content(p.text)) for p in passages[:_MOST_COMBINED] if p.overlap >= _EACH_ADDS]
    for (one, ours), (other, theirs) in combinations(read, 2):
        # Names and numbers first: they are few, and rule most pairs out.
        both = terms.keys() & (ours.keys() | theirs.keys())
        needed = [t for t in terms.values() if t.named or t.number]
        if any(term.form not in both for term in needed):
            continue
        if sum(terms[form].weight for form in both) < _INFERENCE_FROM * total:
            continue
        adds = min(
            sum(terms[form].weight for form in both - mine.keys()) for mine in (ours, theirs)
        )
        bridge = any(ours[form] for form in ours.keys() & theirs.keys() - terms.keys())
        if adds >= _EACH_ADDS * total and bridge:
            return one, other
    return None


def _content(text: str) -> dict[str, bool]:
    """Return the forms of a text, and whether each could lead from one text to another."""
    return {t.form: t.named or (t.content and t.weight > 0.6) for t in wording_of(text).terms}
