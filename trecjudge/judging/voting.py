"""A judge made of several voters, each with its own model; their votes decide."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from trecjudge.errors import NOT_GIVEN, JudgmentFailed, PluginError
from trecjudge.inputs.labels import DecidesSome, TakesLabels, takes_labels
from trecjudge.judging.judge import (
    GroupingJudge,
    Judge,
    PreparingJudge,
    group_size,
    prepares_alike,
    programs_of,
    unjudged,
)
from trecjudge.judging.panel import NamedJudge, Panel
from trecjudge.judging.runner import judgments_of
from trecjudge.measures import LeaderboardSpec
from trecjudge.models.model import Model, Voter, VoterModel
from trecjudge.records import GRADES, PARTIAL, Failure, Item, Judgment, Response, Topic, Vote

# From votes to one judgment: majority, mean grade, and whether a vote is unsure.
Rule = Literal["majority", "mean", "cascade"]
"""How votes make a label."""
Ballots = Mapping[str, Judgment]
"""The judgments of voters on one thing, by voter, in the order of the workflow."""
Named = Callable[[int], str | None]
"""(grade) -> its label, None where that is not known"""
DIFFERENT = "voters"
"""Failure kind of an item on which too few voters decided, for different causes."""
CLEAR = 0.25
"""How near to 0 or 1 the expected weight of a clear vote is."""
_WEIGHTS = max(GRADES.values())


def aggregate_votes(
    rule: Rule, ballots: Ballots, voters: int, named: Named = lambda grade: None
) -> Judgment:
    """Return the judgment that votes make, with the votes in it.

    `voters` is how many there are in all. Where no more than half of them decided, it is unjudged.
    With `cascade`, the last vote decides. `named` gives the label of a grade that no voter gave.
    """
    judged = [found for found in ballots.values() if found.judged]
    votes = tuple(vote_of(voter, found) for voter, found in ballots.items())
    last = list(ballots.values())[-1]
    if rule == "cascade":
        return replace(last, votes=votes) if last.judged else _undecided_judgment(ballots, votes)
    if 2 * len(judged) <= voters or (len(judged) < voters and not _most(judged, voters)):
        return _undecided_judgment(ballots, votes)
    graded = [found for found in judged if found.grade is not None]
    # What has no grade, such as "nothing to check", is no part of a mean.
    if rule == "mean" and 2 * len(graded) > len(judged):
        return replace(_mean(graded, named), votes=votes)
    return replace(_majority(judged), votes=votes)


def vote_of(voter: str, found: Judgment) -> Vote:
    """Return a judgment as the vote of a voter."""
    failure = f"{found.failure.kind}: {found.failure.message}" if found.failure else ""
    return Vote(voter, found.label, found.grade, failure)


def sureness(found: Judgment) -> float:
    """Return how sure an attester is of a label, 0 to 1: its chance above that of the next label.

    The distance to the cut between two labels, in probability. 1 for what a rule decided, 0 for
    what is unjudged, or not calibrated for the language. A model gives no chances: 1.
    """
    if not found.judged or found.uncalibrated:
        return 0.0
    if found.expected is None:
        return 1.0
    full = found.expected if found.p_full is None else found.p_full
    partial = 2 * (found.expected - full)
    *_, second, first = sorted((full, partial, 1 - full - partial))
    return first - second


def is_unsure(found: Judgment, sure: float | None = None) -> bool:
    """Return whether a vote is to be checked by a better voter.

    It is where its `sureness` is less than `sure`. Without one, it is where there is no label,
    where the label is partial support, and where the expected weight lies in the middle, or is not
    calibrated for the language.
    """
    if sure is not None:
        return not found.judged or sureness(found) < sure
    if found.expected is not None and CLEAR < found.expected < 1 - CLEAR:
        return True
    return not found.judged or found.label == PARTIAL or bool(found.uncalibrated)


def agree(found: Sequence[Judgment]) -> bool:
    """Return whether all decided, and all alike."""
    return all(one.judged for one in found) and len({one.label for one in found}) == 1


def _most(judged: Sequence[Judgment], voters: int) -> bool:
    """Return whether more than half of all voters gave one label."""
    return 2 * max(Counter(found.label for found in judged).values()) > voters


def _majority(judged: Sequence[Judgment]) -> Judgment:
    """Return the first judgment with the most frequent label.

    Of labels that are equally frequent, it is the middle one by grade, the lower of two.
    """
    counts = Counter(found.label for found in judged)
    most = max(counts.values())
    firsts: dict[str | None, Judgment] = {}
    for found in judged:
        firsts.setdefault(found.label, found)
    tied = [found for label, found in firsts.items() if counts[label] == most]
    tied.sort(key=lambda one: (-1 if one.grade is None else one.grade, one.label or ""))
    return tied[(len(tied) - 1) // 2]


def _mean(graded: Sequence[Judgment], named: Named) -> Judgment:
    """Return the judgment of the rounded mean grade, a half rounded down.

    Labels of support have the mean as their expected weight, without a P(full). A grade that has no
    name is the nearest one that was given, the lower of two.
    """
    mean = sum(one.grade or 0 for one in graded) / len(graded)
    grade = math.ceil(mean - 0.5)
    support = all(one.label in GRADES for one in graded)
    nearest = min(graded, key=lambda one: (abs((one.grade or 0) - grade), one.grade or 0))
    expected = mean / _WEIGHTS if support else None
    label = support_of(grade) if support else named(grade)
    if nearest.grade == grade or label is None:
        return replace(nearest, expected=expected, p_full=None, confidence=None)
    # A label that nobody gave has nobody's reason.
    made = replace(nearest, label=label, grade=grade, expected=expected, p_full=None)
    return replace(made, reason="", evidence=None, confidence=None)


def support_of(grade: int) -> str | None:
    """Return the label of support that has a grade."""
    return next((label for label, own in GRADES.items() if own == grade), None)


def _undecided_judgment(ballots: Ballots, votes: tuple[Vote, ...]) -> Judgment:
    """Return an unjudged judgment with what each voter said."""
    failures = [found.failure for found in ballots.values() if found.failure]
    kinds = {failure.kind for failure in failures}
    kind = kinds.pop() if len(kinds) == 1 else DIFFERENT
    said = "; ".join(f"{vote.voter}: {vote.label or vote.failure}" for vote in votes)
    tries = sum(failure.tries for failure in failures)
    first = next(iter(ballots.values()))
    kept = replace(first, label=None, grade=None, value=None, reason="", evidence=None, votes=votes)
    failure = Failure(kind, f"too few voters decide: {said}", tries)
    kept = replace(kept, expected=None, p_full=None, uncalibrated="", sources=(), facts=())
    return replace(kept, match="", confidence=None, failure=failure)


# A judge made of several voters: each judges the items by its own model, and the votes decide.
Found = list[list[Judgment]]
"""The judgments of a voter on each item."""
Part = tuple[int | None, str | None, str]
"""(sentence_index, doc_id, claim or nugget): what of an item a judgment is on."""


@dataclass(frozen=True, slots=True)
class Voting:
    """A judge whose items are judged by every voter, and decided by a rule.

    With `cascade`, the last voter judges only where the one before it is unsure, or where those
    before it differ.
    """

    inner: Judge
    voters: tuple[Voter, ...]
    rule: Rule = "majority"

    @property
    def measures(self) -> LeaderboardSpec:
        """The judge's own measures."""
        return self.inner.measures

    @property
    def group(self) -> int:
        """The most items in a group."""
        return group_size(self.inner)

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the judge's own items."""
        return self.inner.pool(topic, response)

    def group_of(self, item: Item) -> Hashable | None:
        """Return what the items of a group have in common."""
        return self.inner.group_of(item) if isinstance(self.inner, GroupingJudge) else None

    async def judge(self, item: Item, model: Model) -> list[Judgment]:
        """Return what the votes decide on each part of the item."""
        return (await self._decide_items([item], model))[0]

    async def judge_group(self, items: Sequence[Item], model: Model) -> list[Judgment]:
        """Return what the votes decide on each item."""
        return [found[0] for found in await self._decide_items(items, model)]

    async def _decide_items(self, items: Sequence[Item], model: Model) -> Found:
        asked = self.voters if self.rule != "cascade" else self.voters[:-1]
        found = await self._all(asked, items, model)
        pairs = list(zip((voter.name for voter in asked), found, strict=True))
        by_item = [{name: own[i] for name, own in pairs} for i in range(len(items))]
        if self.rule == "cascade":
            last = self.voters[-1]
            votes = [list(own.values()) for own in by_item]
            rest = [i for i, own in enumerate(votes) if _is_open(own, self.voters[0])]
            if rest:
                (judged,) = await self._all([last], [items[i] for i in rest], model)
                for i, judgments in zip(rest, judged, strict=True):
                    by_item[i][last.name] = judgments
        return [
            list(self._merge_votes(item, own)) for item, own in zip(items, by_item, strict=True)
        ]

    async def _all(
        self, voters: Sequence[Voter], items: Sequence[Item], model: Model
    ) -> list[Found]:
        """Return the judgments of each voter; where one has a fault, the others are given up."""
        tasks = [asyncio.create_task(self._of(voter, items, model)) for voter in voters]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def _of(self, voter: Voter, items: Sequence[Item], model: Model) -> Found:
        """Return the judgments of one voter; those that fail are unjudged."""
        try:
            return await judgments_of(self.inner, list(items), VoterModel(model, voter))
        except JudgmentFailed as failed:
            return [[unjudged(item, failed)] for item in items]

    def _merge_votes(self, item: Item, own: dict[str, list[Judgment]]) -> Iterator[Judgment]:
        """Yield the decision on each part that a voter judged."""
        by_voter = {voter: {_part(j): j for j in found} for voter, found in own.items()}
        whole = [found for found in by_voter.values() if _is_judged(found)]
        parts = dict.fromkeys(part for found in whole or [by_voter[_first(own)]] for part in found)
        missing = unjudged(item, JudgmentFailed(NOT_GIVEN, "this voter did not come to it"))
        for part in parts:
            ballots = {}
            for voter, found in by_voter.items():
                failed = next(iter(found.values())) if not _is_judged(found) else missing
                ballots[voter] = found.get(part, failed)
            made = aggregate_votes(
                self.rule, ballots, len(self.voters), partial(_label, self.inner, item)
            )
            yield made if made.judged else _on(made, ballots.values(), part)


