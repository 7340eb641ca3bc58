"""The runs of a leaderboard ranked by each measure, also as Parquet."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from trecjudge.errors import InputError, TrecJudgeError, unknown
from trecjudge.evaluation.comparing import scores_at, unranked_scores
from trecjudge.files import whole
from trecjudge.findings import OnFinding, ignore
from trecjudge.judging.judge import judge_names, make_judge, measures_of
from trecjudge.judging.panel import column_names, ranked_by_judge
from trecjudge.measures import UNJUDGED, MeasureSpec, ranks
from trecjudge.results.jobs import JobFiles
from trecjudge.results.json_lines import import_pyarrow
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.statistics import RunScore, read_statistics
from trecjudge.results.trec import LeaderboardRow
from trecjudge.scores.scoring import panel_of, spec_of
from trecjudge.stats.correlation import Aggregate, rank_runs
from trecjudge.stats.scores import Scores


# Where the runs of a leaderboard stand by each measure, as its statistics or its topics say.
@dataclass(frozen=True, slots=True)
class Standings:
    """The runs of a leaderboard by each measure; `ranking` are the measures that judges rank by."""

    name: str
    by_measure: Mapping[str, Mapping[str, RunScore]]
    ranking: Sequence[str]

    def choose_measures(self, wanted: Collection[str], every: bool = False) -> list[str]:
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
        every = dict.fromkeys(run for scores in self.by_measure.values() for run in scores)
        means = {run: own[run].mean if run in own else None for run in every}
        lower = any(score.lower_is_better for score in own.values())
        return list(ranks(means, lower))


def standings_at(
    found: JobFiles,
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
        scores.choose_measures([name])
    if scores.statistics and found.statistics:
        every = _ranked_again(read_statistics(found.statistics, ignore))
    else:
        every = _of_rows(scores, lower_is_better)
    by_measure: dict[str, dict[str, RunScore]] = {}
    for score in every:
        by_measure.setdefault(score.measure, {})[score.run_id] = score
    known = {m: sum(s.mean is not None for s in own.values()) for m, own in by_measure.items()}
    scored = (score for own in by_measure.values() for score in own.values())
    ranking = ranking_of(found, known, len(scores.runs), scored)
    ranking = ranking or [m for m, n in known.items() if n] or list(by_measure)
    return Standings(found.place.name, by_measure, ranking), scores


def _ranked_again(statistics: Iterable[RunScore]) -> Iterator[RunScore]:
    """Yield what statistics have of each run, with its rank; of `ties` only one is named."""
    columns: dict[str, list[RunScore]] = {}
    for one in statistics:
        columns.setdefault(one.measure, []).append(one)
    for column in columns.values():
        rank_of = ranks({s.run_id: s.mean for s in column}, column[0].lower_is_better)
        runs_at: dict[int | None, list[str]] = {}
        for run_id, rank in rank_of.items():
            runs_at.setdefault(rank, []).append(run_id)
        for s in column:
            rank = rank_of[s.run_id]
            tied = [run for run in runs_at[rank][:2] if run != s.run_id and rank is not None]
            by_topic = s.by_topic or {}
            entering = sum(value is not None for value in by_topic.values()) or None
            topics = entering if s.topics is None else s.topics
            yield replace(s, rank=rank, ties=tied[:1], topics=topics)


def _of_rows(scores: Scores, lower_is_better: Collection[str]) -> Iterator[RunScore]:
    """Yield runs of whom only rows are known: groups and intervals by their topics."""
    for measure, column in groupby(unranked_scores(scores, lower_is_better), lambda s: s.measure):
        values = dict(zip(scores.runs, scores.values[measure].tolist(), strict=True))
        yield from rank_runs(list(column), values, _kind(scores, measure))


def _kind(scores: Scores, measure: str) -> Aggregate:
    """Return how topics make the `all` rows: `other` where neither as mean nor as sum."""
    if (scores.contradictions(measure) > 0).any():
        return "other"  # an interval of the topics would not be that of the row
    given = scores.given[measure]
    sums = scores.are_sums(measure) | np.isnan(given)
    return "sum" if sums.all() and not np.isnan(given).all() else "mean"


def ranking_of(
    found: JobFiles,
    known: Mapping[str, int],
    runs: int,
    statistics: Iterable[RunScore] = (),
    neutral: bool = True,
) -> list[str]:
    """Return the measure that ranks the runs of a job, then what each other judge ranks by.

    `known` is how many of the runs have a value, by measure. A measure that no run has leaves its
    place to the first that a run has, as in `LeaderboardSpec.choose_defined`; to what ranks for it
    by the job's `statistics` it leaves it too. None where no judge is known. Without `neutral`,
    measures of which no side is better are left out.
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
    others = (m for judge, m in ranked_by_judge(panel, known).items() if judge != owner)
    chosen = dict.fromkeys(spec.choose_defined(name, known) for name in (wanted, *others))
    expected = tuple({one.measure for one in statistics if one.ranks_for})
    spec = replace(spec, expected=expected)
    every = [name for name in map(spec.in_place_of, chosen) if name in known]
    left_out = {measure.name for measure in spec.measures if measure.neutral and not neutral}
    return [measure for measure in every if measure not in left_out]


