"""Meta-evaluation: correlations of the order of runs by a judge with that by people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, ignore
from trecjudge.measures import DIGITS, are_compared
from trecjudge.records import Place
from trecjudge.results.statistics import Unjudged
from trecjudge.stats.alignment import (
    FEWEST_RUNS,
    Rules,
    choose_all_rows,
    defined_measures,
    report_unjudged,
    rows_of_both,
    same_runs,
    same_topics,
)
from trecjudge.stats.correlation import (
    DEFAULT,
    Coefficient,
    PairKey,
    coefficients,
    correlations,
)
from trecjudge.stats.order import Decisions, OrderMoved, TeamOrder, order_moved, team_orders
from trecjudge.stats.resampling import (
    FEWER_RESAMPLES,
    NO_INTERVAL,
    SEED,
    Array,
    Interval,
    draws,
    interval_of,
    resampled_means,
    steady_orders,
)
from trecjudge.stats.scores import NOISE_DIGITS, Scores, is_mean_or_sum

FEW = 64
"""Runs that so few take as long as: what is held of a pair of measures counts then."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """A coefficient with its intervals over topics and over runs; None where it is not defined."""

    name: str
    value: float | None
    topics: Interval
    runs: Interval


@dataclass(frozen=True, slots=True)
class Correlated:
    """A measure of a judge beside a measure of the truth.

    `truth` and `predicted` are the means of `runs`; `topics` the number that both sides have.
    `unjudged` is what is known of each run's unjudged items, in the truth and in the predicted.
    `decisions` are those of a test, of measures of one name; `teams` are there where asked for.
    """

    name: str
    truth_measure: str
    measure: str
    runs: Sequence[str]
    topics: int
    truth: Sequence[float]
    predicted: Sequence[float]
    correlations: Sequence[Correlation]
    unjudged: Sequence[tuple[Unjudged | None, Unjudged | None]] = ()
    decisions: Decisions | None = None
    teams: Sequence[TeamOrder] = ()

    @property
    def of_one_name(self) -> bool:
        """Whether both measures have the same name, but for that of a judge before it."""
        ours, theirs = f".{self.measure}", f".{self.truth_measure}"
        return ours.endswith(theirs) or theirs.endswith(ours)

    def items_unjudged(self) -> tuple[int | None, int | None]:
        """Return how many items are unjudged in the truth and in the predicted; None: not known."""
        truth, predicted = zip(*self.unjudged, strict=True) if self.unjudged else ((), ())
        return _total(truth), _total(predicted)

    def unjudged_runs(self) -> dict[str, str]:
        """Return the runs of which items are unjudged on a side, and how many."""
        found = {}
        for run_id, (truth, predicted) in zip(self.runs, self.unjudged, strict=False):
            here = predicted.with_bounds if predicted and predicted.items else ""
            there = f"{truth.with_bounds} in the truth" if truth and truth.items else ""
            if here or there:
                found[run_id] = ", ".join(filter(None, (here, there)))
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        gaps = self.unjudged or [(None, None)] * len(self.runs)
        columns = zip(self.runs, self.truth, self.predicted, gaps, strict=True)
        in_truth, in_predicted = self.items_unjudged()
        return {
            "name": self.name,
            "truth_measure": self.truth_measure,
            "measure": self.measure,
            "of_one_name": self.of_one_name,
            "runs": len(self.runs),
            "topics": self.topics,
            "unjudged": {"truth": in_truth, "predicted": in_predicted},
            "correlations": {
                c.name: {"value": c.value, "over_topics": c.topics, "over_runs": c.runs}
                for c in self.correlations
            },
            "decisions": self.decisions,
            "teams": list(self.teams),
            "means": [
                {"run_id": run_id, "truth": truth, "predicted": predicted} | _gaps(*gap)
                for run_id, truth, predicted, gap in columns
            ],
        }


def _gaps(truth: Unjudged | None, predicted: Unjudged | None) -> dict[str, Any]:
    """Return what is known of a run's unjudged items, as JSON values: nothing where it is not."""
    return {"unjudged": {"truth": truth, "predicted": predicted}} if truth or predicted else {}


def _total(found: Sequence[Unjudged | None]) -> int | None:
    known = [one.items for one in found if one is not None]
    return sum(known) if known else None


