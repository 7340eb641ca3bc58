"""What a check found: each run's broken rules, counted, with their places."""

from __future__ import annotations

import pickle
import re
import sys
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

from trecjudge.check.rules import ORGANISERS, LengthRule, OrganisersVerdict, RuleVerdict, Track
from trecjudge.findings import Finding, plural
from trecjudge.inputs.formats.citations import KEY
from trecjudge.inputs.formats.draft import ABSENT
from trecjudge.inputs.formats.registry import format_named
from trecjudge.inputs.formats.response import ResponseReader
from trecjudge.inputs.sources.values import as_id
from trecjudge.records import Place, Topic
from trecjudge.text.reasoning import text_of

T = TypeVar("T")
AT_ONCE = 128
"""Records that are packed together."""


@dataclass(slots=True)
class PackedList(Generic[T]):
    """Records in the order they came; most take 10 to 40 bytes. `given` counts those not kept too.

    None is kept after the first `most`.
    """

    most: int | None = None
    given: int = 0
    _count: int = 0
    _full: list[bytes] = field(default_factory=list)
    _open: list[T] = field(default_factory=list)

    def append(self, record: T) -> None:
        """Keep a record, if there is room."""
        self.given += 1
        if self.most is not None and self._count >= self.most:
            return
        self._count += 1
        self._open.append(record)
        if len(self._open) == AT_ONCE:
            # Never read from outside this process, so pickle is safe, and the fastest here.
            self._full.append(zlib.compress(pickle.dumps(self._open), 1))
            self._open = []

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        for packed in self._full:
            yield from pickle.loads(zlib.decompress(packed))
        yield from self._open


@dataclass(frozen=True, slots=True)
class JsonLines(Generic[T]):
    """JSON values made of records one by one, as often as they are asked for."""

    records: Iterable[T]
    make: Callable[[T], Any]

    def __iter__(self) -> Iterator[Any]:
        return map(self.make, self.records)


DOES = {"accepted": "accepts", "warned": "only warns of", "refused": "refuses"}
Rule = tuple[str, str]
"""(track, rule)."""


@dataclass(slots=True)
class OrganisersDifferences:
    """How often each rule of a track is broken, and how often their verdict is another one."""

    counts: Counter[Rule] = field(default_factory=Counter)
    others: dict[Rule, Counter[OrganisersVerdict]] = field(default_factory=dict)

    def add(
        self, rule: Rule, ours: RuleVerdict, theirs: OrganisersVerdict | None, times: int
    ) -> None:
        """Count that a rule is broken, and that their verdict is another one; None is not known."""
        self.counts[rule] += times
        if theirs is not None and theirs != ours:
            self.others.setdefault(rule, Counter())[theirs] += times

    def as_dict(self) -> dict[str, Any]:
        """Return the differences as JSON values."""
        differences = [
            {"track": track, "rule": rule, "verdict": theirs, "count": count}
            for (track, rule), verdicts in self.others.items()
            for theirs, count in verdicts.items()
        ]
        return {"checker": ORGANISERS, "differences": differences}

    def lines(self) -> Iterator[str]:
        """Yield a line for each track and verdict that differs: what their checker will say."""
        said: dict[tuple[str, OrganisersVerdict], list[str]] = {}
        for (track, rule), verdicts in self.others.items():
            for theirs, count in verdicts.items():
                every = self.counts[track, rule]
                times = "" if count == every else f" ({count} of {every})"
                said.setdefault((track, theirs), []).append(f"{rule}{times}")
        for (track, theirs), rules in sorted(said.items()):
            listed = ", ".join(sorted(rules))
            yield f"{track}: the organisers' checker ({ORGANISERS}) {DOES[theirs]} this: {listed}"


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
class RuleTally:
    """How often a run breaks a rule with this verdict, and where: everywhere, or the `most` first.

    `causes` are the first messages.
    """

    rule: str
    verdict: RuleVerdict
    most: int | None = None
    count: int = 0
    causes: dict[str, Cause] = field(default_factory=dict)
    places: PackedList[Finding] = field(init=False)

    def __post_init__(self) -> None:
        self.places = PackedList(self.most)

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
    first: Place
    """Where its first record is."""
    track: str
    name: str = ""
    topics_expected: int | None = None
    most_places: int | None = None
    """Places of each broken rule that are kept; all where it is None."""
    records: int = 0
    tallies: dict[tuple[str, RuleVerdict], RuleTally] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    """The topics answered, while its file is read."""
    _answered: int = 0

    def __post_init__(self) -> None:
        self.name = self.name or self.run_id

    @property
    def path(self) -> str:
        """The path of its file."""
        return self.first.path

    @property
    def topics_answered(self) -> int:
        """How many topics it answers."""
        return self._answered or len(self.answered)

    def forget_topics(self) -> None:
        """Keep only the number of the topics: a hundred runs of a thousand topics are many."""
        self._answered = len(self.answered)
        self.answered = set()

    def add(self, violation: Violation) -> None:
        """Count a violation."""
        key = (violation.rule, violation.verdict)
        if key not in self.tallies:
            self.tallies[key] = RuleTally(*key, self.most_places)
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
        return f"accepted, {plural(self.warnings, 'warning')}"

    @property
    def violations(self) -> list[RuleTally]:
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
    organisers: OrganisersDifferences = field(default_factory=OrganisersDifferences)

    @property
    def is_refused(self) -> bool:
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


