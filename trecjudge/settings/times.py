"""Times that files name: with SOURCE_DATE_EPOCH those of two equal jobs are the same."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime

from trecjudge.errors import WorkflowError

FIXED = "SOURCE_DATE_EPOCH"
"""The variable of reproducible builds: seconds since 1970."""


def fixed_time() -> str:
    """Return the time of SOURCE_DATE_EPOCH, UTC, ISO 8601; no text where it is not set.

    Raises WorkflowError where it is no number of seconds.
    """
    seconds = os.environ.get(FIXED, "")
    try:
        return datetime.fromtimestamp(int(seconds), UTC).isoformat() if seconds else ""
    except (ValueError, OverflowError, OSError):
        raise WorkflowError(f"{FIXED} is {seconds!r}: give seconds since 1970") from None


def seconds_since(started: float) -> float:
    """Return the seconds since a value of `time.perf_counter`; 0 where the time is fixed."""
    return 0.0 if fixed_time() else round(time.perf_counter() - started, 3)
