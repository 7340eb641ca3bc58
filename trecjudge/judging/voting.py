"""A judge made of several voters: each judges the items by its own model, and the votes decide."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from trecjudge.errors import NOT_GIVEN, JudgmentFailed, PluginError
from trecjudge.inputs.labels import DecidesSome, TakesLabels, takes_labels
from trecjudge.judging.ballots import Rule, aggregate_votes, agree, is_unsure
from trecjudge.judging.judge import GroupingJudge, Judge, PreparingJudge, programs_of, unjudged
from trecjudge.judging.panel import NamedJudge, Panel
from trecjudge.judging.runner import judgments_of
from trecjudge.measures import LeaderboardSpec
from trecjudge.models.model import Model
from trecjudge.models.voters import Voter, VoterModel
from trecjudge.records import Item, Judgment, Response, Topic

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
        return self.inner.group if isinstance(self.inner, GroupingJudge) else 1

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
            rest = [i for i, own in enumerate(by_item) if _is_open(list(own.values()))]
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
    *("label", "grade", "value", "reason", "evidence", "expected", "sources", "facts", "match"),
    *("failure", "votes"),
)


def _part(judgment: Judgment) -> Part:
    return judgment.sentence_index, judgment.doc_id, judgment.identity


def _is_open(votes: Sequence[list[Judgment]]) -> bool:
    """Return whether the last voter of a cascade has to decide on an item."""
    if len(votes) == 1:
        return any(map(is_unsure, votes[0]))
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
    return takes_labels(judge) and not isinstance(judge, PreparingJudge | DecidesSome)
