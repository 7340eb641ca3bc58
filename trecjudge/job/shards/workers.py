"""Workers: processes that do the work on shards at once; that of one that died is done again."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from trecjudge.errors import OutputError
from trecjudge.job.process import leave_interrupts_to_parent, tune_process
from trecjudge.job.shards.shard import DocumentShard, Shard, ShardSetup

if TYPE_CHECKING:
    from concurrent.futures._base import DoneAndNotDoneFutures

S = TypeVar("S", Shard, DocumentShard)
T = TypeVar("T")
Work = Callable[[ShardSetup, S], T]
MOST_TRIES = 3
"""Times that a shard is begun: one whose worker dies each time most likely kills it."""
SECONDS_BETWEEN_LOOKS = 1.0
"""How often a worker looks whether the process that it works for is still there."""
SECONDS_UNTIL_TOLD = 5.0
"""How long another process may be silent until the user is told."""
SECONDS_OF_SILENCE = 60.0
"""How long another process may be silent until it is given up."""
MOST_AT_ONCE = 2.0
"""Seconds of one look, at most: this process may itself have been stopped since the last one."""


@dataclass(slots=True)
class SilenceTimer:
    """How long each of several processes has given no sign of life, by its name."""

    notify: Callable[[str], None]
    _seconds: dict[str, float] = field(default_factory=dict)
    _looked: float = field(default_factory=time.monotonic)

    def look(self, names: Collection[str], alive: Collection[str]) -> list[str]:
        """Return those of the processes that were silent for too long; tell once of each before.

        `alive` are those that gave a sign of life since the last look.
        """
        now = time.monotonic()
        passed, self._looked = min(now - self._looked, MOST_AT_ONCE), now
        before = self._seconds
        self._seconds = {n: 0.0 if n in alive else before.get(n, 0.0) + passed for n in names}
        for name, seconds in self._seconds.items():
            if before.get(name, 0.0) <= SECONDS_UNTIL_TOLD < seconds:
                self.notify(f"waiting for {name}: no sign of life for {SECONDS_UNTIL_TOLD:.0f} s")
        return [name for name, found in self._seconds.items() if found > SECONDS_OF_SILENCE]


class Workers(Protocol):
    """Processes that judge shards, wherever they are. To be closed."""

    @property
    def count(self) -> int:
        """How many shards can be judged at once."""

    def submit(self, work: Callable[..., T], *given: object) -> Future[T]:
        """Begin work on what is given. Raises BrokenExecutor where workers died."""

    def renew(self) -> None:
        """Replace the workers, after some of them died."""

    def look(self) -> None:
        """Tell of workers that give no sign of life. Raises WorkflowError where that is too long.

        It is called about every second while they work.
        """

    def close(self) -> None:
        """End the workers now, whatever they do."""


@dataclass(slots=True)
class LocalWorkers:
    """Processes on this machine; `notify` is told of those that are stopped."""

    count: int
    notify: Callable[[str], None]
    _pool: ProcessPoolExecutor = field(init=False)
    _silence: SilenceTimer = field(init=False)

    def __post_init__(self) -> None:
        self._silence = SilenceTimer(self.notify)
        self._begin()

    def _begin(self) -> None:
        # Spawned, not forked: a fork copies locks that threads of this process hold.
        self._pool = ProcessPoolExecutor(
            self.count, get_context("spawn"), _begin_worker, (os.getpid(),)
        )

    def submit(self, work: Callable[..., T], *given: object) -> Future[T]:
        """Begin work on what is given. Raises BrokenExecutor where workers died."""
        return self._pool.submit(work, *given)

    def renew(self) -> None:
        """Replace all processes: the pool gives them all up when one died."""
        self.close()
        self._begin()

    def look(self) -> None:
        """Tell of processes that are stopped (SIGSTOP); after a while, kill them."""
        names = {f"process {number}": number for number in list(self._pool._processes or ())}
        running = [name for name, number in names.items() if not _is_stopped(number)]
        for name in self._silence.look(names, running):
            with suppress(ProcessLookupError):
                os.kill(names[name], signal.SIGKILL)  # its shard is judged again by another

    def close(self) -> None:
        """End the processes now."""
        # A pool only ends its processes when they have done their work: they are killed here, and
        # waited for, since nothing may write into the folder of the parts any more.
        processes = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()
        for process in processes:
            process.join()


def _begin_worker(parent: int) -> None:
    """Prepare a worker: it leaves interrupts to its parent, and ends when that is gone."""
    leave_interrupts_to_parent()
    tune_process()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(1)  # a killed parent says nothing, and the queue from it would be waited for


def _is_stopped(process: int) -> bool:
    """Return whether a process is stopped; False where the system does not say."""
    try:
        stat = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b") ")[2][:1] in (b"T", b"t")


class Scheduler(ABC, Generic[S, T]):
    """Has workers do the work on shards, and takes what they come to as they are done.

    `at_once` is how many are given to the workers at a time; `over` ends it early.
    """

    def __init__(
        self, workers: Workers, work: Work[S, T], setup: ShardSetup, shards: Iterable[S]
    ) -> None:
        self.workers, self.setup = workers, setup
        self.work: Work[S, T] = work
        self.left: deque[S] = deque(shards)
        # All of them: workers go on without waiting for us. Where each needs a budget, few are.
        self.at_once = len(self.left)
        self.under_way: dict[Future[T], S] = {}
        self.over = False
        self._begun: set[int] = set()
        self._broken: list[S] = []
        self._tries: Counter[int] = Counter()

    async def run(self) -> None:
        """Return when all shards are done, or none can be begun any more.

        Raises OutputError where the workers of one die too often.
        """
        while not self.over and (self.left or self.under_way or self._broken):
            self._submit()
            if self.under_way:
                await self.look()
            elif self._broken:
                self._begin_again()
            else:
                return

    @abstractmethod
    async def take(self, shard: S, done: T) -> None:
        """Take what a shard came to."""

    @abstractmethod
    def tell_died(self, shards: Collection[S]) -> None:
        """Tell the user that workers died at these shards."""

    @abstractmethod
    def blame(self, shard: S) -> str:
        """Return on what workers died too often, and what the user can do."""

    def prepare(self, shard: S) -> S | None:
        """Return a shard as it is to be begun; None where no shard can be any more."""
        return shard

    def undo(self, shard: S) -> None:
        """Undo what `prepare` did: the shard could not be begun."""

    def fail(self, error: BaseException) -> None:
        """Take the error of a shard; here it ends all."""
        raise error

    async def look(self) -> None:
        """Wait a moment for shards to be done, and take them."""
        self._begun |= {s.number for future, s in self.under_way.items() if future.running()}
        # In a thread: the futures are no tasks of this event loop, and may be of another machine.
        finished, _ = await asyncio.to_thread(self._wait)
        self.workers.look()
        for future in finished:
            shard = self.under_way.pop(future)
            error = None if future.cancelled() else future.exception()
            if future.cancelled() or isinstance(error, BrokenExecutor):
                self._broken.append(shard)
            elif error is not None:
                self.fail(error)
            else:
                await self.take(shard, future.result())

    def _wait(self) -> DoneAndNotDoneFutures[T]:
        return wait(list(self.under_way), SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)

    def _submit(self) -> None:
        # After a death none is begun until all others have ended: the workers are replaced then.
        while self.left and not self._broken and len(self.under_way) < self.at_once:
            shard = self.prepare(self.left.popleft())
            if shard is None:
                self.left.clear()
                return
            try:
                self.under_way[self.workers.submit(self.work, self.setup, shard)] = shard
            except BrokenExecutor:
                self.undo(shard)
                self._broken.append(shard)

    def _begin_again(self) -> None:
        broken, self._broken = self._broken, []
        # Which of those that were begun killed its worker is not known.
        suspects = [shard for shard in broken if shard.number in self._begun] or broken
        self._begun.clear()
        for shard in suspects:
            self.count_try(shard)
        self.tell_died(suspects)
        self.workers.renew()
        self.left.extend(broken)

    def count_try(self, shard: S) -> None:
        """Count that a worker died at a shard. Raises OutputError where it did so too often."""
        self._tries[shard.number] += 1
        if self._tries[shard.number] >= MOST_TRIES:
            raise OutputError(f"a worker died {MOST_TRIES} times{self.blame(shard)}")
