"""What a sentence says, as weighted terms: the side of the comparison that is looked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from trecjudge.text.forms import word_form
from trecjudge.text.frequencies import Frequencies, read_frequencies
from trecjudge.text.negation import denials, negated_positions
from trecjudge.text.prepared import scaled
from trecjudge.text.sentences import CITATION
from trecjudge.text.tokens import Token, tokenize

SHIPPED = read_frequencies()
# "World" has 0.2, "government" 0.4, "Lyon" 1; some auxiliaries are rare enough to be above.
_CONTENT_FROM = 0.3
_AUXILIARIES = frozenset(
    map(word_form, ("do", "does", "did", "been", "had", "should", "could", "might", "must"))
)

_CITATION = re.compile(CITATION)


class Term(NamedTuple):
    """One distinct form of a sentence.

    `content`: it tells what the sentence is about; `listed`: its weight has been looked up, not
    guessed; `named`: it is capitalised and not the first word; `negated`: it is under a negation;
    `negating`: it makes one ("does", "not").
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
    same_number: str | None
    """None for words; for numbers another way to write it ("1500000" of "1.5 million"), or ""."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence as its distinct terms in the order of their first occurrence.

    `denies`: it has a word of denial.
    """

    text: str
    terms: tuple[Term, ...]
    denies: bool


def read_claim(sentence: str, frequencies: Frequencies = SHIPPED) -> Claim:
    """Return the weighted terms of a sentence; citation marks such as "[1]" are none."""
    tokens = tokenize(_CITATION.sub(lambda mark: " " * len(mark[0]), sentence))
    negated = set(negated_positions(tokens))
    denying = set(denials({token.form for token in tokens}))
    terms: dict[str, Term] = {}
    for index, token in enumerate(tokens):
        if token.form not in terms:
            following = tokens[index + 1].form if index + 1 < len(tokens) else ""
            written = sentence[token.start : token.end]
            weight = frequencies.weight(token.form, written)
            terms[token.form] = Term(
                *(token.form, weight, token.start, token.end),
                content=weight >= _CONTENT_FROM and token.form not in _AUXILIARIES,
                listed=token.form in frequencies.counts,
                # The first word is capitalised whatever it is.
                named=index > 0 and written[0].isupper(),
                negated=index in negated,
                negating=token.form in denying or token.form in _AUXILIARIES,
                same_number=_same_number(token, written, following),
            )
    return Claim(sentence, tuple(terms.values()), bool(denying))


@lru_cache(maxsize=4096)
def shipped_claim(sentence: str) -> Claim:
    """Return the claim under the shipped frequencies, remembered."""
    return read_claim(sentence)


def _same_number(token: Token, written: str, following: str) -> str | None:
    # "Two" has the form "2" to match it, but a count in words is too often idle to contradict.
    if not (written[0].isdigit() and token.form[0].isdigit()):
        return None
    return scaled(token.form, following)
