"""Rank intervals: against a plain loop, with ties and gaps, and that names change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from trecjudge.stats.ranks import rank_intervals
from trecjudge.stats.resampling import NO_INTERVAL, Interval, draws, steady_orders, tail

NAN = float("nan")
RNG = np.random.default_rng(6)


def by_hand(values: np.ndarray) -> list[Interval]:
    """Return the intervals by going through the resamples and the runs one by one."""
    runs, topics = values.shape
    columns = steady_orders([values])[1]
    best, worst = [[] for _ in range(runs)], [[] for _ in range(runs)]
    for weights in draws(topics):
        means = [round(float(row[columns] @ weights) / topics, 6) for row in values]
        for run, mean in enumerate(means):
            best[run].append(1 + sum(other > mean for other in means))
            worst[run].append(sum(other >= mean for other in means))
    cut = int(tail(topics) * (len(best[0]) - 1))
    return [
        Interval(sorted(low)[cut], sorted(high)[-1 - cut])
        for low, high in zip(best, worst, strict=True)
    ]


@pytest.mark.parametrize("topics", [6, 8, 25])
def test_it_is_what_a_plain_loop_finds(topics: int) -> None:
    values = RNG.normal(0, 0.2, (5, topics)) + np.linspace(0.3, 0, 5)[:, None]
    assert rank_intervals(values) == by_hand(values)
    binary = (values > 0.1).astype(float)
    assert rank_intervals(binary) == by_hand(binary)


def test_runs_that_are_far_apart_have_their_place_for_sure() -> None:
    values = np.array([[0.5], [0.9], [0.1]]) + RNG.normal(0, 0.01, (3, 10))
    assert rank_intervals(values) == [Interval(2, 2), Interval(1, 1), Interval(3, 3)]


def test_twins_share_the_best_and_the_worst_of_their_places() -> None:
    values = np.array([[0.8] * 8, [0.8] * 8, [0.1] * 8])
    assert rank_intervals(values) == [Interval(1, 2), Interval(1, 2), Interval(3, 3)]


def test_too_few_values_give_no_interval() -> None:
    assert rank_intervals(np.ones((2, 5))) == [NO_INTERVAL] * 2
    assert rank_intervals(np.ones((0, 9))) == []
    gaps = np.array([[0.9] * 8, [0.1, *[NAN] * 7], [0.5] * 8])
    found = rank_intervals(gaps)
    assert found[1] == NO_INTERVAL
    assert found[0] == Interval(1, 1)


def test_neither_the_order_of_runs_nor_of_topics_changes_an_interval() -> None:
    values = RNG.random((6, 20))
    again = rank_intervals(values[::-1][:, RNG.permutation(20)])[::-1]
    assert again == rank_intervals(values)


def test_an_interval_holds_the_true_rank() -> None:
    truth, held = np.linspace(0.5, 0, 6), []
    for _ in range(40):
        values = truth[:, None] + RNG.normal(0, 0.3, (6, 20))
        held += [i.low <= rank <= i.high for rank, i in enumerate(rank_intervals(values), 1)]
    assert np.mean(held) > 0.93
