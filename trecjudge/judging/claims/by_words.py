"""Detectors that need no model: words, embeddings, contradictions."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TypedDict

from trecjudge.judging.claims.clauses import subject_of
from trecjudge.judging.claims.inference import DOUBT, denies, infer_from_two, may_infer
from trecjudge.judging.claims.search import (
    AMBIGUOUS,
    ATTRIBUTED,
    CONTRADICTED,
    INFERENCE,
    NEAREST,
    UNATTRIBUTED,
    Label,
    Library,
    Passage,
    Verdict,
    by_support,
    match_of,
    sources_of,
)
from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import SupportComparison, calibration_at, compare
from trecjudge.judging.offline.wording import Term, wording_of
from trecjudge.records import FULL, NONE
from trecjudge.text.embeddings import Embedder
from trecjudge.text.forms import word_form
from trecjudge.text.languages import language_of_pair
from trecjudge.text.numbers import (
    SCALES,
    YEAR,
    Quantity,
    agree,
    compose_numbers,
    may_compose,
    other_quantity,
    quantities,
)
from trecjudge.text.qualifiers import denials, has_negation
from trecjudge.text.sentences import split_sentences
from trecjudge.text.tokens import read_forms, tokenize
from trecjudge.text.word_relations import DIRECTED, is_antonym, rivals

# Contradictions: a passage makes the same statement with another number, date, or negated.
_SAME_STATEMENT = 0.8
"""The share of a claim's weight, numbers aside, that makes a sentence its other version."""

_SAME_SUBJECT = 0.5
_BEING = frozenset(map(word_form, "is are was were ist sind war est sont était es son è".split()))  # noqa: SIM905
_ORDINALS = frozenset(
    map(word_form, "first second third fourth fifth sixth seventh eighth ninth tenth last".split())  # noqa: SIM905
)
# What happens once has one date; "won the cup in 1998" and "in 2018" can both be true.
_ONCE = frozenset(
    map(
        word_form,
        """born died founded established built completed opened invented discovered composed
        launched signed adopted enacted created began started ended dissolved abolished
        introduced incorporated""".split(),  # noqa: SIM905
    )
)


def contradiction(claim: str, passage: str) -> str | None:
    """Return how a sentence of the passage contradicts the claim, or None.

    The sentence must make the same statement, numbers aside: have 80 % of the claim's weight and
    all its names, and a subject half of which at least is in the claim. Contradicted is a number
    whose unit the sentence has only with another number, a year only of what happens once; a
    statement that is negated on one side only; a property ("is blue") in whose place the sentence
    has another of the same kind, or a word of direction ("rose") whose opposite it has. Bounds
    ("over 3"), rough guesses, rounded numbers and those of another year contradict nothing. No
    word of the passage is in what is returned.
    """
    sentences = split_sentences(passage)
    same = [s for s in sentences if _same_statement(claim, s)]
    known = {quantity.number for s in same for quantity in quantities(s)}
    known |= {number for s in same for number in numbers_in_words(s)}
    for sentence in same:
        other = _other_number(claim, sentence, known)
        if other is not None:
            return f"another number than {other.written!r}"
        bounds = any(quantity.bound for quantity in quantities(sentence))
        if not bounds and compare(claim, prepare(sentence)).negation_differs:
            return "negated on one side only"
    others = (_other_word(claim, sentence) for sentence in sentences)
    if found := next(filter(None, others), None):
        return f"another of its kind than {found!r}"
    turned = next(filter(None, (_opposite(claim, s) for s in sentences)), None)
    return f"the opposite of {turned!r}" if turned else None


def numbers_in_words(text: str) -> set[str]:
    """Return the numbers that several words write, such as "fifty-four", in digits."""
    written, forms = read_forms(text)
    if not may_compose(forms):
        return set()
    found = compose_numbers(written, forms)
    return {number for first, stop, number in found if all(map(str.isalpha, written[first:stop]))}


def _opposite(claim: str, sentence: str) -> str:
    """Return the claim's word of direction where the sentence says the opposite of the same."""
    ours = wording_of(claim)
    directed = [] if ours.denies else [term for term in ours.terms if term.form in DIRECTED]
    # Most claims have no such word: then the sentence need not be read.
    theirs = wording_of(sentence) if directed else ours
    if theirs.denies:
        return ""
    for term in directed:
        # "It rose, then fell" says both: of one direction only it is the contrary.
        if term.form not in theirs.forms and is_antonym(term.form, set(theirs.forms)):
            rest = claim[: term.start] + claim[term.end :]
            if _same_statement(rest, sentence) and _same_figures(claim, sentence):
                return claim[term.start : term.end]
    return ""


