"""The checker: compares each record with the rules of its track, in the order of the lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trecjudge.check.meaning import Meanings
from trecjudge.check.outcome import CheckReport, RunReport, Violation
from trecjudge.check.parts import (
    METADATA,
    cited_by,
    is_blank,
    is_flat,
    sentences_of,
    value_at,
)
from trecjudge.check.rules import RuleVerdict, Track, every_track, track_named, track_of
from trecjudge.check.ruling import rule
from trecjudge.findings import IN_ALL, Finding, shown
from trecjudge.inputs.sources.containers import bare_name
from trecjudge.inputs.sources.values import as_id
from trecjudge.records import Place, Response, Topic

LOST = frozenset(
    {
        "bad_utf8",
        "file_unreadable",
        "file_without_responses",
        "line_not_json",
        "record_not_an_object",
        "record_too_large",
        "record_unknown_shape",
    }
)
"""Findings on lines and files that gave no record."""
OF_A_RECORD = frozenset(
    {
        "answer_differs",
        "citation_score_unusable",
        "citations_misnamed",
        "document_differs",
        "document_empty",
        "document_missing",
        "document_varies",
        "documents_beside",
        "documents_withheld",
        "markers_read",
        "citation_not_read",
        "own_document_empty",
        "response_empty",
        "response_not_a_list",
        "sentence_unusable",
        "topic_id_conflict",
        "topic_id_missing",
    }
)
"""Findings of the reader that rules are about; all other violations the checker finds itself."""


@dataclass(slots=True)
class _Run:
    """A run while its file is read: bounded by the number of topics."""

    report: RunReport
    first: Place
    answered: set[str] = field(default_factory=set)
    flat: bool = False
    """Whether a record without metadata was reported already."""


@dataclass(slots=True)
class _File:
    """A file while it is read."""

    path: str
    track: Track | None = None
    kind: str = ""
    """What the first citation is: `index` or `id`."""
    constants: dict[str, Any] = field(default_factory=dict)
    runs: dict[str, _Run] = field(default_factory=dict)
    lost: list[Finding] = field(default_factory=list)
    lost_count: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Checker:
    """Observes raw records and what their reader found, file by file; `finish` gives the report.

    `topics` are all topics of the topic file, None where there is none: then none is missing or
    unknown. `track` names the track of all files; without it the first record of each file decides,
    among the tracks of `dataset`. `on_violation` is called with every violation. Memory is bounded
    by the number of runs and topics.
    """

    topics: Mapping[str, Topic] | None = None
    track: str = ""
    dataset: str = "auto"
    on_violation: Callable[[Violation], None] = lambda violation: None
    _reports: list[RunReport] = field(default_factory=list)
    _inventory: str = ""
    _pending: list[Finding] = field(default_factory=list)
    _file: _File = field(default_factory=lambda: _File(""))

    def add_finding(self, finding: Finding) -> None:
        """Keep a finding of the reader; findings on a record come before the record."""
        if finding.kind == IN_ALL:
            self._inventory = finding.message
        if finding.kind in LOST:
            self._open(finding.place.path)
            _lose(self._file, finding)
        elif finding.kind in OF_A_RECORD:
            # Findings of a record that never reached `observe` must not count for this one.
            if self._pending and self._pending[0].place != finding.place:
                self._pending.clear()
            self._pending.append(finding)

    def observe(
        self, place: Place, record: Mapping[str, Any], format_name: str, response: Response | None
    ) -> None:
        """Check a record; `response` is None where its topic is not known."""
        self._open(place.path)
        if self._file.track is None:
            found = track_named(self.track) if self.track else None
            self._file.track = found or track_of(format_name, record, self.dataset)
        _Observation(self, self._file, self._file.track, place, record, response).check(
            format_name, [f for f in self._pending if f.place == place]
        )
        self._pending.clear()

    def finish(self) -> CheckReport:
        """Return the report on everything that was observed."""
        self._open("")
        return CheckReport(tuple(self._reports), self._inventory)

    def _open(self, path: str) -> None:
        """Close the current file if another one begins."""
        if path == self._file.path:
            return
        _close(self, self._file)
        self._reports += [run.report for run in self._file.runs.values()]
        self._file = _File(path)

    def violate(
        self, run: _Run, verdict: RuleVerdict | None, finding: Finding, times: int = 1
    ) -> None:
        """Count a violation, unless the track has no such rule."""
        if verdict is None:
            return
        # Counted at the run, and passed on at once: nothing is held until the end.
        violation = Violation(finding.kind, verdict, finding, run.report.run_id, times)
        run.report.add(violation)
        self.on_violation(violation)

    def expected(self) -> int | None:
        """Return how many topics a run should answer, None where that is not known."""
        return None if self.topics is None else len(self.topics)


@dataclass(frozen=True, slots=True)
class _Observation:
    """One record in its file: its own rules, and those about the records before it."""

    checker: Checker
    file: _File
    track: Track
    place: Place
    record: Mapping[str, Any]
    response: Response | None

    @property
    def topic_id(self) -> str | None:
        return self.response.topic_id if self.response else None

    def check(self, format_name: str, found: list[Finding]) -> None:
        run = self._run()
        run.report.records += 1
        if format_name not in self.track.formats:
            message = f"is a {format_name} record, not one of {' or '.join(self.track.formats)}"
            self.complain("format_of_other_track", message, format_name)
            return
        self._metadata(run)
        for finding in found:
            self.checker.violate(run, self.track.verdicts.get(finding.kind), finding)
        topics = self.checker.topics or {}
        topic = topics.get(self.topic_id or "")
        run_id = run.report.run_id
        documents = self.response.documents if self.response else ()
        meanings = Meanings(self.record, format_name, documents)
        rule(self.record, self.track, topic, run_id, self.topic_id, self.complain, meanings)
        self._topic(run)
        self._constants()
        self._kinds(meanings)

    def complain(
        self,
        kind: str,
        message: str,
        value: object,
        sentence: int | None = None,
        verdict: RuleVerdict | None = None,
    ) -> None:
        """Count a violation of the record's run; the verdict is the track's if none is given."""
        decided = verdict or self.track.verdicts.get(kind)
        if decided is None:
            return
        run = self._run()
        topic_id = self.topic_id or ""
        found = Finding(
            kind, self.place, message, shown(value), sentence, run.report.name, topic_id
        )
        self.checker.violate(run, decided, found)

    def _run(self) -> _Run:
        """Return the record's run; a file's second one breaks a rule of most tracks."""
        runs, run_id = self.file.runs, self._written_run_id()
        name = self.response.run_id if self.response else run_id
        if name not in runs:
            report = RunReport(
                run_id,
                self.place.path,
                self.track.name,
                topics_expected=self.checker.expected(),
                name=name,
            )
            runs[name] = _Run(report, self.place)
            if len(runs) > 1:
                self._several(runs)
        return runs[name]

    def _written_run_id(self) -> str:
        written = as_id(value_at(self.record, "metadata.run_id"))
        written = written or as_id(self.record.get("run_id"))
        return written or bare_name(Path(self.place.path))

    def _several(self, runs: dict[str, _Run]) -> None:
        """Report that a new run shares the file; at the second run, report it of the first too."""
        first, *_, last = runs.values()
        # Each run of the file is reported, so that the verdict of each shows it.
        message = f"is of run {last.report.name!r} in a file of {first.report.name!r}"
        self.complain("file_of_several_runs", message, last.report.name)
        if len(runs) == 2:
            verdict = self.track.verdicts.get("file_of_several_runs")
            name = first.report.name
            finding = Finding("file_of_several_runs", self.place, message, run_id=name)
            self.checker.violate(first, verdict, finding)

    def _metadata(self, run: _Run) -> None:
        """Report once for a run that it has no metadata, in place of every field there."""
        inside = [p.removeprefix(METADATA) for p in self.track.fields if p.startswith(METADATA)]
        if inside and is_flat(self.record) and not run.flat:
            run.flat = True
            message = f"has no metadata, where {self.track.name} has {', '.join(inside)}"
            self.complain("field_missing", message, self.record.get("metadata"))

    def _topic(self, run: _Run) -> None:
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
            run.report.topics_answered = len(run.answered)

    def _constants(self) -> None:
        for path, field_ in self.track.fields.items():
            value = value_at(self.record, path)
            if not field_.constant or is_blank(value):
                continue
            first = self.file.constants.setdefault(path, value)
            if value != first:
                message = f"{path} is {shown(value)}, it was {shown(first)} before"
                self.complain("field_varies", message, value)

    def _kinds(self, meanings: Meanings) -> None:
        """Compare the kind of citations with that of the file's first one."""
        if not self.track.citations.one_kind:
            return
        for index, entry in enumerate(sentences_of(self.record, self.track)):
            for value in cited_by(entry):
                kind = "index" if meanings.kind(value) == "index" else "id"
                self.file.kind = self.file.kind or kind
                if kind != self.file.kind:
                    message = f"cites by {kind}, the file began by {self.file.kind}"
                    self.complain("citations_mixed", message, value, index)
                    break  # once a sentence is enough


