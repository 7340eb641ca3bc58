"""The checker: compares each record with the rules of its track, in the order of the lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trecjudge.check.outcome import (
    EXAMPLES,
    METADATA,
    NUMBER,
    CheckReport,
    LayoutCheck,
    OrganisersDifferences,
    PackedList,
    RunReport,
    Violation,
    found_without_topic,
    is_blank,
    is_flat,
    value_at,
)
from trecjudge.check.rules import (
    LOST,
    OF_A_RECORD,
    RuleVerdict,
    SentenceList,
    Track,
    every_track,
    track_named,
    track_of,
)
from trecjudge.check.ruling import OF_A_TOPIC, Meanings, RecordRules
from trecjudge.findings import IN_ALL, Finding, OnFinding, brief, ignore
from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.inputs.formats.draft import metadata_of
from trecjudge.inputs.run_records import ReadRecords, RunRecord
from trecjudge.inputs.runs import RunReader
from trecjudge.inputs.sources.containers import Opened, bare_name
from trecjudge.inputs.sources.values import as_id
from trecjudge.records import Place, Response, Topic


@dataclass(slots=True)
class _FileState:
    """A file while it is read."""

    path: str
    track: Track | None = None
    begun: list[str] = field(default_factory=list)
    """What the first citation is: `index` or `id`; empty before it."""
    constants: dict[str, Any] = field(default_factory=dict)
    runs: dict[str, RunReport] = field(default_factory=dict)
    layout: LayoutCheck = field(default_factory=LayoutCheck)
    lost: dict[str, PackedList[Finding]] = field(default_factory=dict)
    """Findings on lines that gave no record, by kind."""


@dataclass(slots=True)
class Checker:
    """Observes raw records and what their reader found, file by file; `finish` gives the report.

    `topics` are all topics of the topic file, None where there is none: then none is missing or
    unknown. `track` names the track of all files; without it the first record of each file decides,
    among the tracks of `dataset`. `on_violation` is called with every violation. Memory is bounded
    by the number of runs and topics and, with `all_places`, by some bytes for each broken rule.
    """

    topics: Mapping[str, Topic] | None = None
    track: str = ""
    dataset: str = "auto"
    on_violation: Callable[[Violation], None] = lambda violation: None
    all_places: bool = False
    _reports: list[RunReport] = field(default_factory=list)
    _inventory: str = ""
    _organisers: OrganisersDifferences = field(default_factory=OrganisersDifferences)
    _pending: list[Finding] = field(default_factory=list)
    _file: _FileState = field(default_factory=lambda: _FileState(""))

    def add_finding(self, finding: Finding) -> None:
        """Keep a finding of the reader; findings on a record come before the record."""
        if finding.kind == IN_ALL:
            self._inventory = finding.message
        if finding.kind in LOST:
            self._open(finding.place.path)
            self._file.lost.setdefault(finding.kind, PackedList(self._most_places)).append(finding)
        elif finding.kind in OF_A_RECORD:
            # Findings of a record that never reached `observe` must not count for this one.
            if self._pending and self._pending[0].place != finding.place:
                self._pending.clear()
            self._pending.append(finding)

    def observe(self, record: RunRecord, response: Response | None) -> None:
        """Check a record; `response` is None where its topic is not known."""
        place, format_name = record.place, record.format_name
        self._open(place.path)
        if self._file.track is None:
            found = track_named(self.track) if self.track else None
            self._file.track = found or track_of(format_name, record.written, self.dataset)
        file, track = self._file, self._file.track
        observation = _Observation(self, file, track, place, record.written, response)
        observation.check(format_name, [f for f in self._pending if f.place == place])
        if fault := file.layout.fault_at(place.line, record.layout):
            observation.complain("file_not_jsonl", fault, place.line)
        self._pending.clear()

    def finish(self) -> CheckReport:
        """Return the report on everything that was observed."""
        self._open("")
        return CheckReport(tuple(self._reports), self._inventory, self._organisers)

    def _open(self, path: str) -> None:
        """Close the current file if another one begins."""
        if path != self._file.path:
            self._close(self._file)
            self._reports += self._file.runs.values()
            self._file = _FileState(path)

    def violate(
        self,
        run: RunReport,
        verdict: RuleVerdict | None,
        finding: Finding,
        times: int = 1,
        each: Callable[[], Iterable[Finding]] | None = None,
        aspect: str = "",
    ) -> None:
        """Count a violation, unless the track has no such rule."""
        if verdict is None:
            return
        track = self._file.track or (track_named(self.track) if self.track else None)
        theirs = track.of_organisers(finding.kind, aspect, verdict) if track else None
        # Counted at the run, and passed on at once: nothing is held until the end.
        kind = finding.kind
        violation = Violation(kind, verdict, finding, run.run_id, times, each, theirs)
        if track is not None:
            self._organisers.add((track.name, kind), verdict, theirs, times)
        run.add(violation)
        self.on_violation(violation)

    def begin_run(self, run_id: str, first: Place, track: str, name: str = "") -> RunReport:
        """Return the report of a run whose first record is at a place."""
        expected = None if self.topics is None else len(self.topics)
        return RunReport(run_id, first, track, name, expected, self._most_places)

    @property
    def _most_places(self) -> int | None:
        """How many places of each broken rule are kept, None for all."""
        return None if self.all_places else EXAMPLES

    def _close(self, file: _FileState) -> None:
        """Add what is known only at the end of a file: lost lines, missing topics."""
        track_name = file.track.name if file.track else ""
        verdicts = file.track.verdicts if file.track else every_track()
        # A file of which nothing could be read still gets a row: it must not pass by being absent.
        if file.lost and not file.runs:
            name = bare_name(Path(file.path))
            file.runs[name] = self.begin_run(name, Place(file.path), track_name)
        # A lost line names no run, so each run of the file answers for it.
        for run in file.runs.values():
            for kind, lost in file.lost.items():
                for number, finding in enumerate(lost, 1):
                    # The last that was kept stands for all after it.
                    rest = lost.given - number if number == len(lost) else 0
                    self.violate(run, verdicts.get(kind), finding, 1 + rest)
            self._report_missing(file, run, verdicts.get("response_missing"))
        if len(file.runs) > 1:
            self._report_shared(file, verdicts.get("file_of_several_runs"))
        for run in file.runs.values():
            run.forget_topics()

    def _report_missing(
        self, file: _FileState, run: RunReport, verdict: RuleVerdict | None
    ) -> None:
        missing = [topic_id for topic_id in self.topics or () if topic_id not in run.answered]
        if not missing:
            return
        # One finding for all of them: a run that stopped early misses hundreds.
        few = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
        message = f"has no response on {len(missing)} of {run.topics_expected} topics: {few}"
        place, name = Place(run.path), run.name
        finding = Finding("response_missing", place, message, few, run_id=name)

        def each() -> Iterator[Finding]:
            for topic_id in missing:
                message = f"has no response on topic {topic_id!r}"
                yield replace(finding, message=message, value=topic_id, topic_id=topic_id)

        of_file = {topic_id for other in file.runs.values() for topic_id in other.answered}
        aspect = "elsewhere" if of_file.issuperset(missing) else ""
        self.violate(run, verdict, finding, len(missing), each, aspect)

    def _report_shared(self, file: _FileState, verdict: RuleVerdict | None) -> None:
        """Report of each run that it shares its file, so that the verdict of each shows it."""
        first, second, *_ = runs = list(file.runs.values())
        answers = [topic_id for run in runs for topic_id in run.answered]
        # A checker that looks at topics only sees no more than one answer to each.
        aspect = "apart" if len(answers) == len(set(answers)) else ""
        for run in runs:
            other = second if run is first else run
            message = f"is of run {other.name!r} in a file of {first.name!r}"
            finding = Finding("file_of_several_runs", other.first, message, run_id=run.name)
            self.violate(run, verdict, finding, aspect=aspect)


@dataclass(frozen=True, slots=True)
class _Observation:
    """One record in its file: its own rules, and those about the records before it."""

    checker: Checker
    file: _FileState
    track: Track
    place: Place
    record: Mapping[str, Any]
    response: Response | None

    @property
    def topic_id(self) -> str | None:
        return self.response.topic_id if self.response else None

    def check(self, format_name: str, found: list[Finding]) -> None:
        run, track = self._run(), self.track
        run.records += 1
        if self.response is None:
            unseen = found_without_topic(self.record, format_name, self.place)
            found = [*found, *(finding for finding in unseen if finding.kind in OF_A_RECORD)]
        for finding in found:
            aspect = "coerced" if NUMBER.fullmatch(finding.value) else ""
            if finding.kind == "topic_id_conflict" and len(self._own_topics()) < 2:
                aspect = "elsewhere"
            self.checker.violate(run, track.verdicts.get(finding.kind), finding, aspect=aspect)
        self._topic(run)
        if format_name not in track.formats:
            message = f"is a {format_name} record, not one of {' or '.join(track.formats)}"
            other: SentenceList = "responses" if track.sentences == "answer" else "answer"
            is_like = isinstance(self.record.get(other), list) and not is_flat(self.record)
            message += f": it has its sentences in `{other}`" if is_like else ""
            aspect = format_name if is_like else ""
            self.complain("format_of_other_track", message, format_name, aspect=aspect)
            if not is_like:
                return  # hardly any rule fits it
            if track.sentences not in self.record:
                track = replace(track, sentences=other)
        self._metadata()
        topic = (self.checker.topics or {}).get(self.topic_id or "")
        meanings = Meanings(
            self.record, format_name, self.response.documents if self.response else ()
        )
        ids = run.run_id, self.topic_id
        rules = RecordRules(
            self.record, track, topic, *ids, self.complain, meanings, self.file.begun
        )
        rules.check()
        self._constants()

    def complain(
        self,
        kind: str,
        message: str,
        value: object,
        sentence: int | None = None,
        verdict: RuleVerdict | None = None,
        aspect: str = "",
    ) -> None:
        """Count a violation of the record's run; the verdict is the track's if none is given."""
        decided = verdict or self.track.verdicts.get(kind)
        if decided is None:
            return
        run, topic_id = self._run(), self.topic_id or ""
        found = Finding(kind, self.place, message, brief(value), sentence, run.name, topic_id)
        self.checker.violate(run, decided, found, aspect=aspect)

    def _own_topics(self) -> set[str | None]:
        """Return the topics that the fields of tracks name, without those of other tools."""
        inner = metadata_of(self.record)
        return {as_id(inner[key]) for key in OF_A_TOPIC if inner.get(key) is not None}

    def _run(self) -> RunReport:
        """Return the record's run; a file's second one breaks a rule of most tracks."""
        written = as_id(value_at(self.record, "metadata.run_id"))
        written = written or as_id(self.record.get("run_id")) or bare_name(Path(self.place.path))
        name = self.response.run_id if self.response else written
        if name not in self.file.runs:
            run = self.checker.begin_run(written, self.place, self.track.name, name)
            self.file.runs[name] = run
        return self.file.runs[name]

    def _metadata(self) -> None:
        """Report that a record has no metadata, in place of every field there."""
        inside = [p.removeprefix(METADATA) for p in self.track.fields if p.startswith(METADATA)]
        if inside and is_flat(self.record):
            message = f"has no metadata, where {self.track.name} has {', '.join(inside)}"
            self.complain("field_missing", message, self.record.get("metadata"))

    def _topic(self, run: RunReport) -> None:
        if self.topic_id is None:
            return
        topics = self.checker.topics
        if topics is not None and self.topic_id not in topics:
            message = f"answers topic {self.topic_id!r}, which is not in the topic file"
            self.complain("topic_unknown", message, self.topic_id)
        elif self.topic_id in run.answered:
            message = f"answers topic {self.topic_id!r} a second time"
            self.complain("response_duplicate", message, self.topic_id)
        else:
            run.answered.add(self.topic_id)

    def _constants(self) -> None:
        for path, field_ in self.track.fields.items():
            value = value_at(self.record, path) if field_.constant else None
            first = value if is_blank(value) else self.file.constants.setdefault(path, value)
            if value != first:
                message = f"{path} is {brief(value)}, it was {brief(first)} before"
                self.complain("field_varies", message, value)


# Run files compared with the rules of their tracks.
def check_files(
    files: Sequence[Path | Opened],
    topics: Mapping[str, Topic] | None = None,
    *,
    track: str = "",
    dataset: str = "auto",
    store: DocumentStore | None = None,
    on_finding: OnFinding = ignore,
    on_violation: Callable[[Violation], None] = ignore,
    records: ReadRecords | None = None,
    flag_hostile: bool = False,
    all_places: bool = True,
) -> CheckReport:
    """Return a report on how run files keep the rules of their tracks.

    `topics` are all topics of the topic file. `track` names a track of `rules.yml`; without it the
    first record of each file decides. With documents (`store`) a citation of a missing document is
    a warning. `on_finding` gets the reader's findings as well, `on_violation` every violation.
    `records` shares one reading of the files; `flag_hostile` looks for hostile text too. Without
    `all_places` only the first of each broken rule of a run are kept. Raises InputError on an
    unknown track.
    """
    if track:
        track_named(track)
    checker = Checker(topics, track, dataset, on_violation, all_places)

    def both(finding: Finding) -> None:
        on_finding(finding)
        checker.add_finding(finding)

    # Checking happens in `observe`, while the reader runs; the responses are not needed.
    reader = RunReader(
        files,
        both,
        known=topics or {},
        store=store,
        dataset=dataset,
        flag_hostile=flag_hostile,
        records=records,
        observe=checker.observe,
    )
    for _ in reader:
        pass
    return checker.finish()
