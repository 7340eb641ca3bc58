"""Measurements of a sentence and a document: the numbers that the calibration weighs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from trecjudge.judging.offline.alignment import (
    SAME,
    SINGLE_FACT,
    Differences,
    differences,
    replacements,
)
from trecjudge.judging.offline.prepared import (
    LONG,
    NO_PASSAGE,
    PassageSpan,
    Prepared,
    best_part,
    best_passage,
)
from trecjudge.judging.offline.wording import Term, Wording
from trecjudge.text.amounts import amounts, may_be_of_amount
from trecjudge.text.forms import in_one, in_two, neighbours_in
from trecjudge.text.framing import Frame, frame_of
from trecjudge.text.numbers import spaced_number
from trecjudge.text.tokens import is_spaceless
from trecjudge.text.word_relations import DIRECTED, is_antonym, stands_in


# Negation and direction: whether a sentence and a passage say the opposite of each other.
def direction_differs_in(wording: Wording, document: Prepared, passage: PassageSpan) -> bool:
    """Return whether the passage has the opposite of a word of direction, and not the word."""
    directed = [term.form for term in wording.terms if term.form in DIRECTED]
    if not directed:
        return False
    inside = document.forms_between(passage.first, passage.last)
    return any(form not in inside and is_antonym(form, inside) for form in directed)


def negation_differs_in(wording: Wording, document: Prepared, passage: PassageSpan) -> bool:
    """Return whether only one of sentence and passage negates one of the sentence's words.

    Of the passage the segment counts that is most like the sentence: what those around it deny is
    another statement.
    """
    if not wording.denies and document.denying.isdisjoint(range(passage.first, passage.last + 1)):
        return False
    likest = _likest_segment(wording, document, passage)
    return any(
        _negated_otherwise(term, wording, document, likest)
        for term in wording.terms
        if likest in document.segments_of.get(term.form, ())
    )


def _likest_segment(wording: Wording, document: Prepared, passage: PassageSpan) -> int:
    """Return the first of the segments of the passage that have most of the sentence's weight."""

    def weight_in(segment: int) -> float:
        return sum(
            [t.weight for t in wording.terms if segment in document.segments_of.get(t.form, ())]
        )

    return max(range(passage.first, passage.last + 1), key=weight_in)


def _negated_otherwise(term: Term, wording: Wording, document: Prepared, segment: int) -> bool:
    """Return whether only one of sentence and segment negates a content word.

    The other side must have no word of denial near it: "lacks proof" agrees with "no proof".
    """
    negated = segment in document.negated_in.get(term.form, ())
    if not term.content or term.negated == negated:
        return False
    if term.negated:
        return term.form in document.affirmed or segment not in document.denying
    return not wording.denies


def unasserted_in(wording: Wording, document: Prepared, passage: PassageSpan) -> str:
    """Return the words by which only the sentence denies, doubts, supposes or asks its statement.

    A passage that denies or doubts in its own words has the frame, too.
    """
    frame = frame_of_sentence(wording.text, wording.forms)
    if frame is None:
        return ""
    inside = document.text[passage.start : passage.end + _STOP]
    if frame.kind == "asked":
        return "" if any(sign in inside for sign in _QUESTION_SIGNS) else frame.written
    alike = _any_within(document.denying, passage)
    if frame.kind != "denied":
        alike |= _any_within(document.hedging, passage)
    framed = alike or frame_of(inside, document.forms_between(passage.first, passage.last))
    return "" if framed else frame.written


# A sentence is compared with one document after another, and then looked at for signs.
@lru_cache(maxsize=256)
def frame_of_sentence(sentence: str, forms: tuple[str, ...]) -> Frame | None:
    """Return the frame of a sentence, remembered."""
    return frame_of(sentence, forms)


