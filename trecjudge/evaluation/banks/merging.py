"""Nuggets while a bank is made, with what they were found in; those that say the same, joined."""

from __future__ import annotations

import calendar
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from trecjudge.judging.offline.prepared import prepared_text
from trecjudge.judging.offline.support import compare
from trecjudge.judging.offline.wording import wording_of
from trecjudge.records import FULL, GoldAnswer, Nugget, Source
from trecjudge.records.nuggets import OKAY, VITAL
from trecjudge.text.forms import word_form
from trecjudge.text.frequencies import ENGLISH
from trecjudge.text.numbers import compose_numbers
from trecjudge.text.tokens import read_forms

WORTH: Final = {VITAL: 2, OKAY: 0}
"""Of labels of importance, to order by; what has none stands between them."""


@dataclass(frozen=True, slots=True)
class StatingSentence:
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
    said: tuple[StatingSentence, ...] = ()
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

    def join_with(self, other: NuggetDraft) -> NuggetDraft:
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


Key = tuple[str, ...]

_ARTICLES = frozenset(map(word_form, ("a", "an", "the")))
_MONTH_OF = {
    word_form(name[month]): word_form(calendar.month_name[month])
    for name in (calendar.month_abbr, calendar.month_name)
    for month in range(1, 13)
}
_MONTHS = frozenset(_MONTH_OF.values())
_SAME = {"%": "percent", "cent": "percent"}
_DATE = 3
_ALIKE = 0.6
"""The share of words that two statements must have in common to be compared at all."""
_TELLING = frozenset(
    map(
        word_form,
        """not no nor never before after until since during without with from to up down in out over
        under above below all any some most few more less only each both other than between against
        who whom whose what when where why how which""".split(),  # noqa: SIM905
    )
)
"""Function words by which two statements of the same words differ."""


@lru_cache(maxsize=8192)
def key_of_text(text: str) -> Key:
    """Return the words of a text by which it is equal to another in another writing.

    Case, marks, articles and endings of words do not count; numbers count by their value ("1.5
    million" is 1500000), a date is the same in any order.
    """
    written, forms = read_forms(text)
    numbers = {first: (stop, number) for first, stop, number in compose_numbers(written, forms)}
    plain: list[str] = []
    at = 0
    while at < len(forms):
        stop, form = numbers.get(at, (at + 1, forms[at]))
        form = _SAME.get(form, form)
        if form not in _ARTICLES:
            plain.append(form)
        at = stop
    return tuple(_with_dates(plain))


def _with_dates(forms: Sequence[str]) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(forms):
        part = forms[at : at + _DATE]
        # "Mar" and "Apr" are months beside a day and a year only.
        months = [_MONTH_OF[form] for form in part if form in _MONTH_OF]
        numbers = sorted((form for form in part if form.isdecimal()), key=len)
        is_date = len(part) == _DATE and len(months) == 1 and len(numbers) == _DATE - 1
        if is_date and len(numbers[0]) <= 2 and len(numbers[1]) == 4:
            found.append(f"{numbers[1]} {months[0]} {numbers[0]}")
            at += _DATE
        else:
            found.append(forms[at])
            at += 1
    return found


def say_the_same(one: str, other: str) -> bool:
    """Return whether two statements say the same, as far as words show it.

    They do in equal words; or where each supports the other in full, with the same numbers, names
    and words that tell statements apart, such as `before` and `not`.
    """
    first, second = key_of_text(one), key_of_text(other)
    if first == second:
        return True
    differing = set(first) ^ set(second)
    named = {t.form for text in (one, other) for t in wording_of(text).terms if t.named}
    if differing & (_TELLING | _MONTHS | named) or any(f[:1].isdigit() for f in differing):
        return False
    pairs = ((one, other), (other, one))
    return all(compare(text, prepared_text(whole)).label == FULL for text, whole in pairs)


def merge_drafts(drafts: Iterable[NuggetDraft]) -> list[NuggetDraft]:
    """Return nuggets, each once: of equal ones the first, joined by what the others are from.

    Questions are equal in equal words only; their answers are united.
    """
    kept: list[NuggetDraft] = []
    by_key: dict[tuple[bool, Key], int] = {}
    having: defaultdict[str, list[int]] = defaultdict(list)
    """The statements that have a word, by their places in `kept`."""
    for draft in drafts:
        key = key_of_text(draft.text)
        place = by_key.get((draft.is_question, key))
        if place is None and not draft.is_question:
            place = next((i for i in _near(key, having, kept) if _same(draft, kept[i])), None)
        if place is None:
            place = len(kept)
            kept.append(draft)
            if not draft.is_question:
                for form in set(key) - ENGLISH:
                    having[form].append(place)
        else:
            kept[place] = kept[place].join_with(draft)
        by_key[draft.is_question, key] = place
    return [with_answers_once(draft) for draft in kept]


def _same(one: NuggetDraft, other: NuggetDraft) -> bool:
    return say_the_same(one.text, other.text)


def _near(key: Key, having: defaultdict[str, list[int]], kept: Sequence[NuggetDraft]) -> list[int]:
    """Return the places of statements that have most words in common with these, nearest first."""
    words = set(key) - ENGLISH
    shared: defaultdict[int, int] = defaultdict(int)
    for form in words:
        for place in having.get(form, ()):
            shared[place] += 1
    near = []
    for place, count in shared.items():
        whole = len(words | (set(key_of_text(kept[place].text)) - ENGLISH))
        if count / whole >= _ALIKE:
            near.append((-count / whole, place))
    return [place for _, place in sorted(near)]


def with_answers_once(draft: NuggetDraft) -> NuggetDraft:
    """Return a question with each of its answers once, in whatever writing, documents united."""
    if draft.answers is None:
        return draft
    by_key: dict[Key, GoldAnswer] = {}
    for answer in draft.answers:
        key = key_of_text(answer.text) or (answer.text,)
        before = by_key.setdefault(key, answer)
        if before is not answer:
            documents = tuple(dict.fromkeys((*before.documents, *answer.documents)))
            by_key[key] = replace(before, documents=documents)
    return replace(draft, answers=tuple(by_key.values()))
