"""Measures: (response, its judgments) -> a number, and how numbers become an `all` row.

A measure returns None where it is not defined for a response. Unjudged items are in no numerator
and no denominator.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import isfunction
from typing import Any, Literal, cast, get_args

from trecjudge.errors import PluginError, WorkflowError, unknown
from trecjudge.records import PARTIAL, Judgment, Response
from trecjudge.settings.plugins import import_named, place_in_code

MOST_COMPARED = 1000
"""Runs that are compared with one another: names of ties, and tests, are as many squared."""
MOST_TESTED = 10_000_000
"""Differences on topics, of all pairs of runs, that are tested."""
UNJUDGED = ".unjudged"
"""A leaderboard row of `MEASURE.unjudged` counts the items left out of the row of MEASURE."""
DIGITS = 6
"""Decimals of a leaderboard and of every figure beside it: means that agree so far are tied."""
HUGE = 1e300
"""Larger numbers are refused: sums of them could overflow."""

Aggregate = Literal[
    "mean_of_floats", "mean_of_bools", "sum", "min", "max", "first_value", "of_sums"
]
AggregateFunction = Callable[[Sequence[float]], float | None]
"""(values of the topics, in their order, at least one) -> what they make, None for no value."""
CastName = Literal["float", "bool", "int"]
Cast = CastName | Callable[[Any], float | bool | None]
"""How what a measure gives becomes a number: `bool` gives 1 or 0, `int` cuts off decimals."""
OWN_FUNCTION = "function"
"""How files name the aggregate of a measure that has a function of its own for it."""
OnMissingResponse = Literal["fix_aggregate", "default", "warn", "error"]
PairTest = Literal["tukey", "holm"]
"""What tells runs apart: randomised Tukey HSD, or paired sign flips corrected by Holm."""
Compute = Callable[[Response, Sequence[Judgment]], float | bool | None]
Fill = Callable[[Judgment, bool], Judgment]
"""(unjudged judgment, best?) -> that judgment at its best or at its worst."""
Sums = tuple[float, ...]
"""Counts of a response, such as a part and a whole, that are summed over topics."""


@dataclass(frozen=True, slots=True)
class SumsSpec:
    """How a measure is made of counts that are summed over topics: micro, as a ratio of sums.

    `compute` gives the counts of a response, `of` the value of their sums. Where `of` gives None,
    the measure is not defined, and its value is `empty`, None for no value at all. `own` are the
    positions of counts that belong to the topic, not to the response: a missing response gets them
    from another run.
    """

    compute: Callable[[Response, Sequence[Judgment]], Sums]
    of: Callable[[Sums], float | None]
    own: tuple[int, ...] = ()
    empty: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a fit gives: (run_id, topic_id) -> value, and what unjudged items could make of it.

    Means over topics are the values of runs. `remarks` say what whoever reads them must know.
    """

    values: Mapping[tuple[str, str], tuple[float, float, float]]
    remarks: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FitSpec:
    """How a measure is fitted to the responses of all runs at once, such as strengths to battles.

    `record` gives what is needed of a response, small and fit to be sent to another process; `fit`
    takes the records of all of them.
    """

    record: Callable[[Response, Sequence[Judgment]], Any]
    fit: Callable[[Iterable[Any]], Fitted]


