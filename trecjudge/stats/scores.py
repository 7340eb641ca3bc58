"""Scores of runs by topic as arrays; duplicates and contradictions in their rows are reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from sys import intern
from typing import Literal

import numpy as np
import numpy.typing as npt

from trecjudge.errors import InputError, unknown
from trecjudge.findings import Finding, OnFinding
from trecjudge.measures import OWN_FUNCTION, UNJUDGED
from trecjudge.records import Place
from trecjudge.results.statistics import MeanKey, RunScore, Unjudged
from trecjudge.results.trec import LeaderboardRow
from trecjudge.settings.limits import limits
from trecjudge.stats.resampling import Array, ratio

NOISE_DIGITS = 10
"""Means that differ later than this are the same: sums in another order differ in their last."""


def aggregate_topics(values: Array, how: str = "") -> Array:
    """Return what topics give for each run: (runs, topics) -> (runs,). NaN where there is none.

    `how` is the aggregate of a measure; what it does not name is the mean. What a function of the
    judge's own makes of them is not known.
    """
    if how == OWN_FUNCTION:
        return np.full(len(values), np.nan)
    known = ~np.isnan(values)
    counts = known.sum(axis=1)
    # NaN would win every comparison: it is replaced by what cannot be the minimum, or maximum.
    if how == "min":
        found = np.where(known, values, np.inf).min(axis=1, initial=np.inf)
    elif how == "max":
        found = np.where(known, values, -np.inf).max(axis=1, initial=-np.inf)
    elif how == "first_value" and values.shape[1]:
        found = values[np.arange(len(values)), known.argmax(axis=1)]
    else:
        found = np.where(known, values, 0.0).sum(axis=1)
        if how != "sum":
            found = ratio(found, counts)
    return np.asarray(np.where(counts > 0, found, np.nan), dtype=np.float64).round(NOISE_DIGITS)


def is_mean_or_sum(how: str) -> bool:
    """Return whether an interval over topics is defined for what an aggregate makes."""
    return how not in ("min", "max", "first_value", "of_sums", OWN_FUNCTION)


Duplicates = Literal["first", "last", "mean", "error"]
Cells = dict[str, dict[tuple[str, str | None], list[float]]]
"""measure -> (run_id, topic_id) -> its values: more than one where there are duplicates."""


def collect_cells(
    rows: Iterable[tuple[Place, LeaderboardRow]], report: OnFinding, duplicates: Duplicates
) -> Cells:
    """Return the values of every row; what is given a second time is reported."""
    cells: Cells = {}
    for place, row in rows:
        # Each name once: a leaderboard has it in many rows.
        topic_id = row.topic_id if row.topic_id is None else intern(row.topic_id)
        found, key = cells.setdefault(row.measure, {}), (intern(row.run_id), topic_id)
        if (cell := found.get(key)) is None:
            found[key] = [row.value]
        else:
            _report_duplicate(place, row, cell[0], report, duplicates)
            cell.append(row.value)
    return cells


def rows_again(
    name: str, cells: Cells, duplicates: Duplicates
) -> Iterator[tuple[Place, LeaderboardRow]]:
    """Yield the rows again, one of each: duplicates were reported before."""
    for measure, found in cells.items():
        for (run_id, topic_id), numbers in found.items():
            value = _one_of(numbers, duplicates)
            yield Place(name), LeaderboardRow(run_id, topic_id, measure, value)


def arrays(
    cells: Cells, runs: Sequence[str], topics: Sequence[str], duplicates: Duplicates
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the values by topic, (runs, topics), and the `all` rows, (runs,), by measure."""
    at_run, at_topic = ({n: i for i, n in enumerate(names)} for names in (runs, topics))
    values = {m: np.full((len(runs), len(topics)), np.nan) for m in cells}
    given = {m: np.full(len(runs), np.nan) for m in cells}
    for measure, found in cells.items():
        for (run_id, topic_id), numbers in found.items():
            if topic_id is None:
                given[measure][at_run[run_id]] = _one_of(numbers, duplicates)
            else:
                values[measure][at_run[run_id], at_topic[topic_id]] = _one_of(numbers, duplicates)
    return values, given


def unjudged_topics(
    counts: Cells,
    measures: Sequence[str],
    runs: Sequence[str],
    topics: Sequence[str],
    duplicates: Duplicates,
) -> dict[str, npt.NDArray[np.bool_]]:
    """Return on which topics companion rows count unjudged items: (runs, topics) by measure."""
    found, _ = arrays(counts, runs, topics, duplicates)
    nothing = np.zeros((len(runs), len(topics)), dtype=bool)
    return {m: np.nan_to_num(found[m]) > 0 if m in found else nothing for m in measures}


