"""The three axes of the citation score, as functions of text only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from trecjudge import Sentence
from trecjudge.judging.attest import NO_TEXT
from trecjudge.judging.offline.relevance import Vector, vector_of, weighed_forms
from trecjudge.judging.offline.wording import Term, wording_of
from trecjudge.text.numbers import other_writings
from trecjudge.text.tokens import comparable, read_forms, scripts

Unreadable = Literal["script", "no_document_text"]
"""Why words cannot be compared: kinds of `errors.JudgmentFailed`."""


@dataclass(frozen=True, slots=True)
class CitedText:
    """A cited text: its forms (also in other writings), TF-IDF vector and writing systems."""

    forms: Set[str]
    vector: Vector
    scripts: frozenset[str]

    def has(self, term: Term) -> bool:
        """Return whether a term of a claim is in the text, as a number in either writing."""
        return term.form in self.forms

    def comparable(self, text: str) -> bool:
        """Return whether the two share a writing system, or one has no letters."""
        return comparable(scripts(text), self.scripts)


@lru_cache(maxsize=1024)
def read_cited_text(text: str) -> CitedText:
    """Return a text as a passage, remembered: runs on one topic cite the same documents."""
    written, forms = read_forms(text)
    found = {*forms, *other_writings(text, written, forms)}
    return CitedText(found, vector_of(weighed_forms(text)), scripts(text))


def keywords(text: str) -> list[Term]:
    """Return the distinct words and numbers of a text that carry its content."""
    return [term for term in wording_of(text).terms if term.content]


def missing(terms: Iterable[Term], passages: Sequence[CitedText]) -> list[Term]:
    """Return the terms that none of the passages has."""
    return [term for term in terms if not any(passage.has(term) for passage in passages)]


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of an answer, and how far what they cite has them.

    `shares` are the parts of the keywords found, of claims that could be compared with what they
    cite; `idle` counts claims with nothing cited that is there; `unread` has for each of the rest
    why it could not be compared.
    """

    shares: tuple[float, ...]
    idle: int
    unread: tuple[Unreadable, ...]

    @property
    def faithfulness(self) -> float | None:
        """Mean share over the claims, the idle ones as 0; None if none that cites could be read."""
        if self.unread and not self.shares:
            return None
        return sum(self.shares) / max(1, len(self.shares) + self.idle)


def read_claims(
    sentences: Iterable[Sentence], cited: Mapping[str, CitedText | None], count_uncited: bool
) -> Claims:
    """Return how far the sentences are in what they cite.

    `cited` are the documents that are there, None for one whose text is not known; one that the run
    carries without text is not among them. A sentence
    without keywords claims nothing.
    """
    shares: list[float] = []
    unread: list[Unreadable] = []
    idle = 0
    for sentence in sentences:
        terms = keywords(sentence.text)
        if not terms or not (sentence.citations or count_uncited):
            continue
        found = [cited[i] for c in sentence.citations if (i := c.doc_id) and i in cited]
        with_text = [passage for passage in found if passage is not None]
        readable = [passage for passage in with_text if passage.comparable(sentence.text)]
        if readable:
            shares.append(1 - len(missing(terms, readable)) / len(terms))
        elif found:
            unread.append("script" if with_text else NO_TEXT)
        else:
            idle += 1
    return Claims(tuple(shares), idle, tuple(unread))
