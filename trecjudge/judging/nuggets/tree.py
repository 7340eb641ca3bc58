"""ARGUE's decisions on a response, read back from judgments: a path for each sentence.

Mayfield et al., On the Evaluation of Machine-Generated Reports (SIGIR 2024). A decision that was
not made leaves open only what depends on it: here it is None.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from trecjudge.judging.nuggets.matching import STATED
from trecjudge.judging.nuggets.uncited import NEEDS_CITATION, NEEDS_NONE, NEGATIVE, REPEATED
from trecjudge.records import FULL, Citation, GoldAnswer, Judgment, Response

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

    def answered(self, nugget_id: str, answer: GoldAnswer, matches: Matches) -> Truth:
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
