"""Rows by run, topic and measure: duplicates, and the unjudged items that companion rows count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from sys import intern
from typing import Literal

import numpy as np
import numpy.typing as npt

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding
from trecjudge.records import Place
from trecjudge.results.statistics import MeanKey, Unjudged
from trecjudge.results.trec import LeaderboardRow
from trecjudge.stats.resampling import Array

Duplicates = Literal["first", "last", "mean", "error"]
Cells = dict[str, dict[tuple[str, str | None], list[float]]]
"""measure -> (run_id, topic_id) -> its values: more than one where there are duplicates."""


def collected(
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


def again(
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
        raise InputError(f"{place}: {message} (--duplicates error)")
    what_and_where = (place, message, f"{row.value:g}")
    if row.value == first:
        report(Finding("row_repeated", *what_and_where, run_id=row.run_id))
    else:
        report(Finding("row_duplicate", *what_and_where, run_id=row.run_id))