def _same_figures(claim: str, sentence: str) -> bool:
    """Return whether neither side has a number that the other lacks: of one time and amount."""
    ours, theirs = ({q.number for q in quantities(text)} for text in (claim, sentence))
    return ours == theirs


def _other_word(claim: str, sentence: str) -> str:
    """Return the claim's word for a property where the sentence has another of the same kind."""
    ours = wording_of(claim)
    for before, term in pairwise(ours.terms):
        if before.form not in _BEING or term.named or not term.meaningful or ours.denies:
            continue
        theirs = wording_of(sentence)
        there = theirs.meaningful_forms
        if theirs.denies or term.form in there or not rivals(term.form, there):
            continue
        rest = claim[: term.start] + claim[term.end :]
        if _same_statement(rest, sentence) and compare(claim, prepare(sentence)).replaced:
            return claim[term.start : term.end]
    return ""


def _same_statement(claim: str, sentence: str) -> bool:
    """Return whether the sentence has most of the claim, and is about what the claim is about."""
    ours = _words(claim)
    # First by all words of the sentence: few have enough of a claim to be read further.
    if not (ours and _has_most(ours, set(read_forms(sentence)[1]))):
        return False
    theirs = _words(sentence)
    if not _has_most(ours, theirs):
        return False
    # What the sentence is about must not be more than what the claim is about: a list of four.
    about = subject_of(sentence)
    topic = theirs if about is None else _words(about)
    return _share(topic, ours) >= _SAME_SUBJECT


def _may_contradict(claim: str, passage: str) -> bool:
    """Return whether a passage has what a sentence of it needs to contradict a claim: a fast test.

    One word of the claim may be replaced there.
    """
    ours = _words(claim)
    weights = [term.weight for term in ours.values()]
    forms = set(read_forms(passage)[1])
    held = sum(term.weight for form, term in ours.items() if form in forms)
    named = all(form in forms for form, term in ours.items() if term.named)
    return named and held >= _SAME_STATEMENT * (sum(weights) - max(weights, default=0.0))


def _has_most(ours: Mapping[str, Term], forms: Container[str]) -> bool:
    """Return whether these forms have the names of a claim, and enough of its weight."""
    needed = (form for form, term in ours.items() if term.named or form in _ORDINALS)
    return all(form in forms for form in needed) and _share(ours, forms) >= _SAME_STATEMENT


@lru_cache(maxsize=256)
def _words(text: str) -> dict[str, Term]:
    """Return the terms of a text by form, without numbers and words that negate."""
    terms = wording_of(text).terms
    return {term.form: term for term in terms if not (_is_number(term) or term.negating)}


def _share(terms: Mapping[str, Term], others: Container[str]) -> float:
    """Return the share of the weight of terms that others have too."""
    total = sum(term.weight for term in terms.values())
    shared = sum(term.weight for form, term in terms.items() if form in others)
    return shared / total if total else 1.0


def _is_number(term: Term) -> bool:
    return term.form[0].isdigit() or term.form in SCALES


def _other_number(claim: str, sentence: str, known: Set[str]) -> Quantity | None:
    """Return the one quantity of the claim for which the sentence has another number."""
    ours, theirs = list(quantities(claim)), list(quantities(sentence))
    own = {mine.number for mine in ours}
    open_ = [mine for mine in ours if mine.number not in known]
    if len(open_) != 1 or open_[0].bound:  # where two of them differ, it is another statement
        return None
    (mine,) = open_
    rivals = [other for other in theirs if other.unit == mine.unit and not other.bound]
    if not mine.unit:
        # Without a unit they are about the same only where there is no other number.
        rivals = rivals if len(ours) == len(theirs) == 1 else []
    if mine.unit == YEAR and not _happens_once(claim):
        return None
    # "In 2010 it had 200" is of another time than the claim.
    if mine.unit != YEAR and any(q.unit == YEAR and q.number not in own for q in theirs):
        return None
    differ = rivals and not any(agree(mine, rival) or rival.number in own for rival in rivals)
    return mine if differ else None


def _happens_once(claim: str) -> bool:
    return any(token.form in _ONCE for token in tokenize(claim))


# Detectors that need no model: by words, and by words and embeddings.
_RIVAL_FROM = 0.5
"""Overlap, numbers and all, from which on a passage is looked at for a contradiction."""

_MOST_RIVALS = 5
"""Passages looked at for a contradiction, the nearest first."""
# Of claims so improbable 3 in 100 are in sentences that assessors called fully supported.
_SURE_BELOW = 0.2
_HALF = 0.5
"""The highest weight that is expected of a claim for which full support is excluded."""
_MOST_LACKING = 2
_NEAR_COPY = 0.7
"""From this share of a claim in a passage on, a denial on one side only is evidence."""


