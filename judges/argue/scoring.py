"""ARGUE's measures of a response, from the decisions on its sentences, citations and nuggets.

Mayfield et al. (SIGIR 2024), precision and recall; Walden et al., Auto-ARGUE (arXiv 2509.26184).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from trecjudge import Judgment, MeasureSpec, Response, SumsSpec
from trecjudge.judging.attest import CITATION_NOT_READ
from trecjudge.judging.attest import best_or_worst as best_or_worst_citation
from trecjudge.judging.nuggets import (
    CONFIRMED,
    NEEDS_CITATION,
    NOT_STATED,
    STATED,
    Matches,
    Tree,
    Truth,
    all_of,
    any_of,
)
from trecjudge.measures import Sums
from trecjudge.records import FULL, PARTIAL, AskedNugget
from trecjudge.records.nuggets import OKAY, VITAL

WEIGHTS = {VITAL: 2.0, "A": 2.0, OKAY: 1.0, "B": 1.0, "C": 0.5}
"""By importance: Auto-ARGUE's, and a rubric's in the same ratio."""
Judgments = Sequence[Judgment]


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole; `open` is whether something that was left out could have been in it."""

    part: float
    whole: float
    open: bool = False

    @property
    def value(self) -> float | None:
        """part / whole; 0 of nothing, None where all of it is open."""
        if not self.whole:
            return None if self.open else 0.0
        return self.part / self.whole

    @property
    def sums(self) -> Sums:
        """The two, to be summed over topics."""
        return self.part, self.whole


Counting = Callable[[Tree], Share]
SHARE = "From 0 to 1; higher is better."
DESCRIPTIONS: Mapping[str, str] = {
    "SENTENCE_SUPPORT": "Share of the sentences that cite, or need to, which all that they cite"
    " supports.",
    "CITATION_SUPPORT": "Share of the citations whose document supports the sentence.",
    "CITATION_RELEVANCE": "Share of the citations of a document that the bank gives for an answer.",
    "NUGGET_COVERAGE": "Share of the nuggets that the response answers correctly.",
    "NUGGET_COVERAGE_WEIGHTED": "Share of the nuggets that the response answers correctly;"
    " important ones weigh more.",
    "F1": "Harmonic mean of SENTENCE_SUPPORT and NUGGET_COVERAGE: high only where both are.",
    "F1_WEIGHTED": "Harmonic mean of SENTENCE_SUPPORT and NUGGET_COVERAGE_WEIGHTED: high only where"
    " both are.",
    "ARGUE_PRECISION": "Share of the sentences rewarded, of those rewarded or penalised.",
    "ARGUE_RECALL": "Share of the bank's pairs of question and answer that a rewarded sentence"
    " states.",
}
OURS = (
    "NUGGET_COVERAGE and F1 are by matches={}: not comparable with what Auto-ARGUE publishes, which"
    " is by matches=linked."
)
UNCITED = "no run cites a document that the banks name; matches=attested needs none"
SUMMED = " Of all topics together: counts are summed before they are divided."


