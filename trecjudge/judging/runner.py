"""The only concurrency: items to judgments, in input order; bugs become data."""

from __future__ import annotations

import asyncio
import math
import traceback
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import Any, TypeVar, cast

from trecjudge.errors import JudgmentFailed, TrecJudgeError
from trecjudge.findings import brief
from trecjudge.judging.judge import (
    AllResponses,
    GroupingJudge,
    Judge,
    asked_singly,
    group_size,
    preparing,
    unjudged,
)
from trecjudge.judging.panel import NamedJudge, Panel
from trecjudge.measures import HUGE
from trecjudge.models.compiled import ITEM_INPUTS
from trecjudge.models.model import CallingOff, Model, Recorder
from trecjudge.records import Failure, Item, Judgment, ModelCall, Response, Topic, judgment_of
from trecjudge.settings.plugins import place_in_code


# What an item has beyond the inputs of a judge: inputs that a prompt may ask for by name.
@dataclass(frozen=True, slots=True)
class PromptContext(Mapping[str, str]):
    """The inputs of an item, by the names of `ITEM_INPUTS`; made only when one is read."""

    item: Item
    response: Response

    def __getitem__(self, name: str) -> str:
        topic = self.item.topic
        if name == "topic":
            return topic.title
        if name == "narrative":
            parts = (topic.problem_statement, topic.background)
            return "\n\n".join(part for part in parts if part)
        if name == "response":
            return self.response.text
        return self._beside({"before": -1, "after": 1}[name])

    def __iter__(self) -> Iterator[str]:
        return iter(ITEM_INPUTS)

    def __len__(self) -> int:
        return len(ITEM_INPUTS)

    def _beside(self, step: int) -> str:
        """Return the text of the sentence before or after the item's, empty without one."""
        sentences, index = self.response.sentences, self.item.sentence_index
        places = [place for place, one in enumerate(sentences) if one.index == index]
        if not places or not 0 <= (place := places[0] + step) < len(sentences):
            return ""
        return sentences[place].text


# Bugs in the code of judges: how many of them in a row end the judging.
FIRST = 5
"""Bugs of a judge that has judged nothing yet after which judging stops."""
IN_A_ROW = 20
"""Bugs in a row of a judge that has judged something after which judging stops."""
LARGE_BATCH = 1000
"""Requests at once from which on they are a batch: it takes hours, whatever is in it."""


