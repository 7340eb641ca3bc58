"""What a measure gives of a response, and of counts that are summed over responses."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from math import isnan, nan
from statistics import fmean, stdev
from typing import Any

from trecjudge.errors import PluginError
from trecjudge.findings import brief
from trecjudge.measures import HUGE, Fill, MeasureSpec, Sums, SumsSpec
from trecjudge.records import Failure, Judgment, Response
from trecjudge.settings.plugins import place_in_code

Value = float | None
BoundedSums = tuple[Sums, Sums, Sums]
"""Counts of a response as they are, and with unjudged items at their worst and at their best."""


def compute_measure(
    measure: MeasureSpec, response: Response, judgments: Sequence[Judgment]
) -> Value:
    """Return what a measure gives. Raises PluginError if that is not a number."""
    where = f"measure {measure.name} on run {response.run_id!r}, topic {response.topic_id!r}"
    try:
        value = measure.compute(response, judgments)
        number = measure.as_number(value)
    except (Exception, SystemExit) as error:  # a user's own measure can fail in any way
        place = place_in_code(error, measure.compute)
        raise PluginError(f"{where}: {type(error).__name__}: {error} ({place})") from error
    is_text = isinstance(value, str) and isinstance(measure.cast, str)
    if is_text or (number is not None and not abs(number) < HUGE):
        raise PluginError(f"{where}: it is {brief(value)}, not a number")
    return number


def bounded_sums(
    measure: MeasureSpec,
    spec: SumsSpec,
    response: Response,
    judgments: Sequence[Judgment],
    fill: Fill | None,
) -> BoundedSums:
    """Return the counts of a response. Raises PluginError if they are not numbers."""
    now = _compute_sums(measure, spec, response, judgments)
    if fill is None or all(judgment.judged for judgment in judgments):
        return now, now, now
    worst, best = ([j if j.judged else fill(j, end) for j in judgments] for end in (False, True))
    lowest, highest = (_compute_sums(measure, spec, response, filled) for filled in (worst, best))
    return now, lowest, highest


def _compute_sums(
    measure: MeasureSpec, spec: SumsSpec, response: Response, judgments: Sequence[Judgment]
) -> Sums:
    counts: list[float] = []

    @wraps(spec.compute)  # an error names its place
    def compute(response: Response, judgments: Sequence[Judgment]) -> float:
        counts.extend(map(float, spec.compute(response, judgments)))
        return math.fsum(counts)

    compute_measure(replace(measure, compute=compute, cast="float"), response, judgments)
    return tuple(counts)


def sums_of_topic(spec: SumsSpec, known: Sequence[BoundedSums]) -> BoundedSums:
    """Return the counts of a missing response: the topic's own, as far as another run has them."""
    columns = zip(*(sums for bounded in known for sums in bounded), strict=True)
    own = tuple(max(c) if i in spec.own else 0.0 for i, c in enumerate(columns))
    return own, own, own


def value_of_sums(spec: SumsSpec, by_topic: Sequence[BoundedSums]) -> tuple[Value, Value, Value]:
    """Return what summed counts give, as they are, lowest and highest.

    Where unjudged items leave it open, and nothing is known, there is no value.
    """
    if not by_topic:
        return None, None, None
    summed = [tuple(map(math.fsum, zip(*end, strict=True))) for end in zip(*by_topic, strict=True)]
    value, low, high = (spec.of(sums) for sums in summed)
    empty = spec.empty
    if empty is None:
        return value, low, high
    low, high = sorted(empty if bound is None else bound for bound in (low, high))
    return (empty if value is None and low == high else value), low, high


# The scores of one response: many of them are plain numbers, and held as such.
@dataclass(frozen=True, slots=True)
class Score:
    """A measure on one response: its value, and its bounds where items of it are unjudged.

    `value` None with `judged` False means that the judge's failure leaves it undefined. `unjudged`
    counts the items that are missing, and `failure` is that of the first of them. `sums` are the
    counts of a measure that is made of them, as they are, at their worst and at their best.
    `record` is what a measure that is fitted to all runs needs of the response.
    """

    value: Value
    lowest: Value
    highest: Value
    judged: bool
    unjudged: int = 0
    failure: Failure | None = None
    sums: BoundedSums | None = None
    record: Any = None

    @property
    def is_open(self) -> bool:
        """Whether unjudged items could move it."""
        return self.lowest != self.highest

    @classmethod
    def plain(cls, value: Value) -> Score:
        """Return the score of a response of which every item is judged."""
        return cls(value, value, value, judged=True)


@dataclass(frozen=True, slots=True, eq=False)
class ResponseScores(Mapping[str, Score]):
    """The scores of a response by measure.

    A large job has a hundred thousand of them: those that are only a value take eight bytes each.
    """

    measures: tuple[str, ...]
    packed: bytes
    """A double for each measure: of those with a plain score its value, NaN where it has none."""
    others: Mapping[str, Score] | None = None
    """The scores that are more than a value."""

    @classmethod
    def of(cls, measures: tuple[str, ...], scores: Mapping[str, Score]) -> ResponseScores:
        """Return these scores, which are in the order of the measures."""
        values = (nan if score.value is None else score.value for score in scores.values())
        packed = struct.pack(f"{len(measures)}d", *values)
        others = {name: s for name, s in scores.items() if s != Score.plain(s.value)}
        return cls(measures, packed, others or None)

    def changed(self, measure: str, score: Score) -> ResponseScores:
        """Return them with another score by one measure."""
        return ResponseScores.of(self.measures, {**self, measure: score})

    def __getitem__(self, measure: str) -> Score:
        if self.others and measure in self.others:
            return self.others[measure]
        try:
            place = self.measures.index(measure)
        except ValueError:
            raise KeyError(measure) from None
        (value,) = struct.unpack_from("d", self.packed, 8 * place)
        return Score.plain(None if isnan(value) else value)

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)


def mean_of_samples(scores: Sequence[Score], default: Value) -> tuple[Score, Value]:
    """Return the score of a topic by those of its samples, and their standard deviation.

    Where one of them has a value, a sample on which the measure is not defined counts as the
    `default`. The deviation is None where fewer than two have a value.
    """
    if any(score.value is not None for score in scores):
        undefined = Score.plain(default)
        scores = [undefined if s.value is None and s.judged else s for s in scores]
    values = [score.value for score in scores if score.value is not None]
    joined = Score(
        _mean(values),
        _mean([score.lowest for score in scores]),
        _mean([score.highest for score in scores]),
        judged=all(score.judged for score in scores),
        unjudged=sum(score.unjudged for score in scores),
        failure=next((score.failure for score in scores if score.failure), None),
        sums=_mean_sums([score.sums for score in scores if score.sums is not None]),
    )
    return joined, stdev(values) if len(values) > 1 else None


def _mean(values: Sequence[Value]) -> Value:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _mean_sums(sums: Sequence[BoundedSums]) -> BoundedSums | None:
    if not sums:
        return None
    now, low, high = (tuple(map(fmean, zip(*end, strict=True))) for end in zip(*sums, strict=True))
    return now, low, high
