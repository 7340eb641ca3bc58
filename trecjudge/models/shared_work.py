"""What a client hands over to another one, or takes over: spending, requests asked, its end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from trecjudge.models.model import Program
from trecjudge.models.spending import Budget

if TYPE_CHECKING:
    from trecjudge.models.cache.store import CachedReply
    from trecjudge.models.requests import Failed, Replies
    from trecjudge.models.retry import RetryPolicy
    from trecjudge.models.spending import Spending


# Allowances: parts of a budget that workers spend by themselves, so that all keep it together.
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


COUNTS = ("calls", "retries", "prompt_tokens", "completion_tokens", "prefix_tokens", "kept", "lost")
"""Counts of `Spending` that add up; the others are counted by who uses the replies."""


@runtime_checkable
class AskingModel(Protocol):
    """A model that asks an endpoint, keeps the replies, and counts what it spends.

    It is no subclass of Model: to see whether a model is one looks at each member, and `lm` of a
    model may import DSPy, or say that nothing can be asked.
    """

    replies: Replies
    spending: Spending
    fault_policy: RetryPolicy


@dataclass(frozen=True, slots=True)
class SpendReport:
    """What one client asked: `counts` as COUNTS, requests by their marks, why it stopped.

    `failed` are requests that came to nothing, by mark. `stopped` is kind and message, None where
    it asked to the end. `held` are replies that could not be written, by key, and
    `refused` is why.
    """

    spent: Spent
    counts: tuple[int, ...]
    marks: frozenset[int]
    failed: Mapping[int, Failed]
    stopped: tuple[str, str] | None
    held: Mapping[str, CachedReply]
    refused: str


def report_spending(model: AskingModel) -> SpendReport:
    """Return what a client has asked until now."""
    spending, budget = model.spending, model.spending.budget
    return SpendReport(
        Spent(budget.calls, budget.tokens, budget.cost),
        tuple(getattr(spending, name) for name in COUNTS),
        frozenset(model.replies.asked_marks),
        model.replies.failed,
        model.fault_policy.stopped,
        model.replies.cache.held,
        model.replies.cache.refused,
    )


def with_earlier(asked: SpendReport, earlier: SpendReport | None) -> SpendReport:
    """Return what was asked, with the requests of an earlier attempt at the same."""
    if earlier is None:
        return asked
    failed = {**earlier.failed, **asked.failed}
    return replace(asked, marks=asked.marks | earlier.marks, failed=failed)


def merge_usage(model: AskingModel, asked: SpendReport) -> None:
    """Count what another client asked as asked by this one; its budget is counted elsewhere."""
    for name, count in zip(COUNTS, asked.counts, strict=True):
        setattr(model.spending, name, getattr(model.spending, name) + count)
    model.replies.asked_marks |= asked.marks
    model.replies.given_up = {**model.replies.given_up, **asked.failed}
    cache = model.replies.cache
    cache.held |= asked.held
    if asked.refused and cache.on_refused is not None:
        cache.on_refused(asked.refused)
    if asked.stopped and model.fault_policy.stopped is None:
        # Its own client has said so already.
        model.fault_policy.stopped = asked.stopped
        model.fault_policy.wake()


def learn_forms(model: AskingModel, programs: Iterable[Program]) -> None:
    """Learn in which form each program's replies come, as another client has found it out."""
    for program in programs:
        model.replies.learned_form(program)


@asynccontextmanager
async def prefetch_scope(model: AskingModel) -> AsyncIterator[None]:
    """Within it, all is asked that is to be used afterwards; it is counted once, when it is used.

    What failed is not asked again.
    """
    spending = model.spending
    kept, cached, saved = spending.kept, spending.cached, spending.saved
    yield
    # The first use of a reply that was paid for now counts as its call.
    spending.cached, spending.saved = cached, saved - (spending.kept - kept)
    model.replies.given_up = {**model.replies.given_up, **model.replies.failed}
