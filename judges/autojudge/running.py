"""Code of others in a thread of its own, its output in a file."""

from __future__ import annotations

import asyncio
import io
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, TypeVar

T = TypeVar("T")


class TheirError(Exception):
    """What code of others raised; its cause has the traceback."""


class _ByThread(io.TextIOBase):
    """A stream that gives what threads write which were not there before to another stream."""

    def __init__(self, ours: TextIO, theirs: TextIO) -> None:
        self._ours, self._theirs = ours, theirs
        self._known = set(threading.enumerate())

    @property
    def _stream(self) -> TextIO:
        return self._ours if threading.current_thread() in self._known else self._theirs

    def write(self, text: str) -> int:
        """Write to the stream of this thread."""
        return self._stream.write(text)

    def flush(self) -> None:
        """Flush the stream of this thread."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Return whether this thread writes to a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Return the number of the file of this thread."""
        return self._stream.fileno()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ours, name)


@contextmanager
def redirect_prints(path: Path) -> Iterator[None]:
    """Write to a file what threads print that begin meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    out, err = sys.stdout, sys.stderr
    path.unlink(missing_ok=True)  # in a shared folder it may be a link, which would be followed
    with path.open("x", encoding="utf-8", errors="backslashreplace", buffering=1) as file:
        sys.stdout, sys.stderr = _ByThread(out, file), _ByThread(err, file)
        try:
            yield
        finally:
            sys.stdout, sys.stderr = out, err


async def in_a_thread(work: Callable[[], T]) -> T:
    """Return what `work` returns, run in a thread of its own. Raises TheirError.

    An interrupt does not wait for it: nobody can stop a thread, and it ends with the process.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def give(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)  # type: ignore[arg-type]
            return
        wrapped = TheirError(f"{type(error).__name__}: {error}")
        wrapped.__cause__ = error
        future.set_exception(wrapped)

    def run() -> None:
        result, failed = None, None
        try:
            result = work()
        except BaseException as error:  # whatever it raises, SystemExit too
            failed = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(give, result, failed)

    threading.Thread(target=run, daemon=True, name="autojudge").start()
    return await future
