"""The responses of run files, in order: found, told apart, read, and checked against the topics."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from trecjudge.documents.overlap import Overlap
from trecjudge.documents.store import DocumentStore
from trecjudge.errors import InputError
from trecjudge.findings import Finding, Report, shown
from trecjudge.formats.registry import Format, all_formats, format_of
from trecjudge.formats.response import Reader
from trecjudge.records import Place, Response, Topic
from trecjudge.sources.containers import bare_name, lines
from trecjudge.sources.paths import files_below
from trecjudge.sources.values import as_text, objects

PEEK = 5
RUN_NAME = re.compile(r"\.jsonl?(\.(gz|bz2|xz|zst))?$")
RUN_LINE = re.compile(rb"\[?\s*(\{|$)")
Taken = Callable[[Path, str, str], None]
"""(file, format, why): told once for each run file what it was taken for."""
Observe = Callable[[Place, dict[str, Any], str, Response | None], None]
"""(place, record as written, format, response or None): told of every record of a known format."""


def find_runs(paths: Sequence[Path]) -> list[Path]:
    """Return the files below `paths`, each once. Raises InputError if there is none."""
    files = list(dict.fromkeys(file for path in paths for file in files_below(path)))
    if not files:
        where = ", ".join(str(path) for path in paths)
        raise InputError(f"{where}: no run files in it; give JSONL files, one a system")
    return files


@dataclass(slots=True)
class RunReader:
    """Reads run files into responses on the wanted topics, in the order of files and lines.

    `topics` None takes every topic that a run answers. `known` are the topics of the topic file,
    of which `topics` may be the first few: a response on another known topic is no finding.
    """

    files: Sequence[Path]
    report: Report
    topics: dict[str, Topic] | None = None
    known: Collection[str] = ()
    store: DocumentStore | None = None
    qrels: Mapping[str, Mapping[str, int]] | None = None
    """Grades of documents by topic and doc_id, which the topics are given."""
    dataset: str = "auto"
    flag_instructions: bool = False
    """Whether text that talks to the judge is a finding: where a model judges."""
    max_runs: int | None = None
    only_runs: Collection[str] = ()
    """The runs that are wanted, by run_id; all where it is empty."""
    taken: Taken = lambda path, name, why: None
    observe: Observe = lambda place, record, name, response: None
    runs: dict[str, str] = field(default_factory=dict)
    """Team of each run seen so far, by run_id."""
    paths: dict[str, str] = field(default_factory=dict)
    """The first file of each run."""
    answered: dict[str, set[str]] = field(default_factory=dict)
    """Topics answered so far, by run_id."""
    overlaps: dict[str, Overlap] = field(default_factory=dict)
    """What of its citations is there, by run_id; nothing without a store."""
    unknown_topics: int = 0
    seen: set[str] = field(default_factory=set)
    """Every run_id met, wanted or not."""

    def __iter__(self) -> Iterator[tuple[Topic, Response]]:
        for path in self.files:
            if self.max_runs is not None and len(self.runs) >= self.max_runs:
                break  # a run seldom goes on in a second file, and there may be a hundred
            try:
                yield from self._file(path)
            except InputError as error:
                message = str(error).removeprefix(f"{path}: ")
                self.report(Finding("file_unreadable", Place(str(path)), message))
        self._report_missing()
        self._report_elsewhere()
        for run_id in sorted(set(self.only_runs) - set(self.runs)):
            message = f"no run {run_id!r} with a response on a wanted topic is among them"
            self.report(Finding("run_not_there", Place("runs"), message, run_id=run_id))

    def _file(self, path: Path) -> Iterator[tuple[Topic, Response]]:
        if not looks_like_a_run(path):
            self.report(Finding("file_not_a_run", Place(str(path)), "is not a run; passed over"))
            return
        format_name = ""
        count = 0
        for number, record in objects(path, self.report):
            place = Place(str(path), number)
            claimed = format_of(record, self.dataset)
            if claimed is None:
                self._unknown_shape(place, record)
                continue
            count += 1
            if format_name != claimed[0].NAME:
                format_name = claimed[0].NAME
                self._tell(path, place, *claimed)
            draft = claimed[0].draft(record)
            response = Reader(draft, place, self.report, self.store, self.flag_instructions).read()
            self.observe(place, record, claimed[0].NAME, response)
            if response is not None:
                yield from self._wanted(response, as_text(draft.narrative))
        if not count:
            self.report(Finding("file_without_responses", Place(str(path)), "holds no response"))

    def _tell(self, path: Path, place: Place, format_: Format, why: str) -> None:
        self.taken(path, format_.NAME, why)
        ours = ("auto", format_.DATASET)
        if self.dataset not in ours and format_.DATASET != "any":
            message = f"is a {format_.NAME} run ({why}), not one of {self.dataset}"
            self.report(Finding("file_other_dataset", place, message, format_.NAME))

    def _unknown_shape(self, place: Place, record: dict[str, Any]) -> None:
        names = ", ".join(f.NAME for f in all_formats())
        message = f"is of no known format ({names}): keys {shown(sorted(record))}"
        self.report(Finding("record_unknown_shape", place, message, shown(sorted(record))))

    def _wanted(self, response: Response, narrative: str) -> Iterator[tuple[Topic, Response]]:
        """Yield the response with its topic, unless it is a duplicate or not asked for."""
        response = self._with_own_run_id(response)
        self.seen.add(response.run_id)
        if self.only_runs and response.run_id not in self.only_runs:
            return
        topic = self._topic(response, narrative)
        if topic is None:
            return
        if response.run_id not in self.runs:
            if self.max_runs is not None and len(self.runs) >= self.max_runs:
                return
            self._begin_run(response)
        answered = self.answered.setdefault(response.run_id, set())
        if topic.topic_id in answered:
            message = f"run {response.run_id!r} answers topic {topic.topic_id!r} a second time"
            self._about("response_duplicate", response, message)
            return
        answered.add(topic.topic_id)
        if self.store is not None:
            self.overlaps.setdefault(response.run_id, Overlap()).add(response)
        graded = self.qrels.get(topic.topic_id) if self.qrels else None
        yield (topic if graded is None else replace(topic, qrels=graded)), response

    def _begin_run(self, response: Response) -> None:
        self.runs[response.run_id] = response.team_id
        name = bare_name(Path(response.place.path))
        if name not in (response.run_id, f"{response.team_id}-{response.run_id}", "<stdin>"):
            message = f"holds run {response.run_id!r}; the file is called {name!r}"
            self._about("file_name_differs", response, message)

    def _with_own_run_id(self, response: Response) -> Response:
        """Name a run of another team `team/run` where its run_id is taken."""
        team = self.runs.get(response.run_id, response.team_id)
        here = self.paths.setdefault(response.run_id, response.place.path) == response.place.path
        if team == response.team_id or (here and not (team and response.team_id)):
            return response
        renamed = f"{response.team_id or 'no team'}/{response.run_id}"
        if renamed not in self.runs:
            message = f"run_id {response.run_id!r} is also one of team {team!r}; named {renamed!r}"
            self._about("run_id_conflict", response, message)
        return replace(response, run_id=renamed)

    def _topic(self, response: Response, narrative: str) -> Topic | None:
        if self.topics is None:
            return Topic(response.topic_id, title=narrative)
        topic = self.topics.get(response.topic_id)
        if topic is None and response.topic_id not in self.known:
            self.unknown_topics += 1
            message = f"answers topic {response.topic_id!r}, which is not in the topic file"
            self._about("topic_unknown", response, message)
        return topic

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
        """Report the runs of several whose citations are hardly any of them there."""
        for run_id, overlap in self.overlaps.items():
            if self.store is not None and len(self.overlaps) > 1 and overlap.is_few(overlap.there):
                message = f"run {run_id!r}: {overlap.figures(overlap.there, self.store)}"
                place = Place("runs")
                self.report(Finding("documents_elsewhere", place, message, run_id=run_id))


def looks_like_a_run(path: Path) -> bool:
    """Return whether the file's name says so or one of its first lines begins a JSON object.

    An empty file counts as a run. What begins like one and cannot be read is a run that is lost.
    """
    if RUN_NAME.search(path.name):
        return True
    first = [line for _, line in islice(lines(path), PEEK)]
    return not first or any(RUN_LINE.match(line) for line in first)