# The words of a sentence as the document writes them: WiFi for Wi-Fi, 108 m for 355 feet.
def as_the_document_writes(wording: Wording, document: Prepared) -> Wording:
    """Return the sentence with compounds that the document lacks in the document's own writing.

    A word that it has in two takes the forms of these, two words that it has in one that of it,
    a quantity that it has in another unit those of that, and a number the pieces in which it is
    written: "12, 000".
    """
    found: dict[str, tuple[str, ...]] = {}
    places = document.segments_of
    forms, text = places.keys(), wording.text
    converted = False
    for index, term in enumerate(wording.terms):
        if term.form in places or not term.meaningful:
            continue
        if not converted and (term.number or may_be_of_amount(term.form)):
            found |= _converted_forms(wording, document)
            converted = True
        if term.form in found:
            continue
        written = text[term.start : term.end]
        if pair := in_two(written, forms, document.row):
            found[term.form] = pair
        elif term.number and (pieces := spaced_number(written, document.text, forms)):
            found[term.form] = pieces
        elif whole := _joined_form(index, wording, document):
            found[term.form] = (whole,)
    if not found:
        return wording
    terms = tuple(
        [
            t._replace(form=max(found[t.form], key=len)) if t.form in found else t
            for t in wording.terms
        ]
    )
    rewritten = [form for own in wording.forms for form in found.get(own, (own,))]
    return replace(wording, terms=terms, forms=tuple(rewritten))


def _converted_forms(wording: Wording, document: Prepared) -> dict[str, tuple[str, ...]]:
    """Return the forms of the document for those of amounts that it has in another unit."""
    places = document.segments_of.keys()
    ours = [one for one in amounts(wording.text) if not places >= set(one.forms)]
    theirs = amounts(document.text) if ours else ()
    found: dict[str, tuple[str, ...]] = {}
    for mine in ours:
        other = next(filter(mine.equals, theirs), None)
        if other is not None and places >= set(other.forms):
            # The number stands for the number, what follows it for the unit.
            number, unit = other.forms[0], other.forms[-1]
            absent = (form for form in mine.forms if form not in places)
            found |= {form: (unit if form != mine.forms[0] else number,) for form in absent}
    return found


def _joined_form(index: int, wording: Wording, document: Prepared) -> str | None:
    """Return the form that the document has for a term and the one beside it, as one word."""
    terms, text = wording.terms, wording.text
    term = terms[index]
    if index + 1 < len(terms) and terms[index + 1].start - term.end == 1:
        after = terms[index + 1]
        whole = in_one(
            text[term.start : term.end],
            text[after.start : after.end],
            after.form,
            document.segments_of,
        )
        if whole:
            return whole
    if index and term.start - terms[index - 1].end == 1:
        before = terms[index - 1]
        return in_one(
            text[before.start : before.end],
            text[term.start : term.end],
            term.form,
            document.segments_of,
        )
    return None


_QUESTION_SIGNS = "?？؟"
_STOP = 3
"""Characters behind a passage that its last stop may have."""
# What weighs less is grammar: it is in every passage, and no evidence.
_LIGHTEST = 0.1
# Beyond this share of the weight more of it makes support no more likely.
_ENOUGH = 0.7
_LONGEST_RUN = 4
_MOST_NUMBERS = 3
# A paraphrase may negate other words than its source: only near copies are compared for it.
_NEAR_COPY = 0.75
# Of so few content words each is needed.
SHORT = 4.0
# Of longer sentences people mostly call the rest supported where one part is contradicted.
_BRIEF = 9.0
_HALF, _ONE_OF_FIVE = 0.45, 0.2
# Of sentences of which the document has less people call one in five fully supported.
_MOST = 0.45
# So much of the weight must be there for a sentence to be laid beside the passage.
LIKE = 0.6
_REPETITIVE = 8
_REPEATED_WEIGHT = 0.5