def _lose(file: _File, finding: Finding) -> None:
    """Keep the first few findings of each kind on lost lines, and count the others."""
    file.lost_count[finding.kind] = file.lost_count.get(finding.kind, 0) + 1
    # Bounded: a binary file taken for a run may lose millions of lines.
    if file.lost_count[finding.kind] <= 3:
        file.lost.append(finding)


def _close(checker: Checker, file: _File) -> None:
    """Add what is known only at the end of a file: lost lines, missing topics."""
    track_name = file.track.name if file.track else ""
    verdicts = file.track.verdicts if file.track else every_track()
    # A file of which nothing could be read still gets a row: it must not pass by being absent.
    if file.lost and not file.runs:
        expected = checker.expected()
        name = bare_name(Path(file.path))
        report = RunReport(name, file.path, track_name, topics_expected=expected)
        file.runs[name] = _Run(report, Place(file.path))
    # A lost line names no run, so each run of the file answers for it.
    for run in file.runs.values():
        for finding in file.lost:
            checker.violate(run, verdicts.get(finding.kind), finding, _times(file, finding))
        _miss(checker, run, verdicts)


def _times(file: _File, finding: Finding) -> int:
    """Return how many findings one that was kept stands for: the last kept for all after it."""
    kept = [other for other in file.lost if other.kind == finding.kind]
    rest = file.lost_count[finding.kind] - len(kept)
    return 1 + (rest if finding is kept[-1] else 0)


def _miss(checker: Checker, run: _Run, verdicts: Mapping[str, RuleVerdict | None]) -> None:
    missing = [topic_id for topic_id in checker.topics or () if topic_id not in run.answered]
    if missing:
        # One finding for all of them: a run that stopped early misses hundreds.
        few = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
        message = f"has no response on {len(missing)} of {checker.expected()} topics: {few}"
        place = Place(run.report.path)
        finding = Finding("response_missing", place, message, few, run_id=run.report.name)
        checker.violate(run, verdicts.get("response_missing"), finding, len(missing))
