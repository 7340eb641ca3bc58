"""Support of a sentence by a document: a lexical test, calibrated on human labels."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, chain

from trecjudge.judging.offline.calibration import Calibration, shipped_calibration
from trecjudge.judging.offline.features import Measurements, find
from trecjudge.judging.offline.passages import LENGTH
from trecjudge.judging.offline.prepared import Prepared, prepare
from trecjudge.judging.offline.reasons import Label, as_written, reason_of
from trecjudge.judging.offline.wording import Wording, read_wording
from trecjudge.records import FULL
from trecjudge.text.lead_ins import states_nothing
from trecjudge.text.tokens import read_forms

__all__ = ["Comparison", "Prepared", "compare", "prepare"]

# What is ruled out may have no more of the probability: the rest goes to the next lower label.
_MOST_RULED_OUT = 0.45
# The same in other words is supported, if not fully, more probably than not.
_LEAST_REWORDED = 0.55
# P(fully supported) of copies, as people label them.
_COPIED = 0.8
# A single content word that weighs less is in too many documents.
_SPECIFIC = 0.5


@dataclass(frozen=True, slots=True)
class Comparison:
    """The support of a sentence by a document, as far as words show it.

    `probability` is P(a person calls it supported, fully or in part), `full` P(fully), both 0 to
    1 and calibrated. `label` is the most probable of the three labels, `confidence` its
    probability, `score` the weight to be expected: P(fully) + 0.5 P(in part). `start` and `end`
    are character offsets of the evidence in the document's text, both 0 if nothing was found.
    `missing` are the content words of the sentence that the document lacks, as written, at most
    eight; `numbers_missing` its numbers that the document lacks. `negation_differs`: a word is
    negated on one side only; `direction_differs`: one side has rise where the other has fall;
    `replaced`: words in whose place the document has others. `wanting`: a word is
    replaced, one that a short sentence needs is missing, or it has no content word at all.
    `share` is the share of the sentence's weight that the evidence has. `one_fact`: the sentence
    states only one thing.
    `differing`: words in whose place a near copy has others of no known kind, words added to it,
    and those that relate things otherwise there. `nothing_to_check`: the sentence states nothing.
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
    replaced: tuple[str, ...] = ()
    wanting: bool = False
    share: float = 0.0
    one_fact: bool = False
    differing: tuple[str, ...] = ()
    nothing_to_check: bool = False


def compare(
    sentence: str, document: Prepared, calibration: Calibration | None = None
) -> Comparison:
    """Return how far `document` supports `sentence`: the same pair always gives the same.

    The probabilities are those of the calibration (the package's own where it is None) for the
    `Features` of the pair. A number that the document lacks, a word that is negated, turned to its
    opposite, replaced by another, added, or between other things in a near copy, and a content word
    that a short sentence lacks rule full support out; of a single fact, or with half of the words,
    also partial support. A sentence that states nothing is no support, and said to be such. One of
    function words only is supported where it stands in the document word for word; so is one that
    is longer than a passage, such as a list.
    """
    if states_nothing(sentence):
        nothing = _nothing("the sentence states nothing that a document could support")
        return replace(nothing, nothing_to_check=True)
    calibration = calibration or shipped_calibration()
    wording = _wording(sentence, calibration)
    if not wording.terms:
        return _nothing("the sentence has no words")
    if not _has_content(wording):
        return _of_function_words(wording, document)
    found = find(wording, document)
    probability, full = probabilities_of(found, calibration)
    label, confidence = _most_probable(probability, full)
    if label != FULL and (copy := _of_many_segments(wording, document)):
        return copy
    missing = as_written(wording.text, found.absent)
    return Comparison(
        *((probability + full) / 2, label, found.passage.start, found.passage.end, missing),
        *(found.numbers_missing, found.negation_differs, reason_of(label, found, missing)),
        probability=probability,
        full=full,
        confidence=confidence,
        direction_differs=found.direction_differs,
        replaced=found.replaced,
        wanting=bool(found.replaced or found.differ) or found.too_little,
        share=found.in_passage,
        one_fact=found.one_fact,
        differing=(*found.differ.other, *found.differ.added, *found.differ.exchanged),
    )


def _has_content(wording: Wording) -> bool:
    """Return whether there is something to be looked for: more than one common word."""
    if wording.size > 1:
        return True
    return any(term.weight >= _SPECIFIC or not term.listed for term in wording.meaningful)


def _nothing(reason: str) -> Comparison:
    return Comparison(0.0, "no_support", 0, 0, (), (), False, reason, wanting=True)


def _of_function_words(wording: Wording, document: Prepared) -> Comparison:
    """Return full support where a sentence of the document has the same words, else none."""
    for start, end in document.spans:
        if tuple(read_forms(document.text[start:end])[1]) == wording.forms:
            return _compare_copy(start, end)
    return _nothing("the sentence has only function words: nothing in it can be attested")


def _of_many_segments(wording: Wording, document: Prepared) -> Comparison | None:
    """Return full support where more segments than a passage has are the sentence, in a row.

    No passage has all of such a sentence, though the document has it as it is.
    """
    ours = _forms(wording.text)
    if not set(ours) <= document.segments_of.keys():
        return None
    theirs = f" {' '.join(chain.from_iterable(document.forms))} "
    at = theirs.find(f" {' '.join(ours)} ")
    if at < 0:
        return None
    begin, ends = theirs.count(" ", 0, at), list(accumulate(map(len, document.forms)))
    first, last = bisect_right(ends, begin), bisect_left(ends, begin + len(ours))
    if last - first < LENGTH:
        return None
    return _compare_copy(document.spans[first][0], document.spans[last][1])


def _compare_copy(start: int, end: int) -> Comparison:
    reason = "the sentence stands in the document word for word"
    return Comparison(
        *(_COPIED, "full_support", start, end, (), (), False, reason),
        *(_COPIED, _COPIED, _COPIED),
        share=1.0,
    )


@lru_cache(maxsize=1024)
def _wording(sentence: str, calibration: Calibration) -> Wording:
    return read_wording(sentence, calibration.frequencies)


@lru_cache(maxsize=1024)
def _forms(sentence: str) -> tuple[str, ...]:
    return tuple(read_forms(sentence)[1])


def probabilities_of(found: Measurements, calibration: Calibration) -> tuple[float, float]:
    """Return P(supported at least in part), P(fully supported) after what rules it out."""
    if not found.passage.weight:
        return 0.0, 0.0
    probability, full = calibration.probabilities(found.features)
    return apply_rules(found, probability, full)


def apply_rules(found: Measurements, probability: float, full: float) -> tuple[float, float]:
    """Return the two probabilities after what rules full support, any, or none out."""
    if found.refuted:
        probability = min(probability, _MOST_RULED_OUT)
    if found.refuted or found.incomplete:
        none = 1 - probability
        least = probability - none if none >= max(full, probability - full) else 0.0
        # No support stays so, though partial support gains what full support loses.
        full = min(full, max(least, _MOST_RULED_OUT * probability))
    if found.reworded:
        probability = max(probability, full + _LEAST_REWORDED * (1 - full))
    return probability, full


def _most_probable(probability: float, full: float) -> tuple[Label, float]:
    none, partial = 1 - probability, probability - full
    if full >= max(none, partial):
        return "full_support", full
    return ("partial_support", partial) if partial >= none else ("no_support", none)
