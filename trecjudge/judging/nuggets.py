"""What judges of nuggets share: answers stated, uncited sentences, ARGUE's tree."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from trecjudge.errors import NOT_GIVEN, JudgmentFailed
from trecjudge.judging.claims.statements import NoClaim, bare, no_claim, statements
from trecjudge.judging.offline.prepared import Prepared, best_passage, prepared_text, scripts_of
from trecjudge.judging.offline.support import compare
from trecjudge.judging.offline.wording import Term, wording_of
from trecjudge.records import FULL, PARTIAL, Citation, GoldAnswer, Judgment, Nugget, Response, Topic
from trecjudge.text.forms import word_form
from trecjudge.text.qualifiers import has_negation
from trecjudge.text.quotes import find_quote_span
from trecjudge.text.tokens import comparable, scripts, tokenize

# Whether a text states an answer, by words: where the telling words of the answer are.
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
    passage = best_passage([(term.form, _weight(term, own)) for term in present], document)
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


# What ARGUE asks about a sentence without citations, decided by rules.
NEGATIVE: Final = "NEGATIVE"
NEEDS_NONE: Final = "NEEDS_NONE"
REPEATED: Final = "REPEATED"
NEEDS_CITATION: Final = "NEEDS_CITATION"
UncitedLabel = Literal["NEGATIVE", "NEEDS_NONE", "REPEATED", "NEEDS_CITATION"]

_WHY: dict[NoClaim, str] = {
    "question": "it is a question",
    "heading": "it is a heading",
    "opinion": "it is an opinion",
    "about_the_answer": "it is about the response itself",
    "code": "it is code",
    "too_short": "it is too short to claim anything",
}
_OF_ITSELF = re.compile(
    r"^(?:in\s+)?th(?:is|e\s+present)\s+(?:answer|response|report|summary|overview|essay|section)\b"
    r"|^let(?:\s+us|['’]s)\b"
    r"|^(?:i|we)\s+(?:(?:will|shall|now|next|first|then)\s+)+"
    r"(?:turn|look|consider|examine|see|begin|go|answer|discuss|describe|explain|address)\b"
    r"|\bthe\s+following\s+(?:\w+\s+)?(?:aspects|points|steps|factors|questions|sections)[.:]$",
    re.IGNORECASE,
)
_NOBODY = frozenset(map(word_form, ("nobody", "nothing", "unknown", "unclear", "unrecorded")))
# "It shone without a keeper" says what is so.
_LACKING = frozenset(map(word_form, "without ohne sans sin sem senza без بدون دون".split()))  # noqa: SIM905
# A negation behind one of these is beside the point: "It closed because copper was not to be had".
_JOINING = (
    "because although though which who whom whose that while whereas if when where unless until"
    " since so making"
)
_SUBORDINATING = frozenset(map(word_form, _JOINING.split()))
_BUT = word_form("but")
_SAME_WEIGHT = 0.5
"""Share of a sentence's weight that an earlier one has which has the same numbers and names."""
_MOST_SAME = 0.75
"""The same of one without numbers: half of the words are often only the same matter."""
_SHARE_ASKED = 0.6
"""Share of a question's weight that a negative sentence has which is about it."""


@dataclass(frozen=True, slots=True)
class Uncited:
    """What a sentence without citations is to ARGUE, the first that holds, and why."""

    label: UncitedLabel
    reason: str