@dataclass(slots=True)
class CircuitBreaker:
    """How the code of one judge has done so far.

    Until one item has gone through it without a bug, it is given only a few at once: each may cost
    a call of a model.
    """

    has_judged: bool = False
    bugs: int = 0
    """Bugs since it last judged something."""
    _is_through: bool = False
    _waiting: int = 0
    _places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(FIRST))

    def holds_back(self, in_flight: int) -> bool:
        """Return whether items have to wait for their turn."""
        return not self._is_through and FIRST < in_flight < LARGE_BATCH

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until the judge may be given one more item."""
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._places.release()

    def record_success(self, has_judged: bool) -> None:
        """Note that an item went through without a bug, and whether it was judged."""
        if not self._is_through:
            self._is_through = True
            for _ in range(self._waiting):
                self._places.release()
        if has_judged:
            self.has_judged, self.bugs = True, 0

    def record_bug(self) -> bool:
        """Note a bug; return whether there were too many."""
        self.bugs += 1
        return self.bugs >= (IN_A_ROW if self.has_judged else FIRST)


@dataclass(slots=True)
class Stop:
    """Whether judging has stopped before its end, and why."""

    why: str = ""
    listeners: list[Callable[[str], None]] = field(default_factory=list)
    """Called with why it stops."""

    def now(self, why: str) -> None:
        """Leave all items unjudged that are not begun yet; the first reason counts."""
        if not self.why:
            self.why = why
            for listener in self.listeners:
                listener(why)

    @property
    def failure(self) -> JudgmentFailed:
        """What an item that is not judged any more fails with."""
        return JudgmentFailed("stopped", f"not judged any more: {self.why}")


# What a judge gives: items of the response, judgments on the item, all of it writable.
WIDEST = 1 << 63
"""Whole numbers from here on do not fit in 64 bits, and so in no file."""


def check_item(item: Item, topic: Topic, response: Response) -> None:
    """Raise TypeError or ValueError if a pool gave what is no item of this response."""
    if not isinstance(item, Item):
        raise TypeError(f"pool gave {brief(item)}, not an Item")
    place = (item.run_id, item.topic.topic_id)
    if place != (response.run_id, topic.topic_id):
        raise ValueError(f"pool gave an item on {place[0]!r}, {place[1]!r}, not on this response")
    if not isinstance(item.text, str):
        raise TypeError(f"pool gave an item whose text is {brief(item.text)}")
    _check_index(item.sentence_index)


def _check_index(index: object) -> None:
    if index is not None and type(index) is not int:
        raise TypeError(f"sentence_index is {brief(index)}, not a whole number or None")


def check_judgments(item: Item, judgments: list[Judgment]) -> None:
    """Raise TypeError or ValueError if a judge did not return judgments on the item."""
    if not judgments:
        raise ValueError("the judge returned no judgment")
    # Before anything is written: what one judge returns must not break the file of the others.
    for found in judgments:
        if not isinstance(found, Judgment):
            raise TypeError(f"the judge returned {brief(found)}, not a Judgment")
        if (found.run_id, found.topic_id) != (item.run_id, item.topic.topic_id):
            raise ValueError(f"the judgment is on {found.run_id!r}, {found.topic_id!r}")
        _check_numbers(found)
        _check_index(found.sentence_index)
        for text in _texts(found):
            if text is not None and not isinstance(text, str):
                raise TypeError(f"{brief(text)} is not text")
            if text is not None and not text.isascii():
                text.encode()  # half a character cannot be written


def _texts(found: Judgment) -> Iterator[Any]:
    """Yield all of a judgment that must be text or None."""
    yield from (found.label, found.reason, found.attester, found.match)
    yield from (found.doc_id, found.citation)
    if found.claim is not None:
        yield found.claim.text
    for fact in found.facts:
        yield fact.text
    for source in found.sources:
        yield source.excerpt


def _check_numbers(found: Judgment) -> None:
    grade, value = found.grade, found.value
    # `type`, not isinstance: True is an int, and no grade.
    if grade is not None and (type(grade) is not int or abs(grade) >= WIDEST):
        raise ValueError(f"grade is {brief(grade)}, not a whole number")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (number and math.isfinite(value) and abs(value) < HUGE):
        raise ValueError(f"value is {brief(value)}, not a number")
    for name in ("expected", "p_full", "confidence"):
        weight = getattr(found, name)
        if weight is not None and not (isinstance(weight, int | float) and 0 <= weight <= 1):
            raise ValueError(f"{name} is {brief(weight)}, not a weight of 0 to 1")


# The only concurrency: items to judgments, in input order, with bounded look-ahead.
T = TypeVar("T")
MOST_RESPONSES = 2000
"""Responses begun and not yet handed out, however many requests may be under way."""

LOOK_AHEAD = 4
"""Items begun and not yet handed out, for each request that may be under way."""


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """An item, the judgments on it and the model calls behind them.

    Of a group of items that were judged together, `group` in all, the first has the calls, and for
    the others they are `shared`.
    """

    item: Item
    judgments: list[Judgment]
    calls: list[ModelCall]
    named_judge: NamedJudge
    trace: str = ""
    group: int = 1
    shared: Sequence[ModelCall] = ()


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """A response whose every item is judged or unjudged, in the order of its pool."""

    response: Response
    items: list[JudgedItem]

    @property
    def judgments(self) -> list[Judgment]:
        """All judgments, in order."""
        return [judgment for item in self.items for judgment in item.judgments]


# A failure becomes an unjudged judgment; only a ModelError, which no item would survive, ends
# judging. Where the code of a judge has a bug on item after item, the items that are left stay
# unjudged.
@dataclass(slots=True)
class Runner:
    """Judges responses by every judge of a panel; what is begun and not handed out is bounded."""

    panel: Panel
    model: Model
    stopped: Stop = field(default_factory=Stop)
    """Others may stop it too."""
    wants: Callable[[Item, Response], bool] | None = None
    """Which items of a response are judged; None is all."""
    _trials: dict[str, CircuitBreaker] = field(default_factory=dict)
    _group_sizes: dict[str, int] = field(default_factory=dict)
    """How many items each judge is given by one request; asking a Protocol takes long."""
    _window: deque[tuple[int, asyncio.Task[JudgedResponse]]] = field(default_factory=deque)
    _unprepared: dict[str, BaseException] = field(default_factory=dict)
    """Why judges that are shown all responses first could not be prepared, by name."""

    async def prepare(self, responses: AllResponses, only_planning: bool = False) -> None:
        """Show all responses to the judges that want to see them before the first is judged.

        `only_planning`: only to those whose items are planned then, so that they can be counted.
        """
        notes = (asked_singly(named.judge, self.model) for named in self.panel)
        for note in filter(None, dict.fromkeys(notes)):
            responses.notify(note)
        for named in self.panel:
            judge = preparing(named.judge)
            if judge is None or (only_planning and not hasattr(judge, "planned")):
                continue
            try:
                await judge.prepare(responses)
            except TrecJudgeError:
                raise
            except asyncio.CancelledError as error:
                if _is_stopped():
                    raise
                self._unprepared[named.name] = error
            except (Exception, SystemExit, GeneratorExit) as error:  # whatever a judge raises
                self._unprepared[named.name] = error

    def __post_init__(self) -> None:
        if isinstance(self.model, CallingOff):
            self.stopped.listeners.append(self.model.call_off)

    async def run(
        self, pairs: Iterable[tuple[Topic, Response]]
    ) -> AsyncGenerator[JudgedResponse, None]:
        """Yield every response judged, in input order."""
        begun, look_ahead = 0, LOOK_AHEAD * self.model.in_flight
        try:
            for topic, response in pairs:
                pools = [self._pool(named, topic, response) for named in self.panel]
                # Without a model nothing waits: a task for each response would only cost time.
                if not self.model.available:
                    yield await self._response(response, pools)
                    continue
                task = asyncio.create_task(self._response(response, pools))
                size = sum(len(pool) for pool in pools)
                self._window.append((size, task))
                begun += size
                while self._window and (begun > look_ahead or len(self._window) > MOST_RESPONSES):
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
        # Wait until they are cancelled: a task that is dropped would go on, and pay for calls.
        await asyncio.gather(*tasks, return_exceptions=True)
        self._window.clear()

    def _pool(self, named: NamedJudge, topic: Topic, response: Response) -> list[Item | JudgedItem]:
        """Return the items to judge or, where the judge fails to list them, one unjudged item."""
        whole = Item(topic, response.run_id, response.text)
        if (failed := self._unprepared.get(named.name)) is not None:
            if isinstance(failed, JudgmentFailed):
                return [JudgedItem(whole, [unjudged(whole, failed)], [], named)]
            # It does not count: the other judges of the panel go on.
            return [_fault_item(named, whole, failed, named.judge.pool)]
        try:
            pool = list(named.judge.pool(topic, response))
            for item in pool:
                check_item(item, topic, response)
            if self.wants is not None:
                pool = [item for item in pool if self.wants(item, response)]
            return [*pool]
        except (Exception, SystemExit) as error:  # whatever a judge raises, the run goes on
            if self.stopped.why:
                return [self._not_judged(named, whole)]
            return [self._bug(named, whole, error, named.judge.pool)]

    async def _response(
        self, response: Response, pools: list[list[Item | JudgedItem]]
    ) -> JudgedResponse:
        """Judge all items of a response, judge by judge."""
        work = [self._items(*one, response) for one in zip(self.panel, pools, strict=True)]
        if self.model.available:
            judged = await _all(work)
        else:
            judged = [await items for items in work]
        return JudgedResponse(response, [item for items in judged for item in items])

    async def _items(
        self, named: NamedJudge, pool: list[Item | JudgedItem], response: Response
    ) -> list[JudgedItem]:
        """Judge the items of one judge; items that share a document are begun one after another.

        A server then finds the beginning of their prompts in its cache.
        """
        items = [entry for entry in pool if isinstance(entry, Item)]
        if not self.model.available:
            judged = [(await self.judge_item(named, [item], response))[0] for item in items]
        else:
            groups = list(groups_of(named.judge, items, self._group_size(named)))
            work = (self.judge_item(named, [items[i] for i in group], response) for group in groups)
            found = await _all(work)
            pairs = zip(groups, found, strict=True)
            by_place = {
                i: item for group, done in pairs for i, item in zip(group, done, strict=True)
            }
            judged = [by_place[i] for i in range(len(items))]
        return [*judged, *(entry for entry in pool if isinstance(entry, JudgedItem))]

    def _group_size(self, named: NamedJudge) -> int:
        found = self._group_sizes.get(named.name)
        if found is None:
            found = group_size(named.judge, asked_singly(named.judge, self.model))
            self._group_sizes[named.name] = found
        return found

    async def judge_item(
        self, named: NamedJudge, items: list[Item], response: Response
    ) -> list[JudgedItem]:
        """Judge an item, or a group of them by one request, unless judging has stopped."""
        trial = self._trial(named)
        if not trial.holds_back(self.model.in_flight):
            return await self._judge_now(named, items, response)
        async with trial.turn():
            return await self._judge_now(named, items, response)

    async def _judge_now(
        self, named: NamedJudge, items: list[Item], response: Response
    ) -> list[JudgedItem]:
        """Judge an item, or a group of them by one request; the first has its model calls."""
        if self.stopped.why:
            return [self._not_judged(named, item) for item in items]
        recorder = Recorder(self.model, about=PromptContext(items[0], response))
        fault: BaseException | None = None
        try:
            found = await judgments_of(named.judge, items, recorder)
            for item, judgments in zip(items, found, strict=True):
                check_judgments(item, judgments)
        except TrecJudgeError:
            raise  # no other item would fare better: the job ends
        except JudgmentFailed as failed:
            found = [[unjudged(item, failed)] for item in items]
        except asyncio.CancelledError as error:
            # Either the job is stopped, or the judge cancelled work of its own: its own fault only.
            if _is_stopped():
                raise
            fault = error
        except (Exception, SystemExit, GeneratorExit) as error:  # whatever a judge raises
            fault = error
        await recorder.wait_until_idle()
        if fault is not None:
            judged = self._bugs(named, items, fault)
        else:
            self._trial(named).record_success(
                any(judgment.judged for judgments in found for judgment in judgments)
            )
            if len(items) == 1:
                return [JudgedItem(items[0], found[0], recorder.calls, named)]
            judged = [JudgedItem(*each, [], named) for each in zip(items, found, strict=True)]
        # One request for the group: its calls are logged, and paid for, once.
        return _with_calls(judged, recorder.calls)

    def _not_judged(self, named: NamedJudge, item: Item) -> JudgedItem:
        return JudgedItem(item, [unjudged(item, self.stopped.failure)], [], named)

    def _trial(self, named: NamedJudge) -> CircuitBreaker:
        return self._trials.setdefault(named.name, CircuitBreaker())

    def _bugs(self, named: NamedJudge, items: list[Item], error: BaseException) -> list[JudgedItem]:
        """Return the items of one request as unjudged by a bug: it counts once."""
        first = self._bug(named, items[0], error, named.judge.judge)
        failure = first.judgments[0].failure
        rest = [
            JudgedItem(item, [judgment_of(item, failure=failure)], [], named) for item in items[1:]
        ]
        return [first, *rest]

    def _bug(
        self,
        named: NamedJudge,
        item: Item,
        error: BaseException,
        function: Callable[..., object],
    ) -> JudgedItem:
        """Return the item as unjudged by a fault of the judge; stop where there were too many."""
        broken = _fault_item(named, item, error, function)
        trial = self._trial(named)
        if trial.record_bug() and (failure := broken.judgments[0].failure):
            why = f"has a bug, {trial.bugs} times in a row: {failure.message}; judging stopped"
            self.stopped.now(f"judge {named.name} {why}")
        return broken


def _fault_item(
    named: NamedJudge, item: Item, error: BaseException, function: Callable[..., object]
) -> JudgedItem:
    """Return the item as unjudged by a fault of the judge, with the traceback for the log."""
    place = place_in_code(error, function, type(named.judge).__module__)
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    message = _writable(f"{' '.join(text.split())} ({place})")
    trace = _writable("".join(traceback.format_exception(error)))
    return JudgedItem(item, [judgment_of(item, failure=Failure("bug", message))], [], named, trace)


def _with_calls(judged: list[JudgedItem], calls: list[ModelCall]) -> list[JudgedItem]:
    """Return the items of one group with the calls that were made for them, which the first has."""
    first, *others = judged
    group = len(judged)
    mates = (replace(item, group=group, shared=calls) for item in others)
    return [replace(first, calls=calls, group=group), *mates]


def _is_stopped() -> bool:
    """Return whether the task that runs now is cancelled, and not only work of a judge's own."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


async def _all(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Await everything at once; where one fails, the others are cancelled."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


async def judgments_of(judge: Judge, items: list[Item], model: Model) -> list[list[Judgment]]:
    """Return the judgments of a judge on an item, or on each of a group by one request."""
    if len(items) > 1:
        grouping = cast(GroupingJudge, judge)
        return [[judgment] for judgment in await grouping.judge_group(items, model)]
    found = await judge.judge(items[0], model)
    return [found if isinstance(found, list) else [found]]


def groups_of(judge: Judge, pool: list[Item], size: int) -> Iterator[list[int]]:
    """Yield positions of items to judge together, items of one document next to each other.

    `size` is the most of them in a group, as `group_size` returns it.
    """
    order = _by_document(pool)
    if size < 2:
        yield from ([i] for i in order)
        return
    grouping = cast(GroupingJudge, judge)
    # Only neighbours: a group is never larger than what stands together in the order of documents.
    for key, members in groupby(order, key=lambda i: grouping.group_of(pool[i])):
        while group := list(islice(members, 1 if key is None else size)):
            yield group


def _writable(text: str) -> str:
    """Return a text without half characters, which cannot be written."""
    return text.encode(errors="backslashreplace").decode()


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
