"""A gate for releases: rules that the runs of a job must keep, and what breaks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from trecjudge.errors import InputError, WorkflowError, unknown
from trecjudge.stats.comparison import Difference, System, difference
from trecjudge.stats.paired import ALPHA
from trecjudge.stats.scores import Scores

Kind = Literal["min", "max", "drop"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A measure may be no lower (`min`), no higher (`max`), or fall no further (`drop`)."""

    kind: Kind
    measure: str
    limit: float

    def __str__(self) -> str:
        words = {"min": "at least", "max": "at most", "drop": "falls by at most"}
        return f"{self.measure} {words[self.kind]} {self.limit:g}"


@dataclass(frozen=True, slots=True)
class Figure:
    """The mean of a run by a measure, and what unjudged items could make of it."""

    mean: float | None
    lowest: float | None
    highest: float | None
    judged: int
    expected: int
    lower_is_better: bool = False

    @property
    def unjudged(self) -> str:
        """How many items are unjudged, in words."""
        return f"{self.expected - self.judged} of {self.expected} items are unjudged"


Figures = Mapping[tuple[str, str], Figure]
"""(run_id, measure) -> figure"""


@dataclass(frozen=True, slots=True)
class Check:
    """A rule held against a run; `broken` says how it is broken, and is empty where it is kept."""

    run_id: str
    rule: Rule
    broken: str = ""

    def __str__(self) -> str:
        return f"{self.run_id}: {self.rule.measure} {self.broken or 'keeps the rule'}"


def rule_of(kind: Kind, text: str) -> Rule:
    """Return the rule of `MEASURE=NUMBER`. Raises WorkflowError."""
    measure, _, number = text.rpartition("=")
    try:
        limit = float(number)
    except ValueError:
        limit = float("nan")
    if not measure or not abs(limit) < float("inf"):
        raise WorkflowError(f"--{kind} {text!r}: give MEASURE=NUMBER, such as CITATION_SUPPORT=0.8")
    return Rule(kind, measure, limit)


def bounds(rules: Sequence[Rule], scores: Scores, figures: Figures) -> list[Check]:
    """Hold each run against its lowest and highest values. Raises InputError for a measure."""
    for rule in rules:
        if rule.measure not in scores.measures:
            raise InputError(f"{scores.name}: {unknown('measure', rule.measure, scores.measures)}")
    return [
        Check(run_id, rule, _beyond(rule, figures.get((run_id, rule.measure))))
        for run_id in scores.runs
        for rule in rules
    ]


def _beyond(rule: Rule, figure: Figure | None) -> str:
    """Return how a bound is broken: by the mean, or by what unjudged items could make of it."""
    if figure is None or figure.mean is None:
        return "has no value: nothing of it was judged"
    sign = 1 if rule.kind == "min" else -1
    words = "at least" if rule.kind == "min" else "at most"
    if sign * figure.mean < sign * rule.limit:
        return f"is {figure.mean:.4g}, must be {words} {rule.limit:g}"
    worst = figure.lowest if rule.kind == "min" else figure.highest
    if worst is None and figure.judged == figure.expected:
        return ""
    if worst is None or sign * worst < sign * rule.limit:
        could = "be anything" if worst is None else f"be {worst:.4g}"
        return (
            f"is {figure.mean:.4g}, but {figure.unjudged}: it could {could}, must be {words}"
            f" {rule.limit:g}"
        )
    return ""


def drops(
    rules: Sequence[Rule], now: Scores, old: Scores, figures: Figures, strict: bool = False
) -> list[Check]:
    """Hold each run against the same run of a baseline; two single runs are the same.

    A drop counts if it is larger than the rule allows and more than noise (`strict`: in any case):
    the paired sign-flip test over topics rejects that it is none. With so few topics that the test
    never could, it counts as it is. Raises InputError if no run is in both, or for a measure.
    """
    same = {run: run for run in old.runs if run in now.runs}
    if not same and len(old.runs) == len(now.runs) == 1:
        same = {old.runs[0]: now.runs[0]}
    if not same:
        raise InputError(
            f"{now.name} has no run of the baseline {old.name}: here {', '.join(now.runs)};"
            f" there {', '.join(old.runs)}"
        )
    found = []
    for rule in rules:
        for scores in (now, old):
            if rule.measure not in scores.measures:
                what = unknown("measure", rule.measure, scores.measures)
                raise InputError(f"{scores.name}: {what}")
        for run in old.runs:
            if run not in same:
                found.append(Check(run, rule, "is gone: the baseline has this run"))
                continue
            own = same[run]
            pair = System(old, run), System(now, own)
            found.append(Check(own, rule, _fallen(rule, *pair, figures, strict)))
    return found


def _fallen(rule: Rule, old: System, now: System, figures: Figures, strict: bool) -> str:
    """Return how a drop breaks its rule, or nothing."""
    change = difference(old, now, rule.measure)
    figure = figures.get((now.run_id, rule.measure))
    if change is None or figure is None or figure.mean is None:
        return "has no value: nothing of it was judged"
    sign = -1 if figure.lower_is_better else 1
    fall = -sign * change.difference
    words = "rose" if figure.lower_is_better else "fell"
    said = f"from {change.mean_before:.4g} to {change.mean_after:.4g}"
    if fall > rule.limit + 1e-9 and (strict or _is_more_than_noise(change)):
        test = "" if change.p is None else f", p {change.p:.3g} over {change.topics} topics"
        return f"{words} by {fall:.4g} {said}{test}; may fall by {rule.limit:g}"
    worst = figure.lowest if sign == 1 else figure.highest
    if figure.judged < figure.expected and worst is not None:
        further = fall + sign * (figure.mean - worst)
        if further > rule.limit + 1e-9:
            return (
                f"{words} by {fall:.4g} {said}, but {figure.unjudged}: it could be {further:.4g};"
                f" may fall by {rule.limit:g}"
            )
    return ""


def _is_more_than_noise(change: Difference) -> bool:
    if change.p is None or 2.0 ** (1 - change.topics) > ALPHA:
        return True
    return change.p < ALPHA
