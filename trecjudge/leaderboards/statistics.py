"""The lines of `NAME.leaderboard.jsonl`: what a job knows of its means that a leaderboard lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.findings import Report
from trecjudge.sources.values import objects


@dataclass(frozen=True, slots=True)
class Statistic:
    """A run by a measure.

    `by_topic` has each expected topic with its value as it enters the mean: a response that is not
    there with the measure's default, None where it does not enter; it is None itself where a file
    does not say. `lowest` and `highest` bound what unjudged items could make of the mean.
    """

    run_id: str
    measure: str
    mean: float | None
    lowest: float | None
    highest: float | None
    judged: int
    expected: int
    lower_is_better: bool
    by_topic: Mapping[str, float | None] | None


def read_statistics(path: Path, report: Report) -> Iterator[Statistic]:
    """Yield the lines of a file of statistics. Raises InputError for one that lacks something."""
    for line, record in objects(path, report):
        try:
            yield Statistic(
                run_id=record["run_id"],
                measure=record["measure"],
                mean=record["mean"],
                lowest=record["lowest"],
                highest=record["highest"],
                judged=record["judged"],
                expected=record["expected"],
                lower_is_better=record["lower_is_better"],
                by_topic=record.get("by_topic"),
            )
        except KeyError as error:
            raise InputError(f"{path}:{line}: a record without {error}") from error
