"""What a contender reports: wall clock, CPU and peak memory of its own process, as JSON."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any


class Clock:
    """Runs from its making until it reports; what was imported before is not in its seconds."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def report(self, done: int, **more: Any) -> None:
        """Print the figures of `done` items as one line on standard output."""
        figures = {
            "done": done,
            "seconds": time.perf_counter() - self._wall,
            "cpu_seconds": time.process_time() - self._cpu,
            "peak_mb": peak_mb(),
        }
        print(json.dumps(figures | more), flush=True)


def peak_mb() -> float:
    """Return the most memory that this process held, in MB; Linux alone.

    The kernel's `ru_maxrss` would not do: a child inherits its parent's.
    """
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024