@dataclass(frozen=True, slots=True)
class MeasureSpec:
    """One column of the leaderboard.

    `default` is the value of a response that is missing, or on which the measure is not defined;
    an unjudged response never gets it. With None such a response leaves the mean. Without
    `default_if_undefined`, a response on which the measure is not defined always leaves the mean.

    The measure sees only the judgments of `judge`, or all where that is empty. `lower_is_better`
    ranks the lowest value first; of a `neutral` one no side is better, so that no gate holds it
    unless it is named. A measure that aggregates `of_sums` has `sums`, and only an `all`
    row. `description` says in plain words what it counts, its range and which way is better; the
    report shows it beside the name. `remark` is what whoever reads its values must know: it is
    printed below the table. `undefined` says why a topic has no value, whatever the response: there
    a missing response has none either. `expected_of` is the measure of labels that it is with the
    weights that a person would give on average; it may rank in its place. `bands` are names of
    its values, each with the least value of that name, the best first: they are said below the
    table. One with a `fit` has the values that it gives, whatever `compute` says. An `optional` one
    is a column only where a run has a value, or what is unjudged may be one.

    `aggregate` and `cast` may be functions too. Such an aggregate gets the values of the topics
    that have one, and its mean has no interval. `cast` turns what `compute` gives, unless that is
    None, into a number: then `compute` may give a label, or a record of a judge.
    """

    name: str
    compute: Compute | Callable[[Response, Sequence[Judgment]], Any]
    aggregate: Aggregate | AggregateFunction = "mean_of_floats"
    default: float | None = 0.0
    judge: str = ""
    lower_is_better: bool = False
    default_if_undefined: bool = True
    sums: SumsSpec | None = None
    description: str = ""
    remark: str = ""
    undefined: str = ""
    neutral: bool = False
    expected_of: str = ""
    cast: Cast = "float"
    bands: Mapping[str, float] = field(default_factory=dict)
    fit: FitSpec | None = None
    optional: bool = False

    @property
    def aggregate_name(self) -> str:
        """The name of the aggregate, as files have it."""
        return self.aggregate if isinstance(self.aggregate, str) else OWN_FUNCTION

    def as_number(self, given: Any) -> float | None:
        """Return what `compute` gave as a number, None where it gave none."""
        if given is None:
            return None
        found = CASTS[self.cast](given) if isinstance(self.cast, str) else self.cast(given)
        return None if found is None else float(found)

    def aggregated(self, values: Iterable[float]) -> float | None:
        """Return the aggregate of the topics' values, in topic order; None if there are none.

        Raises PluginError where a function of the user's own fails, or gives no number.
        """
        if isinstance(self.aggregate, str):
            return aggregate(self.aggregate, values)
        numbers = [float(value) for value in values]
        where = f"measure {self.name}: its aggregate"
        try:
            found = self.aggregate(numbers) if numbers else None
            found = None if found is None else float(found)
        except (Exception, SystemExit) as error:  # a user's own function can fail in any way
            place = place_in_code(error, self.aggregate)
            raise PluginError(f"{where}: {type(error).__name__}: {error} ({place})") from error
        if found is not None and not abs(found) < HUGE:
            raise PluginError(f"{where} is {found!r}, not a number")
        return found

    def band(self, value: float) -> str:
        """Return the name of a value, rounded as it is written; empty where it has none."""
        shown = round(value, DIGITS)
        return next((name for name, least in self.bands.items() if shown >= least), "")


CASTS: Mapping[str, Callable[[Any], float]] = {"float": float, "bool": bool, "int": int}


def share_measure(
    name: str, compute: Compute, counted: str, lower_is_better: bool = False, **more: Any
) -> MeasureSpec:
    """Return a measure from 0 to 1: `counted` says of what, as a sentence of its description."""
    way = "lower" if lower_is_better else "higher"
    description = f"{counted} From 0 to 1; {way} is better."
    return MeasureSpec(
        name, compute, lower_is_better=lower_is_better, description=description, **more
    )


def mean_of(values: Iterable[float], empty: float | None = None) -> float | None:
    """Return the mean of values, and `empty` of none; of truth values it is a share."""
    found = list(values)
    return sum(found) / len(found) if found else empty


def expected_weight(judgment: Judgment, weights: Mapping[str, float]) -> float:
    """Return the weight that a person would give a judged item on average, 0 to 1.

    `weights` are those of labels, 0 for others; partial support has 0.5 where they do not say.
    P(full) + w P(partial), and where no probabilities are known, the weight of the label.
    """
    partial, expected, full = weights.get(PARTIAL, 0.5), judgment.expected, judgment.p_full
    if expected is not None and partial == 0.5:
        return expected
    if expected is None or full is None:
        return weights.get(judgment.label or "", 0.0)
    return min(1.0, full + 2 * partial * (expected - full))


