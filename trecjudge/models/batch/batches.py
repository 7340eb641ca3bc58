"""Sends batches, follows them, reads their answers, and finds them again after a crash."""

from __future__ import annotations

import asyncio
import hashlib
import math
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import orjson

from trecjudge.errors import JudgmentFailed, ModelError, OutputError
from trecjudge.models.batch.api import (
    DAY,
    STEPS,
    BatchApi,
    BatchState,
    BatchTooLarge,
    PendingRequest,
    answers_in,
    of_all,
)
from trecjudge.models.batch.survey import AnswerSurvey, BatchAnswers, mark_sample
from trecjudge.models.cache.batch_book import BatchBook
from trecjudge.models.cache.request_locks import InFlightElsewhere, RequestLocks
from trecjudge.models.cache.store import ReplyCache
from trecjudge.models.faults import (
    AccountFault,
    Busy,
    ConfigurationFault,
    Fault,
    ItemFault,
    Unreachable,
)
from trecjudge.models.pace import report_waiting
from trecjudge.models.requests import Requests
from trecjudge.models.spending import BudgetExhausted
from trecjudge.models.transport import too_large

T = TypeVar("T")
# The pause between two looks at a batch is short at first, since small ones are over in seconds.
LONGEST_PAUSE = 60.0
GROWTH = 1.5
FIRST_PAUSE = 1.0
"""Seconds before a call that failed is tried again; they double each time."""
MOST_DAYS = 30
"""Days after which no batch is waited for, and its files are gone."""
# A batch that always expires would else be sent, and waited for a day, again and again.
MOST_SENT = 3
"""Batches in which a request is sent at most, before it fails without an answer."""
GO_ON = "the same command goes on waiting for it, and pays for nothing twice"


