"""A trend: the jobs of a history night by night, each beside the night before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, pairwise
from typing import Any

from trecjudge.errors import InputError, unknown
from trecjudge.evaluation.comparing import flips_between
from trecjudge.evaluation.standings import Standings, standings_at
from trecjudge.findings import OnFinding
from trecjudge.measures import DIGITS
from trecjudge.results.history import is_entry, name_of_job
from trecjudge.results.jobs import JobFiles
from trecjudge.results.statistics import RunScore
from trecjudge.stats.comparison import Difference, System, difference
from trecjudge.stats.flips import VerdictChanges
from trecjudge.stats.release_gate import same_runs
from trecjudge.stats.scores import Scores


@dataclass(frozen=True, slots=True)
class Improvement:
    """What a run gains over a baseline run on a night, and what is left of the first night's gain.

    `relative` is (mean - the baseline's) / the baseline's, `delta` that of the first night minus
    this one: 0 where it lasts, below 0 where it grew. `effect_ratio` is the mean gain / that of the
    first night: 1 where it lasts. Means are over the topics that both runs have on the night.
    None is what is not defined. Breuer et al., How to Measure the Reproducibility of
    System-oriented IR Experiments (SIGIR 2020).
    """

    relative: float | None
    delta: float | None
    effect_ratio: float | None


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A run on a night by a measure, and what changed since the night before.

    `change` is None where the night before has no value of the run, `flipped` where no item was
    judged on both nights; else it counts the items of the run with another verdict. `improvement`
    is None for the baseline run itself, and without one.
    """

    entry: str
    score: RunScore
    change: Difference | None = None
    flipped: int | None = None
    improvement: Improvement | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        change = self.change
        since = {"difference": change and change.difference, "p": change and change.p}
        found = {"entry": self.entry} | self.score.as_dict() | since | {"flipped": self.flipped}
        return found | ({"improvement": asdict(self.improvement)} if self.improvement else {})


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

    def gain(self, run_id: str, against: str, measure: str) -> Difference | None:
        """Return the difference of a run from the baseline run; None where one has no value."""
        if run_id not in self.scores.runs or measure not in self.scores.measures:
            return None
        return difference(System(self.scores, against), System(self.scores, run_id), measure)


def trend_of(
    jobs: Sequence[JobFiles],
    report: OnFinding,
    measures: Collection[str] = (),
    runs: Collection[str] = (),
    format_name: str = "auto",
    against: str = "",
) -> Trend:
    """Return how runs stand from job to job, in the order given.

    Without any `measures` it is the one that ranks in the newest job. A run with a new name each
    night is followed where it is the only one. `against` names the run that others improve on.
    Raises InputError for a measure that is not there, and where a job lacks that run.
    """
    nights = [_Night(job, *standings_at(job, report, format_name)) for job in jobs]
    for night in nights if against else ():
        if against not in night.scores.runs:
            message = unknown("run", against, night.scores.runs)
            raise InputError(f"{night.scores.name}: {message}")
    wanted = nights[-1].standings.choose_measures(measures)
    wanted = wanted if measures else wanted[:1]
    before: list[tuple[_Night | None, VerdictChanges | None]] = [(None, None)]
    first = [nights[0]]
    for old, new in pairwise(nights):
        # A history may hold several jobs, one behind the other.
        other = name_of_job(old.job) != name_of_job(new.job) and is_entry(new.job)
        before.append((None, None) if other else (old, flips_between(old.job, new.job)))
        first.append(new if other else first[-1])
    points = chain.from_iterable(
        _improved(_points(night, old, changes, wanted, runs), night, start, against)
        for night, (old, changes), start in zip(nights, before, first, strict=True)
    )
    return Trend(tuple(points), before[-1][1], tuple(night.scores for night in nights))


def _improved(
    points: Iterator[TrendPoint], night: _Night, first: _Night, against: str
) -> Iterator[TrendPoint]:
    """Yield points with what their runs gain over a baseline run, if one is named."""
    for point in points:
        score = point.score
        if not against or score.run_id == against:
            yield point
            continue
        gains = [one.gain(score.run_id, against, score.measure) for one in (first, night)]
        yield replace(point, improvement=_improvement(*gains))


def _improvement(first: Difference | None, now: Difference | None) -> Improvement:
    before, relative = _relative(first), _relative(now)
    known = None not in (before, relative)
    delta = round(before - relative, DIGITS) if known else None  # type: ignore[operator]
    ratio = None
    if first is not None and now is not None and first.difference:
        ratio = round(now.difference / first.difference, DIGITS)
    return Improvement(relative, delta, ratio)


def _relative(found: Difference | None) -> float | None:
    if found is None or not found.mean_before:
        return None
    return round(found.difference / found.mean_before, DIGITS)


def night_of(job: JobFiles) -> str:
    """Return what a job is called in a trend."""
    return job.place.name if is_entry(job) else str(job.place)


def _points(
    night: _Night,
    old: _Night | None,
    changes: VerdictChanges | None,
    measures: Sequence[str],
    runs: Collection[str],
) -> Iterator[TrendPoint]:
    name = night_of(night.job)
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