@dataclass(frozen=True, slots=True)
class ArgueScoring:
    """The measures; `matches` is which stated answers count, `partial` what partial support is.

    Where documents of the bank are not `cited` by any run, what looks for them has no value.
    """

    matches: Matches
    partial: float
    cited: bool = True

    @property
    def measures(self) -> tuple[MeasureSpec, ...]:
        """The measures of a topic, then those from counts summed over topics."""
        return tuple(map(self._as_matched, self._columns))

    def _as_matched(self, measure: MeasureSpec) -> MeasureSpec:
        """Return a measure with what `matches` and the banks make of it."""
        of_nuggets = measure.name.startswith(("NUGGET_COVERAGE", "F1"))
        by_links = of_nuggets and self.matches == "linked"
        if not self.cited and (by_links or measure.name.startswith("CITATION_RELEVANCE")):
            return without_value(measure)
        if of_nuggets and not by_links:
            described = f"{measure.description} {OURS.format(self.matches)}"
            return replace(measure, remark=OURS.format(self.matches), description=described)
        return measure

    @property
    def _columns(self) -> tuple[MeasureSpec, ...]:
        coverage, weighted = self.coverage, self.coverage_weighted
        return (
            topic_measure("SENTENCE_SUPPORT", share_of_tree(sentence_support)),
            topic_measure("CITATION_SUPPORT", share_of_tree(self.citation_support)),
            topic_measure("CITATION_RELEVANCE", share_of_tree(citation_relevance)),
            topic_measure("NUGGET_COVERAGE", share_of_tree(coverage)),
            topic_measure("NUGGET_COVERAGE_WEIGHTED", share_of_tree(weighted)),
            topic_measure("F1", f1_of(sentence_support, coverage)),
            topic_measure("F1_WEIGHTED", f1_of(sentence_support, weighted)),
            topic_measure("ARGUE_PRECISION", share_of_tree(argue_precision)),
            topic_measure("ARGUE_RECALL", share_of_tree(argue_recall)),
            micro_measure("SENTENCE_SUPPORT", sentence_support),
            micro_measure("CITATION_SUPPORT", self.citation_support),
            micro_measure("CITATION_RELEVANCE", citation_relevance),
            # What a bank holds is the same for every run: a missing response lacks all of it.
            micro_measure("NUGGET_COVERAGE", coverage, own=(1,)),
            micro_measure("NUGGET_COVERAGE_WEIGHTED", weighted, own=(1,)),
            micro_measure("F1", sentence_support, coverage, own=(3,)),
            micro_measure("F1_WEIGHTED", sentence_support, weighted, own=(3,)),
        )

    def citation_support(self, tree: Tree) -> Share:
        """Return supporting citations of all that are judged."""
        weights = {FULL: 1.0, PARTIAL: self.partial}
        found = [judgment for cited in tree.citations.values() for judgment in cited]
        judged = [weights.get(j.label or "", 0.0) for j in found if j.judged]
        return Share(math.fsum(judged), len(judged), len(judged) < len(found))

    def coverage(self, tree: Tree) -> Share:
        """Return correct nuggets of all that can be answered."""
        return self._covered_share(tree, lambda nugget: 1.0)

    def coverage_weighted(self, tree: Tree) -> Share:
        """Return the same by weight: without any importance all weigh the same."""
        labelled = any(j.nugget and j.nugget.importance for j in tree.bank)
        return self._covered_share(
            tree, lambda nugget: WEIGHTS.get(nugget.importance, 0.0) if labelled else 1.0
        )

    def _covered_share(self, tree: Tree, weight: Callable[[AskedNugget], float]) -> Share:
        if not tree.has_bank:
            return unknown_share(tree)
        found = [
            (weight(judgment.nugget), self._correct(tree, judgment.nugget))
            for judgment in tree.bank
            if judgment.nugget and self._answers(judgment.nugget)
        ]
        whole = math.fsum(weight for weight, correct in found if correct is not None)
        part = math.fsum(weight for weight, correct in found if correct)
        return Share(part, whole, any(correct is None for _, correct in found))

    def _answers(self, nugget: AskedNugget) -> list[str]:
        """Return the answers that can count: by links, none without a document."""
        linked = self.matches == "linked"
        return [a.text for a in nugget.answers if a.documents or not linked]

    def _correct(self, tree: Tree, nugget: AskedNugget) -> Truth:
        """Return whether one answer, or all where they belong together, is stated."""
        wanted = self._answers(nugget)
        truths = (
            tree.states_answer(nugget.nugget_id, answer, self.matches)
            for answer in nugget.answers
            if answer.text in wanted
        )
        return all_of(truths) if nugget.together else any_of(truths)


def sentence_support(tree: Tree) -> Share:
    """Return attested sentences of those that cite, or need a citation and have none."""
    attested = [
        step.answer for path in tree.paths() for step in path.steps if step.question == "attested"
    ]
    lacking = sum(
        path.outcome == "penalty" and path.steps[-1].question == "first" for path in tree.paths()
    )
    is_open = None in attested or any(
        path.outcome == "open" and path.steps[-1].question == "negative" for path in tree.paths()
    )
    known = len(attested) - attested.count(None)
    return Share(attested.count(True), known + lacking, is_open)


def citation_relevance(tree: Tree) -> Share:
    """Return citations of a document that the bank gives for an answer, of all citations."""
    every = [judgment for found in tree.citations.values() for judgment in found]
    cited = [j for j in every if not (j.failure and j.failure.kind == CITATION_NOT_READ)]
    if cited and not tree.has_bank:
        return unknown_share(tree)
    known = {d for j in tree.bank if j.nugget for a in j.nugget.answers for d in a.documents}
    relevant = sum(judgment.doc_id in known for judgment in cited)
    return Share(relevant, len(cited), len(cited) < len(every))