def meta_evaluate(
    truth: Scores, predicted: Scores, rules: Rules, report: OnFinding
) -> list[Correlated]:
    """Return every wanted measure of the predicted side beside every wanted one of the truth.

    Pairs of one name come first. A measure that a run lacks is left out, unless `rules` allow that.
    Raises InputError for runs on one side only, unless `rules` allow them, for fewer than three
    runs in common, and where no pair is left.
    """
    truth_measures = truth.choose_measures(rules.truth_measures)
    measures = predicted.choose_measures(rules.measures)
    truth, predicted = same_runs(truth, predicted, rules, report)
    count, times = len(truth.runs), len(truth_measures) * len(measures)
    if not are_compared(max(count, FEW), times):
        raise InputError(
            f"{predicted.name}: {count:,} runs are too many to correlate ({times:,} times, by pairs"
            " of measures); give fewer, or name measures (--measure, --truth FILE measure=NAME)"
        )
    named = rules.correlations
    if tuple(named) == DEFAULT:
        named = [name for name in named if int(name.partition("@")[2] or 0) < count]
    wanted = coefficients(named)
    topics = same_topics(truth, predicted, rules, report)
    truth, predicted = (choose_all_rows(side, rules, topics) for side in (truth, predicted))
    truth_measures = defined_measures(truth, truth_measures, rules, report)
    measures = defined_measures(predicted, measures, rules, report)
    report_unjudged(truth, truth_measures, report)
    report_unjudged(predicted, measures, report)
    # Measures that the same runs have share their resamples, and the work on them.
    together: dict[tuple[int, ...], list[tuple[str, str]]] = {}
    for pair in product(truth_measures, measures):
        if rows := rows_of_both(truth, predicted, *pair, report):
            together.setdefault(rows, []).append(pair)
    if not together:
        raise InputError(
            f"{predicted.name}: no measure has {FEWEST_RUNS} runs in common with one"
            f" of {truth.name}"
        )
    found: dict[tuple[str, str], Correlated] = {}
    for rows, pairs in together.items():
        runs = [truth.runs[row] for row in rows]
        sides = _Sides.of(truth.only(runs), predicted.only(runs), topics, pairs)
        _report_ties(sides.truth, truth.name, report)
        _report_ties(sides.predicted, predicted.name, report)
        found |= dict(sides.correlate(pairs, wanted, rules.teams))
    every = (found[pair] for pair in product(truth_measures, measures) if pair in found)
    return sorted(every, key=lambda one: not one.of_one_name)


def moved_orders(
    truth: Scores, before: Scores, after: Scores, rules: Rules, report: OnFinding
) -> list[OrderMoved]:
    """Return how far the order by each measure moves between two leaderboards of one judge.

    Each measure that both have stands beside those of its name in the truth, else beside all of the
    truth. Runs and topics are those that all three have. Raises InputError as `meta_evaluate` does.
    """
    measures = [m for m in before.choose_measures(rules.measures) if m in after.measures]
    truth, before = same_runs(truth, before, rules, report)
    truth, after = same_runs(truth, after, replace(rules, on_missing="common"), report)
    before = before.only(truth.runs)
    topics = same_topics(truth, before, rules, ignore)
    topics = [topic for topic in topics if topic in set(after.topics)]
    sides = [choose_all_rows(side, rules, topics) for side in (truth, before, after)]
    found = []
    for measure in measures:
        every = truth.choose_measures(rules.truth_measures)
        own = [m for m in every if f".{measure}".endswith(f".{m}")] or every
        for theirs in own:
            names = (theirs, measure, measure)
            chosen = list(zip(sides, names, strict=True))
            columns = [side.overall(name).round(NOISE_DIGITS) for side, name in chosen]
            if np.isnan(columns).any():
                continue
            by_topic = [
                side.only(side.runs, topics).values[name]
                for side, name in chosen
                if len(topics) > 1
            ]
            found.append(order_moved((measure, theirs), truth.runs, columns, by_topic))
    return found


def _report_ties(means: Mapping[str, Array], name: str, report: OnFinding) -> None:
    for measure, values in means.items():
        distinct = len(np.unique(values))
        if distinct == 1:
            message = f"{measure} is the same for all {len(values)} runs: {values[0]:g}"
            report(Finding("scores_constant", Place(name), message))
        elif distinct < len(values):
            message = f"{measure}: {len(values)} runs have {distinct} different values"
            report(Finding("scores_tied", Place(name), message))


