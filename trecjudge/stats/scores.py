"""Scores of runs by topic as arrays, with what is odd in the rows that they were read from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from trecjudge.errors import InputError, unknown
from trecjudge.findings import Finding, Report
from trecjudge.records import Place
from trecjudge.stats.resampling import Array, ratio
from trecjudge.trec import LeaderboardRow

Duplicates = Literal["first", "last", "mean", "error"]
TOLERANCE = 1e-3
"""How far an `all` row may be from what its topics give, relative to values above 1: rounding."""
ROUNDING = 1e-5
"""How far the rows of one job may be apart: they are written with six decimals."""
MOST_TOPICS = 1e6
DIGITS = 10
"""Means that differ later than this are the same: sums in another order differ in their last."""


Key = tuple[str, str]
"""(run_id, measure)"""
Entering = Mapping[Key, Mapping[str, float | None]]
"""By topic the value that enters the mean, None where none does: of every topic of a job."""


Cells = dict[str, dict[tuple[str, str | None], list[float]]]
"""measure -> (run_id, topic_id) -> its values: more than one where there are duplicates."""


@dataclass(frozen=True, slots=True)
class Scores:
    """A leaderboard as arrays.

    `values` are the values by topic as they enter the mean, shape (runs, topics) by measure; NaN
    does not enter it. `given` are the `all` rows, shape (runs,) by measure; NaN where there is
    none.
    """

    name: str
    runs: Sequence[str]
    topics: Sequence[str]
    values: Mapping[str, Array]
    given: Mapping[str, Array]

    @property
    def measures(self) -> list[str]:
        """The names of the measures, in the order of the file."""
        return list(self.values)

    def chosen(self, wanted: Collection[str]) -> list[str]:
        """Return the measures that are wanted, all where none is named. Raises InputError."""
        for name in wanted:
            if name not in self.values:
                raise InputError(f"{self.name}: {unknown('measure', name, self.values)}")
        return [name for name in self.values if not wanted or name in wanted]

    def means(self, measure: str) -> Array:
        """Return what the topics give for each run: (runs,). NaN where there is no topic."""
        return _means(self.values[measure])

    def overall(self, measure: str) -> Array:
        """Return the `all` row of each run, what its topics give where it has none: (runs,)."""
        given = self.given[measure]
        return np.where(np.isnan(given), self.means(measure), given)

    def contradicted(self, measure: str) -> Array:
        """Return by how much `all` rows are neither mean nor sum of their topics: (runs,)."""
        given = self.given[measure]
        apart = np.minimum(
            _distance(self.means(measure), given), _distance(self._sums(measure), given)
        )
        return np.asarray(apart, dtype=np.float64)

    def summed(self, measure: str) -> npt.NDArray[np.bool_]:
        """Tell of which runs the `all` row is the sum of their topics, not the mean: (runs,)."""
        given = self.given[measure]
        no_means = _distance(self.means(measure), given) > 0
        found: npt.NDArray[np.bool_] = no_means & (_distance(self._sums(measure), given) == 0)
        return found

    def _sums(self, measure: str) -> Array:
        values = self.values[measure]
        answered = ~np.isnan(values).all(axis=1)
        return np.where(answered, np.nan_to_num(values).sum(axis=1), np.nan)

    def only(self, runs: Sequence[str], topics: Sequence[str] | None = None) -> Scores:
        """Return the scores of these runs, in this order, and of these topics, all where None."""
        rows = [self.runs.index(run) for run in runs]
        kept = self.topics if topics is None else topics
        columns = [self.topics.index(topic) for topic in kept]
        values = {m: v[np.ix_(rows, columns)] for m, v in self.values.items()}
        given = {m: v[rows] for m, v in self.given.items()}
        return Scores(self.name, list(runs), list(kept), values, given)


def _filled(values: Array, given: Array) -> Array:
    """Return values by topic as they enter the mean: (runs, topics).

    A run without a value on a topic has 0 there, as in TREC, unless its `all` row is a mean that
    leaves such topics out; where its row tells neither, it is as most of the others are. A run
    without any value stays without.
    """
    answered = ~np.isnan(values).all(axis=1, keepdims=True)
    zeros: Array = np.where(answered, np.nan_to_num(values), np.nan)
    with_zeros, without = (_distance(_means(v), given) for v in (zeros, values))
    left_out = without < with_zeros
    if without.sum() < with_zeros.sum():
        left_out |= without == with_zeros
    return np.where(left_out[:, None], values, zeros)


def _means(values: Array) -> Array:
    known = ~np.isnan(values)
    sums, counts = np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1)
    return ratio(sums, counts).round(DIGITS)


def _distance(found: Array, given: Array) -> Array:
    """Return how far `all` rows are from what they should be; 0 within rounding, or where none."""
    apart = np.abs(found - given) / np.maximum(1.0, np.abs(given))
    return np.where(np.isnan(apart) | (apart <= TOLERANCE), 0.0, apart)


def scores_of(
    name: str,
    rows: Iterable[tuple[Place, LeaderboardRow]],
    report: Report,
    duplicates: Duplicates = "first",
    entering: Entering | None = None,
) -> Scores:
    """Return the rows as arrays, runs and topics sorted; duplicates and contradictions reported.

    What is `entering` the means is taken as it is; what it does not tell is found out (`_filled`).
    Raises InputError without any row, for a duplicate with `duplicates` error, and where a row is
    not what enters.
    """
    known = entering or {}
    cells: Cells = {}
    for place, row in rows:
        cell = cells.setdefault(row.measure, {}).setdefault((row.run_id, row.topic_id), [])
        if cell:
            _report_duplicate(place, row, cell[0], report, duplicates)
        cell.append(row.value)
    for _, measure in known:
        cells.setdefault(measure, {})
    if not cells:
        raise InputError(f"{name}: no scores in it; give a leaderboard")
    keys = {key for found in cells.values() for key in found}
    runs = sorted({run for run, _ in keys} | {run for run, _ in known})
    topics = sorted({topic for _, topic in keys if topic is not None}.union(*known.values()))
    values, given = _arrays(cells, runs, topics, duplicates)
    filled = {m: _filled(v, given[m]) for m, v in values.items()}
    for (run_id, measure), by_topic in known.items():
        place_of_run = runs.index(run_id)
        enters = np.array([by_topic.get(topic) for topic in topics], dtype=float)
        _check_same_job(name, values[measure][place_of_run], enters, run_id, measure)
        filled[measure][place_of_run] = enters
    scores = Scores(name, runs, topics, filled, given)
    _report_contradictions(scores, report, known)
    return scores


def _arrays(
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


def _check_same_job(name: str, rows: Array, entering: Array, run_id: str, measure: str) -> None:
    """Raise InputError where a row is not what enters the mean."""
    if (~np.isnan(rows) & ~(np.abs(rows - entering) <= ROUNDING)).any():
        raise InputError(
            f"{name}: the leaderboard and its statistics differ on run {run_id!r}, {measure}: they"
            " are of two jobs; `rescore` writes both anew"
        )


def _one_of(numbers: Sequence[float], duplicates: Duplicates) -> float:
    if duplicates == "mean":
        return sum(numbers) / len(numbers)
    return numbers[-1 if duplicates == "last" else 0]


def _report_duplicate(
    place: Place, row: LeaderboardRow, first: float, report: Report, duplicates: Duplicates
) -> None:
    topic = "all" if row.topic_id is None else row.topic_id
    what = f"run {row.run_id!r}, topic {topic!r}, {row.measure}"
    message = f"gives {what} a second time: {row.value:g}, before {first:g}"
    if duplicates == "error":
        raise InputError(f"{place}: {message} (--duplicates error)")
    told = (place, message, f"{row.value:g}")
    if row.value == first:
        report(Finding("row_repeated", *told, run_id=row.run_id))
    else:
        report(Finding("row_duplicate", *told, run_id=row.run_id))


def _report_contradictions(scores: Scores, report: Report, known: Collection[Key]) -> None:
    """Report `all` rows that are neither the mean nor the sum of their run's topics.

    Those of runs and measures that are `known` are left alone: of them it is certain what enters.
    """
    told = []
    for measure, given in scores.given.items():
        means = scores.means(measure)
        for run in np.flatnonzero(scores.contradicted(measure)).tolist():
            if (scores.runs[run], measure) in known:
                continue
            message = (
                f"run {scores.runs[run]!r}, {measure}: the `all` row is {given[run]:.4g},"
                f" its topics give {means[run]:.4g}"
            )
            place = Place(scores.name)
            told.append(Finding("all_row_differs", place, message, run_id=scores.runs[run]))
    expected = _topics_expected(scores) if told and not known else None
    if expected is None:
        for finding in told:
            report(finding)
        return
    message = (
        f"its `all` rows are means over {expected} topics, it has rows of {len(scores.topics)}: on"
        " the others, which no run answered, all count 0"
    )
    report(Finding("topics_unseen", Place(scores.name), message))


def _topics_expected(scores: Scores) -> int | None:
    """Return the one number of topics, more than there are, that makes all `all` rows means.

    One row alone, which is a mean over some number of topics easily, speaks for none.
    """
    counts = []
    for measure, given in scores.given.items():
        sums = np.nan_to_num(scores.values[measure]).sum(axis=1)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            fits = np.round(sums / given)
            off = _distance(ratio(sums, fits), given)
        for count, apart in zip(fits.tolist(), off.tolist(), strict=True):
            if not np.isnan(count):
                counts.append(count if apart == 0 else -1.0)
    if len(counts) < 2 or len(set(counts)) > 1:
        return None
    return int(counts[0]) if len(scores.topics) < counts[0] < MOST_TOPICS else None