def _label(judge: Judge, item: Item, grade: int) -> str | None:
    """Return the label of a grade, as a judge has it that knows grades by their number."""
    try:
        made = judge.given(item, str(grade)) if isinstance(judge, TakesLabels) else None
    except JudgmentFailed:
        return None
    return made.label if made is not None and made.grade == grade else None


def _is_judged(found: dict[Part, Judgment]) -> bool:
    """Return whether a voter came to the parts of an item at all."""
    return len(found) > 1 or any(j.judged or j.nugget or j.claim for j in found.values())


def _first(own: dict[str, list[Judgment]]) -> str:
    return next(iter(own))


def _on(made: Judgment, ballots: Collection[Judgment], part: Part) -> Judgment:
    """Return an unjudged judgment on the part that it is of: a failed voter may not name it."""
    of_it = next((found for found in ballots if _part(found) == part), made)
    return replace(of_it, **{name: getattr(made, name) for name in DECISION})


DECISION = (
    *("label", "grade", "value", "reason", "evidence", "expected", "p_full", "sources", "facts"),
    *("match", "confidence", "uncalibrated", "failure", "votes"),
)


def _part(judgment: Judgment) -> Part:
    return judgment.sentence_index, judgment.doc_id, judgment.identity


def is_audited(found: Judgment, share: float) -> bool:
    """Return whether an item is in a random share of all: the same ones each time."""
    place = (found.run_id, found.topic_id, found.sentence_index, found.doc_id, found.identity)
    digest = hashlib.sha256(repr(place).encode(errors="replace")).digest()
    return int.from_bytes(digest[:4]) < share * 2**32


