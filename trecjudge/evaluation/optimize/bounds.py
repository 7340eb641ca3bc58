"""What an optimiser may spend: the budget, less what the evaluation after it needs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from trecjudge.errors import JudgmentFailed, ModelError
from trecjudge.models.spending import Budget

SPENT = "the budget is spent, but for the evaluation"
ENDING = ("stopped", "interrupted", "account", "offline")
"""Kinds of failure after which no other question fares better."""
GROWTH = 2.0
"""A prompt found may be this much longer than the one before: demonstrations are added."""
MOST_FAILED = 3
"""After so many proposals in a row that failed, no further one is asked for."""


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
    proposed: int = 0
    """Replies of the model that proposes prompts."""
    unproposed: int = 0
    """How many of its requests failed, `refusal` why the last of them did."""
    refusal: str = ""
    under_way: int = 0
    """Questions that were begun and are not answered yet."""
    _over: bool = False
    _in_a_row: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def reserve(self, before: tuple[float, float, float], questions: int) -> None:
        """Reserve what an evaluation takes, by (calls, tokens, cost) of the one before."""
        calls, tokens, cost = before
        self.calls, self.tokens, self.cost = calls, GROWTH * tokens, GROWTH * cost
        self.each = max(1.0, calls / max(1, questions))

    def stop(self, why: str, error: Exception | None = None) -> None:
        """Let no further question begin."""
        self.why, self.error = self.why or why, self.error or error

    def close(self) -> None:
        """Let no further question begin, since nobody waits for the answer."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def proposal(self, failed: JudgmentFailed | ModelError | None) -> None:
        """Count a request for a proposal; after too many that failed, stop."""
        if failed is None:
            self.proposed, self._in_a_row = self.proposed + 1, 0
            return
        kind = failed.kind if isinstance(failed, JudgmentFailed) else ENDING[0]
        if kind == "budget":
            self.stop(SPENT)
            return
        self.unproposed, self._in_a_row = self.unproposed + 1, self._in_a_row + 1
        self.refusal = str(failed)
        if self._in_a_row == MOST_FAILED or kind in ENDING:
            self.stop(f"no prompt is proposed: {self.refusal}", self.unable())

    def unable(self) -> ModelError | None:
        """Return the error that no proposal came at all; None where one came, or none failed."""
        if self.proposed or not self.unproposed:
            return None
        return ModelError(f"no prompt could be proposed: {self.refusal}")

    def check(self, more: int = 1) -> None:
        """Raise Stopped where so many further questions may take what is reserved."""
        if not self._fits(more):
            self.stop(SPENT)
        if self.why:
            raise Stopped(self.why)

    def _fits(self, more: int) -> bool:
        """Return whether so many further questions leave what is reserved."""
        budget = self.budget
        calls = (self.under_way + more) * self.each
        return all(
            most is None or spent + wanted <= most
            for spent, wanted, most in (
                (budget.calls, calls + self.calls, budget.max_calls),
                (budget.tokens, budget.reserved_tokens + self.tokens, budget.max_tokens),
                (budget.cost, budget.reserved_cost + self.cost, budget.max_cost),
            )
        )

    @contextmanager
    def question(self) -> Iterator[None]:
        """Within it a question is under way. Raises Stopped where there is no room for one.

        Room that others may need is waited for: they may have been paid for already, or be kept.
        """
        with self._changed:
            while self.under_way and not (self.why or self._over or self._fits(1)):
                self._changed.wait()
            if self._over:
                raise Stopped("the optimiser has ended")
            self.check()
            self.under_way += 1
        try:
            yield
        finally:
            with self._changed:
                self.under_way -= 1
                self._changed.notify_all()
