"""A gate for releases: rules that the runs of a job must keep, and what breaks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from trecjudge.errors import InputError, WorkflowError, unknown
from trecjudge.measures import DIGITS
from trecjudge.records.signs import SignCount
from trecjudge.results.statistics import MeanKey, RunScore
from trecjudge.stats.alignment import few
from trecjudge.stats.comparison import Difference, System, difference
from trecjudge.stats.paired import ALPHA
from trecjudge.stats.scores import Scores

Kind = Literal["min", "max", "drop"]
TINY = 1e-9
"""A fall larger by less than this is rounding."""
NO_ITEMS = "but nothing was judged: 0 of 0 items"
NOTHING = "has no value here or in the baseline: nothing of it was judged"


@dataclass(frozen=True, slots=True)
class GateRule:
    """A measure may be no lower (`min`), no higher (`max`), or fall no further (`drop`).

    Where `lower_is_better`, a rise is the drop. `judge` is whose measure it is, empty where the job
    has only one.
    """

    kind: Kind
    measure: str
    limit: float
    lower_is_better: bool = False
    judge: str = ""

    def __str__(self) -> str:
        falls = f"{'rises' if self.lower_is_better else 'falls'} by at most"
        words = {"min": "at least", "max": "at most", "drop": falls}
        return f"{self.full_name} {words[self.kind]} {self.limit:g}"

    @property
    def worst(self) -> float:
        """What a value counts that a run had and lost: the worst of a rate."""
        return 1.0 if self.lower_is_better else 0.0

    @property
    def full_name(self) -> str:
        """The measure, and whose it is."""
        return f"{self.measure} of {self.judge}" if self.judge else self.measure


RunScores = Mapping[MeanKey, RunScore]


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """A rule checked on a run; `broken` is how it is broken, empty where it is kept.

    `no_rule` is why there is nothing to hold the run to, empty where there is.
    """

    run_id: str
    rule: GateRule
    broken: str = ""
    no_rule: str = ""

    def __str__(self) -> str:
        how = self.broken or self.no_rule or "keeps the rule"
        return f"{self.run_id}: {self.rule.full_name} {how}"


def rule_of(kind: Kind, text: str, ranking: str = "") -> GateRule:
    """Return the rule of `MEASURE=NUMBER`, or of a number for the measure that ranks.

    Raises WorkflowError.
    """
    named, _, number = text.rpartition("=")
    measure = named.strip() or ranking
    try:
        limit = float(number)
    except ValueError:
        limit = float("nan")
    if not measure or not abs(limit) < float("inf"):
        flag = "max-drop" if kind == "drop" else kind
        raise WorkflowError(f"--{flag} {text!r}: give MEASURE=NUMBER, such as CITATION_SUPPORT=0.8")
    if kind == "drop" and limit < 0:
        raise WorkflowError(f"--max-drop {text!r}: give how far it may fall, 0 or more")
    return GateRule(kind, measure, limit)


def bounds(rules: Sequence[GateRule], scores: Scores, figures: RunScores) -> list[RuleCheck]:
    """Check each run against its lowest and highest values.

    Of a sign of writing for the judge the value is the share of a run's sentences that have it.
    Raises InputError for a measure that is neither.
    """
    signs = {run_id: one.signs for (run_id, _), one in scores.known.items() if one.signs}
    known = (*scores.measures, *dict.fromkeys(name for found in signs.values() for name in found))
    for rule in rules:
        if rule.measure not in known:
            raise InputError(f"{scores.name}: {unknown('measure', rule.measure, known)}")
    found = []
    for run_id in scores.runs:
        for rule in rules:
            figure = figures.get((run_id, rule.measure))
            if rule.measure not in scores.measures:
                count = signs.get(run_id, {}).get(rule.measure, SignCount())
                figure = RunScore(
                    *(run_id, rule.measure, count.share), judged=count.of, expected=count.of
                )
            found.append(RuleCheck(run_id, rule, _beyond(rule, figure)))
    return found


def _lacks_items(figure: RunScore) -> bool:
    """Return whether statistics say that there was no item to judge."""
    return not figure.only_unjudged and not figure.expected


def _beyond(rule: GateRule, figure: RunScore | None) -> str:
    """Return how a bound is broken: by the mean, or by what unjudged items could make of it."""
    if figure is None or figure.mean is None:
        return "has no value: nothing of it was judged"
    if _lacks_items(figure):
        return f"is {figure.mean:.4g}, {NO_ITEMS}"
    # For a maximum both sides change sign, so that one comparison serves both.
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
            f"is {figure.mean:.4g}, but {figure.gaps}: it could {could}, must be {words}"
            f" {rule.limit:g}"
        )
    return ""


def drops(
    rules: Sequence[GateRule],
    now: Scores,
    old: Scores,
    figures: RunScores,
    before: RunScores | None = None,
    strict: bool = False,
) -> list[RuleCheck]:
    """Compare each run with the same run of a baseline; two single runs are the same.

    A drop counts if it is larger than the rule allows and more than noise (`strict`: in any case):
    the paired sign-flip test over topics rejects that it is none. Where so few topics changed that
    the test never could, it counts as it is. A value that is gone on a topic, as of an answer that
    states nothing, counts as the worst; one that is new is compared with the mean before. A run, a
    measure, a topic or a mean of the baseline that is gone breaks the rule. Without a mean in the
    baseline there is nothing to fall from, and no rule. `figures` are those of `now`, `before`
    those of the baseline. Raises InputError if no run is in both, or for a measure that the
    baseline lacks.
    """
    same = same_runs(now, old)
    if not same:
        raise InputError(
            f"{now.name} has no run of the baseline {old.name}: here {', '.join(now.runs)};"
            f" there {', '.join(old.runs)}"
        )
    found = []
    for rule in rules:
        if rule.measure not in old.measures:
            what = unknown("measure", rule.measure, old.measures)
            raise InputError(f"{old.name}: {what}")
        for run in old.runs:
            if run not in same:
                found.append(RuleCheck(run, rule, "is gone: the baseline has this run"))
            elif rule.measure not in now.measures:
                found.append(RuleCheck(same[run], rule, "is gone: the baseline has this measure"))
            else:
                pair = System(old, run), System(now, same[run])
                found.append(_checked_fall(rule, *pair, before or {}, figures, strict))
    return found


def same_runs(now: Scores, old: Scores) -> dict[str, str]:
    """Return the runs of a baseline that are here, by their names there."""
    same = {run: run for run in old.runs if run in now.runs}
    # A release is often a new run_id: two single runs can only be meant for each other.
    if not same and len(old.runs) == len(now.runs) == 1:
        same = {old.runs[0]: now.runs[0]}
    return same


def _checked_fall(
    rule: GateRule,
    old: System,
    now: System,
    before: RunScores,
    after: RunScores,
    strict: bool,
) -> RuleCheck:
    there = before.get((old.run_id, rule.measure)) or RunScore(old.run_id, rule.measure)
    here = after.get((now.run_id, rule.measure)) or RunScore(now.run_id, rule.measure)
    rule = replace(rule, lower_is_better=here.lower_is_better or there.lower_is_better)
    fall = _Fall.of(rule, old, now, there, here)
    if fall is not None:
        return RuleCheck(now.run_id, rule, fall.describe_breach(rule.limit, strict))
    if there.mean is not None:
        return RuleCheck(now.run_id, rule, f"has no value: in the baseline it was {there.mean:.4g}")
    # What was not judged may have been anything; what is not defined can fall no further.
    if there.gaps.items or (here.gaps.items and here.mean is None):
        return RuleCheck(now.run_id, rule, NOTHING)
    where = "in the baseline" if here.mean is not None else "here or in the baseline"
    return RuleCheck(now.run_id, rule, no_rule=f"has no value {where}")


@dataclass(frozen=True, slots=True)
class _Fall:
    """By how much a run fell by a measure, and what is left open.

    `scale` makes of differences per topic what the `all` rows are in: the number of topics for a
    sum. `lost` are topics of the baseline that are gone. `further` is how far the run could have
    fallen, None where unjudged items could make it anything. `all_rows` are those of before and
    after where topics do not make them: no test over topics applies to these. `counted` is the
    change with topics on which only one side has a value, as of answers that state nothing.
    """

    rule: GateRule
    change: Difference
    counted: Difference
    scale: int
    lost: Sequence[str]
    further: float | None
    unjudged: str
    all_rows: tuple[float, float] | None

    @classmethod
    def of(
        cls, rule: GateRule, old: System, now: System, there: RunScore, here: RunScore
    ) -> _Fall | None:
        """Return the fall of a run; None where it has no value, or had none."""
        measure = rule.measure
        change = difference(old, now, measure)
        if change is None:
            return None
        sides = {"": here, "of the baseline ": there}
        unjudged = " and ".join(
            f"{whose}{figure.gaps}" for whose, figure in sides.items() if figure.gaps.items
        )
        # A topic whose items are unjudged is not gone: the bounds cover it, where they are known.
        kept = set(now.scores.topics) if here.expected else set()
        summed = any(s.scores.are_sums(measure)[s.scores.runs.index(s.run_id)] for s in (old, now))
        scale = change.topics if summed else 1
        beyond = None
        if old.scores.topics != now.scores.topics:
            beyond = change.difference * scale
        return cls(
            rule,
            change,
            difference(old, now, measure, rule.worst) or change,
            scale,
            [topic for topic in change.only_before if topic not in kept],
            _furthest(there, here, rule.lower_is_better, beyond) if unjudged else None,
            unjudged,
            _all_rows(old, now, measure),
        )

    def describe_breach(self, limit: float, strict: bool) -> str:
        """Return how the drop breaks its rule, or nothing."""
        change, may = self.change, f"may {'rise' if self.rule.lower_is_better else 'fall'} by"
        if self.lost:
            topics = len(change.only_before) + change.topics
            gone = f"{len(self.lost)} of {topics} topics of the baseline: {few(self.lost)}"
            return f"has no value on {gone}"
        before, after = change.mean_before * self.scale, change.mean_after * self.scale
        fall, words = self._in_words(before, after)
        if fall > limit + TINY and (strict or _is_more_than_noise(change)):
            return f"{words}{_test_text(change)}; {may} {limit:g}"
        if self.all_rows is not None:
            fall, of_rows = self._in_words(*self.all_rows)
            if fall > limit + TINY:
                return f"{of_rows} in the `all` rows; {may} {limit:g}"
        if self.unjudged and (self.further is None or self.further > limit + TINY):
            could = "anything" if self.further is None else f"{self.further:.4g}"
            if fall < 0 and self.further is not None:
                could = f"a {'rise' if self.rule.lower_is_better else 'fall'} of {could}"
            return f"{words}, but {self.unjudged}: it could be {could}; {may} {limit:g}"
        more = self.counted.topics - change.topics
        scale = self.scale if self.scale == 1 else self.counted.topics
        fall, words = self._in_words(
            self.counted.mean_before * scale, self.counted.mean_after * scale
        )
        if more and fall > limit + TINY and (strict or _is_more_than_noise(self.counted)):
            one_sided = f"counting {more} topics on which only one side has a value"
            return f"{words}{_test_text(self.counted)}, {one_sided}; {may} {limit:g}"
        return ""

    def _in_words(self, before: float, after: float) -> tuple[float, str]:
        lower = self.rule.lower_is_better
        fall = round(after - before if lower else before - after, DIGITS) or 0.0
        if fall < 0:
            return fall, f"is {after:.4g} after {before:.4g}"
        words = "rose" if lower else "fell"
        return fall, f"{words} by {fall:.4g} from {before:.4g} to {after:.4g}"


def _furthest(old: RunScore, now: RunScore, lower: bool, beyond: float | None) -> float | None:
    """Return by how much a run could have fallen; None where no bound is known.

    It is the best that the baseline could be against the worst that the run could be. Where their
    topics are not the same, `beyond` is the difference over those of both: what the bounds leave
    open is added to that.
    """
    best, worst = (old.lowest, now.highest) if lower else (old.highest, now.lowest)
    if best is None or worst is None or old.mean is None or now.mean is None:
        return None
    sign = -1 if lower else 1
    furthest = sign * (best - worst)
    return furthest if beyond is None else furthest - sign * (old.mean - now.mean + beyond)


def _all_rows(old: System, now: System, measure: str) -> tuple[float, float] | None:
    """Return the `all` rows where those of either side are neither mean nor sum of its topics."""
    rows, made = [], True
    for scores, run_id in (old, now):
        place = scores.runs.index(run_id)
        rows.append(float(scores.overall(measure)[place]))
        made = made and not scores.contradictions(measure)[place]
    return None if made else (rows[0], rows[1])


def _is_more_than_noise(change: Difference) -> bool:
    """Return whether the test rejects, or could not: a topic without a change adds nothing."""
    # Of n changed topics the smallest possible p is 2 / 2^n: above ALPHA the test cannot reject.
    return change.p is None or 2.0 ** (1 - change.changed) > ALPHA or change.p < ALPHA


def _test_text(change: Difference) -> str:
    if change.p is None:
        return ""
    few_changed = ", too few changes to test" if 2.0 ** (1 - change.changed) > ALPHA else ""
    return f", p {change.p:.3g} over {change.topics} topics{few_changed}"


# Measures that are another one: as its complement, or the same under a second name.
ROUNDING = 2e-6
"""Rounding that rows may differ by: each is written with six decimals."""


def without_repeats(
    rules: Sequence[GateRule], tables: Sequence[Scores], figures: Sequence[RunScores]
) -> tuple[list[GateRule], dict[str, str]]:
    """Return drop rules without those of measures that fall just as an earlier one does.

    Such a measure adds its limit, if that is lower. Also returns each with the one that stands for
    it. `figures` are those of the tables.
    """
    kept: dict[str, GateRule] = {}
    stands: dict[str, str] = {}
    for rule in rules:
        name = rule.measure
        # What two judges find is not the same, even where it is equal.
        own = [other for other in kept if kept[other].judge == rule.judge]
        alike = (other for other in own if _fall_alike(other, name, tables, figures))
        first = name if name in kept else next(alike, name)
        if first != name:
            stands[name] = first
        limit = min(kept[first].limit, rule.limit) if first in kept else rule.limit
        kept[first] = replace(kept.get(first, rule), limit=limit)
    return list(kept.values()), stands


def _fall_alike(
    one: str, other: str, tables: Sequence[Scores], figures: Sequence[RunScores]
) -> bool:
    """Return whether two measures fall on the same topics by the same, in every table."""
    every = [(m, figure) for found in figures for (_, m), figure in found.items()]
    # What unjudged items could make of each need not be alike.
    if any(figure.gaps.items for m, figure in every if m in (one, other)):
        return False
    if not all({one, other} <= set(table.measures) for table in tables):
        return False
    first, second = (
        np.concatenate([row for t in tables for row in (t.values[m].ravel(), t.overall(m))])
        for m in (one, other)
    )
    known = ~np.isnan(first)
    if not known.any() or (known == np.isnan(second)).any():
        return False
    lower = {m for m, figure in every if figure.lower_is_better}
    if (one in lower) == (other in lower):
        return bool(np.abs(second - first)[known].max() <= ROUNDING)
    return bool(np.ptp((second + first)[known]) <= ROUNDING)
