"""A nugget while its bank is made, with all that it was found in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from trecjudge.records import GoldAnswer, Nugget, Source
from trecjudge.records.nuggets import OKAY, VITAL

WORTH: Final = {VITAL: 2, OKAY: 0}
"""Of labels of importance, to order by; what has none stands between them."""


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of a run that states a nugget."""

    run_id: str
    sentence_index: int
    text: str


@dataclass(frozen=True, slots=True)
class NuggetDraft:
    """A statement, or a question with its answers, and where it is from.

    `passages` are those of documents that state it, `documents` the ids of others that are cited
    for it and have no text. `said` are sentences of runs, `runs` those that state it, or cite
    a document that does. `also` are other wordings that were merged with it.
    """

    text: str
    answers: tuple[GoldAnswer, ...] | None = None
    importance: str = ""
    passages: tuple[Source, ...] = ()
    documents: tuple[str, ...] = ()
    said: tuple[Said, ...] = ()
    runs: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def is_question(self) -> bool:
        """Whether it is a question."""
        return self.answers is not None

    @property
    def attesting(self) -> tuple[str, ...]:
        """The ids of the documents that it is from, each once."""
        return _once((*(source.doc_id for source in self.passages), *self.documents))

    def joined(self, other: NuggetDraft) -> NuggetDraft:
        """Return this nugget with all that another, which says the same, is from."""
        importance = max(self.importance, other.importance, key=worth)
        return replace(
            self,
            answers=None if self.answers is None else (*self.answers, *(other.answers or ())),
            importance=importance if self.importance else other.importance,
            passages=_once((*self.passages, *other.passages)),
            documents=_once((*self.documents, *other.documents)),
            said=_once((*self.said, *other.said)),
            runs=_once((*self.runs, *other.runs)),
            also=tuple(t for t in _once((*self.also, other.text, *other.also)) if t != self.text),
        )

    def nugget(self, nugget_id: str) -> Nugget:
        """Return the finished nugget; who states it is its `source`."""
        return Nugget(
            nugget_id,
            self.text,
            is_question=self.is_question,
            answers=self.answers or (),
            importance=self.importance,
            documents=self.attesting,
            source=", ".join(_once(said.run_id for said in self.said)),
        )


def worth(importance: str) -> int:
    """Return what a label of importance is worth, to order by."""
    return WORTH.get(importance, 1)


def by_importance(drafts: Iterable[NuggetDraft]) -> list[NuggetDraft]:
    """Return nuggets, vital ones first, else in their order."""
    return sorted(drafts, key=lambda draft: -worth(draft.importance))


def _once(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))
