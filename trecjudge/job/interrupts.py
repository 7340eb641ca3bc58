"""How signals end a command: after the first, a job keeps what is paid for; a second ends it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import FrameType

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
"""Ctrl-C, the end that a batch system gives, and a terminal that is closed."""
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
        """Handle the signals, except those that this process was started to ignore (`nohup`)."""
        for number in (getattr(signal, name, None) for name in NAMES):
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
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

    def over(self) -> None:
        """Ignore further signals: what a command prints at its end is printed in full."""
        self._is_over = True

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        name = signal.Signals(number).name
        is_second, self.first = bool(self.first), self.first or name
        # A terminal that is closed sends two, one from the system and one from the shell.
        if self._is_over or (is_second and name == "SIGHUP"):
            return
        if is_second or self._cancel is None:
            raise KeyboardInterrupt
        with suppress(OSError):  # not by print: it may be what is interrupted
            os.write(2, NOTICE % name.encode())
        self._cancel()


INTERRUPTS = Interrupts()
"""The signals of this process."""
