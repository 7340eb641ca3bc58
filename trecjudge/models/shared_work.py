"""What a client hands over to another one, or takes over: spending, requests asked, its end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from trecjudge.models.allowances import Spent
from trecjudge.models.model import Model, Program

if TYPE_CHECKING:
    from trecjudge.models.cache.replies import CachedReply
    from trecjudge.models.requests import Failed, Replies
    from trecjudge.models.retry import RetryPolicy
    from trecjudge.models.spending import Spending

COUNTS = ("calls", "retries", "prompt_tokens", "completion_tokens", "prefix_tokens", "kept", "lost")
"""Counts of `Spending` that add up; the others are counted by who uses the replies."""


@runtime_checkable
class AskingModel(Model, Protocol):
    """A model that asks an endpoint, keeps the replies, and counts what it spends."""

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