def _is_open(votes: Sequence[list[Judgment]], first: Voter) -> bool:
    """Return whether the last voter of a cascade has to decide on an item."""
    if len(votes) == 1:
        return any(is_unsure(v, first.sure) or is_audited(v, first.audit) for v in votes[0])
    by_part: dict[Part, list[Judgment]] = {}
    for found in votes:
        for judgment in found:
            by_part.setdefault(_part(judgment), []).append(judgment)
    return any(len(own) != len(votes) or not agree(own) for own in by_part.values())


def with_voters(panel: Panel, voters: Sequence[Voter], rule: Rule) -> list[NamedJudge]:
    """Return the panel with voters in place of each judge that asks a model.

    Raises PluginError for a judge that asks, but not for labels of the same items by each voter,
    and where no judge asks.
    """
    asking = [named for named in panel if programs_of(named.judge)]
    for named in asking:
        if not _labels_items(named.judge):
            why = "what it judges depends on what was decided before"
            raise PluginError(f"voters: judge {named.name!r} cannot have any: {why}")
    if not asking:
        names = ", ".join(repr(named.name) for named in panel)
        raise PluginError(f"voters: judge {names} asks no model")
    return [
        NamedJudge(named.name, Voting(named.judge, tuple(voters), rule))
        if named in asking
        else named
        for named in panel
    ]


def _labels_items(judge: Judge) -> bool:
    """Return whether a judge asks for labels of items that are the same for every voter."""
    if isinstance(judge, PreparingJudge) and not prepares_alike(judge):
        return False
    return takes_labels(judge) and not isinstance(judge, DecidesSome)
