"""The randomised Tukey HSD test: which runs of a leaderboard differ, all pairs looked at together.

The values of each topic are dealt out again among the runs that have one. Where no run is better
than another, any deal is as likely as the one that came, so the largest difference between two
runs in each deal says how large a difference comes by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import permutations

import numpy as np
import numpy.typing as npt

from trecjudge.stats.paired import PairTests
from trecjudge.stats.resampling import HELD, SEED, Array, Indices, block_sizes, ratio

PERMUTATIONS = 10_000
"""Deals that are drawn: the error of a p of 0.05 is 0.002 then (one standard deviation)."""
ALL_DEALS = 20_000
"""Up to here all deals are tried, such as the 1,296 of three runs on four topics."""
MANY_TOPICS = 500
"""Of more the sums of a deal are drawn as normal values: by then they are."""
LISTED = 6
"""Up to here the orders of runs are listed: there are 720."""

Orders = npt.NDArray[np.uint16] | npt.NDArray[np.uint8]
"""(deals, runs): the place that the value of each run comes from, in one topic."""


def tukey_hsd(values: Array) -> PairTests:
    """Return the p of every pair of rows, corrected for all pairs: (runs, topics) -> (runs, runs).

    p is the share of deals whose largest difference of two runs is at least that of the pair
    (Carterette, ACM TOIS 2012, 4.2; Sakai, Laboratory Experiments in Information Retrieval, 2018,
    4.4). All deals are tried up to ALL_DEALS, else PERMUTATIONS are drawn, of which the one that
    came is one more: (1 + count) / (1 + PERMUTATIONS). Of more than MANY_TOPICS the sums are drawn
    from the normal distribution that they tend to, with the covariance of the deals.

    NaN leaves the mean of its run, is dealt to nobody, and differences are divided by
    sqrt(1/n + 1/m) of the topics that the two runs have (Kramer, Biometrics 1956). Values count as
    distances from the mean of their topic, so that a run gains nothing by a hard topic that it
    lacks. A pair that shares no topic has p 1, and so has the diagonal.
    """
    table = _table(values)
    known = ~np.isnan(table)
    counts = known.sum(axis=1)
    sums, made, drawn = _dealt(table)
    reached = np.sort(np.concatenate([_largest(part, counts) for part in sums]))
    means = ratio(np.nansum(table, axis=1), counts)
    observed = np.abs(means[:, None] - means) / _scales(counts, counts)
    # Sums of the same numbers in another order differ in their last digits.
    below = np.searchsorted(reached, observed * (1 - 1e-9) - 1e-12)
    p = (drawn + len(reached) - below) / (drawn + len(reached))
    p[(known.astype(float) @ known.T == 0) | np.eye(len(p), dtype=bool)] = 1.0
    return PairTests(p, f"tukey: {made}")


def _dealt(table: Array) -> tuple[Iterable[Array], str, int]:
    """Return the sums of runs in each deal, in parts, what was drawn, and 1 if it was."""
    having = (~np.isnan(table)).sum(axis=0).tolist()
    # Each topic doubles the deals at least: the first few tell whether they are too many.
    deals = math.prod(map(math.factorial, having[: ALL_DEALS.bit_length()]))
    if deals <= ALL_DEALS:
        return [_all_deals(table, deals)], f"all {deals} permutations", 0
    if len(having) > MANY_TOPICS:
        return [_normal_sums(table)], f"{PERMUTATIONS} normal draws, seed {SEED}", 1
    return _drawn_deals(table), f"{PERMUTATIONS} permutations, seed {SEED}", 1


def _table(values: Array) -> Array:
    """Return values as distances from the mean of their topic, topics in an order of their own.

    Neither their names nor, where all runs have all topics, those of the runs change it. Topics
    that fewer than two runs have are NaN.
    """
    known = ~np.isnan(values)
    several = known.sum(axis=0) > 1
    means = ratio(np.nansum(values, axis=0), known.sum(axis=0))
    table = np.where(several, values - means, np.nan)
    keys = np.nan_to_num(np.concatenate([table, np.sort(table, axis=0)]), nan=np.inf)
    kept: Array = table[:, np.lexsort(keys)[: int(several.sum())]]
    return kept


def _scales(left: Indices, right: Indices) -> Array:
    """Return by what differences of means over so many topics are divided: (left, right)."""
    with np.errstate(divide="ignore"):  # no topic at all: divided by infinity, no difference
        scales: Array = np.sqrt(1 / left[:, None] + 1 / right)
    return scales


def _largest(sums: Array, counts: Indices) -> Array:
    """Return the largest difference of two runs in each deal: (deals, runs) -> (deals,)."""
    sizes = np.unique(counts[counts > 0])
    scales = _scales(sizes, sizes)
    columns = [sums[:, counts == size] for size in sizes]
    highs = [c.max(axis=1) / size for c, size in zip(columns, sizes.tolist(), strict=True)]
    lows = [c.min(axis=1) / size for c, size in zip(columns, sizes.tolist(), strict=True)]
    found = np.zeros(len(sums))
    for i, high in enumerate(highs):
        for j, low in enumerate(lows):
            np.maximum(found, (high - low) / scales[i, j], out=found)
    return found


def _add_topic(sums: Array, column: Array, order: Orders) -> None:
    """Add the values of a topic, (runs,), to the sums of runs in each deal: (deals, runs)."""
    having = np.flatnonzero(~np.isnan(column))
    dealt = np.sort(column[having])
    if len(having) == len(column):
        sums += dealt[order]
    else:
        # The order among the first few of all is as random as that of all.
        sums[:, having] += dealt[order[order < len(having)].reshape(len(order), -1)]


def _all_deals(table: Array, deals: int) -> Array:
    """Return the sums of runs in every deal: (deals, runs)."""
    sums, step = np.zeros((deals, len(table))), 1
    for column in table.T:
        having = np.flatnonzero(~np.isnan(column))
        orders = _listed(len(having))
        chosen = orders[np.arange(deals) // step % len(orders)]
        sums[:, having] += column[having][chosen]
        step *= len(orders)
    return sums


def _drawn_deals(table: Array) -> Iterator[Array]:
    """Yield the sums of runs in PERMUTATIONS deals, in parts: (part, runs)."""
    runs, topics = table.shape
    held = runs * topics * PERMUTATIONS <= HELD and runs <= np.iinfo(np.uint8).max
    parts = _held_orders(runs, topics) if held else _orders(runs, topics)
    for size, part in zip(block_sizes(PERMUTATIONS, runs), parts, strict=True):
        sums = np.zeros((size, runs))
        for column, order in zip(table.T, part, strict=True):
            _add_topic(sums, column, order)
        yield sums


def _normal_sums(table: Array) -> Array:
    """Return the sums of runs in PERMUTATIONS deals as normal values with their covariance."""
    known = (~np.isnan(table)).astype(float)
    dealt = known.sum(axis=0)
    shared = np.nansum(table**2, axis=0) / (dealt - 1)
    covariance = np.diag(known @ shared) - (known * shared / dealt) @ known.T
    sizes, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(sizes, 0))) @ vectors.T
    drawn: Array = np.random.default_rng(SEED).normal(size=(PERMUTATIONS, len(table))) @ root
    return drawn


@lru_cache(maxsize=LISTED + 1)
def _listed(runs: int) -> npt.NDArray[np.uint8]:
    return np.array(list(permutations(range(runs))), dtype=np.uint8)


@lru_cache(maxsize=1)
def _held_orders(runs: int, topics: int) -> list[list[Orders]]:
    return [list(part) for part in _orders(runs, topics)]


def _orders(runs: int, topics: int) -> Iterator[Iterator[Orders]]:
    """Yield parts of the deals: for each topic an order of the runs in each deal."""
    rng = np.random.default_rng(SEED)
    for size in block_sizes(PERMUTATIONS, runs):
        yield (_drawn(rng, runs, size) for _ in range(topics))


def _drawn(rng: np.random.Generator, runs: int, size: int) -> Orders:
    if runs <= LISTED:
        return _listed(runs)[rng.integers(math.factorial(runs), size=size)]
    kind = np.uint8 if runs <= np.iinfo(np.uint8).max else np.uint16
    return rng.permuted(np.tile(np.arange(runs, dtype=kind), (size, 1)), axis=1)
