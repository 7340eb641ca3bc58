"""Whether a text states an answer, by words: where the telling words of the answer are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from trecjudge.errors import NOT_GIVEN, JudgmentFailed
from trecjudge.judging.offline.passages import best_passage
from trecjudge.judging.offline.prepared import Prepared, prepared_text, scripts_of
from trecjudge.judging.offline.support import compare
from trecjudge.judging.offline.wording import Term, wording_of
from trecjudge.records import FULL, PARTIAL, GoldAnswer, Nugget, Topic
from trecjudge.text.forms import word_form
from trecjudge.text.quotes import find_quote_span
from trecjudge.text.tokens import comparable, scripts

STATED: Final = "support"
PARTLY: Final = "partial_support"
NOT_STATED: Final = "not_support"
Label = Literal["support", "partial_support", "not_support"]

_SHORT = 4
"""An answer of fewer content words is a name, a number or a term: all of it must be there."""
_ABOUT = 0.35
"""Share of the question's weight that stands with a short answer, so that it answers this one."""
_HALF = 0.5
_SHARE_STATED = 0.7
"""Share of a statement's weight that stands in a text which states it."""
_ASKING = frozenset(
    map(word_form, ("happen", "happens", "happened", "occur", "kind", "sort", "type"))
)
"""What a question asks with, and its answer need not repeat."""


@dataclass(frozen=True, slots=True)
class Match:
    """Whether a text states an answer, why, and where: character offsets, both 0 for nowhere."""

    label: Label
    reason: str
    start: int = 0
    end: int = 0


def nuggets_given(
    topic: Topic, what: str = "bank of nuggets", weighted: bool = False
) -> tuple[Nugget, ...]:
    """Return the nuggets of a topic; only where `weighted` they may be criteria.

    Criteria are no facts: to state one may be a fault. Raises JudgmentFailed where it has no bank,
    or one of criteria.
    """
    if topic.nuggets is None:
        raise JudgmentFailed(NOT_GIVEN, f"no {what} for this topic; give --nuggets")
    if not weighted and any(nugget.weight is not None for nugget in topic.nuggets):
        message = "its bank has weighted criteria, which only judge rubric takes"
        raise JudgmentFailed(NOT_GIVEN, message)
    return topic.nuggets


def stated(text: str, nugget: Nugget, answer: GoldAnswer) -> Match:
    """Return whether a text states an answer to a nugget, as far as words show it.

    A statement, or a long answer, is compared as a sentence is with a document. Of a short answer
    all words and numbers must be there, in whatever writing, and with them some of the question.
    """
    if not comparable(_scripts_of_answer(answer.text), scripts_of(text)):
        return Match(NOT_STATED, "it is in another script than the text")
    document = prepared_text(text)
    telling = _telling(answer.text)
    # Most answers have nothing to do with a text: they are told apart before anything is compared.
    if not any(term.form in document.segments_of for term in telling):
        return Match(NOT_STATED, "no word of the answer is there")
    if not nugget.is_question or len(telling) >= _SHORT:
        return _compare_statement(answer.text, document)
    return _with_question(nugget.text, answer.text, telling, document)


def _compare_statement(statement: str, document: Prepared) -> Match:
    found = compare(statement, document)
    label: Label = NOT_STATED
    telling = _telling(statement)
    whole = sum(term.weight for term in telling)
    there = sum(term.weight for term in telling if term.form in document.segments_of)
    # A cited document is mostly on the matter, and half of the words may do; any text is not.
    if found.label == FULL:
        label = STATED if there >= _SHARE_STATED * whole else PARTLY
    elif found.label == PARTIAL:
        label = PARTLY
    return Match(label, found.reason, found.start, found.end)


@lru_cache(maxsize=4096)  # a bank is compared with every sentence of every run
def _scripts_of_answer(text: str) -> frozenset[str]:
    return scripts(text)


@lru_cache(maxsize=4096)
def _telling(text: str) -> tuple[Term, ...]:
    """Return the words by which an answer is known: content and numbers, else all of them."""
    terms = wording_of(text).terms
    return tuple(t for t in terms if t.content or t.number or t.named) or terms


def _with_question(
    question: str, answer: str, telling: Sequence[Term], document: Prepared
) -> Match:
    """Return whether a passage has a short answer, and some of the question with it."""
    lacking = [term for term in telling if term.form not in document.segments_of]
    if lacking and not find_quote_span(document.text, answer):
        missing = ", ".join(repr(answer[term.start : term.end]) for term in lacking[:3])
        share = 1 - len(lacking) / len(telling)
        # Half of a name may do in part; half of a number, or of a date, is another one.
        other = any(term.number for term in lacking)
        label: Label = PARTLY if share >= _HALF and not other else NOT_STATED
        return Match(label, f"the answer's {missing} is not there")
    own = {term.form for term in telling}
    asked = [t for t in _telling(question) if t.form not in own and t.form not in _ASKING]
    present = [t for t in (*telling, *asked) if t.form in document.segments_of]
    passage = best_passage([(term, _weight(term, own)) for term in present], document)
    there = _forms_in(document, passage.start, passage.end)
    whole = sum(term.weight for term in asked)
    share = sum(term.weight for term in asked if term.form in there) / whole if whole else 1.0
    if not own <= there:
        return Match(NOT_STATED, "the answer's words do not stand together")
    if share < _ABOUT:
        reason = f"the answer is there, but only {share:.0%} of the question with it"
        return Match(NOT_STATED, reason, passage.start, passage.end)
    reason = f"the answer is there with {share:.0%} of the question"
    return Match(STATED, reason, passage.start, passage.end)


def _weight(term: Term, own: set[str]) -> float:
    """Return what a term counts for the best passage: the answer's own come first."""
    return term.weight + (10.0 if term.form in own else 0.0)


def _forms_in(document: Prepared, start: int, end: int) -> set[str]:
    """Return the forms that stand in a stretch of a document, in any of their writings."""
    inside = {i for i, (first, last) in enumerate(document.spans) if first < end and last > start}
    return {form for form, where in document.segments_of.items() if not inside.isdisjoint(where)}
