"""Does a document support a sentence? A lexical test, calibrated on human labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from trecjudge.lexical.calibration import Calibration, shipped_calibration
from trecjudge.lexical.features import Found, find
from trecjudge.lexical.prepared import Prepared, prepare
from trecjudge.lexical.wording import Term, Wording, read_wording

__all__ = ["Comparison", "Prepared", "compare", "prepare"]

Label = Literal["full_support", "partial_support", "no_support"]

_MOST_MISSING = 8
# What contradicts cannot be full support: that probability goes to partial support.
MOST_CONTRADICTED = 0.45


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the words say about the support of a sentence by a document.

    `probability` is P(a person would say supported, fully or in part), `full` P(fully), both 0 to
    1 and calibrated. `label` is the most probable of the three labels, `confidence` its
    probability, `score` the weight to be expected: P(fully) + 0.5 P(in part). `start` and `end`
    are character offsets of the evidence in the document's text, both 0 if nothing was found.
    `missing` are the content words of the sentence that the document lacks, as written, at most
    eight; `numbers_missing` its numbers that the document lacks. `negation_differs`: a word is
    negated on one side only; `direction_differs`: one side says rise where the other says fall.
    """

    score: float
    label: Label
    start: int
    end: int
    missing: tuple[str, ...]
    numbers_missing: tuple[str, ...]
    negation_differs: bool
    reason: str
    probability: float = 0.0
    full: float = 0.0
    confidence: float = 1.0
    direction_differs: bool = False


def compare(
    sentence: str, document: Prepared, calibration: Calibration | None = None
) -> Comparison:
    """Return how far `document` supports `sentence`: the same pair always gives the same.

    The probabilities are those of the calibration (the package's own where it is None) for the
    `Features` of the pair. A number that the document lacks, and a word that is negated or turned
    to its opposite on one side of a near copy only, rule full support out.
    """
    calibration = calibration or shipped_calibration()
    wording = _wording(sentence, calibration)
    if not wording.terms:
        return Comparison(0.0, "no_support", 0, 0, (), (), False, "the sentence has no words")
    found = find(wording, document)
    probability, full = probabilities_of(found, calibration)
    label, confidence = _most_probable(probability, full)
    missing = _as_written(wording.text, found.absent)
    return Comparison(
        *((probability + full) / 2, label, found.passage.start, found.passage.end, missing),
        *(found.numbers_missing, found.negation_differs, _reason(found, missing)),
        probability=probability,
        full=full,
        confidence=confidence,
        direction_differs=found.direction_differs,
    )


@lru_cache(maxsize=4096)
def _wording(sentence: str, calibration: Calibration) -> Wording:
    return read_wording(sentence, calibration.frequencies)


def probabilities_of(found: Found, calibration: Calibration) -> tuple[float, float]:
    """Return P(supported at least in part), P(fully supported) after what rules it out."""
    if not found.passage.weight:
        return 0.0, 0.0
    probability, full = calibration.probabilities(found.features)
    if found.contradicted:
        full = min(full, MOST_CONTRADICTED * probability)
    return probability, full


def _most_probable(probability: float, full: float) -> tuple[Label, float]:
    none, partial = 1 - probability, probability - full
    if full >= max(none, partial):
        return "full_support", full
    return ("partial_support", partial) if partial >= none else ("no_support", none)


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


def _reason(found: Found, missing: tuple[str, ...]) -> str:
    parts = [f"{found.in_document:.0%} of the sentence's weight is in the document"]
    if found.in_passage < found.in_document:
        parts[0] += f", {found.in_passage:.0%} in one passage"
    if missing:
        parts.append("missing: " + ", ".join(map(repr, missing)))
    if found.negation_differs:
        parts.append("negated on one side only")
    if found.direction_differs:
        parts.append("says the opposite of a word there")
    return "; ".join(parts).replace("%", " %")