@dataclass(slots=True)
class Retry:
    """Retries for `patience` seconds. An endpoint that cannot be reached at first is not retried.

    The first answer is waited for only `first_answer` seconds, if that is less.
    """

    patience: float
    notify: Callable[[str], None]
    first_answer: float
    where: str
    _has_answered: bool = False

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return what `work` returns.

        Where patience ends it raises JudgmentFailed, where there never was an answer ModelError.
        """
        why = "no answer"
        loop = asyncio.get_running_loop()
        since, pause = loop.time(), FIRST_PAUSE
        with report_waiting(self.notify, lambda: f"waiting for {self.where}: {why}"):
            while True:
                try:
                    found = await work()
                except Fault as fault:
                    if not self._may_pass(fault):
                        raise
                    self._has_answered = self._has_answered or fault.status > 0
                    passed = loop.time() - since
                    self._give_up(passed, fault)
                    why = str(fault)
                    # An endpoint that asks for a wait knows best, as long as there is patience.
                    wait = (isinstance(fault, Busy) and fault.after) or pause
                    await asyncio.sleep(min(wait, self.patience - passed))
                    pause = min(LONGEST_PAUSE, 2 * pause)
                else:
                    self._has_answered = True
                    return found

    def _give_up(self, passed: float, fault: Fault) -> None:
        """Raise JudgmentFailed or ModelError where the wait was too long."""
        if not self._has_answered and self.first_answer < min(passed, self.patience):
            message = f"no answer at all for {self.first_answer:g} s (llm.first_answer): {fault}"
            raise ModelError(f"{message}; run the same command again to go on") from fault
        if passed > self.patience:
            waited = f"waited for {self.patience:g} s (llm.patience) in vain: {fault}"
            raise JudgmentFailed("stopped", waited) from fault

    def _may_pass(self, fault: Fault) -> bool:
        if isinstance(fault, Unreachable):
            return self._has_answered
        return not isinstance(fault, AccountFault | ConfigurationFault | ItemFault)


@dataclass(eq=False, slots=True)
class Batch:
    """A batch and the requests in it; `id` is empty until it has begun."""

    file: str = ""
    id: str = ""
    waiting: dict[str, PendingRequest] = field(default_factory=dict)

    def fail(self, error: BaseException) -> None:
        """Raise an error wherever an answer is awaited."""
        for waiting in self.waiting.values():
            waiting.fail(error)


class Batches:
    """The batches under way of one endpoint.

    `gather` takes a request that is to go into another batch.
    """

    def __init__(
        self,
        api: BatchApi,
        book: BatchBook,
        cache: ReplyCache,
        leases: RequestLocks,
        requests: Requests,
        gather: Callable[[PendingRequest], None],
        notify: Callable[[str], None],
    ) -> None:
        self._api, self._book, self._cache, self._leases = api, book, cache, leases
        self._gather, self._notify = gather, notify
        self._origin = origin = requests.origin
        self._settings = settings = requests.settings
        self._retry = Retry(settings.patience, notify, settings.first_answer, origin.endpoint)
        where = f"batches {origin.endpoint} {origin.model}"
        self._turn = hashlib.sha256(where.encode()).hexdigest()
        """The key of the lease to send batches to this endpoint."""
        self.stopped: JudgmentFailed | None = None
        """Why nothing more is sent: a batch was waited for in vain."""
        self.most = math.inf
        """The size of a batch that the endpoint takes."""
        self.last_size = 1
        self._over: set[str] = set()
        """Files of batches whose answers are handed out."""
        self._batches: dict[str, Batch] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def of(self, file: str) -> Batch | None:
        """Return the batch of a file; one of another command is looked for again."""
        if file in self._over:
            return None
        if self.stopped is not None:
            raise self.stopped
        batch = self._batches.get(file)
        if batch is None and (record := self._book.record(file)):
            batch = self._batches[file] = Batch(file, record.id)
            name = record.id or f"of file {file}"
            self._notify(f"batch {name}: under way already, {record.requests} requests; waiting")
            self._start(batch, self._resume(batch))
        return batch

    def send(self, gathered: Iterable[PendingRequest]) -> None:
        """Send requests as a batch, and hand out its answers when they are there."""
        batch = Batch(waiting={waiting.key: waiting for waiting in gathered})
        if self.stopped is not None:  # what was waited for in vain once is not begun again
            batch.fail(self.stopped)
            return
        self._start(batch, self._send(batch))

    def _start(self, batch: Batch, work: Coroutine[Any, Any, None]) -> None:
        async def report_errors() -> None:
            try:
                await work
            except (Fault, JudgmentFailed, ModelError, OutputError, OSError) as error:
                self._batches.pop(batch.file, None)
                if isinstance(error, JudgmentFailed) and self.stopped is None:
                    self.stopped = error
                    self._notify(f"{error}")
                batch.fail(OutputError(str(error)) if isinstance(error, OSError) else error)

        task = asyncio.create_task(report_errors())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, batch: Batch) -> None:
        """Send a batch and wait for its answers."""
        # One process at a time, so that the next one sees which requests are under way.
        async with self._leases.hold(self._turn):
            self._admit(batch)
            is_begun = bool(batch.waiting) and await self._upload(batch)
        if is_begun:
            await self._follow(batch)

    def _admit(self, batch: Batch) -> None:
        """Remove requests from a batch that must not be sent, such as those sent elsewhere."""
        wanted, batch.waiting = batch.waiting, {}
        for waiting in wanted.values():
            if waiting.answer.done():  # its caller is gone
                continue
            try:
                if self._is_under_way(waiting.key):
                    raise InFlightElsewhere
                if not waiting.admitted:
                    waiting.admit()
            except (JudgmentFailed, BudgetExhausted, InFlightElsewhere) as error:
                waiting.fail(error)
                continue
            waiting.admitted = True
            waiting.sent += 1
            batch.waiting[waiting.key] = waiting

    def _is_under_way(self, key: str) -> bool:
        """Return whether a request has an answer, or is in a batch whose answer will come."""
        if (known := self._book.where(key)) is None:
            return False
        return known.answer is not None or (
            known.file not in self._over and self._book.record(known.file) is not None
        )

    async def _upload(self, batch: Batch) -> bool:
        """Upload the requests of a batch and begin it; return whether it is under way."""
        with tempfile.TemporaryDirectory(prefix="trecjudge-") as folder:
            lines = Path(folder) / "requests.jsonl"
            with lines.open("wb") as file:
                mark_sample(list(batch.waiting.values()), self._settings.batch_nonce)
                for waiting in batch.waiting.values():
                    file.write(orjson.dumps(waiting.line, option=orjson.OPT_APPEND_NEWLINE))
            try:
                batch.file = await self._retry.run(lambda: self._api.upload(lines))
            except BatchTooLarge as error:
                await self._send_smaller(batch, str(error), 0.0)
                return False
        self._batches[batch.file] = batch
        self._over.discard(batch.file)
        # Noted before it is begun: a job killed in between finds it again, and pays only once.
        self._book.begin(batch.file, self._origin, batch.waiting)
        return await self._begin(batch)

    async def _resume(self, batch: Batch) -> None:
        """Wait for a batch of another command, begun or only about to be."""
        if not batch.id:
            # By one process at a time: if another is about to begin it, it has done so afterwards.
            async with self._leases.hold(self._turn):
                is_begun = await self._find(batch)
            if not is_begun:
                return
        await self._follow(batch)

    async def _find(self, batch: Batch) -> bool:
        """Find or begin a batch of which only the file is known; return whether it is under way."""
        record = self._book.record(batch.file)
        if record is None:
            # Another process has handed it out: its replies are in the cache.
            self._over.add(batch.file)
            self._batches.pop(batch.file, None)
            batch.fail(InFlightElsewhere())
            return False
        batch.id = record.id
        if not batch.id:
            state = await self._retry.run(lambda: self._api.of_file(batch.file))
            if state is None:
                return await self._begin_late(batch)
            self._note_id(batch, state)
        return True

    async def _begin_late(self, batch: Batch) -> bool:
        """Begin a batch whose file another command uploaded; the file may be gone."""
        try:
            return await self._begin(batch)
        except (ConfigurationFault, ModelError) as error:
            self._send_again(batch, str(error))
            return False

    async def _begin(self, batch: Batch) -> bool:
        """Begin a batch whose file is uploaded, never twice; return whether it is under way."""
        tried = False

        async def begin() -> BatchState:
            nonlocal tried
            # An earlier try, whose answer was lost, may have begun it.
            known = await self._api.of_file(batch.file) if tried else None
            tried = True
            return known or await self._api.begin(batch.file)

        try:
            state = await self._retry.run(begin)
        except BatchTooLarge as error:
            self._forget(batch)
            await self._send_smaller(batch, str(error), 0.0)
            return False
        except (Fault, ModelError):
            if not await self._may_have_begun(batch):
                self._forget(batch)
            raise
        self._note_id(batch, state)
        self._notify(f"batch {state.id}: {len(batch.waiting)} requests are under way")
        return True

    async def _may_have_begun(self, batch: Batch) -> bool:
        try:
            return await self._api.of_file(batch.file) is not None
        except (Fault, BatchTooLarge, ModelError):
            return True  # not known: forgetting it could mean paying twice

    def _note_id(self, batch: Batch, state: BatchState) -> None:
        batch.id = state.id
        self._book.note_id(batch.file, state.id)

    async def _follow(self, batch: Batch) -> None:
        """Look at a batch, less and less often, until it is over; then hand out its answers."""
        state = await self._wait(batch)
        if state is None:
            self._notify(f"{self._name(batch)}: lost there; its requests are sent again")
            self._send_again(batch, "the endpoint lost its batch")
            return
        self._notify(f"batch {batch.id}: {state}")
        if state.status == "failed":
            await self._take_failure(batch, state)
            return
        await self._download(batch, state)

    async def _wait(self, batch: Batch) -> BatchState | None:
        """Wait until a batch is over; return None where the endpoint lost it.

        It is waited for as long as it may take. Where it is not worked on, such as in a status that
        nobody knows, and nothing changes, no longer than `patience`. Raises JudgmentFailed.
        """
        loop, patience = asyncio.get_running_loop(), self._settings.patience
        since = changed = loop.time()
        pause = poll = self._settings.batch_poll
        said, most = "nothing is known of it yet", 0.0
        with report_waiting(self._notify, lambda: f"waiting for {self._name(batch)}: {said}"):
            while True:
                state = await self._retry.run(lambda: self._api.state(batch.id))
                if state is None or state.is_over:
                    return state
                now = loop.time()
                changed = changed if said == str(state) else now
                said = str(state)
                most = most or self._most_seconds(batch, state)
                self._give_up(batch, state, now - since, most, "llm.batch_wait")
                if state.status not in STEPS:
                    self._give_up(batch, state, now - changed, patience, "llm.patience")
                await asyncio.sleep(pause)
                pause = min(max(LONGEST_PAUSE, poll), GROWTH * pause)

    def _give_up(
        self, batch: Batch, state: BatchState, passed: float, most: float, setting: str
    ) -> None:
        """Raise JudgmentFailed where a batch was waited for too long."""
        if passed > most:
            waited = f"waited for {most:.0f} s ({setting}) in vain"
            raise JudgmentFailed("stopped", f"{self._name(batch)}: {state}; {waited}; {GO_ON}")

    def _name(self, batch: Batch) -> str:
        return f"batch {batch.id} at {self._origin.endpoint}"

    def _most_seconds(self, batch: Batch, state: BatchState) -> float:
        """Return how long a batch may take: until it ends by the endpoint's words, or a day."""
        if self._settings.batch_wait is not None:
            return self._settings.batch_wait
        record, now = self._book.record(batch.file), time.time()
        ends = state.expires or (record.begun if record else now) + DAY
        return min(MOST_DAYS * DAY, max(0.0, ends - now)) + self._settings.patience

    async def _take_failure(self, batch: Batch, state: BatchState) -> None:
        """Send a failed batch later if too much was under way; else raise the reason, for all."""
        fault = of_all(self._api.transport.failure(200, {}, state.problem))
        self._forget(batch)
        if isinstance(fault, Busy) or b"token_limit_exceeded" in state.problem:
            pause = min(LONGEST_PAUSE, self._settings.patience)
            await self._send_smaller(batch, str(fault), pause)
            return
        raise fault

    async def _send_smaller(self, batch: Batch, why: str, pause: float) -> None:
        """Send a batch again in parts of half its size."""
        if len(batch.waiting) == 1 and not pause:
            raise ItemFault("too_long", why)
        self.most = max(1, len(batch.waiting) // 2)
        self._notify(f"a batch of {len(batch.waiting)} is too large, {self.most} at a time: {why}")
        while pause and self._batches:  # the limit may be one on all batches together
            await asyncio.sleep(pause)
        await asyncio.sleep(pause)
        self._send_again(batch, why)

    def _send_again(self, batch: Batch, why: str) -> None:
        """Gather the requests of a lost batch for another one."""
        self._forget(batch)
        for waiting in batch.waiting.values():
            self._ask_again(waiting, why)

    def _ask_again(self, waiting: PendingRequest, why: str) -> None:
        if waiting.sent >= MOST_SENT:
            waiting.fail(JudgmentFailed("transport", why, waiting.sent))
        elif not waiting.answer.done():
            self._gather(waiting)

    def _forget(self, batch: Batch) -> None:
        """Forget a batch; a request of it that is asked again goes into another one."""
        self._over.add(batch.file)
        self._batches.pop(batch.file, None)
        self._book.finish(batch.file)

    async def _download(self, batch: Batch, state: BatchState) -> None:
        """Read the files of a batch that is over, and hand out its answers."""
        record = self._book.record(batch.file)
        most = self._api.most_of_file(record.requests if record else len(batch.waiting))
        is_old = record is not None and time.time() - record.begun > MOST_DAYS * DAY
        with tempfile.TemporaryDirectory(prefix="trecjudge-") as folder:
            contents = [
                await self._retry.run(
                    partial(self._api.content, file, Path(folder) / str(number), most, is_old)
                )
                for number, file in enumerate(state.files)
            ]
            files = [path for path in contents if path is not None]
            await self._hand_out(batch, state, files, most)

    async def _hand_out(
        self, batch: Batch, state: BatchState, files: list[Path], most: int
    ) -> None:
        """Hand out the answers of a batch: good ones first, so that failures come in no row."""
        self._over.add(batch.file)
        self._batches.pop(batch.file, None)
        self.last_size = max(1, len(batch.waiting))
        is_first = self._book.record(batch.file) is not None
        survey = AnswerSurvey(self._origin.model, partial(self._is_in, batch), batch.waiting)
        survey.read(answers_in(files, self._api.most_bytes))
        if is_first and (wrong := survey.summary):
            self._notify(f"{self._name(batch)}: {wrong}")
        answers = BatchAnswers(survey, partial(self._is_wanted, batch), self._book.keep)
        left = await answers.take(answers_in(files, self._api.most_bytes), batch.waiting)
        is_cut = any(file.stat().st_size > most for file in files)
        self._book.finish(batch.file, batch.waiting)  # good ones are in the cache
        answers.hand_out_failures()
        for waiting in left:
            if is_cut:
                waiting.fail(too_large(most))
            elif state.status == "cancelled":
                waiting.fail(JudgmentFailed("stopped", f"batch {batch.id} was cancelled"))
            elif is_first:
                self._ask_again(waiting, f"batch {batch.id} is {state.status} without an answer")
            else:  # another process has sent it again already, or has the reply
                waiting.fail(InFlightElsewhere())

    def _is_in(self, batch: Batch, key: str) -> bool:
        """Return whether a request was sent in a batch."""
        known = None if key in batch.waiting else self._book.where(key)
        return key in batch.waiting or (known is not None and known.file == batch.file)

    def _is_wanted(self, batch: Batch, key: str) -> bool:
        """Return whether an answer was paid for by an earlier command, and is not kept yet."""
        known = self._book.where(key)
        is_open = known is not None and known.answer is None and known.file == batch.file
        return is_open and self._cache.get(key) is None

    async def close(self) -> None:
        """Stop waiting; batches under way stay so."""
        under_way = [batch for batch in self._batches.values() if batch.id]
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        # Their files and leases are given back before the session is closed.
        await asyncio.gather(*tasks, return_exceptions=True)
        for batch in under_way:
            self._notify(f"batch {batch.id}: still under way; {GO_ON}")
