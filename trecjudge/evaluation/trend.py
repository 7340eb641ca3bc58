"""A trend: the jobs of a history night by night, each beside the night before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

from trecjudge.evaluation.comparing import flips_between
from trecjudge.evaluation.standings import Standings, standings_at
from trecjudge.findings import OnFinding
from trecjudge.results.history import is_entry, name_of_job
from trecjudge.results.jobs import JobFiles
from trecjudge.results.statistics import RunScore
from trecjudge.stats.comparison import Difference, System, difference
from trecjudge.stats.flips import VerdictChanges
from trecjudge.stats.release_gate import same_runs
from trecjudge.stats.scores import Scores


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A run on a night by a measure, and what changed since the night before.

    `change` is None where the night before has no value of the run, `flipped` where no item was
    judged on both nights; else it counts the items of the run with another verdict.
    """

    entry: str
    score: RunScore
    change: Difference | None = None
    flipped: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        change = self.change
        since = {"difference": change and change.difference, "p": change and change.p}
        return {"entry": self.entry} | self.score.as_dict() | since | {"flipped": self.flipped}


@dataclass(frozen=True, slots=True)
class Trend:
    """The points of each measure, the oldest night first; `last` are the verdicts that changed."""

    points: tuple[TrendPoint, ...]
    last: VerdictChanges | None
    leaderboards: tuple[Scores, ...]


@dataclass(frozen=True, slots=True)
class _Night:
    job: JobFiles
    standings: Standings
    scores: Scores


def trend_of(
    jobs: Sequence[JobFiles],
    report: OnFinding,
    measures: Collection[str] = (),
    runs: Collection[str] = (),
    format_name: str = "auto",
) -> Trend:
    """Return how runs stand from job to job, in the order given.

    Without any `measures` it is the one that ranks in the newest job. A run with a new name each
    night is followed where it is the only one. Raises InputError for a measure that is not there.
    """
    nights = [_Night(job, *standings_at(job, report, format_name)) for job in jobs]
    wanted = nights[-1].standings.choose_measures(measures)
    wanted = wanted if measures else wanted[:1]
    before: list[tuple[_Night | None, VerdictChanges | None]] = [(None, None)]
    for old, new in pairwise(nights):
        # A history may hold several jobs, one behind the other.
        other = name_of_job(old.job) != name_of_job(new.job) and is_entry(new.job)
        before.append((None, None) if other else (old, flips_between(old.job, new.job)))
    points = chain.from_iterable(
        _points(night, old, changes, wanted, runs)
        for night, (old, changes) in zip(nights, before, strict=True)
    )
    return Trend(tuple(points), before[-1][1], tuple(night.scores for night in nights))


def _points(
    night: _Night,
    old: _Night | None,
    changes: VerdictChanges | None,
    measures: Sequence[str],
    runs: Collection[str],
) -> Iterator[TrendPoint]:
    name = night.job.place.name if is_entry(night.job) else str(night.job.place)
    names = {} if old is None else {b: a for a, b in same_runs(night.scores, old.scores).items()}
    flipped = Counter(flip.after.run_id for flip in changes.flips) if changes else None
    for measure in measures:
        for run_id, score in night.standings.by_measure.get(measure, {}).items():
            if runs and run_id not in runs:
                continue
            change = None
            if old is not None and run_id in names and measure in old.scores.measures:
                systems = System(old.scores, names[run_id]), System(night.scores, run_id)
                change = difference(*systems, measure)
            count = None if flipped is None else flipped[run_id]
            yield TrendPoint(name, score, change, count)
