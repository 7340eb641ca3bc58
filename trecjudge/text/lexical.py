"""Does a document support a sentence? A lexical test, calibrated on human labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from trecjudge.text.calibration import Calibration, read_calibration
from trecjudge.text.claims import Claim, Term, shipped_claim
from trecjudge.text.passages import NO_PASSAGE, Passage, best_passage
from trecjudge.text.prepared import Prepared, prepare

__all__ = ["Comparison", "Prepared", "compare", "prepare"]

Label = Literal["full_support", "partial_support", "no_support"]

_CALIBRATION = read_calibration()
_MOST_MISSING = 8
# A paraphrase may negate other words than its source: only near copies are compared for it.
_NEAR_COPY = 0.75
_REPETITIVE = 8
_REPEATED_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the words say about the support of a sentence by a document.

    `score` is 0 to 1, and `label` cuts it in three. `start` and `end` are character offsets of
    the evidence in the document's text, both 0 if nothing was found. `missing` are the content
    words of the sentence that the document lacks, as written, at most eight; `numbers_missing`
    its numbers that the document lacks. `negation_differs`: a word is negated on one side only.
    """

    score: float
    label: Label
    start: int
    end: int
    missing: tuple[str, ...]
    numbers_missing: tuple[str, ...]
    negation_differs: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Signals:
    """The measurements behind a score: shares of the sentence's weight (0 to 1), and findings."""

    in_document: float
    in_passage: float
    names_missing: float
    absent: tuple[Term, ...]
    numbers_missing: tuple[str, ...]
    negation_differs: bool
    passage: Passage


def compare(sentence: str, document: Prepared) -> Comparison:
    """Return how far `document` supports `sentence`: the same pair always gives the same.

    The score is the mean of two coverages, the share of the sentence's idf weight found in the
    document and in its best passage of three sentences. Missing names lower it; a missing number
    or a negation on one side only keeps it below full support.
    """
    claim = shipped_claim(sentence)
    if not claim.terms:
        return Comparison(0.0, "no_support", 0, 0, (), (), False, "the sentence has no words")
    found = signals(claim, document)
    score = score_of(found, _CALIBRATION)
    missing = _as_written(claim.text, found.absent)
    return Comparison(
        *(score, label_of(score, _CALIBRATION), found.passage.start, found.passage.end),
        *(missing, found.numbers_missing, found.negation_differs, _reason(found, missing)),
    )


def signals(claim: Claim, document: Prepared) -> Signals:
    """Return the measurements of one pair. The claim must have terms."""
    weighted = _weighted(claim, document)
    present = [(term, weight) for term, weight in weighted if term.form in document.segments_of]
    absent = [term for term in claim.terms if not _has(document, term)]
    total = sum(weight for _, weight in weighted) or 1.0
    passage = best_passage(present, document) if present else NO_PASSAGE
    numbers = (term for term in absent if term.same_number is not None)
    return Signals(
        in_document=min(1.0, sum(weight for _, weight in present) / total),
        in_passage=min(1.0, passage.weight / total),
        names_missing=sum(term.weight for term in absent if term.named) / total,
        absent=tuple(absent),
        numbers_missing=tuple(claim.text[term.start : term.end] for term in numbers),
        negation_differs=_negation_differs(claim, document, passage, total),
        passage=passage,
    )


def score_of(found: Signals, calibration: Calibration) -> float:
    """Return the score, 0 to 1.

    What contradicts or lacks a name separates partial from full support, not partial from none:
    it takes nothing from a score below `partial_from`, and never leads below it.
    """
    share = calibration.document_share
    support = share * found.in_document + (1 - share) * found.in_passage
    lowered = support - calibration.missing_names * found.names_missing
    if found.numbers_missing or found.negation_differs:
        lowered = min(lowered, calibration.full_from) - calibration.contradicted_below_full
    return max(min(support, calibration.partial_from), lowered)


def label_of(score: float, calibration: Calibration) -> Label:
    """Return the label of a score."""
    if score >= calibration.full_from:
        return "full_support"
    return "partial_support" if score >= calibration.partial_from else "no_support"


def _has(document: Prepared, term: Term) -> bool:
    return term.form in document.segments_of or bool(
        term.same_number and term.same_number in document.segments_of
    )


def _weighted(claim: Claim, document: Prepared) -> list[tuple[Term, float]]:
    """Pair the terms with weights: a guessed weight falls if the document repeats the term."""
    pairs = [(term, term.weight) for term in claim.terms]
    count = len(document.spans)
    if count < _REPETITIVE:
        return pairs
    for position, (term, weight) in enumerate(pairs):
        if not term.listed and 2 * len(document.segments_of.get(term.form, ())) > count:
            pairs[position] = (term, weight * _REPEATED_WEIGHT)
    return pairs


def _negation_differs(claim: Claim, document: Prepared, passage: Passage, total: float) -> bool:
    # The words that make the difference are no sign that the rest is another statement.
    idle = sum(
        term.weight
        for term in claim.terms
        if term.negating and term.form not in document.segments_of
    )
    return passage.weight >= _NEAR_COPY * (total - idle) > 0 and any(
        _negated_otherwise(term, claim, document, passage)
        for term in claim.terms
        if term.form in document.segments_of
    )


def _negated_otherwise(term: Term, claim: Claim, document: Prepared, passage: Passage) -> bool:
    """Tell if a content word is negated in the sentence or in the passage, and the other asserts.

    The other side must have no word of denial near it: "lacks proof" agrees with "no proof".
    """
    negated = document.negated_in.get(term.form, frozenset())
    if not term.content or not (term.negated or negated):
        return False
    inside = [s for s in document.segments_of[term.form] if passage.first <= s <= passage.last]
    if term.negated:
        return bool(inside) and document.denying.isdisjoint(inside)
    return not claim.denies and bool(inside) and negated.issuperset(inside)


def _as_written(sentence: str, absent: Sequence[Term]) -> tuple[str, ...]:
    """Return the first missing content words; bigrams that overlap are joined."""
    content = [term for term in absent if term.content]
    spans: list[tuple[int, int]] = [(term.start, term.end) for term in content[:1]]
    for before, term in pairwise(content):
        if term.start < before.end:
            spans[-1] = (spans[-1][0], term.end)
        else:
            spans.append((term.start, term.end))
    return tuple(sentence[start:end] for start, end in spans[:_MOST_MISSING])


def _reason(found: Signals, missing: tuple[str, ...]) -> str:
    parts = [f"{found.in_document:.0%} of the sentence's weight is in the document"]
    if found.in_passage < found.in_document:
        parts[0] += f", {found.in_passage:.0%} in one passage"
    if missing:
        parts.append("missing: " + ", ".join(map(repr, missing)))
    if found.negation_differs:
        parts.append("negated on one side only")
    return "; ".join(parts).replace("%", " %")