def uncited_by_words(sentence: str, earlier: Sequence[str]) -> Uncited:
    """Return what a sentence without citations is, by rules and by the sentences before it.

    A negative assertion says that something is not known or not so. Questions, headings, opinions,
    what the response says about itself and what has nothing to check need no citation.
    """
    kind = no_claim(sentence)
    if kind == "abstention":
        return Uncited(NEGATIVE, "it says that something is not known")
    plain = bare(sentence)
    if kind is None and _OF_ITSELF.search(plain):
        kind = "about_the_answer"
    if kind is not None:
        return Uncited(NEEDS_NONE, _WHY[kind])
    if _denies(plain):
        return Uncited(NEGATIVE, "its main clause is negated")
    if not statements(sentence) or not wording_of(plain).meaningful:
        return Uncited(NEEDS_NONE, "it has nothing to check")
    before = next((s for s in earlier if says_again(plain, bare(s))), None)
    if before is not None:
        return Uncited(REPEATED, f"an earlier sentence says it: {before}")
    return Uncited(NEEDS_CITATION, "it claims something for the first time")


def _denies(plain: str) -> bool:
    """Return whether the main clause is negated: what stands before a subordinate one."""
    tokens = tokenize(plain)
    if tokens and tokens[0].form in _SUBORDINATING:  # the main clause comes behind
        tokens = tokenize(plain.partition(",")[2])
    end = next((i for i, t in enumerate(tokens) if i and t.form in _SUBORDINATING), len(tokens))
    main = [token for token in tokens[:end] if token.form not in _LACKING]
    if any(token.form == _BUT for token in main):  # "not in the lamp but in the oil" asserts
        return False
    return has_negation(main) or any(token.form in _NOBODY for token in main)


def says_again(sentence: str, earlier: str) -> bool:
    """Return whether an earlier sentence says what this one says, as far as words show it.

    It supports it in full and has most of its words; or there are numbers in it, and it has all of
    them, all names and half of the words. The same names by themselves are only the same matter.
    """
    document = prepared_text(earlier)
    telling = [term for term in wording_of(sentence).terms if _tells(term)]
    there = [term for term in telling if term.form in document.segments_of]
    share = ratio_of(there, telling)
    if share < _SAME_WEIGHT:
        return False
    exact = [term for term in telling if term.number or term.named]
    if any(term.number for term in exact) and all(term in there for term in exact):
        return True
    return share >= _MOST_SAME and compare(sentence, document).label == FULL


def ratio_of(some: Sequence[Term], terms: Sequence[Term]) -> float:
    """Return the share of the terms' weight that some of them have; 0 without terms."""
    whole = sum(term.weight for term in terms)
    return sum(term.weight for term in some) / whole if whole else 0.0


def _tells(term: Term) -> bool:
    return term.content or term.number or term.named


def leaves_open(sentence: str, question: str) -> bool:
    """Return whether a negative sentence is about a question: most of its telling words are there.

    So it confirms that the question cannot be answered.
    """
    asked = [term for term in wording_of(question).terms if _tells(term)]
    document = prepared_text(sentence)
    return ratio_of([t for t in asked if t.form in document.segments_of], asked) >= _SHARE_ASKED


# ARGUE's decisions on a response, read back from judgments: a path for each sentence.
CUT: Final = "CUT"
"""The label of a sentence behind the limit: it is as if it were not there."""
CONFIRMED: Final = "CONFIRMED"
"""The best that an uncited sentence of which nothing is known could be."""
Outcome = Literal["reward", "penalty", "ignore", "open"]
Matches = Literal["linked", "attested", "any_text"]
Truth = bool | None


@dataclass(frozen=True, slots=True)
class Step:
    """A question of the tree, its answer (None where it is open), and why."""

    question: Literal[
        "cited", "attested", "states", "negative", "confirmed", "needs_citation", "first"
    ]
    answer: Truth
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SentencePath:
    """The way of a sentence through the tree; `nuggets` are those that it is rewarded for."""

    sentence_index: int
    steps: tuple[Step, ...]
    outcome: Outcome
    nuggets: tuple[str, ...] = ()


