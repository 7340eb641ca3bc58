"""Lines of `NAME.leaderboard.jsonl`: what a job knows of its means beyond the leaderboard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path

from pydantic import ValidationError

from trecjudge.errors import InputError
from trecjudge.findings import OnFinding
from trecjudge.inputs.sources.values import objects
from trecjudge.records import Place
from trecjudge.settings.adapters import adapter_of
from trecjudge.settings.limits import limits


@dataclass(frozen=True, slots=True)
class Statistic:
    """The mean of one run by one measure.

    `by_topic` has the value of each expected topic as it enters the mean: the measure's default for
    a missing response, None for a topic that does not enter. It is None where the file lacks it.
    `lowest` and `highest` are the mean with all unjudged items at their worst and at their best;
    `low` and `high` are its 95 % interval. `human` is the mean as corrected by labels of people,
    with its interval.
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


LATER = tuple(field.name for field in fields(Statistic) if field.default is not MISSING)
"""Fields that older files lack."""
NEEDED = tuple(name for name in Statistic.__slots__ if name not in LATER)


def read_statistics(path: Path, report: OnFinding) -> Iterator[Statistic]:
    """Yield the lines of a file of statistics. Raises InputError for one that lacks something."""
    values, most = 0, limits()
    for line, record in objects(path, report):
        place = Place(str(path), line)
        try:
            needed = {name: record[name] for name in NEEDED}
            later = {name: record[name] for name in LATER if name in record}
            found = adapter_of(Statistic).validate_python(needed | later)
        except KeyError as error:
            raise InputError(f"{place}: a record without {error}") from error
        except ValidationError as error:
            wrong = error.errors()[0]
            where = ".".join(map(str, wrong["loc"]))
            raise InputError(f"{place}: {where}: {wrong['msg']}") from None
        values += 1 + len(found.by_topic or ())
        if values > most.rows:
            raise InputError(f"{place}: {most.too_many_rows}")
        yield found