def known_measures() -> dict[str, MeasureSpec]:
    """Return the measures of all judges found, by name without a cut-off such as `@10`."""
    found: dict[str, MeasureSpec] = {}
    for name in judge_names():
        with suppress(TrecJudgeError):  # one that needs settings, or another package
            measures = measures_of(make_judge(name, {})).measures
            found |= {measure.name.partition("@")[0]: measure for measure in measures}
    return found


def judges_of(found: JobFiles) -> dict[str, str]:
    """Return whose each measure of a job is, as far as its judges are known."""
    if found.judgments is None:
        return {}
    try:
        panel = panel_of(JudgmentsReader(found.judgments))
    except TrecJudgeError:  # as above
        return {}
    return {column: judge for (judge, _), column in column_names(panel).items()}


# A leaderboard as Parquet: the long form, with columns for all that statistics know.
OF_PEOPLE = ("mean", "low", "high", "labelled")
"""What a mean that labels of people correct has, as `human_mean` and so on."""


def write_parquet(rows: Iterable[LeaderboardRow], found: Standings, target: Path) -> None:
    """Write a row for each run, topic and measure, and one without a topic for each mean.

    Only the latter have statistics. Raises OutputError where the package is missing or the file
    cannot be written.
    """
    pyarrow, parquet = import_pyarrow(target, "csv needs none")
    table = pyarrow.Table.from_pylist(list(_records(rows, found)), schema=_schema(pyarrow))
    with whole(target) as file:
        parquet.write_table(table, file)


def _records(rows: Iterable[LeaderboardRow], found: Standings) -> Iterator[dict[str, Any]]:
    for row in rows:
        # Means come with their statistics below, and what is unjudged is a column there.
        if row.topic_id is not None and not row.measure.endswith(UNJUDGED):
            ids = {"run_id": row.run_id, "topic_id": row.topic_id, "measure": row.measure}
            yield ids | {"value": row.value}
    for scores in found.by_measure.values():
        yield from map(_mean, scores.values())


def _mean(score: RunScore) -> dict[str, Any]:
    human = asdict(score.human) if score.human else {}
    people = {f"human_{name}": human.get(name) for name in OF_PEOPLE}
    gaps = {"unjudged": score.gaps.items, "expected": score.gaps.expected}
    own = {"topic_id": None, "value": score.mean, "tied": bool(score.ties)}
    return score.as_dict() | {"aggregate": score.aggregate} | gaps | people | own


def _schema(pyarrow: Any) -> Any:
    """Return the types of the columns; without it an empty column would have none."""
    text, number, whole_number = pyarrow.string(), pyarrow.float64(), pyarrow.int64()
    counts = ("topics", "unjudged", "expected", "rank", "rank_low", "rank_high")
    types = {
        **dict.fromkeys(("run_id", "topic_id", "measure"), text),
        **dict.fromkeys(("value", "low", "high", "lowest", "highest"), number),
        **dict.fromkeys(counts, whole_number),
        "tied": pyarrow.bool_(),
        "groups": pyarrow.list_(text),
        "test": text,
        "lower_is_better": pyarrow.bool_(),
        "aggregate": text,
        **{f"human_{name}": number for name in OF_PEOPLE},
    }
    return pyarrow.schema(list(types.items()))
