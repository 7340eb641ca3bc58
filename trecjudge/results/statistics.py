"""Lines of `NAME.leaderboard.jsonl`: what a job knows of its means beyond the leaderboard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from trecjudge.errors import InputError
from trecjudge.findings import OnFinding
from trecjudge.inputs.sources.values import objects
from trecjudge.records import Place


@dataclass(frozen=True, slots=True)
class Statistic:
    """A run by a measure.

    `by_topic` has each expected topic with its value as it enters the mean: a response that is not
    there with the measure's default, None where it does not enter; it is None itself where a file
    does not say. `lowest` and `highest` bound what unjudged items could make of the mean, `low` and
    `high` its 95 % interval. `human` is the mean as labels of people correct it, with its interval.
    """

    run_id: str
    measure: str
    mean: float | None
    lowest: float | None
    highest: float | None
    judged: int
    expected: int
    lower_is_better: bool
    by_topic: Mapping[str, float | None] | None = None
    aggregate: str = ""
    low: float | None = None
    high: float | None = None
    groups: Sequence[str] = ()
    topics: int | None = None
    human: Mapping[str, int | float | None] | None = None


ADAPTER = TypeAdapter(Statistic)
LATER = tuple(field.name for field in fields(Statistic) if field.default is not MISSING)
"""What older files lack."""
NEEDED = tuple(name for name in Statistic.__slots__ if name not in LATER)


def read_statistics(path: Path, report: OnFinding) -> Iterator[Statistic]:
    """Yield the lines of a file of statistics. Raises InputError for one that lacks something."""
    for line, record in objects(path, report):
        place = Place(str(path), line)
        try:
            needed = {name: record[name] for name in NEEDED}
            later = {name: record[name] for name in LATER if name in record}
            yield ADAPTER.validate_python(needed | later)
        except KeyError as error:
            raise InputError(f"{place}: a record without {error}") from error
        except ValidationError as error:
            wrong = error.errors()[0]
            where = ".".join(map(str, wrong["loc"]))
            raise InputError(f"{place}: {where}: {wrong['msg']}") from None
