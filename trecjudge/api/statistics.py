"""Statistics from Python: compare, agree and meta-evaluate, on results, files and data frames."""

from __future__ import annotations

import math
import os
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

import trecjudge  # for `table`, imported when it is asked for
from trecjudge.api.inputs import InputFiles, PathLike, json_line, names, object_of, warn
from trecjudge.api.result import Result
from trecjudge.errors import InputError, unknown
from trecjudge.evaluation import agreement as agreeing
from trecjudge.evaluation import comparing
from trecjudge.evaluation.agreement import Agreement
from trecjudge.evaluation.comparing import Comparison, scores_at
from trecjudge.evaluation.teams import teams_at
from trecjudge.findings import Finding, OnFinding, brief, plural, visible_line
from trecjudge.inputs.labels.entries import said_in
from trecjudge.records import Place
from trecjudge.results.jobs import JobFiles, only_one, outcomes
from trecjudge.results.statistics import MeanKey, RunScore
from trecjudge.results.trec import LeaderboardRow, companion
from trecjudge.stats import meta
from trecjudge.stats.alignment import AllRows, OneSidedRuns, Rules
from trecjudge.stats.comparison import Correction
from trecjudge.stats.correlation import DEFAULT
from trecjudge.stats.meta import Correlated
from trecjudge.stats.order import OrderMoved
from trecjudge.stats.scores import Duplicates, Scores, scores_of

# Leaderboards given as results, files or data frames, converted to scores for statistics.
Board: TypeAlias = "PathLike | Result | Any"
"""A path, a result, or a data frame with the columns of `COLUMNS`."""
COLUMNS = ("run_id", "topic_id", "measure", "value")


WANTED = "give a result, a path or a data frame"


def is_frame(given: object) -> bool:
    """Return whether something is a data frame, as pandas or polars has them."""
    return hasattr(given, "columns") and hasattr(given, "to_dict")


def records_of(given: Any) -> list[dict[str, Any]]:
    """Return the rows of a data frame; of polars too."""
    if hasattr(given, "to_dicts"):
        return [dict(row) for row in given.to_dicts()]
    return [dict(row) for row in given.to_dict("records")]


def is_missing(value: object) -> bool:
    """Return whether a cell is empty: None, NaN or what pandas has for a missing value."""
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")


def boards(
    given: Iterable[Board],
    on_finding: OnFinding,
    duplicates: Duplicates = "first",
    format_name: str = "auto",
) -> tuple[list[Scores], list[JobFiles]]:
    """Return the scores of leaderboards, and the jobs that some of them are of.

    An output folder stands for every job in it. Raises InputError for what is no leaderboard.
    """
    tables: list[Scores] = []
    jobs: list[JobFiles] = []
    for number, one in enumerate(given, 1):
        if is_frame(one):
            tables.append(_scores_of_frame(one, f"frame {number}", on_finding, duplicates))
            jobs.append(JobFiles(Path(f"frame {number}")))
            continue
        if not isinstance(one, Result | str | os.PathLike):
            raise InputError(f"leaderboard {number}: {brief(one)}: {WANTED}")
        found = [one.outcome()] if isinstance(one, Result) else outcomes(Path(one))
        tables += [scores_at(job, on_finding, format_name, duplicates) for job in found]
        jobs += found
    return list(_uniquely_named(tables)), jobs


def _uniquely_named(tables: Sequence[Scores]) -> Iterator[Scores]:
    """Yield the tables; from the second of one name on, with a number behind the name."""
    names: dict[str, int] = {}
    for table in tables:
        count = names[table.name] = names.get(table.name, 0) + 1
        yield table if count == 1 else replace(table, name=f"{table.name} ({count})")


