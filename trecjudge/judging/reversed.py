"""A judge whose groups are asked in reverse order: a test whether their order matters."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from trecjudge.judging.judge import GroupingJudge
from trecjudge.measures import LeaderboardSpec
from trecjudge.models.model import Model
from trecjudge.records import Item, Judgment, Response, Topic


@dataclass(frozen=True, slots=True)
class ReversedGroups:
    """The judge itself, but the items of a group are put to the model in reverse order."""

    inner: GroupingJudge

    @property
    def measures(self) -> LeaderboardSpec:
        """The judge's own measures."""
        return self.inner.measures

    @property
    def group(self) -> int:
        """The most items in a group."""
        return self.inner.group

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the judge's own items."""
        return self.inner.pool(topic, response)

    def group_of(self, item: Item) -> Hashable | None:
        """Return what the items of a group have in common."""
        return self.inner.group_of(item)

    async def judge(self, item: Item, model: Model) -> Judgment | list[Judgment]:
        """Judge one item."""
        return await self.inner.judge(item, model)

    async def judge_group(self, items: Sequence[Item], model: Model) -> list[Judgment]:
        """Return a judgment for each item, in the given order."""
        return (await self.inner.judge_group(items[::-1], model))[::-1]
