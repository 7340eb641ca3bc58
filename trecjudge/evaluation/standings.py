"""Where the runs of a leaderboard stand by each measure, as its statistics or its topics say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trecjudge.errors import InputError, TrecJudgeError, unknown
from trecjudge.evaluation.loading import scores_at
from trecjudge.findings import OnFinding, unreported
from trecjudge.judging.panel import column_names, ranked_by_judge
from trecjudge.measures import ranks
from trecjudge.results.jobs import Outcome
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.statistics import Statistic, read_statistics
from trecjudge.scores.scoring import panel_of, spec_of
from trecjudge.stats.known import Unjudged
from trecjudge.stats.scores import Scores
from trecjudge.stats.standing import Aggregate, Entry, Number, standings


@dataclass(frozen=True, slots=True)
class Stand:
    """A run by a measure, among the others.

    `low` and `high` bound the 95 % interval of its mean, `lowest` and `highest` what `unjudged`
    items of `expected` could make of it. What is not known is None.
    """

    run_id: str
    measure: str
    mean: Number
    rank: int | None
    tied: bool
    groups: Sequence[str]
    low: Number
    high: Number
    unjudged: int
    expected: int | None
    lowest: Number
    highest: Number
    topics: int | None
    lower_is_better: bool
    aggregate: str = ""
    human: Mapping[str, int | float | None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether unjudged items could move the mean."""
        return self.unjudged > 0 and (self.lowest != self.highest or self.lowest is None)


@dataclass(frozen=True, slots=True)
class Standings:
    """The runs of a leaderboard by each measure; `ranking` are the measures that judges rank by."""

    name: str
    by_measure: Mapping[str, Mapping[str, Stand]]
    ranking: Sequence[str]

    def chosen(self, wanted: Collection[str], every: bool = False) -> list[str]:
        """Return the measures that are wanted: by name, `every` one, or those that rank.

        Raises InputError for a measure that is not there.
        """
        for name in wanted:
            if name not in self.by_measure:
                raise InputError(f"{self.name}: {unknown('measure', name, self.by_measure)}")
        return list(dict.fromkeys(wanted or (self.by_measure if every else self.ranking)))

    def runs(self, measure: str) -> list[str]:
        """Return all runs, the best first by a measure, those without a mean last."""
        own = self.by_measure[measure]
        every = dict.fromkeys(run for stands in self.by_measure.values() for run in stands)
        means = {run: own[run].mean if run in own else None for run in every}
        lower = any(stand.lower_is_better for stand in own.values())
        return list(ranks(means, lower))


def standings_at(
    found: Outcome,
    report: OnFinding,
    format_name: str = "auto",
    lower_is_better: Collection[str] = (),
) -> tuple[Standings, Scores]:
    """Return where the runs of a leaderboard stand, and its scores.

    Without statistics beside it its topics are what intervals and groups are made of, and
    `lower_is_better` names the measures that are so. Raises InputError.
    """
    scores = scores_at(found, report, format_name)
    for name in lower_is_better:
        scores.chosen([name])
    if scores.statistics and found.statistics:
        stands = list(_of_statistics(read_statistics(found.statistics, unreported)))
    else:
        stands = [s for m in scores.measures for s in _of_scores(scores, m, m in lower_is_better)]
    by_measure: dict[str, dict[str, Stand]] = {}
    for stand in stands:
        by_measure.setdefault(stand.measure, {})[stand.run_id] = stand
    known = {m: sum(s.mean is not None for s in own.values()) for m, own in by_measure.items()}
    ranking = ranking_of(found, known, len(scores.runs)) or [m for m, n in known.items() if n]
    return Standings(found.place.name, by_measure, ranking or list(by_measure)), scores