@dataclass(frozen=True, slots=True)
class LeaderboardSpec:
    """The measures of a judge, the one that ranks runs, and the rule for missing responses.

    Where most runs have no value of `sort_by`, the first measure of `then_by` that they have ranks.
    `fill` gives an unjudged judgment its best and worst outcome, for the bounds of a mean. `test`
    tells runs apart, for their letters of groups.
    `pooled_qrels`: the judge's qrels are classic ones, pooled over all runs. `expected` are the
    measures that rank in place of the one that they are `expected_of`: those that may, and once
    `Leaderboard.finish` has seen how items were decided, those that do.
    """

    measures: tuple[MeasureSpec, ...]
    sort_by: str = ""
    on_missing: OnMissingResponse = "fix_aggregate"
    fill: Fill | None = None
    pooled_qrels: bool = False
    then_by: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    test: PairTest = "tukey"

    def __post_init__(self) -> None:
        names = [measure.name for measure in self.measures]
        for measure in self.measures:
            _check(measure)
            if names.count(measure.name) > 1:
                raise PluginError(f"two measures are called {measure.name!r}")
        if self.sort_by and self.sort_by not in names:
            raise WorkflowError(unknown("measure", self.sort_by, names))
        if self.on_missing not in get_args(OnMissingResponse):
            raise WorkflowError(unknown("on_missing", self.on_missing, get_args(OnMissingResponse)))
        if self.test not in get_args(PairTest):
            raise WorkflowError(unknown("test", self.test, get_args(PairTest)))

    @property
    def ranked_by(self) -> str:
        """The measure that ranks runs: `sort_by`, or the first one."""
        return self.sort_by or self.measures[0].name

    def ranked_by_of(self, known: Mapping[str, int], runs: int) -> str:
        """Return the measure that ranks so many runs; `known` is how many have a value, by name."""
        choices = (self.ranked_by, *self.then_by)
        return next((m for m in choices if 2 * known.get(m, 0) >= runs), self.ranked_by)

    def in_place_of(self, name: str) -> str:
        """Return the measure that ranks in place of one of labels, else that one."""
        ours = (m.name for m in self.measures if m.expected_of == name and m.name in self.expected)
        return next(ours, name)

    def choose_defined(self, name: str, known: Mapping[str, int]) -> str:
        """Return a measure that is `known` of a run, or the first such one, its judge's first.

        Where none is, it is the measure itself.
        """
        judge = next((measure.judge for measure in self.measures if measure.name == name), "")
        others = sorted(self.measures, key=lambda other: other.judge != judge)
        names = (name, *(measure.name for measure in others))
        return next((one for one in names if known.get(one)), name)


def _check(measure: MeasureSpec) -> None:
    if not isinstance(measure.name, str) or not re.fullmatch(r"[!-~]+", measure.name):
        raise PluginError(f"measure {measure.name!r}: give a name without white space")
    if measure.name.endswith(UNJUDGED):
        message = f"give a name that does not end in {UNJUDGED!r}: such a row counts unjudged items"
        raise PluginError(f"measure {measure.name!r}: {message}")
    for what, given, names in (
        ("aggregate", measure.aggregate, get_args(Aggregate)),
        ("cast", measure.cast, tuple(CASTS)),
    ):
        if not callable(given) and given not in names:
            raise PluginError(f"measure {measure.name}: {unknown(what, str(given), names)}")
    if (measure.aggregate == "of_sums") != (measure.sums is not None):
        raise PluginError(f"measure {measure.name}: `of_sums` and `sums` go together")
    default = measure.default
    if default is not None and not (isinstance(default, int | float) and abs(default) < HUGE):
        raise PluginError(f"measure {measure.name}: its default is {default!r}, not a number")


def aggregate(how: Aggregate, values: Iterable[float]) -> float | None:
    """Return the aggregate of the topics' values, in topic order; None if there are none."""
    numbers = [float(value) for value in values]
    if not numbers:
        return None
    if how == "sum":
        return math.fsum(numbers)
    if how == "min":
        return min(numbers)
    if how == "max":
        return max(numbers)
    if how == "first_value":
        return numbers[0]
    return math.fsum(numbers) / len(numbers)  # fsum: the mean is the same in any order of topics