# The tree of Mayfield et al., On the Evaluation of Machine-Generated Reports (SIGIR 2024). A
# decision that was not made leaves open only what depends on it: here it is None.
@dataclass(frozen=True, slots=True)
class Tree:
    """The decisions on a response by what they are on.

    `citations`, `uncited` and `pairs` (a sentence and a gold answer, only where it states it or
    nobody could decide) are by sentence, `stating` the same by nugget and answer; `bank` has a
    judgment for each nugget. `whole` is that on a response of which nothing could be decided.
    """

    response: Response
    citations: Mapping[int, Sequence[Judgment]]
    uncited: Mapping[int, Judgment]
    pairs: Mapping[int, Sequence[Judgment]]
    stating: Mapping[tuple[str, str], Sequence[tuple[int, Judgment]]]
    citing: Mapping[int, Sequence[Citation]]
    bank: Sequence[Judgment]
    whole: Judgment | None

    @classmethod
    def of(cls, response: Response, judgments: Iterable[Judgment]) -> Tree:
        """Return the tree of a response."""
        citations, pairs, stating = defaultdict(list), defaultdict(list), defaultdict(list)
        citing = {s.index: s.citations for s in response.sentences if s.citations}
        uncited, bank, whole = {}, [], None
        for found in judgments:
            index = found.sentence_index
            if found.nugget is not None and index is None:
                bank.append(found)
            elif index is None:
                whole = found
            elif found.nugget is not None:
                pairs[index].append(found)
                key = (found.nugget.nugget_id, found.nugget.answer)
                stating[key].append((index, found))
            elif found.citation is not None:
                citations[index].append(found)
            else:
                uncited[index] = found
        return cls(response, citations, uncited, pairs, stating, citing, bank, whole)

    @property
    def unknown(self) -> Truth:
        """Whether what is not known counts as good; None where it is open."""
        return None if self.whole is None or not self.whole.judged else self.whole.label == STATED

    @property
    def has_bank(self) -> bool:
        """Whether the nuggets were decided on."""
        return self.whole is None

    def paths(self) -> list[SentencePath]:
        """Return the path of each sentence that is not behind the limit, in order."""
        kept = (s for s in self.response.sentences if not self._is_cut(s.index))
        return [
            self._cited_path(s.index) if s.citations else self._uncited_path(s.index) for s in kept
        ]

    def _is_cut(self, index: int) -> bool:
        return index in self.uncited and self.uncited[index].label == CUT

    def is_attested(self, index: int) -> Truth:
        """Return whether all that a sentence cites attests it: lost as soon as one does not."""
        found = self.citations.get(index, ())
        if any(judgment.judged and judgment.label != FULL for judgment in found):
            return False
        return True if found and all(judgment.judged for judgment in found) else None

    def _cited_path(self, index: int) -> SentencePath:
        cited = Step("cited", True)
        attested = self.is_attested(index)
        steps = (cited, Step("attested", attested, self._why_attested(index)))
        if attested is not True:
            return SentencePath(index, steps, "open" if attested is None else "penalty")
        states, nuggets = self._states(index)
        outcome: Outcome = "open" if states is None else "reward" if states else "ignore"
        step = states_step("states", states, nuggets, self._why_open(index))
        return SentencePath(index, (*steps, step), outcome, nuggets)

    def _why_attested(self, index: int) -> str:
        found = self.citations.get(index, ())
        against = [j for j in found if j.judged and j.label != FULL]
        against = against or [j for j in found if not j.judged]
        return "; ".join(f"{j.doc_id or j.citation}: {_why(j)}" for j in against)

    def _states(self, index: int) -> tuple[Truth, tuple[str, ...]]:
        """Return whether a sentence states an answer, and the ids of its nuggets."""
        found = self.pairs.get(index, ())
        stated = (j.nugget.nugget_id for j in found if j.nugget and j.label == STATED)
        nuggets = tuple(dict.fromkeys(stated))
        if nuggets:
            return True, nuggets
        if not self.has_bank:
            return self.unknown, ()
        return (None if any(not j.judged for j in found) else False), ()

    def _why_open(self, index: int) -> str:
        """Return why it could not be decided which answers a sentence states, each reason once."""
        found = [j for j in self.pairs.get(index, ()) if not j.judged]
        found += [self.whole] if self.whole is not None else []
        return "; ".join(dict.fromkeys(map(_why, found)))

    def _uncited_path(self, index: int) -> SentencePath:
        label, reason = self._label_of(index)
        steps = [Step("cited", False), Step("negative", None, reason)]
        if label is None:
            return SentencePath(index, tuple(steps), "open")
        steps[1] = Step("negative", label in (NEGATIVE, CONFIRMED), reason)
        if label == CONFIRMED:
            return SentencePath(index, tuple(steps), "reward")
        if label == NEGATIVE:
            states, nuggets = self._states(index)
            steps.append(states_step("confirmed", states, nuggets, self._why_open(index)))
            outcome: Outcome = "open" if states is None else "reward" if states else "penalty"
            return SentencePath(index, tuple(steps), outcome, nuggets)
        steps[1] = Step("negative", False)
        steps.append(Step("needs_citation", label != NEEDS_NONE, reason))
        if label == NEEDS_NONE:
            return SentencePath(index, tuple(steps), "ignore")
        steps.append(Step("first", label == NEEDS_CITATION, reason))
        return SentencePath(index, tuple(steps), "ignore" if label == REPEATED else "penalty")

    def _label_of(self, index: int) -> tuple[str | None, str]:
        found = self.uncited.get(index)
        if found is not None:
            return found.label, _why(found)
        if self.unknown is None:
            return None, "" if self.whole is None else _why(self.whole)
        return (CONFIRMED if self.unknown else NEEDS_CITATION), ""

    def states_answer(self, nugget_id: str, answer: GoldAnswer, matches: Matches) -> Truth:
        """Return whether a sentence states an answer in the way that counts."""
        return any_of(
            both(_pair_truth(pair), self._counts(index, answer, matches))
            for index, pair in self.stating.get((nugget_id, answer.text), ())
        )

    def earns_answer(self, nugget_id: str, answer: GoldAnswer) -> Truth:
        """Return whether a sentence that the tree lets through states an answer."""
        return any_of(
            both(_pair_truth(pair), self._lets_through(index))
            for index, pair in self.stating.get((nugget_id, answer.text), ())
        )

    def _lets_through(self, index: int) -> Truth:
        """Return whether a sentence is attested by all that it cites, or asserts a negative."""
        if index in self.citing:
            return self.is_attested(index)
        label, _ = self._label_of(index)
        return None if label is None else label in (NEGATIVE, CONFIRMED)

    def _counts(self, index: int, answer: GoldAnswer, matches: Matches) -> Truth:
        """Return whether what a sentence states counts."""
        if matches == "any_text":
            return True
        cited = self.citing.get(index, ())
        if matches == "linked":
            return any(citation.doc_id in answer.documents for citation in cited)
        return self.is_attested(index) if cited else False


def states_step(
    question: Literal["states", "confirmed"], answer: Truth, nuggets: Sequence[str], why_open: str
) -> Step:
    """Return the step about nuggets; the reason is those that are answered, or why it is open."""
    named = f"nuggets {', '.join(nuggets)}" if nuggets else ""
    return Step(question, answer, why_open if answer is None else named)


def any_of(truths: Iterable[Truth]) -> Truth:
    """Return whether one holds: True beats open, open beats False."""
    found = list(truths)
    return True if True in found else None if None in found else False


def all_of(truths: Iterable[Truth]) -> Truth:
    """Return whether all hold: False beats open, open beats True."""
    found = list(truths)
    return False if False in found else None if None in found else True


def both(one: Truth, other: Truth) -> Truth:
    """Return whether both hold."""
    return all_of((one, other))


def _pair_truth(pair: Judgment) -> Truth:
    return pair.label == STATED if pair.judged else None


def _why(judgment: Judgment) -> str:
    return judgment.failure.message if judgment.failure else judgment.reason
