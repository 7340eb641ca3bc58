"""Response time of an endpoint: of its answers, and of requests that still wait for one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

NEWEST = 0.2
"""How much the newest answer counts in the mean."""


@dataclass(slots=True)
class Load:
    """The mean seconds of an answer, None before the first, and the requests under way."""

    mean: float | None = None
    _number: int = 0
    _under_way: dict[int, float] = field(default_factory=dict)

    def begin(self) -> int:
        """Note a request that is sent; return its number."""
        self._number += 1
        self._under_way[self._number] = asyncio.get_running_loop().time()
        return self._number

    def end(self, number: int, answered: bool) -> None:
        """Note that a request is over; one that failed is not measured."""
        took = asyncio.get_running_loop().time() - self._under_way.pop(number)
        if answered:
            self.mean = took if self.mean is None else self.mean + NEWEST * (took - self.mean)

    def seconds(self, otherwise: float) -> float:
        """Return the seconds to expect: at least as many as the oldest request has waited for."""
        mean = otherwise if self.mean is None else self.mean
        if not self._under_way:
            return mean
        # The mean lags where an endpoint hangs: its oldest request shows that sooner.
        oldest = next(iter(self._under_way.values()))
        return max(mean, asyncio.get_running_loop().time() - oldest)
