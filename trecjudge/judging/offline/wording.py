"""A sentence as weighted terms: what a document is searched for."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from trecjudge.text.forms import word_form
from trecjudge.text.frequencies import (
    Frequencies,
    grammar_of,
    has_grammar,
    is_grammar_run,
    read_frequencies,
)
from trecjudge.text.numbers import compose_numbers, may_compose
from trecjudge.text.qualifiers import HEDGES, denials, negated_positions
from trecjudge.text.sentences import CITATION
from trecjudge.text.tokens import is_spaceless, read_forms, read_places

SHIPPED = read_frequencies()
# "World" has 0.2, "government" 0.4, "Lyon" 1; some auxiliaries are rare enough to be above.
_CONTENT_FROM = 0.3
_AUXILIARIES = frozenset(
    map(word_form, ("do", "does", "did", "been", "had", "should", "could", "might", "must"))
)
_CITATION = re.compile(CITATION)
# What opens a sentence and says nothing: its number in a list, a word of talk.
_OPENER = re.compile(
    r"\A\s*(?:\(?\d{1,2}[.)]\s+(?=[^\W\d])"
    r"|(?:yes|yeah|yep)\s+(?=(?:it|they|he|she|i|we|you|there|that|this)\b)"
    r"|(?:yes|yeah|yep|ok|okay|oh|ah|um|uh|hmm|sure)\s*[,.!]\s*"
    r"|(?:no|well|so|ja|nein|oui|non|s[ií]|да|нет|نعم|لا|بله)\s*[,!،]\s*)",
    re.IGNORECASE,
)
# Where a sentence can be cut into parts with content of their own.
_CUT = re.compile(r"[,;:–—،؛]\s|[、，；：]")
_JOINING = frozenset(map(word_form, ("and", "or", "while", "which", "that", "but")))
_LISTING = frozenset(("and", "or"))
# A part that weighs less is too common to be looked for on its own.
_LIGHTEST_PART = 1.0
_MOST_QUOTES = 8
_BIGRAM = 0.5
_QUOTED = re.compile(r"[\"“«]([^\"“”«»]{12,400})[\"”»]")


class Term(NamedTuple):
    """One distinct form of a sentence.

    `content`: it is what the sentence is about; `listed`: its weight has been looked up, not
    guessed; `named`: it is capitalised and not the first word; `negated`: it is under a negation;
    `negating`: it makes one ("does", "not"); `number`: it is one, in digits or in several words;
    `meaningful`: it is no function word.
    """

    form: str
    weight: float
    start: int
    end: int
    content: bool
    listed: bool
    named: bool
    negated: bool
    negating: bool
    number: bool
    meaningful: bool


@dataclass(frozen=True, slots=True)
class Wording:
    """A sentence as its distinct terms in the order of their first occurrence.

    `forms` are all its tokens' forms, `parts` the positions among the terms of what stands between
    commas and the like; `listing` counts "and" and "or". `quotes` are what it gives in quotation
    marks; `denies` and `hedged`: it has a word of denial, of doubt. `size` counts the content
    terms, a pair of characters as half a word.
    """

    text: str
    terms: tuple[Term, ...]
    forms: tuple[str, ...]
    parts: tuple[tuple[int, ...], ...]
    listing: int
    quotes: tuple[str, ...]
    denies: bool
    hedged: bool
    size: float

    @property
    def meaningful(self) -> list[Term]:
        """The terms that are no function words."""
        return [term for term in self.terms if term.meaningful]

    @property
    def meaningful_forms(self) -> set[str]:
        """The forms of these."""
        return {term.form for term in self.terms if term.meaningful}


def read_wording(sentence: str, frequencies: Frequencies = SHIPPED) -> Wording:
    """Return the weighted terms of a sentence; citation marks such as "[1]" are none."""
    bare = _bare(sentence)
    words, read, starts = _read_numbers(bare, *read_places(bare))
    forms = tuple(read)
    distinct = set(forms)
    denying = denials(distinct)
    negated = set(negated_positions(forms)) if denying else ()
    grammar = _grammar(bare, distinct)
    weights = frequencies.weights
    terms: dict[str, Term] = {}
    for index, (form, written, start) in enumerate(zip(forms, words, starts, strict=True)):
        if form not in terms:
            weight = weights.get(form)
            listed = weight is not None
            if weight is None:
                weight = frequencies.weight(form, written)
            terms[form] = Term(
                form,
                weight,
                start,
                start + len(written),
                weight >= _CONTENT_FROM and form not in _AUXILIARIES,
                listed,
                # The first word is capitalised whatever it is.
                index > 0 and written[0].isupper(),
                index in negated,
                form in denying or form in _AUXILIARIES,
                # "Two" has the form "2" to match it, but too often counts nothing.
                form[0].isdigit() and (written[0].isdigit() or " " in written),
                form not in grammar,
            )
    return Wording(
        *(sentence, tuple(terms.values()), forms),
        parts=tuple(_parts(bare, words, forms, starts, list(terms.values()))),
        listing=sum(map(forms.count, _LISTING)),
        quotes=tuple(_QUOTED.findall(sentence)[:_MOST_QUOTES]),
        denies=bool(denying),
        hedged=not HEDGES.isdisjoint(forms),
        size=_size(bare, distinct - grammar),
    )


def _bare(sentence: str) -> str:
    """Return a sentence with spaces for citation marks and what opens it: offsets stay."""
    if "[" in sentence:
        sentence = _CITATION.sub(_blank, sentence)
    return _OPENER.sub(_blank, sentence, count=1)


def _blank(mark: re.Match[str]) -> str:
    return " " * len(mark[0])


def _size(text: str, meaningful: Set[str]) -> float:
    pairs = sum(map(is_spaceless, meaningful)) if is_spaceless(text) else 0
    return len(meaningful) - _BIGRAM * pairs


def _grammar(text: str, forms: Set[str]) -> Set[str]:
    """Return the forms that are function words; the others are the content.

    Of pairs of characters those with one of grammar, too, unless there are no others.
    """
    grammar = grammar_of(forms)
    if not is_spaceless(text):
        return grammar
    if is_grammar_run(text):
        return forms
    unclear = {form for form in forms if form in grammar or has_grammar(form)}
    return unclear if unclear != forms else grammar


@lru_cache(maxsize=1024)
def wording_of(sentence: str, frequencies: Frequencies = SHIPPED) -> Wording:
    """Return the wording of a sentence, remembered."""
    return read_wording(sentence, frequencies)


class WeightedForms(NamedTuple):
    """The distinct forms of a text in the order of their first occurrence, and their weights."""

    forms: tuple[str, ...]
    weights: tuple[float, ...]
    total: float

    def present_in(self, forms: Container[str]) -> list[tuple[str, float]]:
        """Return those of the forms, with their weights, that a document has."""
        pairs = zip(self.forms, self.weights, strict=True)
        return [pair for pair in pairs if pair[0] in forms]

    def weight_in(self, forms: Container[str]) -> float:
        """Return the sum of these weights."""
        pairs = zip(self.forms, self.weights, strict=True)
        return sum([weight for form, weight in pairs if form in forms])


# Claims and facts are looked for in many documents, and most are in none: of these no more is
# worked out. An entry has a tenth of the size of a wording.
@lru_cache(maxsize=1 << 13)
def weighted_forms(text: str) -> WeightedForms:
    """Return the forms of the terms of a text, and their weights under the shipped frequencies."""
    found: dict[str, float] = {}
    for word, form in zip(*_read_terms(text), strict=True):
        if form not in found:
            found[form] = SHIPPED.weight(form, word)
    return WeightedForms(tuple(found), tuple(found.values()), sum(found.values()) or 1.0)


def term_forms(text: str) -> frozenset[str]:
    """Return the forms of the terms of a text."""
    return frozenset(_read_terms(text)[1])


def _read_terms(text: str) -> tuple[Sequence[str], Sequence[str]]:
    """Return the words of a text and their forms, a number of several words as one."""
    bare = _bare(text)
    written, forms = read_forms(bare)
    if not may_compose(forms):
        return written, forms
    return _read_numbers(bare, *read_places(bare))[:2]


def _read_numbers(
    text: str, words: list[str], forms: list[str], starts: list[int]
) -> tuple[list[str], list[str], list[int]]:
    """Return tokens with those that write a number as one: "1.5 million" with "1500000"."""
    if not may_compose(forms):
        return words, forms, starts
    found: tuple[list[str], list[str], list[int]] = ([], [], [])
    done = 0
    for first, stop, number in compose_numbers(words, forms):
        whole = text[starts[first] : starts[stop - 1] + len(words[stop - 1])]
        found[0].extend((*words[done:first], whole))
        found[1].extend((*forms[done:first], number))
        found[2].extend((*starts[done:first], starts[first]))
        done = stop
    return found[0] + words[done:], found[1] + forms[done:], found[2] + starts[done:]


def _parts(
    text: str,
    words: Sequence[str],
    forms: Sequence[str],
    starts: Sequence[int],
    terms: Sequence[Term],
) -> Iterator[tuple[int, ...]]:
    """Yield the positions of the terms of each part that has some weight."""
    position = {term.form: index for index, term in enumerate(terms)}
    cuts = [match.start() for match in _CUT.finditer(text)][::-1]
    part: dict[int, None] = {}
    weight, before = 0.0, 0
    for word, form, start in zip(words, forms, starts, strict=True):
        cut = form in _JOINING
        while cuts and cuts[-1] < start:
            # A number of several words may have a comma in it.
            cut = cuts.pop() >= before or cut
        if cut:
            if weight >= _LIGHTEST_PART:
                yield tuple(part)
            part, weight = {}, 0.0
        if (index := position[form]) not in part:
            part[index] = None
            weight += terms[index].weight
        before = start + len(word)
    if weight >= _LIGHTEST_PART:
        yield tuple(part)
