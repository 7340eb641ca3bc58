"""Workers of a Dask cluster, which its own commands started: `dask scheduler`, `dask worker`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from trecjudge.errors import PluginError, WorkflowError

G = TypeVar("G")
S = TypeVar("S")
T = TypeVar("T")
EXTRA = "cluster"
"""The extra of this project that brings Dask."""
SECONDS_TO_CONNECT = 10
SCHEME = "dask"


@dataclass(slots=True)
class DaskWorkers:
    """The workers of a cluster by the address of its scheduler, `HOST:PORT`.

    They must see the input files and the output folder by the same paths, and have this package.
    """

    address: str
    _client: Any = field(init=False)

    def __post_init__(self) -> None:
        try:
            distributed = importlib.import_module("distributed")
        except ImportError as error:
            message = f"--workers {SCHEME}://: needs Dask: pip install 'trecjudge[{EXTRA}]'"
            raise PluginError(message) from error
        try:
            self._client = distributed.Client(
                f"tcp://{self.address}",
                timeout=SECONDS_TO_CONNECT,
                set_as_default=False,
                asynchronous=False,  # though an event loop runs here
            )
        except (OSError, ValueError) as error:
            raise WorkflowError(
                f"--workers {SCHEME}://{self.address}: no scheduler answers there: {error}"
            ) from error

    @property
    def count(self) -> int:
        """How many shards can be judged at once, now."""
        return sum(self._client.nthreads().values())

    def submit(self, work: Callable[[G, S], T], setup: G, shard: S) -> Future[T]:
        """Begin work on a shard. A worker that dies is replaced by another, by Dask itself."""
        found: Future[T] = Future()
        return _as_future(self._client.submit(work, setup, shard, pure=False), found)

    def renew(self) -> None:
        """Go on with the workers that are left, or come."""

    def close(self) -> None:
        """Cancel what is left, and let the cluster go."""
        self._client.close(timeout=SECONDS_TO_CONNECT)


def _as_future(asked: Any, found: Future[T]) -> Future[T]:
    """Return a Dask future as one of the standard library, `found`."""
    found.set_running_or_notify_cancel()

    def done(over: Any) -> None:
        if over.status == "finished":
            found.set_result(over.result())
            return
        error = over.exception() if over.status == "error" else None
        killed = error is None or type(error).__name__ == "KilledWorker"
        found.set_exception(BrokenExecutor(str(error)) if killed else error)

    asked.add_done_callback(done)
    return found
