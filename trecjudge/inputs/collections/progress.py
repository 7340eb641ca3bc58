"""How far the reading of a collection, or the fetching of documents, is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

LONG = 2.0
"""Seconds below which nobody needs to see how far something is."""
_WATCH: ContextVar[OnProgress | None] = ContextVar("watch_of_collections", default=None)


@dataclass(frozen=True, slots=True)
class CollectionProgress:
    """How much is `done` of `total`, in bytes as they lie on disk or in requests.

    `what` names the collection, `found` counts the documents that were found of those `wanted`,
    `seconds` how long it took so far, `ended` whether nothing more will come.
    """

    what: str
    done: int
    total: int
    found: int
    wanted: int
    seconds: float
    in_bytes: bool = True
    ended: bool = False

    @property
    def takes_long(self) -> bool:
        """Whether it takes so long that a person should see how far it is."""
        return self.seconds >= LONG

    @property
    def seconds_left(self) -> float | None:
        """The seconds that the rest will take at this speed; None at first."""
        if not self.done or self.seconds < 1:
            return None
        return max(0.0, self.seconds * (self.total / self.done - 1))


OnProgress = Callable[[CollectionProgress], None]


@contextmanager
def progress_to(watch: OnProgress) -> Iterator[None]:
    """Within it, `watch` is told how far collections are, a few times a second."""
    token = _WATCH.set(watch)
    try:
        yield
    finally:
        _WATCH.reset(token)


def report_progress(progress: CollectionProgress) -> None:
    """Tell whoever watches how far a collection is."""
    watch = _WATCH.get()
    if watch is not None:
        watch(progress)