def _scores_of_frame(
    given: Any, name: str, on_finding: OnFinding, duplicates: Duplicates
) -> Scores:
    """Return the scores of a frame of a row for each run, topic and measure.

    A value that is missing is in no mean; a row that is not there counts 0, as in TREC. A row
    without a topic is the mean, as the Parquet of `convert` has it.
    """
    for column in COLUMNS:
        if column not in list(given.columns):
            raise InputError(f"{name}: {unknown('column', column, given.columns)}")
    rows: list[tuple[Place, LeaderboardRow]] = []
    cells: dict[MeanKey, dict[str, float | None]] = {}
    items: Counter[MeanKey] = Counter()
    given_means: set[MeanKey] = set()
    for number, record in enumerate(records_of(given), 1):
        run_id, topic_id, measure = (str(record[column]) for column in COLUMNS[:3])
        key = (run_id, measure)
        unjudged = 0 if is_missing(record.get("unjudged")) else int(cast(Any, record["unjudged"]))
        if is_missing(record["topic_id"]):
            given_means.add(key)
            rows += _mean_rows(record, Place(name, number), key, unjudged)
            continue
        items[key] += unjudged
        own = cells.setdefault(key, {})
        if is_missing(record["value"]):
            # A missing value keeps the topic out of the mean; a row that is absent counts 0.
            own.setdefault(topic_id, None)
        else:
            own[topic_id] = value = _number(record["value"], name, number)
            rows.append((Place(name, number), LeaderboardRow(run_id, topic_id, measure, value)))
    topics: dict[str, dict[str, None]] = {}
    for (_, measure), own in cells.items():
        topics.setdefault(measure, {}).update(dict.fromkeys(own))
    # A mean that is given says itself which topics it leaves out.
    known = {
        k: _known_mean(k, own, topics[k[1]], items[k])
        for k, own in cells.items()
        if k not in given_means
    }
    return scores_of(name, rows, on_finding, duplicates, known)


def _mean_rows(
    record: Mapping[str, Any], place: Place, key: MeanKey, unjudged: int
) -> Iterator[tuple[Place, LeaderboardRow]]:
    """Yield the `all` row of a run by a measure, and one that counts what is unjudged of it."""
    run_id, measure = key
    if not is_missing(record["value"]):
        value = _number(record["value"], place.path, place.line or 0)
        yield place, LeaderboardRow(run_id, None, measure, value)
    if unjudged:
        yield place, companion(LeaderboardRow(run_id, None, measure, 0.0), unjudged)


def _number(value: Any, name: str, line: int) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{name}:{line}: value is {brief(value)}, not a number")
    return number


def _known_mean(
    key: MeanKey, own: Mapping[str, float | None], topics: Iterable[str], unjudged: int
) -> RunScore:
    """Return what a frame says of a run by a measure: its mean, unjudged items, topic values."""
    by_topic = {topic: own.get(topic, 0.0) for topic in topics}
    entering = [value for value in by_topic.values() if value is not None]
    mean = sum(entering) / len(entering) if entering else None
    return RunScore(*key, mean, expected=unjudged, by_topic=by_topic, only_unjudged=True)


Labels: TypeAlias = "PathLike | Result | Iterable[Mapping[str, Any]] | Any"
"""A file of labels, qrels or judgments, a result, a data frame, or records as in such a file."""


def compare(
    *leaderboards: Board,
    measures: str | Collection[str] = (),
    runs: str | Collection[str] = (),
    against: str = "",
    duplicates: Duplicates = "first",
    format_name: str = "auto",
    on_finding: OnFinding = warn,
    correction: Correction = "max-t",
) -> Comparison:
    """Return how systems, or two judgments of one, differ by each measure, paired over topics.

    Runs that all leaderboards have are compared with themselves, else every run with `against`, or
    the first. `correction` is that of p for several comparisons by a measure. Raises InputError
    where nothing can be compared.
    """
    _check_given(leaderboards)
    _check_choice("duplicates", duplicates, Duplicates)
    _check_choice("correction", correction, Correction)
    tables, jobs = boards(leaderboards, on_finding, duplicates, format_name)
    return comparing.compare(
        tables, jobs, on_finding, names(measures), names(runs), against, correction
    )


@dataclass(frozen=True, slots=True, repr=False)
class MetaEvaluation:
    """Each measure of the leaderboards beside each of the truth, those of one name first."""

    pairs: tuple[Correlated, ...]
    truth: Scores
    leaderboards: tuple[Scores, ...]
    moved: tuple[OrderMoved, ...] = ()
    """How far the order of each measure moves from `against`, where that was given."""

    def __repr__(self) -> str:
        whose = f"{', '.join(one.name for one in self.leaderboards)} beside {self.truth.name}"
        return visible_line(f"<MetaEvaluation {whose}: {plural(len(self.pairs), 'pair')}>")

    def _repr_html_(self) -> str:
        return trecjudge.table(self, "html")


