"""What a measure gives of a response, and of counts that are summed over responses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import wraps

from trecjudge.errors import PluginError
from trecjudge.findings import brief
from trecjudge.measures import HUGE, Fill, MeasureSpec, Sums, SumsSpec
from trecjudge.records import Judgment, Response
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
        number = None if value is None else float(value)
    except (Exception, SystemExit) as error:  # a user's own measure can fail in any way
        place = place_in_code(error, measure.compute)
        raise PluginError(f"{where}: {type(error).__name__}: {error} ({place})") from error
    if isinstance(value, str) or (number is not None and not abs(number) < HUGE):
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

    compute_measure(replace(measure, compute=compute), response, judgments)  # for its errors
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