@dataclass(frozen=True, slots=True)
class LexicalDetector:
    """Decides by the calibrated attester: what people would most probably say of a claim.

    Full support by a document makes it ATTRIBUTED, partial support AMBIGUOUS, none UNATTRIBUTED; a
    single fact has no part that could be supported. A number that the document has only with
    another unit, sign or bound rules full support out.
    `calibration` is a file of `calibrate`, "" for the package's own.

    With a `threshold` it decides by the share of the claim's weight that a passage has instead:
    more than this. Then a passage that lacks a number or a name of the claim does not hold it,
    whatever its share; nor does one that has another word of the same kind, or lacks a word that a
    short claim needs.
    """

    threshold: float | None = None
    name: str = "lexical"
    calibration: str = ""

    async def verdict(self, claim: str, library: Library) -> Verdict:
        """Return the verdict. Raises JudgmentFailed if a claim not found may be in unread text."""
        passages = self._deciding(claim, library)
        against = _find_contradiction(claim, passages)
        rival, how = against or (None, "")
        holding = [p for p in passages if p is not rival and self.holds(claim, p)]
        if rival and holding:
            return self._ambiguous(f"documents disagree: {how}", [holding[0], rival])
        if denied := [p for p in holding if self._denies(claim, p)]:
            holding = [p for p in holding if p not in denied]
        incomplete = all(p.support and p.support.one_fact and p.support.missing for p in holding)
        refuted = rival or denied
        if incomplete and not refuted and (pair := self._infer(claim, passages, library)):
            return self._together(claim, pair)
        if holding:
            return self._attribute_claim(claim, holding)
        if denied:
            return self._ambiguous("a passage has its words, but one of the two denies", denied)
        if rival:
            weight = self._weight_of_none(claim, rival.text)
            return Verdict(CONTRADICTED, how, self.name, sources_of([rival]), **weight)
        # Only now: a claim that was found needs no other document.
        library.require_read(claim)
        if self.threshold is None:
            passages = library.compare_claim(claim, calibration_at(self.calibration), passages)
        if not passages:
            nothing = library.what_was_read("no document has any of it")
            return Verdict(UNATTRIBUTED, nothing, self.name, **self._weight_of_none(claim))
        return self._not_attributed(claim, passages)

    def _deciding(self, claim: str, library: Library) -> list[Passage]:
        """Return the passages of documents that may hold or contradict a claim, the best first."""
        if self.threshold is not None:
            return library.best(claim)
        return by_support(library.supports(claim, calibration_at(self.calibration)))

    def _infer(
        self, claim: str, passages: Sequence[Passage], library: Library
    ) -> tuple[Passage, Passage] | None:
        if self.threshold is not None:
            return infer_from_two(claim, passages)
        return infer_from_two(claim, library.best(claim)) if may_infer(claim, library) else None

    def states(self, claim: str, library: Library) -> bool:
        """Return whether a document holds a claim, by itself."""
        found: Iterable[Passage]
        if self.threshold is not None:
            found = library.best(claim)
        else:
            found = library.supports(claim, calibration_at(self.calibration), nearest=0)
        return any(self.holds(claim, passage) for passage in found)

    def is_sure(self, claim: str, verdict: Verdict, library: Library) -> bool:
        """Return whether a verdict is sure.

        What a sentence of a document has in the claim's order, and without a word of doubt, is
        attributed for sure; what hardly anybody would call supported by the nearest passages, by
        the calibrated test of support, is not.
        """
        if verdict.label == ATTRIBUTED and verdict.match != INFERENCE:
            return any(states_plainly(source.excerpt, claim) for source in verdict.sources)
        if verdict.label != UNATTRIBUTED or verdict.uncalibrated:
            return False
        found = library.compare_claim(claim, calibration_at(self.calibration))
        return all(p.support is None or p.support.probability < _SURE_BELOW for p in found)

    def holds(self, claim: str, passage: Passage) -> bool:
        """Return whether a passage, or the document that it decides for, holds a claim."""
        if passage.support is not None:
            full = passage.support.label == FULL and not lacks_words(passage.support)
            return full and not _other_numbers(claim, passage)
        assert self.threshold is not None
        if self.score(passage) <= self.threshold or missing(claim, passage.text):
            return False
        return not self.falls_short(compare(claim, prepare(passage.text)))

    def _denies(self, claim: str, passage: Passage) -> bool:
        near_copy = passage.support is None or passage.overlap > _NEAR_COPY
        return near_copy and denies_otherwise(claim, passage.text)

    def falls_short(self, found: SupportComparison) -> bool:
        """Return whether a claim goes beyond a passage, contradicts it, or has no content."""
        return found.wanting

    def score(self, passage: Passage) -> float:
        """Return the value that is compared with the threshold."""
        return passage.overlap

    def _attribute_claim(self, claim: str, holding: Sequence[Passage]) -> Verdict:
        found, support = sources_of(holding), holding[0].support
        reason = support.reason if support else f"{self._likeness_text(holding[0])} in one passage"
        match = match_of(claim, found[:1])
        weight = _expected_weight(support, label=ATTRIBUTED)
        return Verdict(ATTRIBUTED, reason, self.name, found, match, **weight)

    def _ambiguous(self, reason: str, passages: Sequence[Passage]) -> Verdict:
        weight = _expected_weight(passages[0].support, _HALF)
        return Verdict(AMBIGUOUS, reason, self.name, sources_of(passages), **weight)

    def _together(self, claim: str, pair: Sequence[Passage]) -> Verdict:
        reason, found = "two documents together have what it says", sources_of(pair)
        support = None
        if self.threshold is None:
            text = "\n".join(passage.text for passage in pair)
            support = compare(claim, prepare(text), calibration_at(self.calibration))
        weight = _expected_weight(support, label=ATTRIBUTED)
        return Verdict(ATTRIBUTED, reason, self.name, found, INFERENCE, **weight)

    def _not_attributed(self, claim: str, passages: Sequence[Passage]) -> Verdict:
        """Return that no document holds the claim: AMBIGUOUS where one has a part of it."""
        best, found = passages[0], sources_of(passages[:NEAREST])
        support = best.support
        if support is None:
            return Verdict(UNATTRIBUTED, self._shortfall(claim, best), self.name, found)
        if lacking := support.label == FULL and _other_numbers(claim, best):
            how = f"{support.reason}; another unit, sign or bound: {', '.join(map(repr, lacking))}"
            return self._ambiguous(how, passages[:NEAREST])
        if support.label == FULL:
            return self._ambiguous(support.reason, passages[:NEAREST])
        # A single fact has no part: people call it supported or not.
        none = support.label == NONE or support.one_fact
        label: Label = UNATTRIBUTED if none else AMBIGUOUS
        weight = _expected_weight(support, label=label)
        return Verdict(label, support.reason, self.name, found, **weight)

    def _shortfall(self, claim: str, best: Passage) -> str:
        why = ""
        if lacking := missing(claim, best.text):
            why = f"; missing: {', '.join(map(repr, lacking))}"
        elif self.threshold is not None and self.score(best) > self.threshold:
            why = f"; {compare(claim, prepare(best.text)).reason}"
        return f"{self._likeness_text(best)} in the nearest passage{why}"

    def _likeness_text(self, passage: Passage) -> str:
        return f"{passage.overlap * 100:.0f} % of its weight"

    def _weight_of_none(self, claim: str, passage: str = "") -> _Weight:
        """Return the weight 0, as of a comparison, where this detector has calibrated ones."""
        if self.threshold is not None:
            return {}
        language = language_of_pair(claim, passage)
        is_known = calibration_at(self.calibration).covers(language)
        return {"expected": 0.0} if is_known else {"uncalibrated": language}


