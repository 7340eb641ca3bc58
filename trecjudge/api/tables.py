"""Leaderboards given as results, files or data frames, converted to scores for statistics."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, cast

from trecjudge.api.inputs import PathLike
from trecjudge.api.result import Result
from trecjudge.errors import InputError, unknown
from trecjudge.evaluation.loading import scores_at
from trecjudge.findings import OnFinding, brief
from trecjudge.records import Place
from trecjudge.results.jobs import JobFiles, outcomes
from trecjudge.results.statistics import MeanKey, RunScore
from trecjudge.results.trec import LeaderboardRow, companion
from trecjudge.stats.scores import Duplicates, Scores, scores_of

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
