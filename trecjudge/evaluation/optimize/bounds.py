"""What an optimiser may spend: the budget, less what the evaluation after it needs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from trecjudge.models.spending import Budget

SPENT = "the budget is spent, but for the evaluation"
ENDING = ("stopped", "interrupted", "account")
"""Kinds of failure after which no other question fares better."""
GROWTH = 2.0
"""A prompt found may be this much longer than the one before: demonstrations are added."""


class Stopped(BaseException):
    """The optimiser must end now. No `except Exception` of a library keeps it."""


@dataclass(slots=True)
class Bounds:
    """The budget of a command, and what of it is kept for the evaluation at the end.

    `calls`, `tokens` and `cost` are reserved; `each` is about how many calls a question takes.
    """

    budget: Budget
    calls: float = 0.0
    tokens: float = 0.0
    cost: float = 0.0
    each: float = 1.0
    why: str = ""
    """Why the optimiser was stopped."""
    error: Exception | None = None
    """The error that stopped it, if one did."""
    _begun: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def reserve(self, before: tuple[float, float, float], questions: int) -> None:
        """Reserve what an evaluation takes, by (calls, tokens, cost) of the one before."""
        calls, tokens, cost = before
        self.calls, self.tokens, self.cost = calls, GROWTH * tokens, GROWTH * cost
        self.each = max(1.0, calls / max(1, questions))

    def stop(self, why: str, error: Exception | None = None) -> None:
        """Let no further question begin."""
        self.why, self.error = self.why or why, self.error or error

    def check(self, more: int = 1) -> None:
        """Raise Stopped where so many further questions may take what is reserved."""
        budget = self.budget
        calls = (self._begun + more) * self.each
        for spent, wanted, most in (
            (budget.calls, calls + self.calls, budget.max_calls),
            (budget.tokens, budget.reserved_tokens + self.tokens, budget.max_tokens),
            (budget.cost, budget.reserved_cost + self.cost, budget.max_cost),
        ):
            if most is not None and spent + wanted > most:
                self.stop(SPENT)
        if self.why:
            raise Stopped(self.why)

    @contextmanager
    def question(self) -> Iterator[None]:
        """Within it a question is under way. Raises Stopped where there is no room for one."""
        with self._lock:
            self.check()
            self._begun += 1
        try:
            yield
        finally:
            with self._lock:
                self._begun -= 1