@dataclass(frozen=True, slots=True)
class SemanticDetector(LexicalDetector):
    """Decides by the cosine of embeddings; numbers and names of a claim must be there too."""

    threshold: float | None = 0.85
    name: str = "semantic"
    embedder: Embedder | None = field(default=None, repr=False)

    async def verdict(self, claim: str, library: Library) -> Verdict:
        """Return the verdict, as the lexical detector does, by meaning."""
        return await LexicalDetector.verdict(self, claim, library.by_meaning(self.embedder))

    def states(self, claim: str, library: Library) -> bool:
        """Return whether a document holds a claim, by itself and by meaning."""
        return LexicalDetector.states(self, claim, library.by_meaning(self.embedder))

    def score(self, passage: Passage) -> float:
        """Return the value that is compared with the threshold."""
        return passage.cosine or 0.0

    def falls_short(self, found: SupportComparison) -> bool:
        """Return whether a claim contradicts a passage, or has no content; synonyms are allowed."""
        return bool(found.replaced) or (found.wanting and not found.missing)

    def _likeness_text(self, passage: Passage) -> str:
        return f"similarity {passage.cosine or 0.0:.2f}"


def lacks_words(support: SupportComparison) -> bool:
    """Return whether a single fact lacks words that it needs.

    Of single facts that lack two words of their document, people call 26 to 35 % fully
    supported, of those that lack none 71 to 82 % (three public sets).
    """
    return support.one_fact and len(support.missing) >= _MOST_LACKING


