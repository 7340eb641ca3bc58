"""The report of a check: for each run its records, violations and verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from trecjudge.check.organisers import Organisers
from trecjudge.check.packed import JsonLines, Packed
from trecjudge.check.rules import OrganisersVerdict, RuleVerdict
from trecjudge.findings import Finding, counted

Standing = Literal["refused", "accepted"]
STANDINGS: tuple[Standing, ...] = ("refused", "accepted")
EXAMPLES = 3
"""Places that are shown for each cause, unless all are wanted."""

MOST_CAUSES = 20
"""Messages of a rule in a run that are counted one by one."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule; one finding may stand for several `times`, such as missing topics.

    `each` then gives a finding for each time.
    """

    rule: str
    verdict: RuleVerdict
    finding: Finding
    run_id: str
    times: int = 1
    each: Callable[[], Iterable[Finding]] | None = None
    organisers: OrganisersVerdict | None = None
    """What the organisers' checker does there, None where that is not known."""


@dataclass(slots=True)
class Cause:
    """How often one message says what breaks a rule, and where it does first."""

    count: int = 0
    first: list[Finding] = field(default_factory=list)


@dataclass(slots=True)
class Tally:
    """How often a run breaks a rule with this verdict, and where: everywhere, or the `most` first.

    `causes` are the first messages.
    """

    rule: str
    verdict: RuleVerdict
    most: int | None = None
    count: int = 0
    causes: dict[str, Cause] = field(default_factory=dict)
    places: Packed[Finding] = field(init=False)

    def __post_init__(self) -> None:
        self.places = Packed(self.most)

    def add(self, violation: Violation) -> None:
        """Count a violation."""
        self.count += violation.times
        all_places = violation.each if self.most is None else None
        for finding in all_places() if all_places else (violation.finding,):
            self.places.append(finding)
        message = violation.finding.message
        # Where each message has a value of its own, they are no common cause.
        if message in self.causes or len(self.causes) < MOST_CAUSES:
            cause = self.causes.setdefault(message, Cause())
            cause.count += violation.times
            if len(cause.first) < EXAMPLES:
                cause.first.append(violation.finding)

    def as_dict(self) -> dict[str, Any]:
        """Return this as JSON values; sentences count from 0, as in all files."""
        return {
            "rule": self.rule,
            "verdict": self.verdict,
            "count": self.count,
            "places": JsonLines(self.places, _place_record),
        }


def _place_record(finding: Finding) -> dict[str, Any]:
    return {
        "path": finding.place.path,
        "line": finding.place.line,
        "sentence_index": finding.sentence,
        "topic_id": finding.topic_id or None,
        "message": finding.message,
    }


@dataclass(slots=True)
class RunReport:
    """One run of one file. `topics_expected` is None where no topic file was given.

    `run_id` is as its records give it; `name` is what it is called where others have that run_id.
    """

    run_id: str
    path: str
    track: str
    records: int = 0
    topics_answered: int = 0
    topics_expected: int | None = None
    tallies: dict[tuple[str, RuleVerdict], Tally] = field(default_factory=dict)
    name: str = ""
    most_places: int | None = None
    """Places of each broken rule that are kept; all where it is None."""

    def __post_init__(self) -> None:
        self.name = self.name or self.run_id

    def add(self, violation: Violation) -> None:
        """Count a violation."""
        key = (violation.rule, violation.verdict)
        if key not in self.tallies:
            self.tallies[key] = Tally(*key, self.most_places)
        self.tallies[key].add(violation)

    @property
    def verdict(self) -> Standing:
        """`refused` if the track's validator gives an error, else `accepted`."""
        return "refused" if any(verdict == "refused" for _, verdict in self.tallies) else "accepted"

    @property
    def warnings(self) -> int:
        """How often the track's validator would warn or repair."""
        return sum(tally.count for tally in self.tallies.values() if tally.verdict == "warned")

    @property
    def verdict_text(self) -> str:
        """The verdict, with the number of warnings of a run that would be accepted."""
        if self.verdict == "refused" or not self.warnings:
            return self.verdict
        return f"accepted, {counted(self.warnings, 'warning')}"

    @property
    def violations(self) -> list[Tally]:
        """Its broken rules: those it is refused for first, then by count."""
        return sorted(
            self.tallies.values(), key=lambda t: (t.verdict != "refused", -t.count, t.rule)
        )

    def as_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        named = {"name": self.name} if self.name != self.run_id else {}
        return {
            "run_id": self.run_id,
            **named,
            "path": self.path,
            "track": self.track or None,
            "records": self.records,
            "topics_answered": self.topics_answered,
            "topics_expected": self.topics_expected,
            "verdict": self.verdict,
            "warnings": self.warnings,
            "violations": [tally.as_dict() for tally in self.violations],
        }


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All runs, in the order of files and lines."""

    runs: tuple[RunReport, ...]
    inventory: str = ""
    """What marks of citations the runs have in their texts."""
    organisers: Organisers = field(default_factory=Organisers)

    @property
    def refused(self) -> bool:
        """Whether a track's validator would refuse any of the runs, or there is none."""
        return not self.runs or any(run.verdict == "refused" for run in self.runs)

    @property
    def standings(self) -> dict[Standing, int]:
        """The number of runs by verdict, with those of zero."""
        found = Counter(run.verdict for run in self.runs)
        return {standing: found[standing] for standing in STANDINGS}

    @property
    def with_warnings(self) -> int:
        """The number of runs that would be accepted with warnings."""
        return sum(run.verdict == "accepted" and run.warnings > 0 for run in self.runs)

    @property
    def counts(self) -> dict[str, int]:
        """How often each rule is broken in all runs, the most frequent first."""
        return _counts(tally for run in self.runs for tally in run.tallies.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON values, with totals."""
        totals: dict[str, Any] = {
            "runs": len(self.runs),
            "records": sum(run.records for run in self.runs),
            **{str(standing): count for standing, count in self.standings.items()},
            "accepted_with_warnings": self.with_warnings,
            "violations": self.counts,
        }
        if self.inventory:
            totals["marks"] = self.inventory
        runs, organisers = [run.as_dict() for run in self.runs], self.organisers.as_dict()
        return {"runs": runs, "totals": totals, "organisers": organisers}


def _counts(tallies: Iterable[Tally]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for tally in tallies:
        counts[tally.rule] += tally.count
    return dict(counts.most_common())
