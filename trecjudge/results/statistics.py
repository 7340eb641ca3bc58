"""A run by a measure with its statistics: the lines of `NAME.leaderboard.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from trecjudge.errors import InputError
from trecjudge.findings import OnFinding
from trecjudge.inputs.sources.values import objects
from trecjudge.records import Place
from trecjudge.records.signs import SignCount
from trecjudge.settings.fields import adapter_of
from trecjudge.settings.limits import limits

Number = float | None
MeanKey = tuple[str, str]
"""(run_id, measure)"""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Unjudged items of a run for a measure, and the bounds of its mean with them.

    `expected`, `lowest` and `highest` are None where only a companion row counts them.
    """

    items: int
    expected: int | None = None
    lowest: Number = None
    highest: Number = None

    def __str__(self) -> str:
        if self.expected is not None:
            return f"{self.items} of {self.expected} items are unjudged"
        return f"{self.items} items are unjudged" if self.items != 1 else "1 item is unjudged"

    @property
    def is_open(self) -> bool:
        """Whether they could move the mean, as far as that is known."""
        return self.items > 0 and (self.lowest is None or self.lowest != self.highest)

    @property
    def with_bounds(self) -> str:
        """`3 of 12 (0.25 to 1)`: the items, and what the mean could be, if that is known."""
        of_all = "" if self.expected is None else f" of {self.expected}"
        if not self.items or self.lowest is None or self.highest is None:
            return f"{self.items}{of_all}"
        return f"{self.items}{of_all} ({self.lowest:.4g} to {self.highest:.4g})"


@dataclass(frozen=True, slots=True)
class Corrected:
    """The mean of a run by a measure as labels of people correct it, with its 95 % interval.

    `labelled` counts the responses of the run with labels.
    """

    labelled: int = 0
    mean: Number = None
    low: Number = None
    high: Number = None


@dataclass(frozen=True, slots=True)
class RunScore:
    """A run by a measure: a line of `NAME.leaderboard.jsonl`. What is not known is None.

    `topics` is the number that enter the mean; `low` and `high` bound its 95 % bootstrap interval
    over them, `lowest` and `highest` what unjudged items could make of it, `rank_low` and
    `rank_high` the 95 % interval of its rank. `ties` have the same mean, `groups` are letters that
    runs share which `test` cannot tell apart: its name, and how many permutations. `by_topic` has
    the value of each expected topic as it enters the mean: the measure's default for a missing
    response, None for a topic that does not enter. `signs` are those of writing for the judge.
    `ranks_for` is the measure of labels in whose place this one ranks, since only words decided;
    empty where it does not.
    """

    run_id: str
    measure: str
    mean: Number = None
    topics: int | None = None
    judged: int = 0
    expected: int = 0
    low: Number = None
    high: Number = None
    lowest: Number = None
    highest: Number = None
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    ties: Sequence[str] = ()
    groups: Sequence[str] = ()
    test: str = ""
    lower_is_better: bool = False
    human: Corrected | None = None
    aggregate: str = ""
    by_topic: Mapping[str, Number] | None = None
    signs: Mapping[str, SignCount] = field(default_factory=dict)
    only_unjudged: bool = False
    """Whether nothing is known of judged items: `expected` counts the unjudged ones only."""
    ranks_for: str = ""

    @property
    def is_open(self) -> bool:
        """Whether unjudged items could move the mean."""
        return self.lowest != self.highest

    @property
    def gaps(self) -> Unjudged:
        """The unjudged items, and the bounds of the mean with them."""
        of_all = None if self.only_unjudged else self.expected
        return Unjudged(self.expected - self.judged, of_all, self.lowest, self.highest)

    def as_dict(self) -> dict[str, Any]:
        """Return the place among other runs, and all that it is made of, as JSON values."""
        return {name: getattr(self, name) for name in RANKED} | {
            "human": None if self.human is None else asdict(self.human)
        }


NEEDED = ("run_id", "measure", "mean", "lowest", "highest", "judged", "expected", "lower_is_better")
LATER = (
    "by_topic",
    "aggregate",
    "low",
    "high",
    "groups",
    "topics",
    "human",
    "signs",
    "ranks_for",
    "rank_low",
    "rank_high",
    "test",
)
"""Fields that older files lack. Ranks are not read: they follow from the means."""
RANKED = tuple(one.name for one in fields(RunScore))[:18]
"""What is known of a run among the others: all up to `human`."""


def read_statistics(path: Path, report: OnFinding) -> Iterator[RunScore]:
    """Yield the lines of a file of statistics. Raises InputError for one that lacks something."""
    values, most = 0, limits()
    for line, record in objects(path, report):
        place = Place(str(path), line)
        try:
            needed = {name: record[name] for name in NEEDED}
            later = {name: record[name] for name in LATER if name in record}
            found = adapter_of(RunScore).validate_python(needed | later)
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
