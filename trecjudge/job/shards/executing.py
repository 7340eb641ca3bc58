"""Shards judged by several workers at once; those of a worker that died are judged again."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Protocol, TypeVar

from trecjudge.errors import OutputError
from trecjudge.job.interrupts import leave_interrupts_to_parent
from trecjudge.job.process import settle_process
from trecjudge.job.shards.judging import judge_shard
from trecjudge.job.shards.shard import Shard, ShardDone, ShardSetup
from trecjudge.job.shards.silence import Silence

G = TypeVar("G")
S = TypeVar("S")
T = TypeVar("T")
MOST_TRIES = 3
"""Times that a shard is begun: one whose worker dies each time most likely kills it."""
SECONDS_BETWEEN_LOOKS = 1.0
"""How often a worker looks whether the process that it works for is still there."""


class Workers(Protocol):
    """Processes that judge shards, wherever they are. To be closed."""

    @property
    def count(self) -> int:
        """How many shards can be judged at once."""

    def submit(self, work: Callable[[G, S], T], setup: G, shard: S) -> Future[T]:
        """Begin work on a shard. Raises BrokenExecutor where workers died."""

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
    _silence: Silence = field(init=False)

    def __post_init__(self) -> None:
        self._silence = Silence(self.notify)
        self._begin()

    def _begin(self) -> None:
        # Spawned, not forked: a fork copies locks that threads of this process hold.
        self._pool = ProcessPoolExecutor(
            self.count, get_context("spawn"), _begin_worker, (os.getpid(),)
        )

    def submit(self, work: Callable[[G, S], T], setup: G, shard: S) -> Future[T]:
        """Begin work on a shard. Raises BrokenExecutor where workers died."""
        return self._pool.submit(work, setup, shard)

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
        processes = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()
        for process in processes:
            process.join()


def _begin_worker(parent: int) -> None:
    """Prepare a worker: it leaves interrupts to its parent, and ends when that is gone."""
    leave_interrupts_to_parent()
    settle_process()
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


@dataclass(slots=True)
class Execution:
    """Has all shards judged, the longest first; yields what they came to as they are done.

    `notify` is told of workers that died.
    """

    workers: Workers
    setup: ShardSetup
    notify: Callable[[str], None]
    _tries: Counter[int] = field(default_factory=Counter)

    def run(self, shards: Sequence[Shard]) -> Iterator[ShardDone]:
        """Yield each shard's outcome, in any order.

        Raises what a shard raises, and OutputError where the worker of one dies too often.
        """
        left = {shard.number: shard for shard in shards}
        while left:
            for done in self._round(sorted(left.values(), key=lambda one: -one.items)):
                del left[done.number]
                yield done

    def _round(self, shards: Sequence[Shard]) -> Iterator[ShardDone]:
        """Yield what is done until all are, or until workers die."""
        futures: dict[Future[ShardDone], Shard] = {}
        broken = False
        try:
            for shard in shards:
                futures[self.workers.submit(judge_shard, self.setup, shard)] = shard
        except BrokenExecutor:
            broken = True
        waiting = set(futures)
        begun: set[Future[ShardDone]] = set()
        while waiting:
            begun |= {future for future in waiting if future.running()}
            finished, waiting = wait(waiting, SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)
            self.workers.look()
            for future in finished:
                error = future.exception()
                if isinstance(error, BrokenExecutor):
                    broken = True
                elif error is not None:
                    raise error
                else:
                    begun.discard(future)
                    yield future.result()
        if broken:
            self._died([futures[future] for future in begun] or shards)

    def _died(self, suspects: Sequence[Shard]) -> None:
        """Begin again after workers died, if not one of these shards was tried too often."""
        for shard in suspects:
            self._tries[shard.number] += 1
            if self._tries[shard.number] >= MOST_TRIES:
                first = shard.portions[0]
                raise OutputError(
                    f"a worker died {MOST_TRIES} times on {shard.responses} responses from"
                    f" {first.path} on; is there enough memory? Judge without --workers to see why"
                )
        self.notify(f"a worker died: {len(suspects)} shards are judged again")
        self.workers.renew()
