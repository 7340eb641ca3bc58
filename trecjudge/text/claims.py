"""What a sentence says, as weighted terms: the side of the comparison that is looked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from trecjudge.text.frequencies import Frequencies, read_frequencies
from trecjudge.text.negation import negated_positions
from trecjudge.text.prepared import scaled
from trecjudge.text.tokens import Token, tokenize

SHIPPED = read_frequencies()
CONTENT_FROM = 0.4
"""Weight from which on a term counts as content: "the" has 0.02, "people" 0.3, "Lyon" 1."""

_CITATION = re.compile(r"\[\^?\d+(?:\s*[,;–-]\s*\^?\d+)*\]")


@dataclass(frozen=True, slots=True)
class Term:
    """One distinct form of a sentence. `listed`: its weight has been looked up, not guessed."""

    form: str
    weight: float
    start: int
    end: int
    listed: bool
    named: bool
    negated: bool
    same_number: str | None
    """None for words; for numbers another way to write it ("1500000" of "1.5 million"), or ""."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence as its distinct terms in the order of their first occurrence."""

    text: str
    terms: tuple[Term, ...]
    total: float


def read_claim(sentence: str, frequencies: Frequencies = SHIPPED) -> Claim:
    """Return the weighted terms of a sentence; citation marks such as "[1]" are none."""
    tokens = tokenize(_CITATION.sub(lambda mark: " " * len(mark[0]), sentence))
    negated = set(negated_positions(tokens))
    terms: dict[str, Term] = {}
    for index, token in enumerate(tokens):
        if token.form not in terms:
            following = tokens[index + 1].form if index + 1 < len(tokens) else ""
            written = sentence[token.start : token.end]
            terms[token.form] = Term(
                *(token.form, frequencies.weight(token.form, written), token.start, token.end),
                listed=token.form in frequencies.counts,
                # The first word is capitalised whatever it is.
                named=index > 0 and written[0].isupper(),
                negated=index in negated,
                same_number=_same_number(token, written, following),
            )
    return Claim(sentence, tuple(terms.values()), sum(term.weight for term in terms.values()))


@lru_cache(maxsize=4096)
def shipped_claim(sentence: str) -> Claim:
    """Return the claim under the shipped frequencies, remembered."""
    return read_claim(sentence)


def _same_number(token: Token, written: str, following: str) -> str | None:
    # "Two" has the form "2" to match it, but a count in words is too often idle to contradict.
    if not (written[0].isdigit() and token.form[0].isdigit()):
        return None
    return scaled(token.form, following)