class Features(NamedTuple):
    """The measurements of one pair, named as in `calibration.json`.

    Shares are of the idf weight of the sentence's terms, 0 to 1, those of `document`, `passage`
    and `names` at most 0.7.
    """

    document: float
    """Share that the document has."""
    passage: float
    """Share that its best passage of three segments has."""
    words: float
    """Part of the distinct terms that the document has, each counting alike."""
    beginning: float
    """Share of the first half of the content terms, which mostly has the subject."""
    weakest_part: float
    """Share of the part, between commas and the like, of which the document has least."""
    neighbours: float
    """Part of the pairs of neighbouring terms that are neighbours in the document."""
    run: float
    """log(1 + the longest run of such neighbours, in terms; at most 4)."""
    names: float
    """Share of the names that the document has; that of all terms where there are no names."""
    names_missing: float
    """Weight of the names that the document lacks, as a share of all terms."""
    numbers_missing: float
    """Numbers that the document has in no writing, at most 3."""
    turned: float
    """1 if a word is negated, or turned to its opposite, on one side of a near copy only."""
    hedge_dropped: float
    """1 if the passage hedges and the sentence does not."""
    quotes_missing: float
    """1 if the sentence has a quotation that the document has not, word for word."""
    listing: float
    """Number of "and" and "or" in the sentence."""
    weight: float
    """log(1 + the weight of the content terms): how much there is to find."""
    document_length: float
    """log(1 + the tokens of the document): how much there is to find it in."""


GROUPS: dict[str, tuple[str, ...]] = {
    "coverage": ("document", "passage", "words"),
    "parts": ("beginning", "weakest_part", "listing"),
    "order": ("neighbours", "run"),
    "names": ("names", "names_missing"),
    "numbers": ("numbers_missing",),
    "negation and direction": ("turned",),
    "hedges": ("hedge_dropped",),
    "quotation": ("quotes_missing",),
    "length": ("weight", "document_length"),
}
"""The features by what they measure."""


@dataclass(frozen=True, slots=True)
class Measurements:
    """The features of a pair, and the details from which its reason is written.

    `in_document` and `in_passage` are shares of the weight, 0 to 1. `absent` are the content terms
    that the document lacks, with no word for the same in the passage, `lacking` their share of
    the weight in a short sentence. `replaced` are words in whose place it has others, `differ`
    is what a near copy says otherwise. `unasserted` are the words by which only the sentence
    denies, doubts, supposes or asks what it says.
    `near_copy`: but for what contradicts it, the passage has the sentence. `size` is that of the
    wording; `one_fact`: it states only one thing; `other_words`: the document lacks some of its
    content words.
    """

    features: Features
    in_document: float
    in_passage: float
    absent: tuple[Term, ...]
    numbers_missing: tuple[str, ...]
    negation_differs: bool
    direction_differs: bool
    passage: PassageSpan
    replaced: tuple[str, ...]
    lacking: float
    near_copy: bool
    size: float
    one_fact: bool
    differ: Differences = SAME
    unasserted: str = ""
    other_words: bool = False

    @property
    def short(self) -> bool:
        """Whether each content word is needed."""
        return self.size <= SHORT

    @property
    def brief(self) -> bool:
        """Whether a part that is wrong makes all of it wrong to most people."""
        return self.size <= _BRIEF or bool(self.unasserted)

    @property
    def contradicted(self) -> bool:
        """Whether the document says otherwise, or the sentence only does not assert it.

        A near copy has another word in place of one, or lacks one that changes it, or says the
        opposite of a single fact: of a longer sentence that is mostly about something else.
        """
        if self.unasserted or self.replaced or self.differ.other or self.differ.added:
            return True
        turned = self.negation_differs or self.direction_differs or bool(self.differ.exchanged)
        return turned and self.near_copy and self.one_fact

    @property
    def too_little(self) -> bool:
        """Whether a short sentence lacks a word that it cannot do without."""
        return self.short and self.lacking >= _ONE_OF_FIVE

    @property
    def incomplete(self) -> bool:
        """Whether something is missing without which a sentence is not fully supported."""
        return bool(self.numbers_missing) or self.too_little or self.in_document < _MOST

    @property
    def halved(self) -> bool:
        """Whether a short sentence lacks about half of what it says."""
        return self.short and self.lacking >= _HALF

    @property
    def reworded(self) -> bool:
        """Whether a short sentence has the passage's words for the same in place of some of it."""
        incomplete = self.contradicted or self.numbers_missing or self.lacking
        return self.short and self.other_words and not incomplete


