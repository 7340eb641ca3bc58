"""Does a passage say the same of the same things with another number, date, or the contrary?"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trecjudge.text.claims import Term, shipped_claim
from trecjudge.text.clauses import subject_of
from trecjudge.text.forms import word_form
from trecjudge.text.lexical import compare
from trecjudge.text.prepared import SCALES, prepare, scaled
from trecjudge.text.sentences import split_sentences
from trecjudge.text.tokens import Token, tokenize

_SAME_STATEMENT = 0.8
"""The share of a claim's weight, numbers aside, that makes a sentence its other version."""

_SAME_SUBJECT = 0.5
_MONTHS = frozenset(word_form(calendar.month_name[month]) for month in range(1, 13))
_ERAS = frozenset({"bce", "bc", "ce", "ad"})
# A bound: another number is no contradiction.
_BOUND = re.compile(
    r"(?:\b(?:over|under|above|below|more\s+than|less\s+than|fewer\s+than|at\s+least|at\s+most|up\s+to|"
    r"between|from|\d\s+(?:to|or|and))|[<>≤≥]|\d\s?[–-])\s*$",
    re.IGNORECASE,
)
# A guess: only a number that is far off contradicts it.
_GUESS = re.compile(
    r"(?:\b(?:about|around|approximately|roughly|nearly|almost|some|circa|c\.|ca\.?)|[~≈])\s*$",
    re.IGNORECASE,
)
_FAR_OFF = 1.25
_FAR_OFF_YEARS = 10
_ROUNDED = 1.05
_YEAR = re.compile(r"(?:1[0-9]|20)\d\d")
_BEFORE_A_YEAR = frozenset(map(word_form, "in since until by during after before year of".split()))  # noqa: SIM905
_BEFORE = re.compile(r"[$€£¥₹]\s*$")
_AFTER = re.compile(r"^\s*(?:[%％]|percent\b|per\s?cent\b)", re.IGNORECASE)
_HEDGED_WITHIN = 16


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text: its form, what it counts, and the words themselves.

    `unit` is a stem ("cup"), a sign ("%", "$"), a month, "year", or "" where nothing tells.
    """

    number: str
    unit: str
    written: str
    bound: bool
    guess: bool


def contradiction(claim: str, passage: str) -> str | None:
    """Return how a sentence of the passage contradicts the claim, or None.

    The sentence must make the same statement, numbers aside: have 80 % of the claim's weight and
    all its names, and a subject half of which at least is in the claim. Contradicted is a number
    whose unit the sentence has with another number alone; or a statement that is negated on one
    side only. Bounds ("over 3"), rough guesses and rounded numbers contradict nothing.
    """
    for sentence in split_sentences(passage):
        if not _same_statement(claim, sentence):
            continue
        if (found := _other_number(claim, passage, sentence)) is not None:
            return found
        if compare(claim, prepare(sentence)).negation_differs:
            return f"negated on one side only: {sentence!r}"
    return None


def _same_statement(claim: str, sentence: str) -> bool:
    """Tell if the sentence has most of the claim, and is about what the claim is about."""
    ours, theirs = _words(claim), _words(sentence)
    if not ours or any(term.named and form not in theirs for form, term in ours.items()):
        return False
    # What the sentence is about must not be more than what the claim is about: a list of four.
    about = subject_of(sentence)
    topic = theirs if about is None else _words(about)
    return _share(ours, theirs) >= _SAME_STATEMENT and _share(topic, ours) >= _SAME_SUBJECT


def _words(text: str) -> dict[str, Term]:
    """Return the terms of a text by form, without numbers and words that negate."""
    terms = shipped_claim(text).terms
    return {term.form: term for term in terms if not (_is_number(term) or term.negating)}


def _share(terms: Mapping[str, Term], others: Mapping[str, Term]) -> float:
    """Return the share of the weight of terms that others have too."""
    total = sum(term.weight for term in terms.values())
    shared = sum(term.weight for form, term in terms.items() if form in others)
    return shared / total if total else 1.0


def _is_number(term: Term) -> bool:
    return term.form[0].isdigit() or term.form in SCALES


def _other_number(claim: str, passage: str, sentence: str) -> str | None:
    """Return the first quantity of the claim for which the sentence has another number."""
    ours, theirs = list(quantities(claim)), list(quantities(sentence))
    known = {quantity.number for quantity in quantities(passage)}
    for mine in ours:
        if mine.number in known or mine.bound:
            continue
        rivals = [other for other in theirs if other.unit == mine.unit and not other.bound]
        if not mine.unit:
            # Without a unit they are about the same only where there is no other number.
            rivals = rivals if len(ours) == len(theirs) == 1 else []
        if rivals and not any(_agree(mine, other) for other in rivals):
            return f"{mine.written!r} against {rivals[0].written!r}"
    return None


def quantities(text: str) -> Iterator[Quantity]:
    """Yield the numbers of a text, each with its unit."""
    tokens = tokenize(text)
    for position, token in enumerate(tokens):
        if token.form[0].isdigit():
            yield _quantity(text, tokens, position)


def _quantity(text: str, tokens: Sequence[Token], position: int) -> Quantity:
    token = tokens[position]
    number, last = token.form, position
    following = tokens[position + 1].form if position + 1 < len(tokens) else ""
    if written_out := scaled(number, following):
        number, last = written_out, position + 1
    unit, end = _unit(text, tokens, position, last)
    before = text[max(0, token.start - _HEDGED_WITHIN) : token.start]
    bound, guess = _BOUND.search(before), _GUESS.search(before)
    return Quantity(number, unit, text[token.start : end], bound is not None, guess is not None)


def _unit(text: str, tokens: Sequence[Token], position: int, last: int) -> tuple[str, int]:
    """Return (unit, end of the words): a sign, an era, a month, a year, or the next word."""
    token, end = tokens[position], tokens[last].end
    if sign := _AFTER.match(text[end : end + 12]):
        return "%", end + sign.end()
    if _BEFORE.search(text[max(0, token.start - 2) : token.start]):
        return "$", end
    following = tokens[last + 1] if last + 1 < len(tokens) else None
    near = following is not None and text[end : following.start].strip() in ("", "-")
    if following is not None and near and following.form in _ERAS:
        return "year", following.end
    previous = tokens[position - 1].form if position else ""
    if _YEAR.fullmatch(token.form):
        if previous in _BEFORE_A_YEAR | _MONTHS or not near:
            return "year", end
    elif previous in _MONTHS:
        return previous, end
    if following is not None and near and not following.form[0].isdigit():
        return following.form, following.end
    return "", end


def _agree(one: Quantity, other: Quantity) -> bool:
    """Tell if two numbers can be the same: one is the other rounded, or a fair guess of it."""
    try:
        low, high = sorted((float(one.number), float(other.number)))
    except ValueError:
        return False
    guess = one.guess or other.guess
    if one.unit == "year":
        return guess and high - low <= _FAR_OFF_YEARS
    if guess and high <= low * _FAR_OFF:
        return True
    return high <= low * _ROUNDED and _rounds(one.number, other.number)


def _rounds(one: str, other: str) -> bool:
    """Tell if one number is the other, rounded to fewer digits."""
    short, full = sorted((one, other), key=lambda number: len(_significant(number)))
    digits = len(_significant(short))
    return digits > 0 and float(f"{float(full):.{digits}g}") == float(short)


def _significant(number: str) -> str:
    """Return the digits of a number that tell: "1500000" and "1.50" have two."""
    return number.replace(".", "").strip("0")
