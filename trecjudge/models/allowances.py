"""Allowances: parts of a budget that workers spend by themselves, so that all keep it together."""

from __future__ import annotations

from dataclasses import dataclass

from trecjudge.models.spending import Budget

LEAST_CALLS = 4
"""Fewer calls are not worth an allowance: the job itself makes them."""
AT_ONCE = 0.9
"""The share of the tokens and the cost left that is given away: estimates may be too low."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """The most that a worker may spend; None is no bound."""

    calls: int | None = None
    tokens: float | None = None
    cost: float | None = None

    def budget(self) -> Budget:
        """Return a budget of so much that is never overdrawn for a last call."""
        tokens = None if self.tokens is None else int(self.tokens)
        return Budget(self.calls, tokens, self.cost, strict=True)


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent of an allowance, as a budget counts it."""

    calls: int = 0
    tokens: float = 0.0
    cost: float = 0.0


def split_budget(budget: Budget, parts: int) -> Allowance | None:
    """Take one of so many equal parts of what a budget has left; None where that is too little."""
    calls, tokens, cost = (
        None if budget.max_calls is None else (budget.max_calls - budget.calls) // parts,
        _part(budget.max_tokens, budget.tokens, parts),
        _part(budget.max_cost, budget.cost, parts),
    )
    if calls is not None and calls < LEAST_CALLS:
        # The last calls go to one worker: a part of them each would be none.
        calls = min(LEAST_CALLS, (budget.max_calls or 0) - budget.calls)
    if any(found is not None and found <= 0 for found in (calls, tokens, cost)):
        return None
    budget.calls += calls or 0
    budget.add(tokens or 0.0, cost or 0.0)
    return Allowance(calls, tokens, cost)


def _part(most: float | None, spent: float, parts: int) -> float | None:
    return None if most is None else AT_ONCE * (most - spent) / parts


def return_allowance(budget: Budget, allowance: Allowance, spent: Spent) -> None:
    """Count what was spent of an allowance instead of all of it.

    An allowance that nobody gives back, since its worker died, stays spent.
    """
    budget.calls += spent.calls - (allowance.calls or 0)
    budget.add(spent.tokens - (allowance.tokens or 0.0), spent.cost - (allowance.cost or 0.0))
