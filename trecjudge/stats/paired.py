"""Paired tests: the sign-flip test over topics, Holm's correction, the size of an effect."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from trecjudge.stats.resampling import BLOCK, SEED, Array, block_sizes, steady_orders

FLIPS = 10_000
"""Random flips: the error of a p of 0.05 is 0.002 then (one standard deviation)."""
EXACT_UNITS = 12
"""Up to here all sign flips are tried: there are fewer than 2^13."""
FEW = 10
"""With fewer flips than this beyond the observed difference, their share is a poor estimate."""
TILTED = 1000
"""Flips drawn where a rare difference lies."""
ALPHA = 0.05
"""Below this corrected p two runs differ."""


@lru_cache(maxsize=4)
def flips(units: int) -> Array:
    """Return sign flips, +1 or -1: shape (all 2^units, or FLIPS, units)."""
    if units <= EXACT_UNITS:
        bits = np.arange(2**units)[:, None] >> np.arange(units) & 1
    else:
        bits = np.random.default_rng(SEED).integers(0, 2, (FLIPS, units))
    signs: Array = (1 - 2 * bits).astype(np.float64)
    signs.setflags(write=False)
    return signs


def _flip_parts(units: int) -> Iterator[Array]:
    if units * FLIPS <= 4 * BLOCK:
        yield flips(units)
        return
    rng = np.random.default_rng(SEED)
    for size in block_sizes(FLIPS, units):
        yield (1 - 2 * rng.integers(0, 2, (size, units))).astype(np.float64)


def sign_flip(differences: Array) -> Array:
    """Return the two-sided p of each row of paired differences, shape (pairs, units) -> (pairs,).

    Under the null a difference is as likely as its negative (Fisher's randomisation test; Smucker,
    Allan and Carterette, CIKM 2007). NaN is a unit that the pair does not share, and leaves the
    test. Exact for up to EXACT_UNITS units, else by FLIPS random flips; where fewer than FEW of
    them reach the observed difference, by flips drawn where it lies, without which no difference
    among many runs could survive Holm's correction. NaN for a pair that shares no unit.
    """
    shared = ~np.isnan(differences).all(axis=1)
    known = np.nan_to_num(differences)
    observed = np.abs(known.sum(axis=1))
    # Flips take either sign, so sizes are enough; sorted, so that no name of a unit decides
    # which of them a random flip changes.
    sizes = np.sort(np.abs(known), axis=1)
    # Sums of the same numbers in another order differ in their last digits.
    reached = observed - 1e-9 * sizes.sum(axis=1)
    tried, counts = 0, np.zeros(len(known))
    for signs in _flip_parts(known.shape[1]):
        tried += len(signs)
        counts += (np.abs(signs @ sizes.T) >= reached).sum(axis=0)
    if tried < FLIPS:
        p = counts / tried
    else:
        # The observed assignment is one of the possible ones: p is never 0.
        p = (1.0 + counts) / (1.0 + tried)
        rare = counts < FEW
        p[rare] = _tails(sizes[rare], observed[rare])
    return np.where(shared, np.minimum(p, 1.0), np.nan)


def _tails(sizes: Array, observed: Array) -> Array:
    """Return two-sided tail probabilities by importance sampling: (pairs, units) -> (pairs,).

    `sizes` are the differences without their sign, `observed` the size of their sum. Flips are
    drawn with probabilities tilted so that the observed sum is their mean, and weighted back: an
    unbiased estimate, with about 5 % error however small the probability.
    """
    whole = sizes.max(axis=1, keepdims=True, initial=1e-300)
    scaled, observed = sizes / whole, observed / whole[:, 0]
    largest = scaled.sum(axis=1)
    # All of one sign: only that flip and its mirror image reach so far.
    floor = 2.0 ** (1.0 - (scaled > 0).sum(axis=1))
    units = scaled.shape[1]
    held = np.random.default_rng(SEED).random((TILTED, units)) if TILTED * units <= BLOCK else None
    thetas = _tilts(scaled, observed)
    found = floor.copy()
    for pair in np.flatnonzero(observed < largest * (1 - 1e-9)):
        d, theta = scaled[pair], thetas[pair]
        chances = 1 / (1 + np.exp(-2 * theta * d))
        # The same draws for every pair: equal differences have equal p.
        parts = _uniform(units) if held is None else [held]
        sums = 2.0 * np.concatenate([(part < chances) @ d for part in parts]) - largest[pair]
        reach = sums >= observed[pair] - 1e-9 * largest[pair]
        cumulant = np.sum(np.logaddexp(theta * d, -theta * d) - math.log(2))
        found[pair] = 2 * np.mean(np.where(reach, np.exp(cumulant - theta * sums), 0.0))
    tails: Array = np.clip(found, floor, 1.0)
    return tails


def _uniform(units: int) -> Iterator[Array]:
    rng = np.random.default_rng(SEED)
    for size in block_sizes(TILTED, units):
        yield rng.random((size, units))


def _tilts(scaled: Array, observed: Array) -> Array:
    """Return each row's theta with sum(d tanh(theta d)) = observed, by bisection of its log."""
    # Of the log, for theta grows without bound as the observed sum nears its maximum.
    low, high = np.full(len(scaled), -20.0), np.full(len(scaled), 10.0)
    for _ in range(40):
        middle = (low + high) / 2
        short = (scaled * np.tanh(scaled * 2.0 ** middle[:, None])).sum(axis=1) < observed
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    thetas: Array = np.exp2(low)
    return thetas