@dataclass(frozen=True, slots=True)
class _Sides:
    """Both sides over the same runs: means (runs,) and values by topic (runs, topics), by measure.

    Runs and topics stand in an order that their values make, so that no name decides which ones a
    resample draws. `by_topic` is empty where a side has no values by topic.
    """

    scores: tuple[Scores, Scores]
    runs: Sequence[str]
    topics: int
    truth: Mapping[str, Array]
    predicted: Mapping[str, Array]
    by_topic: Sequence[Mapping[str, Array]]

    @classmethod
    def of(
        cls,
        truth: Scores,
        predicted: Scores,
        topics: Sequence[str],
        pairs: Sequence[tuple[str, str]],
    ) -> _Sides:
        wanted = [list(dict.fromkeys(names)) for names in zip(*pairs, strict=True)]
        sides = list(zip((truth, predicted), wanted, strict=True))
        means = [{m: s.overall(m).round(NOISE_DIGITS) for m in names} for s, names in sides]
        values: list[dict[str, Array]] = []
        columns = [v for side in means for v in side.values()]
        order = np.lexsort(columns[::-1])
        if len(topics) >= 2:
            values = [{m: s.only(s.runs, topics).values[m] for m in names} for s, names in sides]
            tables = [v for side in values for v in side.values()]
            # With the means first: runs of one mean are ordered by their topics.
            wide = [np.broadcast_to(v[:, None], tables[0].shape) for v in columns]
            rows, by_topic = steady_orders([*wide, *tables])
            order = rows[np.lexsort([v[rows] for v in reversed(columns)])]
            values = [{m: v[np.ix_(order, by_topic)] for m, v in side.items()} for side in values]
        return cls(
            (truth, predicted),
            [truth.runs[row] for row in order.tolist()],
            len(topics),
            {m: v[order] for m, v in means[0].items()},
            {m: v[order] for m, v in means[1].items()},
            values,
        )

    def correlate(
        self,
        pairs: Sequence[tuple[str, str]],
        wanted: Mapping[str, Coefficient],
        teams: Mapping[str, str] | None = None,
    ) -> Iterator[tuple[tuple[str, str], Correlated]]:
        """Yield each pair of measures with its coefficients."""
        values = self._resample(wanted, lambda v: v[None])
        over_topics, over_runs = self._over_topics(wanted), self._over_runs(wanted)
        for pair in pairs:
            found = []
            sides = list(zip(self.scores, pair, strict=True))
            resampled = all(is_mean_or_sum(s.aggregate(measure)) for s, measure in sides)
            for name in wanted:
                key = (*pair, name)
                value = float(values[key][0])
                topics = over_topics.get(key) if resampled else None
                found.append(
                    Correlation(
                        name,
                        None if np.isnan(value) else round(value, DIGITS),
                        NO_INTERVAL if topics is None else self._centre(topics, value, name),
                        interval_of(over_runs[key], len(self.runs)).round_to(DIGITS),
                    )
                )
            means = self.truth[pair[0]].tolist(), self.predicted[pair[1]].tolist()
            truth, predicted = (
                [s.unjudged.get((run, measure)) for run in self.runs] for s, measure in sides
            )
            gaps = list(zip(truth, predicted, strict=True))
            name = self.scores[1].name
            one = Correlated(name, *pair, self.runs, self.topics, *means, found, gaps)
            yield pair, self._look_closer(one, len(pairs) == 1, teams)

    def _look_closer(
        self, one: Correlated, is_only: bool, teams: Mapping[str, str] | None
    ) -> Correlated:
        """Return it with what a test tells apart, and with its order by team, where asked for."""
        if not (one.of_one_name or is_only):
            return one
        by_topic = None
        if self.by_topic:
            truth, predicted = self.by_topic
            by_topic = truth[one.truth_measure], predicted[one.measure]
        if by_topic is not None:
            one = replace(one, decisions=Decisions.of(*by_topic))
        if teams is not None:
            means = self.truth[one.truth_measure], self.predicted[one.measure]
            one = replace(one, teams=[*team_orders(self.runs, teams, means, by_topic)])
        return one

    def _over_topics(self, wanted: Mapping[str, Coefficient]) -> dict[PairKey, Array]:
        """Return coefficients of resampled topics, both sides drawn together."""
        if not self.by_topic:
            return {}
        weights = draws(self.topics, FEWER_RESAMPLES)
        truth, predicted = (
            {m: resampled_means(v, weights).T.round(NOISE_DIGITS) for m, v in side.items()}
            for side in self.by_topic
        )
        return correlations(truth, predicted, wanted)

    def _over_runs(self, wanted: Mapping[str, Coefficient]) -> dict[PairKey, Array]:
        """Return coefficients of resampled runs: other systems might have taken part."""
        runs = len(self.runs)
        drawn = np.random.default_rng(SEED).integers(0, runs, (FEWER_RESAMPLES, runs))
        return self._resample(wanted, lambda v: v[drawn])

    def _resample(
        self, wanted: Mapping[str, Coefficient], draw: Callable[[Array], Array]
    ) -> dict[PairKey, Array]:
        """Return the coefficients of means as `draw` makes them: (runs,) -> (resamples, runs)."""
        truth = {m: draw(v) for m, v in self.truth.items()}
        predicted = {m: draw(v) for m, v in self.predicted.items()}
        return correlations(truth, predicted, wanted)

    def _centre(self, resamples: Array, value: float, name: str) -> Interval:
        """Return the interval of resampled topics, moved so that its middle is the value itself.

        A resample repeats topics, and orders the runs less well than as many different topics do:
        by as much its coefficients are too low.
        """
        low, high = interval_of(resamples, self.topics)
        if low is None or high is None:
            return NO_INTERVAL
        moved = value - float(np.nanmedian(resamples))
        least = 0.0 if name.startswith("pairwise_accuracy") else -1.0
        return Interval(max(low + moved, least), min(high + moved, 1.0)).round_to(DIGITS)
