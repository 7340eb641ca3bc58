"""Contradictions: a passage makes the same statement with another number, date, or negated."""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import pairwise

from trecjudge.judging.claims.clauses import subject_of
from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import compare
from trecjudge.judging.offline.wording import Term, wording_of
from trecjudge.text.directions import DIRECTED, is_antonym
from trecjudge.text.forms import word_form
from trecjudge.text.kinds import rivals
from trecjudge.text.numbers import SCALES, compose_numbers, may_compose
from trecjudge.text.quantities import YEAR, Quantity, agree, quantities
from trecjudge.text.sentences import split_sentences
from trecjudge.text.tokens import read_forms, tokenize

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
    ours, theirs = wording_of(claim), wording_of(sentence)
    if ours.denies or theirs.denies:
        return ""
    for term in ours.terms:
        # "It rose, then fell" says both: of one direction only it is the contrary.
        one_way = term.form in DIRECTED and not {term.form} & set(theirs.forms)
        if one_way and is_antonym(term.form, set(theirs.forms)):
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
    ours, theirs = wording_of(claim), wording_of(sentence)
    for before, term in pairwise(ours.terms):
        if before.form not in _BEING or term.named or not term.meaningful:
            continue
        there = theirs.meaningful_forms
        if ours.denies or theirs.denies or term.form in there or not rivals(term.form, there):
            continue
        rest = claim[: term.start] + claim[term.end :]
        if _same_statement(rest, sentence) and compare(claim, prepare(sentence)).replaced:
            return claim[term.start : term.end]
    return ""


def _same_statement(claim: str, sentence: str) -> bool:
    """Return whether the sentence has most of the claim, and is about what the claim is about."""
    ours, theirs = _words(claim), _words(sentence)
    needed = (form for form, term in ours.items() if term.named or form in _ORDINALS)
    if not ours or any(form not in theirs for form in needed):
        return False
    # What the sentence is about must not be more than what the claim is about: a list of four.
    about = subject_of(sentence)
    topic = theirs if about is None else _words(about)
    return _share(ours, theirs) >= _SAME_STATEMENT and _share(topic, ours) >= _SAME_SUBJECT


def _words(text: str) -> dict[str, Term]:
    """Return the terms of a text by form, without numbers and words that negate."""
    terms = wording_of(text).terms
    return {term.form: term for term in terms if not (_is_number(term) or term.negating)}


def _share(terms: Mapping[str, Term], others: Mapping[str, Term]) -> float:
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
