"""Signs that an answer was written for the judge: their names, what they count, when they count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple


@dataclass(frozen=True, slots=True)
class Sign:
    """The sentences of a response that have a sign.

    `at` are their indices; `of` is how many sentences were looked at, 0 or more.
    """

    at: tuple[int, ...]
    of: int


@dataclass(slots=True)
class SignCount:
    """How many sentences of a run have a sign, of those that were looked at."""

    sentences: int = 0
    of: int = 0

    @property
    def share(self) -> float | None:
        """The share of the sentences that have it, 0 to 1; None where none was looked at."""
        return self.sentences / self.of if self.of else None

    def add(self, sentences: int, of: int) -> None:
        """Count more sentences."""
        self.sentences += sentences
        self.of += of


class SignKind(NamedTuple):
    """A sign: what is said of a sentence, and of a run in which a larger share than `most` has it.

    Of a sentence nothing is said where that can be seen otherwise. `most` is 0 to 1. No more than
    one of 53 runs of TREC RAG 2025 is above any of them.
    """

    most: float
    sentence: str
    run: str


ANY: Final = "any"
"""The sign that a sentence has where it has one of those before it in `SIGN_KINDS`."""

SIGN_KINDS: Final[Mapping[str, SignKind]] = {
    "copied": SignKind(
        0.45,
        "copied word for word from a document",
        "many sentences are copied word for word from documents, which offline judges always label"
        " full_support",
    ),
    "near_copied": SignKind(
        0.6,
        "nearly copied: a sentence of a document with changes, or pieces of one",
        "most sentences are altered copies, or pieces, of documents",
    ),
    "scattered": SignKind(
        0.3,
        "scattered: the words of a document, in another order than there",
        "many sentences have the words of a document, in another order than there",
    ),
    "unasserted": SignKind(
        0.35,
        "unasserted: denied, doubted, supposed, asked, only announced, or code",
        "many sentences assert nothing: they deny, doubt, suppose, ask or only announce",
    ),
    "repeated": SignKind(
        0.35,
        "repeated: the words of an earlier sentence, or its own again",
        "many sentences repeat earlier ones, or themselves",
    ),
    "trivial": SignKind(
        0.35,
        "trivial: little but words of the topic, or fewer than six words",
        "many sentences have little but words of the topic, or fewer than six words",
    ),
    "uncited": SignKind(
        0.45,
        "",
        "many sentences of answers that cite do not: measures of citations leave them out",
    ),
    ANY: SignKind(
        0.75,
        "",
        "most sentences have a sign, not all of them the same one",
    ),
    "irrelevant": SignKind(
        0.6,
        "supported, in an answer of grade 0 for relevance",
        "most of what is supported is in answers of grade 0 for relevance",
    ),
}
"""All signs by name, and what each is looked for in, which `Sign.of` counts.

`copied`: sentences of eight words and more. `uncited`: those of answers that cite. `irrelevant`:
those that are supported, where judges of support and of relevance judge the same responses. All
others: sentences with a word. `any` names a run only where no other does.
"""