def _counts(tallies: Iterable[RuleTally]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for tally in tallies:
        counts[tally.rule] += tally.count
    return dict(counts.most_common())


# The parts of a record as written, for rules and repairs alike.

METADATA = "metadata."
"""How the paths of fields in a record's metadata begin."""
NUMBER = re.compile(
    r"true|false|\d+\.0|(['\"])\s*[-+]?(\d+\.?\d*(e[-+]?\d+)?|nan|inf(inity)?)\s*\1", re.IGNORECASE
)
"""Shown values that the organisers' checker makes numbers of."""


@dataclass(slots=True)
class LayoutCheck:
    """Whether a run file is JSONL: tracks' checkers read an object in each line, nothing else."""

    line: int | None = None
    """The line of the record before."""
    is_told: bool = False

    def fault_at(self, line: int | None, beginning: str) -> str:
        """Return what a record shows of a file that is not JSONL; nothing if that was told.

        `beginning` is what the file's beginning shows.
        """
        fault = beginning or ("has several records in one line" if self.line == line else "")
        self.line = line
        if not fault or self.is_told:
            return ""
        self.is_told = True
        return f"{fault}; a run has one JSON object in each line"


def is_flat(record: Mapping[str, Any]) -> bool:
    """Return whether a record has no `metadata`, so that its fields stand beside it if anywhere."""
    return not isinstance(record.get("metadata"), dict)


def value_at(record: Mapping[str, Any], path: str) -> Any:
    """Return the value of a dotted path, ABSENT where there is none; of a flat record as well."""
    value: Any = record
    if is_flat(record):
        path = path.removeprefix(METADATA)
    for key in path.split("."):
        value = value.get(key, ABSENT) if isinstance(value, dict) else ABSENT
    return value


def is_blank(value: Any) -> bool:
    """Return whether a field holds nothing: it is absent, null or white space."""
    return value is ABSENT or value is None or (isinstance(value, str) and not value.strip())


def sentences_of(record: Mapping[str, Any], track: Track) -> list[Any]:
    """Return the entries of the sentence list; none where it is not a list."""
    value = record.get(track.sentences)
    return value if isinstance(value, list) else []


def cited_by(entry: Any, keys: Sequence[str] = (KEY,)) -> list[Any]:
    """Return what an entry of the sentence list cites: the items of lists, the keys of dicts."""
    written = [entry.get(key) for key in keys] if isinstance(entry, dict) else []
    return [value for cited in written if isinstance(cited, list | dict) for value in cited]


def references_of(record: Mapping[str, Any]) -> list[Any]:
    """Return the references: the items of a list, the keys of a dict."""
    references = record.get("references")
    return list(references) if isinstance(references, list | dict) else []


def cited_positions(references: Sequence[Any], cited: Iterable[Any]) -> set[int]:
    """Return the positions of the references that are cited, by index or by id.

    An index counts even where the track takes only ids: it breaks a rule there, and points at a
    reference all the same.
    """
    values = list(cited)
    indices = {value for value in values if is_index(value)}
    ids = {value for value in values if isinstance(value, str)}
    return {i for i, entry in enumerate(references) if i in indices or as_id(entry) in ids}


def is_index(value: Any) -> bool:
    """Return whether a citation is an integer; Python's True does not count as one."""
    return isinstance(value, int) and not isinstance(value, bool)


def as_index(value: int | str) -> int:
    """Return an index that may be written as text; no list needs more than 18 digits."""
    if isinstance(value, int):
        return value
    # Python refuses to convert digits by the thousand; such an index is out of range anyway.
    return int(value) if len(value.strip()) < 19 else sys.maxsize


def as_integer(value: Any) -> int:
    """Return a citation as the integer that it can be read as, -1 where it cannot."""
    if isinstance(value, str):
        return int(float(value)) if re.fullmatch(r"\s*\+?[0-9]{1,9}(\.0*)?\s*", value) else -1
    return int(value) if isinstance(value, int | float) and value == value // 1 else -1


def length(entries: Iterable[Any], rule: LengthRule) -> int:
    """Return the length of sentences in the track's unit, counted as the track does."""
    texts = [text_of(entry) for entry in entries]
    counted = [" ".join(texts)] if rule.joined else texts
    # The track's checker normalises before it counts, so the same text has the same length.
    if rule.nfkc:
        counted = [unicodedata.normalize("NFKC", text) for text in counted]
    if rule.unit == "characters":
        return sum(map(len, counted))
    return sum(len(text.split()) for text in counted)


def longest(rule: LengthRule, topic: Topic | None) -> int | None:
    """Return the most that a response on this topic may have, None where that is not known."""
    if rule.maximum != "limit":
        return rule.maximum
    return topic.limit if topic else None


def found_without_topic(
    record: Mapping[str, Any], format_name: str, place: Place
) -> Iterator[Finding]:
    """Yield what the reader would find in a record that names no topic, if it named one."""
    found: list[Finding] = []
    draft = replace(format_named(format_name).draft(record), topic_ids=(("topic_id", "-"),))
    ResponseReader(draft, place, found.append).read()
    for finding in found:
        # Which documents there are is not known here.
        if not finding.kind.startswith("document"):
            yield replace(finding, topic_id="")
