"""What an optimiser may spend."""

from __future__ import annotations

import threading
import time

import pytest

from trecjudge.evaluation.optimize.search import SPENT, SearchBounds, Stopped
from trecjudge.models.spending import Budget


def begun(bounds: SearchBounds, budget: Budget, calls: int = 1) -> int:
    """Return how many questions of so many calls can be asked, one after another."""
    for number in range(1000):
        try:
            with bounds.question():
                budget.calls += calls
                budget.tokens += 100 * calls
        except Stopped:
            return number
    return 1000


@pytest.mark.parametrize(("most", "asked"), [(100, 80), (25, 5), (20, 0), (None, 1000)])
def test_calls_are_left_for_the_evaluation(most: int | None, asked: int) -> None:
    budget = Budget(max_calls=most)
    bounds = SearchBounds(budget)
    bounds.reserve((20, 2000, 0.0), 20)
    assert begun(bounds, budget) == asked


def test_a_question_may_take_several_calls() -> None:
    budget = Budget(max_calls=100)
    bounds = SearchBounds(budget)
    bounds.reserve((40, 4000, 0.0), 10)
    assert begun(bounds, budget, calls=4) == 15
    assert budget.calls + 40 <= 100


def test_tokens_are_left_for_a_longer_prompt() -> None:
    budget = Budget(max_tokens=10_000)
    bounds = SearchBounds(budget)
    bounds.reserve((20, 2000, 0.0), 20)
    assert begun(bounds, budget) == 61


def test_questions_under_way_are_not_counted_twice() -> None:
    budget = Budget(max_calls=40)
    bounds = SearchBounds(budget)
    bounds.reserve((20, 2000, 0.0), 20)
    stopped = []
    gate = threading.Barrier(20)

    def ask() -> None:
        gate.wait()
        try:
            with bounds.question():
                budget.calls += 1
                time.sleep(0.01)
        except Stopped:
            stopped.append(1)

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (budget.calls, stopped) == (20, [])
    with pytest.raises(Stopped):
        bounds.check()


def test_when_the_optimiser_has_ended_no_question_begins() -> None:
    bounds = SearchBounds(Budget())
    with bounds.question():
        assert bounds.under_way == 1
        bounds.close()
    assert (bounds.under_way, bounds.why) == (0, "")
    with pytest.raises(Stopped), bounds.question():
        raise AssertionError("it was asked")


def test_the_first_reason_is_told() -> None:
    bounds = SearchBounds(Budget(max_calls=0))
    with pytest.raises(Stopped, match=SPENT):
        bounds.check()
    bounds.stop("later")
    assert bounds.why == SPENT


def test_no_library_keeps_it() -> None:
    with pytest.raises(Stopped):
        try:
            SearchBounds(Budget(max_calls=0)).check()
        except Exception:
            raise AssertionError("it was caught") from None