class _Weight(TypedDict, total=False):
    """The weight to be expected of a person, or the language in which it is not calibrated."""

    expected: float
    uncalibrated: str
    confidence: float


def _expected_weight(
    support: SupportComparison | None, most: float = 1.0, label: Label | None = None
) -> _Weight:
    """Return what a verdict says of the weight to be expected, which is at most `most`.

    With its `label` by the attester also P(label); a single fact is supported or not.
    """
    if support is None:
        return {}
    if support.expected is None:
        return {"uncalibrated": support.uncalibrated}
    weight: _Weight = {"expected": min(support.expected, most)}
    if label is None:
        return weight
    some = support.full if support.one_fact else support.probability
    chances = {ATTRIBUTED: support.full, UNATTRIBUTED: 1 - some, AMBIGUOUS: some - support.full}
    return weight | {"confidence": round(chances[label], 4)}


def _other_numbers(claim: str, passage: Passage) -> list[str]:
    """Return the numbers of a claim that neither a passage nor the rest of its document has."""
    lacking = missing_numbers(claim, passage.text)
    return missing_numbers(claim, passage.document.full_text) if lacking else []


def missing(claim: str, passage: str) -> list[str]:
    """Return the numbers and names of a claim that a passage lacks, as written.

    A number counts as lacking if the passage has it only with another unit, sign or bound.
    """
    names = [term for term in wording_of(claim).terms if term.named]
    forms = {token.form for token in tokenize(passage)} if names else set()
    lacking = [claim[term.start : term.end] for term in names if term.form not in forms]
    return lacking + missing_numbers(claim, passage)


def missing_numbers(claim: str, passage: str) -> list[str]:
    """Return the numbers of a claim, written in digits, that a passage lacks."""
    ours = [q for q in quantities(claim) if any(c.isdigit() for c in q.written)]
    theirs = list(quantities(passage)) if ours else []
    lacking = [mine for mine in ours if not any(_same(mine, q) for q in theirs)]
    in_words = numbers_in_words(passage) if lacking else set()
    return [mine.written for mine in lacking if mine.number not in in_words]


def _same(one: Quantity, other: Quantity) -> bool:
    return one.number == other.number and not other_quantity(one, other)


def states_plainly(passage: str, claim: str) -> bool:
    """Return whether a sentence of a passage has all content words of a claim, in their order.

    A word of doubt or denial that the claim has not makes it another statement.
    """
    wording = wording_of(claim)
    wanted = [term.form for term in wording.terms if term.content or term.number]
    for sentence in split_sentences(passage):
        theirs = wording_of(sentence)
        more = set(theirs.forms) - set(wording.forms)
        if DOUBT.isdisjoint(more) and not denials(more) and _in_order(wanted, theirs.forms):
            return True
    return False


def _in_order(wanted: Sequence[str], forms: Sequence[str]) -> bool:
    rest = iter(forms)
    return bool(wanted) and all(form in rest for form in wanted)


def denies_otherwise(claim: str, passage: str) -> bool:
    """Return whether only one of a claim and its nearest sentence in a passage is negated.

    A word of direction, such as "rise", whose opposite stands on the other side counts too.

    The other side has no word of denial either: "lacks proof" agrees with "no proof".
    Of a passage the sentence counts that has most of the claim, up to where it has it.
    """
    terms = {term.form: term.weight for term in wording_of(claim).terms}
    best, found = "", -1.0
    for sentence in split_sentences(passage):
        weight = sum(terms.get(form, 0.0) for form in {t.form for t in tokenize(sentence)})
        best, found = (sentence, weight) if weight > found else (best, found)
    tokens = tokenize(best)
    held = [position for position, token in enumerate(tokens) if token.form in terms]
    until = tokens[: held[-1] + 1] if held else []
    ours = tokenize(claim)
    theirs = {token.form for token in until}
    opposite = any(is_antonym(form, theirs) for form in terms)
    if opposite and not (denies(ours) or denies(until)):
        return True
    pairs = ((ours, until), (until, ours))
    return any(has_negation(one) and not denies(other) for one, other in pairs)


def _find_contradiction(claim: str, passages: Sequence[Passage]) -> tuple[Passage, str] | None:
    """Return the first passage that contradicts a claim, and how."""
    near = [passage for passage in passages if passage.overlap >= _RIVAL_FROM]
    for passage in near[:_MOST_RIVALS]:
        if _may_contradict(claim, passage.text) and (how := contradiction(claim, passage.text)):
            return passage, how
    return None
