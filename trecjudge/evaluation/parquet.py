"""A leaderboard as Parquet: the long form, with columns for all that statistics know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from trecjudge.errors import OutputError
from trecjudge.evaluation.standings import Standings
from trecjudge.files import whole
from trecjudge.measures import UNJUDGED
from trecjudge.results.statistics import RunScore
from trecjudge.results.trec import LeaderboardRow

OF_PEOPLE = ("mean", "low", "high", "labelled")
"""What a mean that labels of people correct has, as `human_mean` and so on."""


def write_parquet(rows: Iterable[LeaderboardRow], found: Standings, target: Path) -> None:
    """Write a row for each run, topic and measure, and one without a topic for each mean.

    Only the latter have statistics. Raises OutputError where the package is missing or the file
    cannot be written.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        message = "Parquet needs a package: pip install 'trecjudge[parquet]'; csv needs none"
        raise OutputError(f"{target}: {message}") from error
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
    types = {
        **dict.fromkeys(("run_id", "topic_id", "measure"), text),
        **dict.fromkeys(("value", "low", "high", "lowest", "highest"), number),
        **dict.fromkeys(("topics", "unjudged", "expected", "rank"), whole_number),
        "tied": pyarrow.bool_(),
        "groups": pyarrow.list_(text),
        "lower_is_better": pyarrow.bool_(),
        "aggregate": text,
        **{f"human_{name}": number for name in OF_PEOPLE},
    }
    return pyarrow.schema(list(types.items()))