def unjudged_items(
    counts: Cells, runs: Sequence[str], measures: Sequence[str], duplicates: Duplicates
) -> dict[MeanKey, Unjudged]:
    """Return what companion rows count; where there are some, a run without has none unjudged."""
    if not counts:
        return {}
    found = {(run, measure): Unjudged(0) for run in runs for measure in measures}
    for measure, cells in counts.items():
        totals: Counter[str] = Counter()
        for (run, topic_id), numbers in cells.items():
            # The run's own `all` count, else the sum over its topics: never both.
            if topic_id is None or (run, None) not in cells:
                totals[run] += int(_one_of(numbers, duplicates))
        found |= {(run, measure): Unjudged(items) for run, items in totals.items()}
    return found


def _one_of(numbers: Sequence[float], duplicates: Duplicates) -> float:
    if duplicates == "mean":
        return sum(numbers) / len(numbers)
    return numbers[-1 if duplicates == "last" else 0]


def _report_duplicate(
    place: Place, row: LeaderboardRow, first: float, report: OnFinding, duplicates: Duplicates
) -> None:
    topic = "all" if row.topic_id is None else row.topic_id
    what = f"run {row.run_id!r}, topic {topic!r}, {row.measure}"
    message = f"gives {what} a second time: {row.value:g}, before {first:g}"
    if duplicates == "error":
        raise InputError(f"{place}: {message} (--rows duplicates=error)")
    what_and_where = (place, message, f"{row.value:g}")
    if row.value == first:
        report(Finding("row_repeated", *what_and_where, run_id=row.run_id))
    else:
        report(Finding("row_duplicate", *what_and_where, run_id=row.run_id))


TOLERANCE = 1e-3
"""Rounding that an `all` row may differ by from its topics, relative to values above 1."""
ROUNDING = 1e-5
"""Rounding that rows of one job may differ by: they are written with six decimals."""
MOST_TOPICS = 1e6
"""More than this is not a number of topics, but comes of an `all` row that is nearly 0."""


@dataclass(frozen=True, slots=True)
class Scores:
    """A leaderboard as arrays.

    `values` are the values by topic as they enter the mean, shape (runs, topics) by measure; NaN
    does not enter it. `given` are the `all` rows, shape (runs,) by measure; NaN where there is
    none. `unjudged` has what is known of unjudged items, and `known` what statistics have; of what
    is in neither nothing is known. `disputed` are the measures with `all` rows that topics
    contradict.
    """

    name: str
    runs: Sequence[str]
    topics: Sequence[str]
    values: Mapping[str, Array]
    given: Mapping[str, Array]
    unjudged: Mapping[MeanKey, Unjudged] = field(default_factory=dict)
    known: Mapping[MeanKey, RunScore] = field(default_factory=dict)
    disputed: Collection[str] = ()
    statistics: str = ""
    """The file from which `known` was read, if any."""

    @property
    def measures(self) -> list[str]:
        """The names of the measures, in the order of the file."""
        return list(self.values)

    def choose_measures(self, wanted: Collection[str]) -> list[str]:
        """Return the measures that are wanted, all where none is named. Raises InputError."""
        for name in wanted:
            if name not in self.values:
                raise InputError(f"{self.name}: {unknown('measure', name, self.values)}")
        return [name for name in self.values if not wanted or name in wanted]

    def aggregate(self, measure: str) -> str:
        """Return how topics make the mean of a measure, no text where statistics do not have it."""
        return next((k.aggregate for (_, name), k in self.known.items() if name == measure), "")

    def means(self, measure: str) -> Array:
        """Return what the topics give for each run: (runs,). NaN where there is no topic."""
        return aggregate_topics(self.values[measure], self.aggregate(measure))

    @property
    def runs_with_value(self) -> dict[str, int]:
        """How many runs have an `all` value, by measure."""
        return {m: int(np.isfinite(self.overall(m)).sum()) for m in self.measures}

    def overall(self, measure: str) -> Array:
        """Return the `all` row of each run, what its topics give where it has none: (runs,)."""
        given = self.given[measure]
        return np.where(np.isnan(given), self.means(measure), given)

    def contradictions(self, measure: str) -> Array:
        """Return by how much `all` rows are not what their topics give: (runs,).

        By the aggregate that statistics name, else the mean or the sum, one of them for all runs.
        """
        given = self.given[measure]
        apart = _distance(self.means(measure), given)
        if not self.aggregate(measure):
            apart_from_sums = _distance(self._sums(measure), given)
            if (apart_from_sums > 0).sum() < (apart > 0).sum():
                return apart_from_sums
        return apart

    def are_sums(self, measure: str) -> npt.NDArray[np.bool_]:
        """Return of which runs the `all` row is the sum of their topics, not the mean: (runs,)."""
        given = self.given[measure]
        no_means = _distance(aggregate_topics(self.values[measure]), given) > 0
        found: npt.NDArray[np.bool_] = no_means & (_distance(self._sums(measure), given) == 0)
        return found

    def _sums(self, measure: str) -> Array:
        return aggregate_topics(self.values[measure], "sum")

    def without_all(self, measures: Collection[str]) -> Scores:
        """Return the scores without `all` rows of measures: their topics decide.

        A measure that has no topics at all keeps its rows.
        """
        given = dict(self.given)
        for measure in measures:
            if not np.isnan(self.means(measure)).all():
                given[measure] = np.full_like(given[measure], np.nan)
        return replace(self, given=given)

    def by_answer(self, of_one_run: bool = False) -> Scores:
        """Return the scores with each answer, of a run to a topic, in the place of a run.

        They are called `RUN TOPIC`, or TOPIC only where they are `of_one_run`. No topics are left.
        """
        there = np.logical_or.reduce([np.isfinite(v) for v in self.values.values()])
        names = [
            topic if of_one_run else f"{run} {topic}"
            for run, own in zip(self.runs, there, strict=True)
            for topic, has in zip(self.topics, own, strict=True)
            if has
        ]
        given = {m: v[there] for m, v in self.values.items()}
        values = {m: np.empty((len(names), 0)) for m in self.values}
        return Scores(self.name, names, [], values, given, statistics=self.statistics)

    def only(self, runs: Sequence[str], topics: Sequence[str] | None = None) -> Scores:
        """Return the scores of these runs, in this order, and of these topics, all where None."""
        at_run, at_topic = ({n: i for i, n in enumerate(own)} for own in (self.runs, self.topics))
        rows = [at_run[run] for run in runs]
        kept = self.topics if topics is None else topics
        columns = [at_topic[topic] for topic in kept]
        values = {m: v[np.ix_(rows, columns)] for m, v in self.values.items()}
        given = {m: v[rows] for m, v in self.given.items()}
        return replace(self, runs=list(runs), topics=list(kept), values=values, given=given)