def argue_precision(tree: Tree) -> Share:
    """Return rewarded sentences of those rewarded or penalised."""
    outcomes = [path.outcome for path in tree.paths()]
    rewarded = outcomes.count("reward")
    return Share(rewarded, rewarded + outcomes.count("penalty"), "open" in outcomes)


def argue_recall(tree: Tree) -> Share:
    """Return pairs of a question and an answer that a rewarded sentence states, of all pairs."""
    if not tree.has_bank:
        return unknown_share(tree)
    found = [
        tree.earns_answer(judgment.nugget.nugget_id, answer)
        for judgment in tree.bank
        if judgment.nugget
        for answer in judgment.nugget.answers
    ]
    known = len(found) - found.count(None)
    return Share(found.count(True), known, None in found)


def unknown_share(tree: Tree) -> Share:
    """Return the share where nothing of the bank is known: open, or all or nothing of one."""
    if tree.unknown is None:
        return Share(0, 0, open=True)
    return Share(int(tree.unknown), 1)


def share_of_tree(counting: Counting) -> Callable[[Response, Judgments], float | None]:
    """Return a share as a measure of a response."""
    return lambda response, judgments: counting(Tree.of(response, judgments)).value


def f1_of(one: Counting, other: Counting) -> Callable[[Response, Judgments], float | None]:
    """Return the harmonic mean of two shares as a measure of a response."""

    def computed(response: Response, judgments: Judgments) -> float | None:
        """Return it; None where one of them is open."""
        tree = Tree.of(response, judgments)
        first, second = one(tree).value, other(tree).value
        return None if first is None or second is None else harmonic_mean(first, second)

    return computed


def harmonic_mean(one: float, other: float) -> float:
    """Return 2ab / (a + b); 0 where both are 0."""
    return 2 * one * other / (one + other) if one + other else 0.0


def topic_measure(name: str, compute: Callable[[Response, Judgments], float | None]) -> MeasureSpec:
    """Return the measure of a topic, with its description."""
    return MeasureSpec(name, compute, description=f"{DESCRIPTIONS[name]} {SHARE}")


def micro_measure(name: str, *countings: Counting, own: tuple[int, ...] = ()) -> MeasureSpec:
    """Return the measure of all topics together: its counts are summed before they are divided.

    `own` are the positions of counts that are the topic's, whatever the response.
    """

    def sums(response: Response, judgments: Judgments) -> Sums:
        """Return part and whole of each share."""
        tree = Tree.of(response, judgments)
        return tuple(number for each in countings for number in each(tree).sums)

    return MeasureSpec(
        f"{name}_MICRO",
        no_value,
        "of_sums",
        None,
        sums=SumsSpec(sums, value_of_sums, own),
        description=f"{DESCRIPTIONS[name]}{SUMMED} {SHARE}",
    )


def without_value(measure: MeasureSpec) -> MeasureSpec:
    """Return a measure that has no value, since no run cites a document of the banks."""
    sums = measure.sums and replace(measure.sums, of=lambda sums: None, empty=None)
    none = replace(measure, compute=no_value, default=None, default_if_undefined=False)
    return replace(none, sums=sums, undefined=UNCITED)


def no_value(response: Response, judgments: Judgments) -> None:
    """Return no value: the measure is not one of a topic."""


def value_of_sums(sums: Sums) -> float | None:
    """Return part / whole, or the harmonic mean of two such; None where a whole is 0."""
    if 0 in sums[1::2]:
        return None
    shares = [part / whole for part, whole in zip(sums[::2], sums[1::2], strict=True)]
    return harmonic_mean(*shares) if len(shares) == 2 else shares[0]


def best_or_worst(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged decision at its best or at its worst."""
    if judgment.citation is not None:
        return best_or_worst_citation(judgment, best)
    uncited = judgment.nugget is None and judgment.sentence_index is not None
    if uncited:
        return replace(judgment, label=CONFIRMED if best else NEEDS_CITATION, failure=None)
    return replace(judgment, label=STATED if best else NOT_STATED, failure=None)
