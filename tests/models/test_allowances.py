"""Parts of a budget: together never more than the whole, whatever comes back."""

from __future__ import annotations

import pytest

from trecjudge.errors import JudgmentFailed
from trecjudge.models.shared_work import Allowance, Spent, return_allowance, split_budget
from trecjudge.models.spending import Budget


def test_calls_are_lent_in_equal_parts_and_what_is_left_comes_back() -> None:
    budget = Budget(max_calls=100)
    first = split_budget(budget, 4)
    assert (first, budget.calls) == (Allowance(calls=25), 25)
    assert first is not None
    return_allowance(budget, first, Spent(calls=10, tokens=70.0))
    assert (budget.calls, budget.tokens) == (10, 70.0)


def test_the_last_calls_go_to_one_worker_and_then_there_are_none() -> None:
    budget = Budget(max_calls=5)
    assert [split_budget(budget, 8), split_budget(budget, 8), split_budget(budget, 8)] == [
        Allowance(calls=4),
        Allowance(calls=1),
        None,
    ]


def test_a_tenth_of_tokens_and_cost_is_kept_back_for_estimates_that_are_too_low() -> None:
    budget = Budget(max_tokens=1000, max_cost=2.0, tokens=200.0)
    found = split_budget(budget, 2)
    assert found == Allowance(tokens=pytest.approx(360.0), cost=pytest.approx(0.9))
    assert (budget.tokens, budget.cost) == (pytest.approx(560.0), pytest.approx(0.9))


def test_without_bounds_an_allowance_has_none() -> None:
    budget = Budget()
    assert split_budget(budget, 3) == Allowance()
    return_allowance(budget, Allowance(), Spent(7, 70.0, 0.7))
    assert (budget.calls, budget.tokens, budget.cost) == (7, 70.0, 0.7)


def test_a_worker_makes_no_last_call_that_its_allowance_may_not_pay() -> None:
    own = Allowance(tokens=100.0).budget()
    own.take(60.0, 0.0)
    own.add(60.0, 0.0)
    own.release(60.0, 0.0)
    with pytest.raises(JudgmentFailed, match="the budget of 100 tokens is spent"):
        own.take(60.0, 0.0)
    # The whole budget would make it: nothing else is under way.
    whole = Budget(max_tokens=100, tokens=60.0)
    whole.take(60.0, 0.0)