@dataclass(slots=True)
class _Tally:
    """Sums over the terms that are no grammar; `content` are (weight, found) of the content."""

    total: float = 0.0
    found: float = 0.0
    names: float = 0.0
    names_found: float = 0.0
    present: list[tuple[str, float]] = field(default_factory=list)
    content: list[tuple[float, bool]] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The share of the weight that was found, 0 to 1."""
        return self.found / self.total


class SharedWords(NamedTuple):
    """What a document has of a sentence: both as they are compared, and by term."""

    wording: Wording
    document: Prepared
    has: list[bool]
    weights: list[float]
    tally: _Tally

    @property
    def may_be_full(self) -> bool:
        """Whether it is enough for full support: without it a sentence is `incomplete`."""
        return self.tally.share >= _MOST


def overlap_of(wording: Wording, document: Prepared) -> SharedWords:
    """Return what a document has of a sentence. The wording must have terms."""
    wording = as_the_document_writes(wording, document)
    if document.tokens > LONG:
        document = best_part([(term.form, term.weight) for term in wording.terms], document)
    has = [term.form in document.segments_of for term in wording.terms]
    weights = _weights(wording, document)
    return SharedWords(wording, document, has, weights, _tally(wording, weights, has))


def find(wording: Wording, document: Prepared) -> Measurements:
    """Return the measurements of one pair. The wording must have terms."""
    return measure(overlap_of(wording, document))


def measure(overlap: SharedWords) -> Measurements:
    """Return the measurements of a pair of which the overlap is known."""
    wording, document, has, weights, tally = overlap
    passage = best_passage(tally.present, document) if tally.present else NO_PASSAGE
    in_document = tally.share
    in_passage = min(passage.weight / tally.total, in_document)
    absent = tuple([term for term, found in zip(wording.terms, has, strict=True) if not found])
    numbers = tuple([wording.text[term.start : term.end] for term in absent if term.number])
    replaced = replacements(wording, absent, document, passage, tally.total)
    one_fact = wording.size <= SINGLE_FACT and len(wording.parts) <= 1
    differ, unasserted = SAME, ""
    if passage.weight:
        unasserted = unasserted_in(wording, document, passage)
    if passage.weight >= LIKE * tally.total:
        differ = differences(wording, absent, document, passage)
    near_copy = _near_copy(absent, passage, tally.total)
    negation_differs = near_copy and negation_differs_in(wording, document, passage)
    direction_differs = near_copy and direction_differs_in(wording, document, passage)
    short = wording.size <= SHORT
    lacked = _missing_terms(wording, absent, document, passage)
    neighbours, run = _runs(wording.forms, document, bool(tally.present))
    features = Features(
        document=min(in_document, _ENOUGH),
        passage=min(in_passage, _ENOUGH),
        words=sum(has) / len(has),
        beginning=_beginning(tally.content, in_document),
        weakest_part=min([_part(p, weights, has) for p in wording.parts], default=in_document),
        neighbours=neighbours,
        run=math.log1p(min(run, _LONGEST_RUN)),
        names=min(tally.names_found / tally.names if tally.names else in_document, _ENOUGH),
        names_missing=(tally.names - tally.names_found) / tally.total,
        numbers_missing=float(min(len(numbers), _MOST_NUMBERS)),
        turned=float(negation_differs or direction_differs),
        hedge_dropped=float(not wording.hedged and _any_within(document.hedging, passage)),
        quotes_missing=float(
            bool(wording.quotes) and not _has_all_quotations(wording.quotes, document)
        ),
        listing=float(wording.listing),
        weight=math.log1p(sum([weight for weight, _ in tally.content])),
        document_length=math.log1p(document.tokens),
    )
    return Measurements(
        *(features, in_document, in_passage, lacked, numbers),
        *(negation_differs, direction_differs, passage, replaced),
        lacking=_weight(lacked) / (_weight(wording.meaningful) or 1.0) if short else 0.0,
        near_copy=bool(replaced) or near_copy,
        size=wording.size,
        differ=differ,
        unasserted=unasserted,
        other_words=any(term.meaningful for term in absent),
        one_fact=one_fact,
    )


def _tally(wording: Wording, weights: Sequence[float], has: Sequence[bool]) -> _Tally:
    tally = _Tally()
    for term, weight, found in zip(wording.terms, weights, has, strict=True):
        if weight < _LIGHTEST:
            continue
        tally.total += weight
        if found:
            tally.found += weight
            tally.present.append((term.form, weight))
        if term.named:
            tally.names += weight
            tally.names_found += weight if found else 0.0
        if term.content:
            tally.content.append((weight, found))
    tally.total = tally.total or 1.0
    return tally


def _weights(wording: Wording, document: Prepared) -> list[float]:
    """Return the weights of the terms: a guessed one falls if the document repeats the term."""
    weights = [term.weight for term in wording.terms]
    count = len(document.spans)
    if count < _REPETITIVE:
        return weights
    for position, term in enumerate(wording.terms):
        if not term.listed and 2 * len(document.segments_of.get(term.form, ())) > count:
            weights[position] *= _REPEATED_WEIGHT
    return weights


def _beginning(content: Sequence[tuple[float, bool]], otherwise: float) -> float:
    """Return the share of the first half of the content terms that was found."""
    half = content[: max(1, len(content) // 2)]
    total = sum([weight for weight, _ in half])
    return sum([weight for weight, found in half if found]) / total if total else otherwise


def _part(part: Sequence[int], weights: Sequence[float], has: Sequence[bool]) -> float:
    total = found = 0.0
    for index in part:
        total += weights[index]
        if has[index]:
            found += weights[index]
    return found / total


def _runs(forms: Sequence[str], document: Prepared, any_found: bool) -> tuple[float, int]:
    """Return the part of neighbours that are so in the document, and their longest run."""
    together = neighbours_in(document.row, forms)
    run = longest = 0
    for kept in together:
        run = run + 1 if kept else 0
        if run > longest:
            longest = run
    return (sum(together) / len(together) if together else 0.0), longest + any_found


def _has_all_quotations(quotes: Sequence[str], document: Prepared) -> bool:
    """Return whether the document has all quotations, white space and stops at their ends aside."""
    text = " ".join(document.text.split()).casefold()
    return all(" ".join(quote.split()).strip(" .,;!?").casefold() in text for quote in quotes)


def _near_copy(absent: Sequence[Term], passage: PassageSpan, total: float) -> bool:
    # The words that make the difference are no sign that the rest is another statement.
    idle = sum([t.weight for t in absent if t.negating or t.form in DIRECTED])
    return passage.weight >= _NEAR_COPY * (total - idle) > 0


def _weight(terms: Sequence[Term]) -> float:
    # Weights of pairs of characters depend on the script more than on the words.
    return sum([1.0 if is_spaceless(term.form) else term.weight for term in terms])


def _missing_terms(
    wording: Wording, absent: Sequence[Term], document: Prepared, passage: PassageSpan
) -> tuple[Term, ...]:
    """Return the content terms that are absent, and have no word for the same in the passage.

    Such words are looked for only if the sentence is short: in others one word more hardly counts.
    """
    lacked = [term for term in absent if term.meaningful]
    if lacked and wording.size <= SHORT and passage.weight:
        inside = document.forms_between(passage.first, passage.last)
        lacked = [term for term in lacked if term.number or not stands_in(term.form, inside)]
    return tuple(lacked)


def _any_within(segments: frozenset[int], passage: PassageSpan) -> bool:
    return any(s in segments for s in range(passage.first, passage.last + 1))
