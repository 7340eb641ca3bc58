"""Workers of a Dask cluster, which its own commands started: `dask scheduler`, `dask worker`."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import logging
import pkgutil
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

from trecjudge.errors import PluginError, WorkflowError
from trecjudge.job.shards.workers import (
    SECONDS_OF_SILENCE,
    SECONDS_UNTIL_TOLD,
    SilenceTimer,
    T,
)
from trecjudge.version import __version__

EXTRA = "cluster"
"""The extra of this project that brings Dask."""
SECONDS_TO_CONNECT = 30
"""How long an answer of a scheduler, or of all workers, is waited for before they have work."""
SECONDS_TO_CLOSE = 5
SCHEME = "dask"
VERSION = "trecjudge.version:__version__"


@dataclass(slots=True)
class DaskWorkers:
    """The workers of a cluster by the address of its scheduler, `HOST:PORT`.

    They must see the input files and the output folder by the same paths, and have this package.
    `notify` is told whom this process waits for. Raises WorkflowError where it waits too long,
    where no worker is there, and where one has another version.
    """

    address: str
    notify: Callable[[str], None]
    _client: Any = None
    _silence: SilenceTimer = field(init=False)
    _asked: Future[Any] | None = None
    _seen: dict[str, float] = field(default_factory=dict)
    """The last sign of life of each worker that was known last, by the clock of the scheduler."""

    def __post_init__(self) -> None:
        self._silence = SilenceTimer(self.notify)
        self.renew()

    @property
    def _place(self) -> str:
        return f"{SCHEME}://{self.address}"

    @property
    def _is_connected(self) -> bool:
        return self._client is not None and self._client.status == "running"

    @property
    def count(self) -> int:
        """How many shards can be judged at once, now."""
        threads = self._answer("the scheduler", self._client.nthreads)
        return sum(threads.values())

    def submit(self, work: Callable[..., T], *given: object) -> Future[T]:
        """Begin work on what is given. A worker that dies is replaced by another, by Dask itself.

        Raises BrokenExecutor where the scheduler is lost.
        """
        if not self._is_connected:
            raise BrokenExecutor("the scheduler is lost")
        found: Future[T] = Future()
        return _as_future(self._client.submit(work, *given, pure=False), found, self._place)

    def renew(self) -> None:
        """Go on with the workers that are left, or come; connect again where that was lost."""
        if self._is_connected:
            return
        try:
            distributed = importlib.import_module("distributed")
        except ImportError as error:
            message = f"--workers {SCHEME}://: needs Dask: pip install 'trecjudge[{EXTRA}]'"
            raise PluginError(message) from error
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what ends a job is one line

        def connected() -> Any:
            return distributed.Client(
                f"tcp://{self.address}",
                timeout=SECONDS_TO_CONNECT * 0.9,  # its reason is better than our patience
                set_as_default=False,
                asynchronous=False,  # though an event loop runs here
            )

        try:
            self._client = self._answer("the scheduler", connected)
            self._check()
        except (OSError, ValueError) as error:
            raise WorkflowError(
                f"--workers {self._place}: no scheduler answers there: {error}"
            ) from error

    def _check(self) -> None:
        """Raise WorkflowError where no worker is there, or where one cannot do our work."""
        if not self.count:
            self.close()
            raise WorkflowError(f"{self._place}: no worker is there: start `dask worker`")
        asked = (pkgutil.resolve_name, VERSION)  # of Python itself: it is there in any case
        client = self._client
        versions = self._answer("all workers", lambda: client.run(*asked, on_error="return"))
        for there, version in versions.items():
            if version != __version__:
                self.close()
                has = f"version {version}" if isinstance(version, str) else f"none: {version}"
                raise WorkflowError(
                    f"{self._place}: {there} has not version {__version__} of trecjudge, but {has};"
                    " install the same on all machines"
                )

    def look(self) -> None:
        """Tell of workers that give no sign of life. Raises WorkflowError where none does."""
        asked, before = self._asked, self._seen
        if asked is None:
            # Never waited for: a scheduler that is stopped does not answer.
            identity = self._client.scheduler.identity
            known = importlib.import_module("distributed").Scheduler.identity
            every = {"n_workers": -1} if "n_workers" in inspect.signature(known).parameters else {}
            loop = self._client.loop.asyncio_loop
            self._asked = asyncio.run_coroutine_threadsafe(identity(**every), loop)
        elif asked.done():
            self._asked = None
            workers = {} if asked.exception() else asked.result()["workers"]
            found = {f"worker {at} of {self._place}": it["last_seen"] for at, it in workers.items()}
            # Where the scheduler has let all go, those that it knew last are waited for.
            self._seen = found or before
        names = self._seen or (f"a worker of {self._place}",)
        alive = [name for name, seen in self._seen.items() if seen != before.get(name)]
        if len(self._silence.look(names, alive)) == len(names):
            # One of several that is lost is given up by Dask itself, and its shard to another.
            raise WorkflowError(
                f"--workers {self._place}: no worker gave a sign of life for"
                f" {SECONDS_OF_SILENCE:.0f} s"
            )

    def close(self) -> None:
        """Cancel what is left, and let the cluster go."""
        with suppress(OSError, TimeoutError, AssertionError):  # it does not answer, or is gone
            self._client.close(timeout=SECONDS_TO_CLOSE)

    def _answer(self, whose: str, work: Callable[[], T]) -> T:
        """Return what the cluster answers. Raises WorkflowError where it does not."""
        found: Future[T] = Future()

        def ask() -> None:
            try:
                found.set_result(work())
            except BaseException as error:
                found.set_exception(error)

        # A thread that nobody waits for at the end: Dask has no patience of its own here.
        Thread(target=ask, daemon=True).start()
        with suppress(TimeoutError):
            return found.result(SECONDS_UNTIL_TOLD)
        self.notify(f"{self._place}: waiting for {whose} to answer")
        with suppress(TimeoutError):
            return found.result(max(0.0, SECONDS_TO_CONNECT - SECONDS_UNTIL_TOLD))
        raise WorkflowError(
            f"--workers {self._place}: no scheduler answers there: {whose} said nothing for"
            f" {SECONDS_TO_CONNECT} s"
        )


def _as_future(asked: Any, found: Future[T], place: str) -> Future[T]:
    """Return a Dask future as one of the standard library, `found`."""
    found.set_running_or_notify_cancel()

    def done(over: Any) -> None:
        if over.status == "finished":
            found.set_result(over.result())
            return
        error = over.exception() if over.status == "error" else None
        if error is None or type(error).__name__ == "KilledWorker":
            error = BrokenExecutor(str(error))
        elif isinstance(error, ImportError) or "deserialization" in str(error):
            why = " ".join(str(error).split())
            error = WorkflowError(f"{place}: it cannot load this job: {why}")
        found.set_exception(error)

    asked.add_done_callback(done)
    return found
