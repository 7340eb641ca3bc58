"""What the order from so many battles is worth: simulated from answers whose quality is normal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

import numpy as np

from trecjudge.stats.battles import BattleTable, fit_battles
from trecjudge.stats.pairings import RIGHT, pairings
from trecjudge.stats.resampling import Array, Indices

BY_TOPIC = 1.5
"""How far answers of a run differ from topic to topic, beside how far runs differ.

In tables of evaluation campaigns this part of the variance is about twice that of systems.
"""
TRIALS = 5
"""Simulations of each number of battles: their tau varies by 0.01."""


@dataclass(frozen=True, slots=True)
class Worth:
    """What so many battles are worth: Kendall's tau of their order with the true one, -1 to 1."""

    battles: int
    tau: float


def simulate_worth(
    runs: int, topics: int, battles: Sequence[int], right: float = RIGHT, seed: int = 1
) -> list[Worth]:
    """Return what numbers of battles are worth, on average over TRIALS simulations.

    The quality of answers is normal: runs differ, and answers of a run differ BY_TOPIC times as
    much from topic to topic. The better answer wins the more often the better it is, `right` on
    average. The true order is that of mean qualities.
    """
    rng = np.random.default_rng(seed)
    rows = planned_rows(runs, topics, max(battles, default=0), seed)
    found = np.zeros(len(battles))
    for _ in range(TRIALS):
        quality = simulate_quality(rng, runs, topics, right)
        won = simulate_points(rng, quality, rows)
        found += [order_tau(quality, rows[:n], won[:n]) for n in battles]
    return [Worth(n, float(tau)) for n, tau in zip(battles, found / TRIALS, strict=True)]


def simulate_quality(
    rng: np.random.Generator, runs: int, topics: int, right: float = RIGHT
) -> Array:
    """Return qualities, (runs, topics), by which the better answer wins so often, on average."""
    apart = rng.standard_normal((runs, 1)) + BY_TOPIC * rng.standard_normal((runs, topics))
    return np.asarray(_scale(right) * apart, float)


def planned_rows(runs: int, topics: int, size: int, seed: int) -> Indices:
    """Return the first pairings as numbers: (size, 3) of a, b and topic."""
    names = [f"{run:06}" for run in range(runs)]
    plan = islice(pairings(names, [f"{t:06}" for t in range(topics)], seed), size)
    rows = [(int(one.run_a), int(one.run_b), int(one.topic_id)) for one in plan]
    return np.array(rows, dtype=np.intp).reshape(-1, 3)


def simulate_points(rng: np.random.Generator, quality: Array, rows: Indices) -> Array:
    """Return the points of the first runs of battles between answers of such quality: 0 or 1."""
    a, b, topic = rows.T
    chance = 1 / (1 + np.exp(quality[b, topic] - quality[a, topic]))
    return np.asarray(rng.random(len(rows)) < chance, float)


def table_of_rows(rows: Indices, points: Array, runs: int, topics: int) -> BattleTable:
    """Return battles by numbers as a table; who was shown first, and lengths, are not known."""
    a, b, topic = rows.T
    none, one = np.zeros(len(rows)), np.ones(len(rows))
    names = [[f"{i:06}" for i in range(count)] for count in (runs, topics)]
    flags = none.astype(bool)
    return BattleTable(names[0], names[1], a, b, topic, points, none, one, none, none, flags)


def order_tau(quality: Array, rows: Indices, points: Array) -> float:
    """Return Kendall's tau of the order that battles give with that of mean qualities."""
    found = fit_battles(table_of_rows(rows, points, *quality.shape)).strengths
    truth, pairs = quality.mean(axis=1), len(quality) * (len(quality) - 1)
    above = np.sign(truth[:, None] - truth) * np.sign(found[:, None] - found)
    return float(above.sum() / pairs) if pairs else 0.0


@cache
def _scale(right: float) -> float:
    """Return how far runs must differ for the better answer to win so often.

    Differences of two answers are normal; P(right) is the mean of 1 / (1 + e^-|difference|).
    """
    apart = np.abs(np.random.default_rng(0).standard_normal(20_000))
    apart *= math.sqrt(2 * (1 + BY_TOPIC**2))
    low, high = 0.0, 50.0
    for _ in range(50):
        middle = (low + high) / 2
        if (1 / (1 + np.exp(-middle * apart))).mean() < right:
            low = middle
        else:
            high = middle
    return low
