"""Readers of collections forked from the test's process: they need not import what it has."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from trecjudge.inputs.collections import reading


class ForkedReader:
    """A reader as `subprocess.Popen` starts one: a process of its own, which can be killed."""

    def __init__(self, words: Sequence[str], *, pass_fds: Sequence[int], **_: Any) -> None:
        (connection,) = pass_fds
        self._status: int | None = None
        self._pid = os.fork()
        if self._pid == 0:
            _read(connection)

    def kill(self) -> None:
        """End it, if it has not ended."""
        if self._status is None:
            os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> int:
        """Return how it ended, as `Popen.wait` does."""
        if self._status is None:
            self._status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return self._status


def _read(connection: int) -> None:
    """Read what comes over a connection, and end: nothing of the test goes on in this process."""
    status = 1
    try:
        os.closerange(3, connection)
        os.closerange(connection + 1, os.sysconf("SC_OPEN_MAX"))
        sys.argv = ["-c", str(connection)]
        reading.main()
        status = 0
    finally:
        os._exit(status)