def _entering(values: Array, given: Array, unjudged: npt.NDArray[np.bool_]) -> Array:
    """Return values by topic as they enter the mean: (runs, topics).

    A run without a value on a topic has 0 there, as in TREC, unless its `all` row is a mean that
    leaves such topics out, or the topic is known to be unjudged; where its row fits both, it is
    as most of the others are. A run without any value stays without.
    """
    answered = ~np.isnan(values).all(axis=1, keepdims=True)
    zeros: Array = np.where(answered, np.nan_to_num(values), np.nan)
    # The judge's failure is no zero of the run.
    zeros = np.where(unjudged & np.isnan(values), np.nan, zeros)
    with_zeros, without = (_distance(aggregate_topics(v), given) for v in (zeros, values))
    left_out = without < with_zeros
    if without.sum() < with_zeros.sum():
        left_out |= without == with_zeros
    return np.where(left_out[:, None], values, zeros)


def _distance(found: Array, given: Array) -> Array:
    """Return how far `all` rows are from what they should be; 0 within rounding, or where none."""
    apart = np.abs(found - given) / np.maximum(1.0, np.abs(given))
    return np.where(np.isnan(apart) | (apart <= TOLERANCE), 0.0, apart)


def scores_of(
    name: str,
    rows: Iterable[tuple[Place, LeaderboardRow]],
    report: OnFinding,
    duplicates: Duplicates = "first",
    known: Mapping[MeanKey, RunScore] | None = None,
) -> Scores:
    """Return the rows as arrays, runs and topics sorted; duplicates and contradictions reported.

    Companion rows are no measures of their own: they count unjudged items, where statistics do
    not. What is `known` to enter the means is taken as it is; the rest is worked out
    (`_entering`); where rows and what is `known` differ, it is of another job, and not used. Raises
    InputError without any row, and for a duplicate with `duplicates` error.
    """
    known = known or {}
    every = collect_cells(rows, report, duplicates)
    cells = {m: found for m, found in every.items() if not m.endswith(UNJUDGED)}
    counts = {m.removesuffix(UNJUDGED): v for m, v in every.items() if m.endswith(UNJUDGED)}
    for measure in (*counts, *(measure for _, measure in known)):
        cells.setdefault(measure, {})
    if not cells:
        raise InputError(f"{name}: no scores in it; give a leaderboard")
    keys = {key for found in (*cells.values(), *counts.values()) for key in found}
    runs = sorted({run for run, _ in keys} | {run for run, _ in known})
    in_statistics = (k.by_topic for k in known.values() if k.by_topic)
    topics = sorted({topic for _, topic in keys if topic is not None}.union(*in_statistics))
    limits().check_table(name, len(runs), len(topics), len(cells))
    at = {run: row for row, run in enumerate(runs)}
    values, given = arrays(cells, runs, topics, duplicates)
    if known:
        differs = _difference(at, topics, values, given, known)
        if differs:
            message = f"its statistics are not used: {differs}: they are of two jobs"
            report(Finding("statistics_differ", Place(name), message))
            # Runs and topics that only the other job had are gone with what is known of it.
            return scores_of(name, rows_again(name, every, duplicates), report)
    gaps = unjudged_topics(counts, list(values), runs, topics, duplicates)
    entering = {m: _entering(v, given[m], gaps[m]) for m, v in values.items()}
    for (run_id, measure), one in known.items():
        if one.by_topic is not None:
            enters = np.array([one.by_topic.get(topic) for topic in topics], dtype=float)
            entering[measure][at[run_id]] = enters if one.mean is not None else np.nan
    for measure, counted in counts.items():
        for run_id, topic_id in counted:
            # A row that is not there, for what is unjudged, is not made of other topics.
            if topic_id is None and np.isnan(given[measure][at[run_id]]):
                entering[measure][at[run_id]] = np.nan
    unjudged = unjudged_items(counts, runs, list(cells), duplicates)
    unjudged |= {key: one.gaps for key, one in known.items()}
    scores = Scores(name, runs, topics, entering, given, unjudged, known)
    return replace(scores, disputed=_report_contradictions(scores, report))