def holm(p: Array) -> Array:
    """Return p corrected for the number of tests: (tests,) -> (tests,).

    Holm, Scandinavian Journal of Statistics 1979. NaN is no test, and stays.
    """
    corrected = np.full_like(p, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    # The smallest p is multiplied by the number of tests, the next by one less; none may be below
    # the one before it.
    steps = p[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected


def max_t(differences: Array) -> Array:
    """Return the p of each row of paired differences, corrected for all rows: (pairs,).

    Each flip is that of whole topics, for all rows at once, so that what rows have in common, such
    as a baseline, costs nothing. A row is compared with the largest |sum| / sqrt(sum of squares) of
    itself and of the rows that differ less (step-down max-T: Westfall and Young, Resampling-Based
    Multiple Testing, 1993, 2.6). NaN is a unit that a pair does not share; NaN for a pair that
    shares none. Of one row it is `sign_flip`. (pairs, units) -> (pairs,)
    """
    plain = sign_flip(differences)
    tested = np.flatnonzero(~np.isnan(plain))
    if len(tested) < 2:
        return plain
    known = np.nan_to_num(differences[tested])
    known /= np.sqrt((known**2).sum(axis=1, keepdims=True)).clip(1e-300)
    observed = np.abs(known.sum(axis=1))
    order = np.argsort(-observed, kind="stable")
    # Whole topics may change their sign: neither their names nor which side came first counts.
    known = known[order] * np.where(known.sum(axis=0) < 0, -1.0, 1.0)
    known = known[:, steady_orders([known])[1]]
    tried, counts = 0, np.zeros(len(tested))
    for signs in _flip_parts(known.shape[1]):
        for part in np.array_split(signs, math.ceil(len(signs) * len(tested) / BLOCK)):
            reach = np.abs(part @ known.T)[:, ::-1]
            largest = np.maximum.accumulate(reach, axis=1)[:, ::-1]
            counts += (largest >= observed[order] - 1e-9).sum(axis=0)
            tried += len(part)
    drawn = int(tried >= FLIPS)
    p = np.maximum.accumulate((drawn + counts) / (drawn + tried))
    corrected = plain.copy()
    corrected[tested[order]] = np.maximum(p, plain[tested[order]])
    return corrected


def effect_size(differences: Array) -> float | None:
    """Return Cohen's d of paired differences: their mean / their standard deviation (n - 1).

    None with fewer than two, or where all are the same.
    """
    known = differences[~np.isnan(differences)]
    if known.size < 2 or np.ptp(known) < 1e-12:  # no spread: d would be infinite
        return None
    return float(known.mean() / known.std(ddof=1))


@dataclass(frozen=True, slots=True)
class PairTests:
    """The corrected p of every pair of runs, (runs, runs), symmetric, 1 on the diagonal.

    `test` names the test, with how many permutations or flips it took.
    """

    p: Array
    test: str


def holm_pairs(values: Array) -> PairTests:
    """Return the p of every pair of rows by the sign-flip test and Holm: (runs, topics)."""
    runs, topics = values.shape
    p = np.ones((runs, runs))
    rows, columns = np.triu_indices(runs, 1)
    found = [sign_flip(values[i] - values[i + 1 :]) for i in range(runs - 1)]
    if found:
        p[rows, columns] = p[columns, rows] = holm(np.concatenate(found))
    made = f"all {2**topics}" if topics <= EXACT_UNITS else f"{FLIPS}"
    seed = "" if topics <= EXACT_UNITS else f", seed {SEED}"
    return PairTests(p, f"holm: {made} sign flips{seed}")
