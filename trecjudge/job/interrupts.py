"""How signals end a command: after the first, a job keeps what is paid for; a second ends it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import FrameType

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
        return self.cancelling(lambda: loop.call_soon_threadsafe(task.cancel))

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
        if is_second or self._cancel is None:
            raise KeyboardInterrupt
        with suppress(OSError):  # not by print: it may be what is interrupted
            os.write(2, NOTICE % name.encode())
        self._cancel()


def leave_interrupts_to_parent() -> None:
    """Ignore all that would interrupt this process: its parent ends it."""
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