def _difference(
    at: Mapping[str, int],
    topics: Sequence[str],
    values: Mapping[str, Array],
    given: Mapping[str, Array],
    known: Mapping[MeanKey, RunScore],
) -> str:
    """Return where rows are not what is known of their job, no text where they are."""
    for (run_id, measure), one in known.items():
        row = at[run_id]
        here, there = float(given[measure][row]), one.mean
        rows = values[measure][row]
        missing = np.isnan(here) and (there is None or not np.isnan(rows).all())
        if not missing and (there is None or not abs(here - there) <= ROUNDING):
            in_rows = None if np.isnan(here) else here
            return f"run {run_id!r}, {measure} has mean {there}, the leaderboard {in_rows}"
        if one.by_topic is not None:
            entering = np.array([one.by_topic.get(topic) for topic in topics], dtype=float)
            if (~np.isnan(rows) & ~(np.abs(rows - entering) <= ROUNDING)).any():
                return (
                    f"run {run_id!r}, {measure} has other topics, or values, than the leaderboard"
                )
    return ""


def _report_contradictions(scores: Scores, report: OnFinding) -> list[str]:
    """Report `all` rows that are not what their topics give; return the measures that have some.

    Of a run whose topics are known, but not how they make its mean, none is doubted.
    """
    contradictions = {}
    for measure, given in scores.given.items():
        means = scores.means(measure)
        for run in np.flatnonzero(scores.contradictions(measure)).tolist():
            one = scores.known.get((scores.runs[run], measure))
            if one is not None and one.by_topic is not None and not one.aggregate:
                continue
            message = (
                f"run {scores.runs[run]!r}, {measure}: the `all` row is {given[run]:.4g},"
                f" its topics give {means[run]:.4g}"
            )
            place = Place(scores.name)
            finding = Finding("all_row_differs", place, message, run_id=scores.runs[run])
            contradictions[finding] = measure
    expected = _topics_expected(scores) if contradictions and not scores.known else None
    if expected is None:
        for finding in contradictions:
            report(finding)
        return list(dict.fromkeys(contradictions.values()))
    message = (
        f"its `all` rows are means over {expected} topics, it has rows of {len(scores.topics)}: on"
        " the others, which no run answered, all count 0"
    )
    report(Finding("topics_unseen", Place(scores.name), message))
    return []


def _topics_expected(scores: Scores) -> int | None:
    """Return the one number of topics, more than there are, that makes all `all` rows means.

    A single row proves nothing: it is easily a mean over some number of topics.
    """
    counts = []
    for measure, given in scores.given.items():
        sums = np.nan_to_num(scores.values[measure]).sum(axis=1)
        # sum / mean is the number of topics, if the row is a mean: a whole number, and the same
        # for all rows.
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            fits = np.round(sums / given)
            off = _distance(ratio(sums, fits), given)
        for count, apart in zip(fits.tolist(), off.tolist(), strict=True):
            if not np.isnan(count):
                counts.append(count if apart == 0 else -1.0)
    if len(counts) < 2 or len(set(counts)) > 1:
        return None
    return int(counts[0]) if len(scores.topics) < counts[0] < MOST_TOPICS else None
