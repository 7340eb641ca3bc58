"""Settings of a process that only runs a command, or judges."""

from __future__ import annotations

import gc

from trecjudge.job.streams import make_streams_last

GARBAGE_THRESHOLDS = (50_000, 20, 50)


def tune_process() -> None:
    """Set garbage collection, and the standard streams, for a process of our own."""
    # A job makes millions of small objects and hardly a cycle: looking for some at every 700th
    # costs a fifth of the time.
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    make_streams_last()
