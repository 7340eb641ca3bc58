"""The only concurrency: items to judgments, in input order, with bounded look-ahead.

A failure becomes an unjudged judgment; only a ModelError, which no item would survive, ends it.
"""

from __future__ import annotations

import asyncio
import traceback
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby, islice

from trecjudge.errors import JudgmentFailed, TrecJudgeError
from trecjudge.judge import GroupingJudge, Judge
from trecjudge.llm.model import Model, Recorder
from trecjudge.records import Failure, Item, Judgment, ModelCall, Response, Topic, judgment_of

LOOK_AHEAD = 4
"""Items begun and not yet handed out, for each request that may be under way."""


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """An item, the judgments on it and the model calls behind them."""

    item: Item
    judgments: list[Judgment]
    calls: list[ModelCall]
    trace: str = ""


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """A response whose every item is judged or unjudged, in the order of its pool."""

    response: Response
    items: list[JudgedItem]

    @property
    def judgments(self) -> list[Judgment]:
        """All judgments, in order."""
        return [judgment for item in self.items for judgment in item.judgments]


@dataclass(slots=True)
class Runner:
    """Judges responses; items begun and not yet handed out are bounded."""

    judge: Judge
    model: Model
    _window: deque[tuple[int, asyncio.Task[JudgedResponse]]] = field(default_factory=deque)

    async def run(self, pairs: Iterable[tuple[Topic, Response]]) -> AsyncIterator[JudgedResponse]:
        """Yield every response judged, in input order."""
        begun, look_ahead = 0, LOOK_AHEAD * self.model.in_flight
        try:
            for topic, response in pairs:
                pool = self._pool(topic, response)
                if not self.model.available:
                    yield await self._response(response, pool)
                    continue
                task = asyncio.create_task(self._response(response, pool))
                size = 1 if isinstance(pool, JudgedItem) else len(pool)
                self._window.append((size, task))
                begun += size
                while begun > look_ahead and self._window:
                    size, task = self._window.popleft()
                    begun -= size
                    yield await task
            while self._window:
                yield await self._window.popleft()[1]
        finally:
            await self._stop()

    async def _stop(self) -> None:
        tasks = [task for _, task in self._window]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._window.clear()

    def _pool(self, topic: Topic, response: Response) -> list[Item] | JudgedItem:
        """Return the items to judge or, where the judge cannot tell them, one unjudged item."""
        try:
            return list(self.judge.pool(topic, response))
        except Exception as error:  # whatever a judge raises, the run goes on
            return _bug(Item(topic, response.run_id, response.text), error, [])

    async def _response(self, response: Response, pool: list[Item] | JudgedItem) -> JudgedResponse:
        """Judge all items of a response; items that share a document are begun together."""
        if isinstance(pool, JudgedItem):
            return JudgedResponse(response, [pool])
        if not self.model.available:
            return JudgedResponse(response, [(await self._judged([item]))[0] for item in pool])
        groups = [
            (group, asyncio.create_task(self._judged([pool[i] for i in group])))
            for group in self._groups(pool)
        ]
        try:
            await asyncio.gather(*(task for _, task in groups))
        finally:
            for _, task in groups:
                task.cancel()
        done = {
            i: item for group, task in groups for i, item in zip(group, task.result(), strict=True)
        }
        return JudgedResponse(response, [done[i] for i in range(len(pool))])

    def _groups(self, pool: list[Item]) -> Iterator[list[int]]:
        """Yield positions of items to judge together, items of one document next to each other."""
        order = _by_document(pool)
        judge = self.judge
        if not isinstance(judge, GroupingJudge) or judge.group < 2:
            yield from ([i] for i in order)
            return
        for key, members in groupby(order, key=lambda i: judge.group_of(pool[i])):
            size = 1 if key is None else judge.group
            while group := list(islice(members, size)):
                yield group

    async def _judged(self, items: list[Item]) -> list[JudgedItem]:
        """Judge an item, or a group of them by one request; the first has its model calls."""
        recorder = Recorder(self.model)
        try:
            found = await self._judgments(items, recorder)
        except TrecJudgeError:
            raise
        except JudgmentFailed as failed:
            failure = Failure(failed.kind, failed.message, failed.tries)
            found = [[judgment_of(item, failure=failure)] for item in items]
        except Exception as error:  # whatever a judge raises, the run goes on
            return [_bug(item, error, recorder.calls) for item in items]
        calls = [recorder.calls, *([] for _ in items[1:])]
        return [JudgedItem(*each) for each in zip(items, found, calls, strict=True)]

    async def _judgments(self, items: list[Item], model: Model) -> list[list[Judgment]]:
        if len(items) > 1 and isinstance(self.judge, GroupingJudge):
            return [[judgment] for judgment in await self.judge.judge_group(items, model)]
        found = await self.judge.judge(items[0], model)
        return [found if isinstance(found, list) else [found]]


def _bug(item: Item, error: Exception, calls: list[ModelCall]) -> JudgedItem:
    """Return the item as unjudged by a fault of the judge, with the traceback for the log."""
    failure = Failure("bug", f"{type(error).__name__}: {error}")
    trace = "".join(traceback.format_exception(error))
    return JudgedItem(item, [judgment_of(item, failure=failure)], calls, trace)


def _by_document(pool: list[Item]) -> list[int]:
    """Return the positions of the pool, items of one document next to each other."""
    first: dict[str, int] = {}
    for position, item in enumerate(pool):
        if item.document is not None:
            first.setdefault(item.document.doc_id, position)
    return sorted(
        range(len(pool)),
        key=lambda i: (first[d.doc_id] if (d := pool[i].document) is not None else i, i),
    )
