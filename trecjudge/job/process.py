"""A process of ours: the signals that end it, its standard streams, its garbage collection."""

from __future__ import annotations

import asyncio
import errno
import gc
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, TextIO

from trecjudge.errors import why
from trecjudge.files import Patient

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


# Standard output and error that go on working after their reader, or their disk, has gone.
class _Lasting(Patient):
    """Writes to a descriptor until that fails: from then on all is dropped."""

    error: OSError | None = None

    def write(self, data: ReadableBuffer) -> int:
        try:
            if self.error is None:
                return super().write(data)
        except OSError as error:
            self.error = error
        return memoryview(data).nbytes


def make_streams_last() -> None:
    """Let a process go on to its end where its output cannot be written, or is not read."""
    if sys.stdin is None:  # started with its input closed (`<&-`)
        os.open(os.devnull, os.O_RDONLY)  # else the next file would have its number
    # Of one that was closed, writing is an error for output, and none for messages.
    sys.stdout = _lasting(sys.stdout, os.O_RDONLY)
    sys.stderr = _lasting(sys.stderr, os.O_WRONLY)


def _lasting(stream: TextIO | None, closed: int) -> TextIO:
    if stream is not None and not isinstance(stream, io.TextIOWrapper):
        return stream
    if stream is not None:
        stream.flush()
    descriptor = stream.fileno() if stream else os.open(os.devnull, closed)
    return io.TextIOWrapper(
        io.BufferedWriter(_Lasting(descriptor, "wb", closefd=False)),
        encoding=stream.encoding if stream else "utf-8",
        # A name in a run may hold what the terminal cannot encode; it is shown escaped.
        errors="backslashreplace",
        line_buffering=stream.line_buffering if stream else True,
    )


def output_error() -> str:
    """Return why standard output could not be written, in plain words; empty where it could.

    A pipe without a reader is no error: who reads wants no more.
    """
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if not isinstance(raw, _Lasting):
        return ""
    sys.stdout.flush()
    try:
        os.close(os.dup(raw.fileno()))  # some file systems tell of a full disk only then
    except OSError as error:
        raw.error = raw.error or error
    return "" if raw.error is None or raw.error.errno == errno.EPIPE else why(raw.error)


# How signals end a command: after the first, a job keeps what is paid for; a second ends it.
OTHERS = frozenset(
    f"SIG{name}"
    for name in (
        *("KILL", "STOP", "TSTP", "TTIN", "TTOU", "CONT", "CHLD", "CLD", "URG", "WINCH", "INFO"),
        *("SEGV", "BUS", "FPE", "ILL", "ABRT", "IOT", "TRAP", "SYS", "EMT", "PIPE", "XFSZ"),
    )
)
"""Signals that cannot be handled, end nothing, or are a fault of the program or of a file."""
REPEATED = frozenset({"SIGHUP", "SIGXCPU"})
"""Signals that the system sends again: for a closed terminal, and for time that is used up."""
NOTICE = b"interrupted (%s): ending; a second Ctrl-C ends at once\n"


class Interrupted(KeyboardInterrupt):
    """A job that was interrupted; the text says what is kept, and what is lost."""


class Interrupts:
    """The signals that interrupt this process; without a job to cancel, the first one ends it."""

    def __init__(self) -> None:
        self.first = ""
        """The name of the first signal."""
        self._cancel: Callable[[], object] | None = None
        self._cancel_in_loop: Callable[[], object] | None = None
        self._is_over = False

    def install(self) -> None:
        """Handle what ends a process, except what it was started to ignore (`nohup`)."""
        for number in _ending():
            signal.signal(number, self._interrupt)

    @contextmanager
    def cancelling(self, cancel: Callable[[], object]) -> Iterator[None]:
        """Within it, the first signal calls `cancel` and does not raise KeyboardInterrupt."""
        self._cancel = cancel
        try:
            yield
        finally:
            self._cancel = None

    def cancelling_task(self) -> AbstractContextManager[None]:
        """Return a context within which the first signal cancels the task that runs now."""
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        # A handler runs between any two steps of the loop: only this call may wake it from there.
        return self.cancelling(lambda: loop.call_soon_threadsafe(task.cancel))

    @contextmanager
    def cancelling_in_loop(self) -> Iterator[None]:
        """Within it, a first signal in the event loop's own code cancels the task that runs now.

        An exception there may lose a step of a task, which then would be waited for without end.
        """
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        self._cancel_in_loop = lambda: loop.call_soon_threadsafe(task.cancel)
        try:
            yield
        finally:
            self._cancel_in_loop = None

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Within it, the first signal ends the process, also where there is a job to cancel."""
        cancel, self._cancel = self._cancel, None
        try:
            yield
        finally:
            self._cancel = cancel

    def over(self) -> None:
        """Ignore further signals: what a command prints at its end is printed in full."""
        self._is_over = True

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        name = _name(number)
        is_second, self.first = bool(self.first), self.first or name
        if self._is_over or (is_second and name in REPEATED):
            return
        if not is_second and self._cancel is None and self._cancel_in_loop and _is_of_loop(frame):
            self._cancel_in_loop()
            return
        if is_second or self._cancel is None:
            raise KeyboardInterrupt
        with suppress(OSError):  # not by print: it may be what is interrupted
            os.write(2, NOTICE % name.encode())
        self._cancel()


def _is_of_loop(frame: FrameType | None) -> bool:
    """Return whether what is interrupted is the event loop's own code."""
    module = str(frame.f_globals.get("__name__", "")) if frame is not None else ""
    return module.partition(".")[0] in ("asyncio", "selectors")


def leave_interrupts_to_parent() -> None:
    """Ignore all that would interrupt this process: its parent ends it."""
    # Ctrl-C goes to every process of a terminal: workers would end before what they did is taken.
    for number in _ending():
        signal.signal(number, signal.SIG_IGN)


def _ending() -> Iterator[int]:
    """Yield the signals that would end this process as it was started."""
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        if handler in (signal.SIG_DFL, signal.default_int_handler) and _name(number) not in OTHERS:
            yield number


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # of real time
        return f"signal {number}"


INTERRUPTS = Interrupts()
"""The signals of this process."""


# Settings of a process that only runs a command, or judges.
GARBAGE_THRESHOLDS = (50_000, 20, 50)


def tune_process() -> None:
    """Set garbage collection, and the standard streams, for a process of our own."""
    # A job makes millions of small objects and hardly a cycle: looking for some at every 700th
    # costs a fifth of the time.
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    make_streams_last()
