"""How large a difference so many topics can show, from the variances of a pilot leaderboard."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np

from trecjudge.errors import InputError
from trecjudge.measures import DIGITS
from trecjudge.stats.paired import ALPHA
from trecjudge.stats.resampling import SEED, Array, student_quantile
from trecjudge.stats.scores import Scores

POWER: Final = 0.8
"""The share of times that a difference is to be found."""
SURPLUS: Final = NormalDist().inv_cdf(POWER)
TOPICS: Final = (25, 50, 100)
"""Numbers of topics to look at beside that of the pilot, where none is asked for."""
MOST_TOPICS: Final = 10_000
DRAWS: Final = 10_000


@dataclass(frozen=True, slots=True)
class SmallestDifference:
    """The smallest difference of two means that `topics` topics show 8 of 10 times.

    `pair` is for two runs compared with nobody else, `tukey` and `holm` for any two of several.
    None is what no difference of whatever size can reach on so few topics.
    """

    topics: int
    pair: float | None
    tukey: float | None
    holm: float | None

    @property
    def by_test(self) -> tuple[float | None, float | None, float | None]:
        """The differences by test: of a pair, by Tukey HSD, by Holm."""
        return self.pair, self.tukey, self.holm


@dataclass(frozen=True, slots=True)
class TopicsNeeded:
    """How many topics a difference needs, for two runs and for any two of several."""

    pair: int | None
    tukey: int | None
    holm: int | None

    @property
    def by_test(self) -> tuple[int | None, int | None, int | None]:
        """The numbers by test: of a pair, by Tukey HSD, by Holm."""
        return self.pair, self.tukey, self.holm


@dataclass(frozen=True, slots=True)
class Power:
    """What a pilot leaderboard says of a measure, for `runs` runs.

    `deviation` is the standard deviation over topics of the difference of two runs: the root of
    the mean variance of all pairs. `spread` is that of the values of all runs on one topic.
    `smallest` holds a row for each number of topics. `needed` are the topics that `difference`
    needs, by test; None where MOST_TOPICS are too few.
    """

    measure: str
    pilot_topics: int
    runs: int
    deviation: float
    spread: float
    smallest: Sequence[SmallestDifference]
    difference: float | None = None
    needed: TopicsNeeded | None = None


def power_of(
    scores: Scores,
    measures: Collection[str] = (),
    topics: int | None = None,
    runs: int | None = None,
    difference: float | None = None,
) -> list[Power]:
    """Return how large a difference by each measure topics can show, with power 0.8 at 5 %.

    `topics` are how many there will be, else those of the pilot and TOPICS; `runs` how many are
    compared, else those of the pilot; `difference` is one whose topics are counted. A measure on
    which no two runs differ is left out. Raises InputError where the pilot tells no variance.
    """
    found = [
        made
        for measure in scores.choose_measures(measures)
        if (made := _power(scores.values[measure], measure, topics, runs, difference))
    ]
    if not found:
        why = "no two runs with a difference that varies over topics: a pilot needs two, and topics"
        raise InputError(f"{scores.name}: {why}")
    return found


def _power(
    values: Array, measure: str, topics: int | None, runs: int | None, difference: float | None
) -> Power | None:
    known = int((~np.isnan(values).all(axis=0)).sum())
    deviation, spread = pilot_deviations(values)
    if not deviation:
        return None
    plan = _Plan(deviation, spread, runs or len(values))
    wanted = (topics,) if topics else sorted({known, *TOPICS})
    needed = None if difference is None else plan.needed(difference)
    smallest = tuple(map(plan.smallest, wanted))
    rounded = (round(deviation, DIGITS), round(spread, DIGITS))
    return Power(measure, known, plan.runs, *rounded, smallest, difference, needed)


def pilot_deviations(values: Array) -> tuple[float, float]:
    """Return the standard deviations of a difference of two runs, and of values on one topic.

    (runs, topics); both are roots of mean variances (n - 1), 0 where nothing varies. The first is
    sqrt(2) times the residual deviation of a two-way analysis of variance where no value is
    missing (Sakai, Information Retrieval Journal 2016).
    """
    apart = (values[i] - values[i + 1 :] for i in range(len(values) - 1))
    pairs = [v for part in apart for v in _variances(part)]
    topics = list(_variances(values.T))
    first, second = (math.sqrt(sum(v) / len(v)) if v else 0.0 for v in (pairs, topics))
    return (first if first > 1e-9 else 0.0), second


def _variances(rows: Array) -> Iterator[float]:
    """Yield the variance of each row, of its known values, if it has two of them."""
    several = rows[(~np.isnan(rows)).sum(axis=1) > 1]
    yield from np.nanvar(several, axis=1, ddof=1).tolist() if len(several) else ()


@dataclass(frozen=True, slots=True)
class _Plan:
    """Differences of `runs` runs with a pilot's deviations."""

    deviation: float
    spread: float
    runs: int

    @property
    def pairs(self) -> int:
        return self.runs * (self.runs - 1) // 2

    def smallest(self, topics: int) -> SmallestDifference:
        found = (self.pair(topics), self.tukey(topics), self.holm(topics))
        rounded = (None if d is None else round(d, DIGITS) for d in found)
        return SmallestDifference(topics, *rounded)

    def needed(self, difference: float) -> TopicsNeeded:
        return TopicsNeeded(
            *(_first(way, difference) for way in (self.pair, self.tukey, self.holm))
        )

    def pair(self, topics: int) -> float | None:
        return self._by_flips(topics, 1)

    def holm(self, topics: int) -> float | None:
        # Holm's first step, which a difference must pass where no other pair differs.
        return self._by_flips(topics, self.pairs)

    def _by_flips(self, topics: int, tests: int) -> float | None:
        if tests * 2.0 ** (1 - topics) >= ALPHA:  # the smallest p of sign flips
            return None
        freedom = topics - 1
        critical = student_quantile(freedom, 1 - ALPHA / tests)
        # Power of the t test, to which that of sign flips is close (Sakai 2016, by Nagata's
        # approximation of the non-central t).
        far = critical * (1 - 1 / (4 * freedom))
        far += SURPLUS * math.sqrt(1 + critical**2 / (2 * freedom))
        return far * self.deviation / math.sqrt(topics)

    def tukey(self, topics: int) -> float | None:
        if (2.0 * self.pairs) ** (1 - topics) >= ALPHA:  # the smallest p of permutations
            return None
        # Values are dealt as far apart as all runs are, not only as what topics make of a pair.
        reach = largest_range(self.runs) * self.spread + SURPLUS * self.deviation
        return reach / math.sqrt(topics)


@lru_cache(maxsize=8)
def largest_range(runs: int) -> float:
    """Return what the range of so many standard normal values exceeds 5 % of the time."""
    drawn = np.random.default_rng(SEED).normal(size=(DRAWS, runs))
    return float(np.quantile(np.ptp(drawn, axis=1), 1 - ALPHA))


def _first(way: Callable[[int], float | None], difference: float) -> int | None:
    """Return the fewest topics on which a smallest difference is no larger than one."""
    low, high = 1, MOST_TOPICS
    while high - low > 1:
        middle = (low + high) // 2
        found = way(middle)
        low, high = (middle, high) if found is None or found > difference else (low, middle)
    return None if high == MOST_TOPICS else high