def are_compared(runs: int, topics: int) -> bool:
    """Return whether so many runs are tested against one another on so many topics."""
    return runs <= MOST_COMPARED and runs * runs * topics <= 2 * MOST_TESTED


def ranks(
    means: Mapping[str, float | None], lower_is_better: bool = False
) -> dict[str, int | None]:
    """Return the rank of each run by its mean, the best run first, those without a mean last.

    Means that agree to DIGITS decimals are tied: such runs are in the order of their ids, and
    share the best of their ranks: 1, 2, 2, 4. A run without a mean has no rank.
    """
    sign = 1.0 if lower_is_better else -1.0
    # Rounded first: means that are printed the same must not differ in rank by their last bits.
    keys = {run: sign * round(mean, DIGITS) for run, mean in means.items() if mean is not None}
    first: dict[float, int] = {}
    for rank, key in enumerate(sorted(keys.values()), 1):
        first.setdefault(key, rank)
    ranked = {run: first[keys[run]] for run in sorted(keys, key=lambda run: (keys[run], run))}
    return ranked | dict.fromkeys(sorted(means.keys() - keys.keys()))


def load_measure(reference: str) -> MeasureSpec:
    """Return the user's own measure at `package.module:name`: a MeasureSpec or a function.

    A function becomes a measure of its name in capitals, without a default, described by the first
    paragraph of its docstring. With `@JUDGE` at the end, it sees only the judgments of that judge.
    Raises PluginError.
    """
    address, _, judge = str(reference).partition("@")
    module, _, name = address.partition(":")
    try:
        found = getattr(import_named(module), name)
    except (Exception, SystemExit) as error:  # importing runs the user's own code
        message = f"measure {reference!r} cannot be imported: {error}; give package.module:name"
        raise PluginError(message) from error
    if isinstance(found, MeasureSpec):
        return replace(found, judge=found.judge or judge)
    if not callable(found):
        raise PluginError(f"measure {reference!r} is neither a MeasureSpec nor a function")
    described = (found.__doc__ or "").strip() if isfunction(found) else ""
    return MeasureSpec(
        name.upper(),
        cast(Compute, found),
        default=None,
        judge=judge,
        description=" ".join(described.partition("\n\n")[0].split()),
    )


def leaderboard_spec(
    own: LeaderboardSpec, wanted: Mapping[str, Any], references: Iterable[str] = ()
) -> LeaderboardSpec:
    """Return a judge's spec with `leaderboard:` of the workflow and the user's measures applied.

    `wanted` may hold `sort_by`, `on_missing`, `test`, and `measures`, the names to show. Nothing
    ranks in place of a `sort_by` that it names. Raises WorkflowError for an unknown name.
    """
    columns = (*own.measures, *(load_measure(reference) for reference in references))
    chosen = wanted.get("measures")
    if chosen is not None and not (chosen and isinstance(chosen, list)):
        raise WorkflowError(f"leaderboard.measures is {chosen!r}, must be a list of names")
    if chosen is not None:
        by_name = {measure.name: measure for measure in columns}
        for name in chosen:
            if not isinstance(name, str) or name not in by_name:
                raise WorkflowError(unknown("measure", str(name), by_name))
        columns = tuple(by_name[name] for name in chosen)
    names = [measure.name for measure in columns]
    sort_by = wanted.get("sort_by") or (own.sort_by if own.sort_by in names else "")
    on_missing = wanted.get("on_missing") or own.on_missing
    if not columns:
        raise PluginError("the judge has no measures")
    expected = () if wanted.get("sort_by") else tuple(m.name for m in columns if m.expected_of)
    return replace(
        own,
        measures=columns,
        sort_by=sort_by,
        on_missing=on_missing,
        expected=expected,
        test=wanted.get("test") or own.test,
    )