def meta_evaluate(
    *leaderboards: Board,
    truth: Board,
    truth_measures: str | Sequence[str] = (),
    measures: str | Sequence[str] = (),
    correlations: str | Sequence[str] = (),
    teams: PathLike | Mapping[str, str] | None = None,
    against: Board | None = None,
    by_answer: bool = False,
    on_missing: OneSidedRuns = "error",
    all_rows: AllRows = "checked",
    duplicates: Duplicates = "first",
    format_name: str = "auto",
    truth_format: str = "auto",
    on_finding: OnFinding = warn,
) -> MetaEvaluation:
    """Return how far leaderboards order the runs as one that people made.

    `teams` are those of the runs, or a file of them, or a job: then the order is looked at without
    each team. `against` is a leaderboard of the same judge, as without its own bank of nuggets: how
    far does the order move from it? `by_answer` compares the values of each answer, not the means
    of runs: of one run too, whatever it is called on either side; answers that one side lacks are
    left out. Raises InputError for runs on one
    side only, unless `on_missing` allows them, and for fewer than three in common.
    """
    _check_given(leaderboards)
    _check_choice("duplicates", duplicates, Duplicates)
    _check_choice("on_missing", on_missing, OneSidedRuns)
    _check_choice("all_rows", all_rows, AllRows)
    owners = teams if teams is None or isinstance(teams, Mapping) else teams_at(Path(teams))
    if by_answer and on_missing == "error":  # a tool leaves out what it could not score
        on_missing = "common"
    rules = Rules(
        on_missing,
        all_rows,
        names(correlations or DEFAULT),
        names(truth_measures),
        names(measures),
        owners,
    )
    people, jobs = boards([truth], on_finding, duplicates, truth_format)
    only_one(truth, jobs, "leaderboards")
    tables, _ = boards(leaderboards, on_finding, duplicates, format_name)
    if by_answer:
        single = all(len(one.runs) == 1 for one in (*people, *tables))
        people, tables = ([one.by_answer(single) for one in own] for own in (people, tables))
    found = [one for t in tables for one in meta.meta_evaluate(people[0], t, rules, on_finding)]
    found.sort(key=lambda one: not one.of_one_name)
    moved: list[OrderMoved] = []
    if against is not None:
        (before,), _ = boards([against], on_finding, duplicates, format_name)
        for after in tables:
            moved += meta.moved_orders(people[0], before, after, rules, on_finding)
    return MetaEvaluation(tuple(found), people[0], tuple(tables), tuple(moved))


def agree(
    truth: Labels,
    predicted: Labels,
    *,
    threshold: int = 1,
    on_missing: Literal["common", "zero", "error"] = "common",
    judge: str = "",
    mapped: Mapping[str, str] | None = None,
    on_finding: OnFinding = warn,
) -> Agreement:
    """Return how far two sets of labels agree on the same items.

    Of several judges, `judge` says which; `mapped` is what labels of people mean to it, where that
    is not known. Rows of frames and records without a label are left out, as an item that nobody
    labelled. Raises InputError where nothing is in common, and for several judges of whom none is
    named.
    """
    _check_choice("on_missing", on_missing, agreeing.OneSidedItems)
    options = agreeing.AgreementOptions(threshold, on_missing, judge, mapped)
    with tempfile.TemporaryDirectory(prefix="trecjudge-") as folder:
        given = InputFiles(Path(folder))
        sides = _labels(truth, given.folder, "truth"), _labels(predicted, given.folder, "predicted")

        def report(finding: Finding) -> None:
            on_finding(given.plain(finding))

        with given.plainly():
            return agreeing.agree(*sides, report, options)


def _check_given(leaderboards: Sequence[Board]) -> None:
    if not leaderboards:
        raise InputError(f"there is no leaderboard: {WANTED}")


def _check_choice(name: str, value: object, choices: Any) -> None:
    """Raise InputError for what is none of the choices of an argument, a Literal."""
    if value not in get_args(choices):
        raise InputError(unknown(name, value, get_args(choices)))


def _labels(given: Labels, folder: Path, name: str) -> Path:
    """Return the file of a side; records become one in `folder`."""
    if isinstance(given, Result):
        given.responses()  # whether they are still there
        return given.files["judgments"]
    if isinstance(given, str | os.PathLike):
        return Path(given)
    if isinstance(given, Mapping) or (not isinstance(given, Iterable) and not is_frame(given)):
        raise InputError(f"{name}: {brief(given)}: {WANTED}, or a list of records")
    records = records_of(given) if is_frame(given) else list(given)
    path = folder / f"{name}.jsonl"
    with path.open("wb") as file:
        for number, record in enumerate(records, 1):
            entries = object_of(record, name, number).items()
            fields = {key: None if is_missing(value) else value for key, value in entries}
            if said_in(fields):
                file.write(json_line(fields, name, number))
    return path
