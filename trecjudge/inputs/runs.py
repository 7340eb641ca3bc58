"""The responses of run files, in order: files found and recognised, checked against topics."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from trecjudge.errors import InputError, unknown
from trecjudge.findings import Finding, OnFinding, ignore
from trecjudge.inputs.documents.shelf import Overlap
from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.inputs.formats.registry import QA
from trecjudge.inputs.hostile import HostileText
from trecjudge.inputs.nuggets.bank import Bank
from trecjudge.inputs.provenance import is_beside_a_run
from trecjudge.inputs.run_records import (
    FileBegins,
    FileRecognised,
    ReadRecords,
    RunRecord,
    RunRecords,
    not_a_run,
)
from trecjudge.inputs.sources.containers import Opened, bare_name
from trecjudge.inputs.sources.paths import backups_among, files_below, originals_first
from trecjudge.inputs.sources.values import as_id
from trecjudge.inputs.topics.record import normalize_text
from trecjudge.records import Place, Response, Topic

# Few enough for any system's limit of open files, which is 256 on some.
MOST_OPEN = 64
MOST_HELD = 4 << 20
"""Run files that stay open until they are read, and bytes of them that are held meanwhile."""
OnFormat = Callable[[Path, str, str], None]
"""(file, format, why): called when the format of a run file is known."""
OnRecord = Callable[[RunRecord, Response | None], None]
"""(place, record as written, format, response or None): called for each record of a format."""


def ignore_format(path: Path, format_name: str, why: str) -> None:
    """Ignore the format of a file: the default of `taken`."""


def ignore_record(found: RunRecord, response: Response | None) -> None:
    """Ignore a record: the default of `observe`."""


def find_runs(paths: Sequence[Path], report: OnFinding = ignore) -> list[Path]:
    """Return the files below `paths`, each once. Raises InputError if there is none.

    A backup beside its original is passed over, unless its own path is given. Then it comes after
    the original. So is what lies beside a run: its provenance, and what it retrieved.
    """
    found: dict[str, Path] = {}
    # Two patterns may fit one file: it would answer every topic twice.
    for file in (file for path in paths for file in files_below(path)):
        found.setdefault(os.path.abspath(file), file)
    files = list(found.values())
    if not files:
        where = ", ".join(str(path) for path in paths)
        raise InputError(f"{where}: no run files in it; give JSONL files, one a system")
    files = [file for file in files if file in paths or not is_beside_a_run(file, files)]
    backups = {file: original for file, original in backups_among(files) if file not in paths}
    for backup, original in backups.items():
        message = f"is a backup of {original.name}; passed over"
        report(Finding("file_backup", Place(str(backup)), message))
    return originals_first(file for file in files if file not in backups)


def open_runs(
    files: Sequence[Path], report: OnFinding, beside: Mapping[str, Sequence[Path]] | None = None
) -> list[Opened]:
    """Return the files that are runs; the first ones stay open, to be read on from there.

    Files that are no runs are reported. `beside` are the paths given as other inputs, by input:
    such a file is no run. Raises InputError if there is no run.
    """
    given = (beside or {}).items()
    # The topic file often lies in the folder of the runs, or is linked there.
    others = {os.path.realpath(path): what for what, paths in given for path in paths}
    runs: list[Opened] = []
    passed_over: list[Finding] = []
    held = 0
    for opened in map(Opened, files):
        finding = not_a_run(opened, others.get(os.path.realpath(opened.path), ""))
        held += opened.held_bytes
        if finding is not None or len(runs) >= MOST_OPEN or held > MOST_HELD:
            opened.close()
        if finding is None:
            runs.append(opened)
        else:
            passed_over.append(finding)
    for finding in passed_over:
        report(finding)
    if files and not runs:
        first = str(passed_over[0]).removesuffix("; passed over")
        message = "no response could be read; `run_judge.py job formats` lists what can"
        raise InputError(f"{first}; {message}")
    return runs


@dataclass(slots=True)
class RunReader:
    """Reads run files into responses on the wanted topics, in the order of files and lines.

    `topics` None takes every topic that a run answers. `known` are the topics of the topic file,
    of which `topics` may be the first few: a response on another known topic is no finding. A
    response of a pipeline that asks what a topic asks is one on that topic.
    """

    files: Sequence[Path | Opened]
    report: OnFinding
    topics: dict[str, Topic] | None = None
    known: Mapping[str, Topic] = field(default_factory=dict)
    store: DocumentStore | None = None
    own_documents: bool = False
    """Whether the text that a run carries is judged where `store` has the document too."""
    qrels: Mapping[str, Mapping[str, int]] | None = None
    """Grades of documents by topic and doc_id, which the topics are given."""
    banks: Mapping[str, Bank] | None = None
    """Nuggets by topic, which the topics are given."""
    dataset: str = "auto"
    flag_instructions: bool = False
    """Whether text that talks to the judge is a finding: where a model judges."""
    flag_hostile: bool = False
    """Whether text that ends turns of a chat, or hides something, is a finding by run."""
    max_runs: int | None = None
    only_runs: Collection[str] = ()
    """The runs that are wanted, by run_id; all where it is empty."""
    only_topics: Collection[str] = ()
    max_topics: int | None = None
    """Without `topics`: the topics that are wanted, or how many, in the order of the runs."""
    records: ReadRecords | None = None
    """Reads the files, where others read them too; its own `store` counts then."""
    taken: OnFormat = ignore_format
    observe: OnRecord = ignore_record
    runs: dict[str, str] = field(default_factory=dict)
    """Team of each run seen so far, by run_id."""
    answered: dict[str, set[str]] = field(default_factory=dict)
    """Topics answered so far, by run_id, and ids of further samples."""
    overlaps: dict[str, Overlap] = field(default_factory=dict)
    """How many of its citations have a document, by run_id; empty without a store."""
    unknown_topics: int = 0
    seen: set[str] = field(default_factory=set)
    """Every run_id seen, wanted or not."""
    position: int = 0
    """How far the files are read, in bytes."""
    read: ReadRecords = field(init=False, repr=False)
    seen_topics: set[str] = field(default_factory=set, repr=False)
    """The topics of all responses, wanted or not, where no topics are given."""
    _topic_ids: set[str] = field(default_factory=set, repr=False)
    _samples: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict, repr=False)
    """Digest of each answer by sample, by run and topic; not of runs of the tracks."""
    _by_text: dict[str, list[str]] = field(default_factory=dict, repr=False)
    """Ids of the known topics by their texts; empty until one is looked for."""
    _joined: set[str] = field(default_factory=set, repr=False)
    """The runs whose responses were told by their questions."""

    def __post_init__(self) -> None:
        self.read = (
            self.records
            or RunRecords(
                self.files,
                self.store,
                self.own_documents,
                self.dataset,
                self.flag_instructions,
            ).read
        )

    def __iter__(self) -> Iterator[tuple[Topic, Response]]:
        try:
            yield from self._responses()
        finally:  # also where the caller wants no more
            if self.records is None:  # nobody else reads the files
                for file in self.files:
                    Opened.of(file).close()

    def _responses(self) -> Iterator[tuple[Topic, Response]]:
        left = len(self.files)
        hostile = HostileText(self.report)
        for event in self.read(self.report):
            if isinstance(event, FileBegins):
                # With enough runs, no file is opened only to look for a run's other half: that is
                # rare, and there may be a hundred files.
                enough = self.max_runs is not None and len(self.runs) >= self.max_runs
                if enough or not left:
                    break
                left -= 1
            elif isinstance(event, FileRecognised):
                self.taken(event.path, event.format_name, event.why)
            else:
                self.position = event.position
                found = self._on_its_topic(event)
                self.observe(event, found.response)
                if found.response is not None and not event.repeated:
                    for topic, response in self._select(found):
                        if self.flag_hostile:
                            own = topic if self.topics is None else None
                            hostile.look_at_response(response, own)
                        yield topic, response
        hostile.finish()
        self._report_missing()
        self._report_elsewhere()
        for run_id in sorted(set(self.only_runs) - set(self.runs)):
            message = f"run {run_id!r} is not among them, or has no response on a wanted topic"
            self.report(Finding("run_not_there", Place("runs"), message, run_id=run_id))
        if self.topics is None:
            for topic_id in sorted(set(self.only_topics) - self._topic_ids):
                message = unknown("topic", topic_id, self.seen_topics)
                self.report(Finding("topic_not_there", Place("runs"), message, topic_id=topic_id))

    @property
    def expected_responses(self) -> int | None:
        """Roughly how many responses there will be, by the bytes read so far; None at first."""
        yielded = sum(map(len, self.answered.values()))
        if not yielded or not self.position:
            return None
        size = sum(Opened.of(file).size for file in self.files[: self.max_runs])
        return round(yielded * max(1, size / self.position))

    def _select(self, event: RunRecord) -> Iterator[tuple[Topic, Response]]:
        """Yield the response with its topic, unless it is a duplicate or not asked for."""
        response = event.response
        assert response is not None
        self.seen.add(response.run_id)
        if self.only_runs and response.run_id not in self.only_runs:
            return
        topic = self._topic(response, event)
        if topic is None:
            return
        if response.run_id not in self.runs:
            if self.max_runs is not None and len(self.runs) >= self.max_runs:
                return
            self._begin_run(response)
        answered = self.answered.setdefault(response.run_id, set())
        named = self._as_sample(response, event.digest) if event.digest else response
        if named is None or named.topic_id in answered:
            message = f"run {response.run_id!r} answers topic {topic.topic_id!r} a second time"
            message += " in the same words: counts once" if event.digest else ""
            self._about("response_duplicate", response, message)
            return
        response = named
        answered.add(response.topic_id)
        if self.store is not None:
            self.overlaps.setdefault(response.run_id, Overlap()).add(response)
        topic = self._complete(topic)
        yield replace(topic, topic_id=response.topic_id) if response.sample else topic, response

    def _as_sample(self, response: Response, digest: str) -> Response | None:
        """Return a response as one of the samples on its topic; None where it is there already.

        The first keeps the topic's id, so that nothing changes for a topic with one answer.
        """
        known = self._samples.setdefault((response.run_id, response.topic_id), {})
        name = response.sample
        if digest in ([known.get(name)] if name else known.values()):
            return None
        if not known and response.topic_id not in self.answered[response.run_id]:
            known[name] = digest
            return response.as_sample("")
        if not name or name in known:
            name = next(n for n in map(str, count(len(known) + 1)) if n not in known)
            message = f"run {response.run_id!r} has another answer on topic {response.topic_id!r}"
            self._about("response_duplicate", response, f"{message}: read as sample {name}")
        known[name] = digest
        return response.as_sample(name)

    def _complete(self, topic: Topic) -> Topic:
        """Return the topic with the grades and nuggets that there are for it."""
        graded = self.qrels.get(topic.topic_id) if self.qrels else None
        bank = self.banks.get(topic.topic_id) if self.banks else None
        if graded is None and bank is None:
            return topic
        return replace(topic, qrels=graded, nuggets=bank.nuggets if bank else None)

    def _begin_run(self, response: Response) -> None:
        self.runs[response.run_id] = response.team_id
        name = bare_name(Path(response.place.path))
        if name not in (response.run_id, f"{response.team_id}-{response.run_id}", "<stdin>"):
            message = f"holds run {response.run_id!r}; the file is called {name!r}"
            self._about("file_name_differs", response, message)

    def _topic(self, response: Response, event: RunRecord) -> Topic | None:
        # Without a digest it may be one that the whole job has named as a sample already.
        topic_id = response.topic_id if event.digest else response.topic_asked
        own = Topic(topic_id, title=event.narrative, background=response.background)
        if self.topics is None:
            return own if self._wants(topic_id) else None
        topic = self.topics.get(topic_id)
        first, _, turn = topic_id.rpartition("#")
        if topic is None and turn.isdecimal() and first in self.known:
            # A later answer of a conversation answers a question of its own.
            return own if first in self.topics else None
        if topic is None and topic_id not in self.known:
            self.unknown_topics += 1
            message = f"answers topic {topic_id!r}, which is not in the topic file"
            self._about("topic_unknown", response, message)
        return topic

    def _on_its_topic(self, event: RunRecord) -> RunRecord:
        """Return a record; its response is under a topic's id where it asks what that asks."""
        response, known = event.response, self.known or self.topics or {}
        if response is None or event.format_name != QA or response.topic_id in known:
            return event
        if not self._by_text:
            for topic in known.values():
                for text in {
                    normalize_text(topic.title),
                    normalize_text(topic.problem_statement),
                } - {""}:
                    self._by_text.setdefault(text, []).append(topic.topic_id)
        alike = self._by_text.get(normalize_text(event.narrative), [])
        # Of several topics of one text, the record's own id decides.
        alike = [t for t in alike if len(alike) == 1 or t == as_id(event.written.get("id"))]
        if not alike:
            return event
        if response.run_id not in self._joined:
            self._joined.add(response.run_id)
            message = f"asks what topic {alike[0]!r} asks: run {response.run_id!r} is read so"
            self._about("topic_by_text", response, message)
        return replace(event, response=replace(response, topic_id=alike[0]))

    def _wants(self, topic_id: str) -> bool:
        """Return whether a topic is wanted where no topics are given."""
        self.seen_topics.add(topic_id)
        if self.only_topics and topic_id not in self.only_topics:
            return False
        full = self.max_topics is not None and len(self._topic_ids) >= self.max_topics
        if full and topic_id not in self._topic_ids:
            return False
        self._topic_ids.add(topic_id)
        return True

    def _about(self, kind: str, response: Response, message: str) -> None:
        self.report(
            Finding(
                kind,
                response.place,
                message,
                run_id=response.run_id,
                topic_id=response.topic_id,
            )
        )

    def _report_missing(self) -> None:
        for run_id, answered in self.answered.items():
            missing = [t for t in self.topics or () if t not in answered]
            if missing:
                few = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
                message = (
                    f"run {run_id!r} has no response on {len(missing)} of"
                    f" {len(self.topics or ())} topics: {few}"
                )
                place = Place("runs")
                self.report(Finding("response_missing", place, message, few, run_id=run_id))

    def _report_elsewhere(self) -> None:
        """Report each run of which hardly any cited document is there, where there are several."""
        for run_id, overlap in self.overlaps.items():
            if self.store is not None and len(self.overlaps) > 1 and overlap.is_few(overlap.there):
                message = f"run {run_id!r}: {overlap.figures(overlap.there, self.store)}"
                place = Place("runs")
                self.report(Finding("documents_elsewhere", place, message, run_id=run_id))
