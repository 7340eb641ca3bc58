"""Patience with other processes: whom this one waits for is said, and the wait has an end."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

SECONDS_UNTIL_TOLD = 5.0
"""How long another process may be silent until the user is told."""
SECONDS_OF_SILENCE = 60.0
"""How long another process may be silent until it is given up."""
MOST_AT_ONCE = 2.0
"""Seconds of one look, at most: this process may itself have been stopped since the last one."""


@dataclass(slots=True)
class Silence:
    """How long each of several processes has given no sign of life, by its name."""

    notify: Callable[[str], None]
    _seconds: dict[str, float] = field(default_factory=dict)
    _looked: float = field(default_factory=time.monotonic)

    def look(self, names: Collection[str], alive: Collection[str]) -> list[str]:
        """Return those of the processes that were silent for too long; tell once of each before.

        `alive` are those that gave a sign of life since the last look.
        """
        now = time.monotonic()
        passed, self._looked = min(now - self._looked, MOST_AT_ONCE), now
        before = self._seconds
        self._seconds = {n: 0.0 if n in alive else before.get(n, 0.0) + passed for n in names}
        for name, seconds in self._seconds.items():
            if before.get(name, 0.0) <= SECONDS_UNTIL_TOLD < seconds:
                self.notify(f"waiting for {name}: no sign of life for {SECONDS_UNTIL_TOLD:.0f} s")
        return [name for name, found in self._seconds.items() if found > SECONDS_OF_SILENCE]