def _of_statistics(statistics: Iterator[Statistic]) -> Iterator[Stand]:
    every = list(statistics)
    columns: dict[str, list[Statistic]] = {}
    for one in every:
        columns.setdefault(one.measure, []).append(one)
    for column in columns.values():
        rank_of = ranks({s.run_id: s.mean for s in column}, column[0].lower_is_better)
        shared = Counter(rank_of.values())
        for s in column:
            rank = rank_of[s.run_id]
            by_topic = s.by_topic or {}
            entering = sum(value is not None for value in by_topic.values()) or None
            yield Stand(
                s.run_id,
                s.measure,
                s.mean,
                rank,
                rank is not None and shared[rank] > 1,
                s.groups,
                s.low,
                s.high,
                s.expected - s.judged,
                s.expected,
                s.lowest,
                s.highest,
                entering if s.topics is None else s.topics,
                s.lower_is_better,
                s.aggregate,
                s.human,
            )


def _of_scores(scores: Scores, measure: str, lower_is_better: bool) -> Iterator[Stand]:
    """Yield where runs stand of whom only rows are known: groups and intervals by their topics."""
    entries = [
        Entry(run_id, values, None if np.isnan(mean) else mean, None, None, 0, 0)
        for run_id, values, mean in zip(
            scores.runs,
            [[None if np.isnan(v) else v for v in row] for row in scores.values[measure].tolist()],
            scores.overall(measure).tolist(),
            strict=True,
        )
    ]
    kind = _kind(scores, measure)
    for found in standings(measure, entries, lower_is_better, kind):
        gaps = scores.unjudged.get((found.run_id, measure), Unjudged(0))
        yield Stand(
            found.run_id,
            measure,
            found.mean,
            found.rank,
            bool(found.ties),
            found.groups,
            found.low,
            found.high,
            gaps.items,
            gaps.expected,
            gaps.lowest,
            gaps.highest,
            found.topics,
            lower_is_better,
        )


def _kind(scores: Scores, measure: str) -> Aggregate:
    """Return how topics make the `all` rows: `other` where neither as mean nor as sum."""
    if (scores.contradicted(measure) > 0).any():
        return "other"  # an interval of the topics would not be that of the row
    given = scores.given[measure]
    sums = scores.summed(measure) | np.isnan(given)
    return "sum" if sums.all() and not np.isnan(given).all() else "mean"


def ranking_of(
    found: Outcome, known: Mapping[str, int], runs: int, neutral: bool = True
) -> list[str]:
    """Return the measure that ranks the runs of a job, then what each other judge ranks by.

    `known` is how many of the runs have a value, by measure. A measure that no run has leaves its
    place to the first one of its judge that a run has. None where no judge is known. Without
    `neutral`, measures of which no side is better are left out, if there is another.
    """
    if found.judgments is None:
        return []
    reader = JudgmentsReader(found.judgments)
    first = str(reader.header.leaderboard.get("sort_by", ""))
    try:
        panel, spec = panel_of(reader), spec_of(reader)
    except TrecJudgeError:  # a judge of somebody's own: its code is not run for a table
        return [first] if first in known else []
    wanted = spec.ranked_by_of(known, runs)
    owner = next((measure.judge for measure in spec.measures if measure.name == wanted), "")
    by_judge = {owner: wanted} | {
        judge: name for judge, name in ranked_by_judge(panel, known).items() if judge != owner
    }

    def defined(judge: str, name: str) -> str:
        own = (measure.name for measure in spec.measures if measure.judge == judge)
        return next((one for one in (name, *own) if known.get(one)), name)

    every = [m for judge, name in by_judge.items() if (m := defined(judge, name)) in known]
    left_out = {measure.name for measure in spec.measures if measure.neutral and not neutral}
    return [measure for measure in every if measure not in left_out] or every


def judges_of(found: Outcome) -> dict[str, str]:
    """Return whose each measure of a job is, as far as its judges are known."""
    if found.judgments is None:
        return {}
    try:
        panel = panel_of(JudgmentsReader(found.judgments))
    except TrecJudgeError:  # as above
        return {}
    return {column: judge for (judge, _), column in column_names(panel).items()}
