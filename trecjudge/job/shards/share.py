"""A share of a job's items, for a model to be asked about: those of some of the documents."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from trecjudge.job.job import Job
from trecjudge.job.shards.shard import ShardSetup
from trecjudge.judging.judge import GroupingJudge, Judge
from trecjudge.judging.panel import NamedJudge, Panel
from trecjudge.measures import LeaderboardSpec
from trecjudge.models.allowances import Allowance
from trecjudge.models.model import Model
from trecjudge.models.settings import LlmSettings
from trecjudge.models.shared_work import Asked
from trecjudge.records import Item, Judgment, Response, Topic

DIVIDED = {
    "in_flight": LlmSettings.in_flight,
    "give_up_after": LlmSettings.give_up_after,
    "rpm": LlmSettings.rpm,
    "tpm": LlmSettings.tpm,
}
"""Settings of the model that hold for all workers together, and their defaults."""


@dataclass(frozen=True, slots=True)
class Share:
    """One of `of` shares of a job's items, and what may be spent on it.

    `attempt` counts all shares that were ever begun. `before` is what was asked by earlier
    attempts at it, and by the job itself.
    """

    number: int
    of: int
    allowance: Allowance = field(default_factory=Allowance)
    attempt: int = 0
    before: Asked | None = None


@dataclass(frozen=True, slots=True)
class ShareSetup:
    """What all shares of a job have in common.

    `origins` are addresses and model, which a worker must have too. `known` is a folder with the
    replies that the job has already; None where workers use the cache of the job itself.
    """

    setup: ShardSetup
    origins: tuple[tuple[str, str], ...]
    known: Path | None = None

    @property
    def stop(self) -> Path:
        """The file by which all workers are told to end."""
        return self.setup.folder / "stop"

    def begun(self, share: Share) -> Path:
        """Return the file that shows that an attempt at a share was begun."""
        return self.setup.folder / f"{share.attempt:06}.begun"

    def notices(self, share: Share) -> Path:
        """Return the file of what a worker has to say to the user, a message a line."""
        return self.setup.folder / f"{share.attempt:06}.notices"

    def replies(self, share: Share) -> Path:
        """Return the folder of the replies that a worker with its own cache has got."""
        return self.setup.folder / f"{share.attempt:06}.replies"


@dataclass(frozen=True, slots=True)
class ShareDone:
    """What asking about a share came to.

    `unpaid` items had no budget left. `asked` is None where the attempt had begun before, by a
    worker that is gone: the share is then still to be done.
    """

    number: int
    unpaid: int = 0
    asked: Asked | None = None


def divided(job: Job, workers: int) -> Job:
    """Return a job whose pace is one of so many parts of the whole."""
    given = job.workflow.llm
    whole = {name: given.get(name, default) for name, default in DIVIDED.items()}
    parts = {n: _part(n, value, workers) for n, value in whole.items() if value is not None}
    return replace(job, workflow=replace(job.workflow, llm=given | parts))


def _part(name: str, value: float, workers: int) -> float:
    # Some are counts, which are whole; a rate may be below one a minute.
    return (
        max(1, int(value) // workers)
        if name in ("in_flight", "give_up_after")
        else (value / workers)
    )


def share_of(panel: Panel, share: Share) -> list[NamedJudge]:
    """Return the judges of a panel, each with the items of one share only."""
    return [NamedJudge(named.name, _shared(named.judge, share)) for named in panel]


def _shared(judge: Judge, share: Share) -> Judge:
    if isinstance(judge, GroupingJudge):
        return GroupsOfShare(judge, share, judge)
    return JudgeOfShare(judge, share)


@dataclass(frozen=True, slots=True)
class JudgeOfShare:
    """A judge that lists only the items of a share.

    A share has all items of a document, wherever it is cited: their prompts begin alike, some are
    the same, and some are put in one request. Items without a document are together by response.
    """

    own: Judge
    share: Share

    @property
    def measures(self) -> LeaderboardSpec:
        """The columns of its leaderboard."""
        return self.own.measures

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the items of a response that are of the share."""
        whole = ""
        for item in self.own.pool(topic, response):
            if item.document is None:
                whole = whole or f"{topic.topic_id}\n{response.text}"
            if self._has(whole if item.document is None else item.document.text):
                yield item

    def _has(self, text: str) -> bool:
        digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest) % self.share.of == self.share.number

    async def judge(self, item: Item, model: Model) -> Judgment | list[Judgment]:
        """Judge one item."""
        return await self.own.judge(item, model)


@dataclass(frozen=True, slots=True)
class GroupsOfShare(JudgeOfShare):
    """A judge of a share that judges several items by one request."""

    grouping: GroupingJudge

    @property
    def group(self) -> int:
        """The most items in a group."""
        return self.grouping.group

    def group_of(self, item: Item) -> Hashable | None:
        """Return what the items of a group have in common."""
        return self.grouping.group_of(item)

    async def judge_group(self, items: Sequence[Item], model: Model) -> list[Judgment]:
        """Return a judgment for each item, in order."""
        return await self.grouping.judge_group(items, model)
