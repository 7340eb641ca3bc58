"""The responses of run files, in order: found, told apart, read, and checked against the topics."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from trecjudge.documents.overlap import Overlap
from trecjudge.documents.shelf import Shelf
from trecjudge.documents.store import DocumentStore
from trecjudge.errors import InputError
from trecjudge.findings import Finding, Report, shown
from trecjudge.formats.carriers import Carriers
from trecjudge.formats.draft import Draft
from trecjudge.formats.registry import Format, all_formats, format_of
from trecjudge.formats.response import Reader
from trecjudge.naming import RunNames
from trecjudge.records import Place, Response, Topic
from trecjudge.sources.backups import backups_among, originals_first
from trecjudge.sources.containers import bare_name, head
from trecjudge.sources.own import own_output
from trecjudge.sources.paths import files_below
from trecjudge.sources.values import as_id, as_text, first_objects, objects
from trecjudge.strays import stray

PEEK = 5
RUN_NAME = re.compile(r"\.jsonl?(\.(gz|bz2|xz|zst))?$")
NOT_A_RUN = re.compile(
    r"\.(txt|md|rst|log|err|out|[ct]sv|html?|ya?ml|toml|cfg|ini|py|sh|pdf)$", re.IGNORECASE
)
"""Names of files that are no run where they are empty."""
RUN_LINE = re.compile(rb"\[?\s*(\{|$)")
Taken = Callable[[Path, str, str], None]
"""(file, format, why): told once for each run file what it was taken for."""
Observe = Callable[[Place, dict[str, Any], str, Response | None], None]
"""(place, record as written, format, response or None): told of every record of a known format."""


def find_runs(paths: Sequence[Path], report: Report = lambda finding: None) -> list[Path]:
    """Return the files below `paths`, each once. Raises InputError if there is none.

    A backup in the folder of what it is a backup of is passed over, unless its path is given; then
    it comes after that.
    """
    found: dict[str, Path] = {}
    for file in (file for path in paths for file in files_below(path)):
        found.setdefault(os.path.abspath(file), file)
    files = list(found.values())
    if not files:
        where = ", ".join(str(path) for path in paths)
        raise InputError(f"{where}: no run files in it; give JSONL files, one a system")
    backups = {file: original for file, original in backups_among(files) if file not in paths}
    for backup, original in backups.items():
        message = f"is a backup of {original.name}; passed over"
        report(Finding("file_backup", Place(str(backup)), message))
    return originals_first(file for file in files if file not in backups)


def runs_among(
    files: Sequence[Path], report: Report, beside: Mapping[str, Sequence[Path]] | None = None
) -> list[Path]:
    """Return the files that are runs; the others are told. Raises InputError if there is none.

    `beside` are paths that are given as something else, by what they are given as.
    """
    given = (beside or {}).items()
    others = {os.path.realpath(path): what for what, paths in given for path in paths}
    findings = {file: not_a_run(file, others.get(os.path.realpath(file), "")) for file in files}
    passed_over = [finding for finding in findings.values() if finding is not None]
    for finding in passed_over:
        report(finding)
    if len(passed_over) == len(findings):
        first = str(passed_over[0]).removesuffix("; passed over")
        message = "no response could be read; `run_judge.py formats` lists what can"
        raise InputError(f"{first}; {message}")
    return [file for file, finding in findings.items() if finding is None]


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
    compare_texts: bool = True
    own_documents: bool = False
    """Whether the text that a run carries is judged where `store` has the document too."""
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
    answered: dict[str, set[str]] = field(default_factory=dict)
    """Topics answered so far, by run_id."""
    overlaps: dict[str, Overlap] = field(default_factory=dict)
    """What of its citations is there, by run_id; nothing without a store."""
    unknown_topics: int = 0
    seen: set[str] = field(default_factory=set)
    """Every run_id met, wanted or not."""
    names: RunNames = field(init=False, repr=False)
    shelf: Shelf = field(init=False)
    carriers: Carriers = field(init=False)

    def __post_init__(self) -> None:
        self.names = RunNames(self._said)
        self.shelf = Shelf(self.store, self.own_documents, self.compare_texts)
        self.carriers = Carriers(self.files, self.dataset)

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
        if (finding := not_a_run(path)) is not None:
            self.report(finding)
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
            draft = claimed[0].draft(record)
            name = self._name(draft, place)
            if format_name != claimed[0].NAME:
                format_name = claimed[0].NAME
                self._tell(path, place, name, *claimed)
            flag, carriers = self.flag_instructions, self.carriers
            reader = Reader(draft, place, self.report, self.shelf, flag, name, carriers)
            response = reader.read()
            self.observe(place, record, claimed[0].NAME, response)
            if response is not None and (place.path, name) not in self.names.repeated:
                yield from self._wanted(response, as_text(draft.narrative))
        if not count:
            self.report(Finding("file_without_responses", Place(str(path)), "holds no response"))

    def _name(self, draft: Draft, place: Place) -> str:
        """Return what a record's run is called; tell where that is not its run_id."""

        def complain(kind: str, message: str, name: str) -> None:
            topic_id = draft.topic_id or ""
            self.report(Finding(kind, place, message, run_id=name, topic_id=topic_id))

        team = as_id(draft.team_id) or ""
        return self.names.of(place.path, team, as_id(draft.run_id), complain).name

    def _said(self, path: str, written: str | None) -> dict[str, dict[str, str]]:
        """Return a digest of what a file says as this run on each topic, by team."""
        said: dict[str, dict[str, str]] = {}
        file = next(file for file in self.files if Place(str(file)).path == path)
        with suppress(InputError):  # told where the file is read
            for number, record in objects(file, lambda finding: None):
                claimed = format_of(record, self.dataset)
                if claimed is None:
                    continue
                draft = claimed[0].draft(record)
                if as_id(draft.run_id) == written and draft.topic_id is not None:
                    of_team = said.setdefault(as_id(draft.team_id) or "", {})
                    of_team.setdefault(draft.topic_id, _digest(draft, number))
        return said

    def _tell(self, path: Path, place: Place, name: str, format_: Format, why: str) -> None:
        self.taken(path, format_.NAME, why)
        ours = ("auto", format_.DATASET)
        if self.dataset not in ours and format_.DATASET != "any":
            message = f"is a {format_.NAME} run ({why}), not one of {self.dataset}"
            self.report(Finding("file_other_dataset", place, message, format_.NAME, run_id=name))

    def _unknown_shape(self, place: Place, record: dict[str, Any]) -> None:
        names = ", ".join(f.NAME for f in all_formats())
        message = f"is of no known format ({names}): keys {shown(sorted(record))}"
        self.report(Finding("record_unknown_shape", place, message, shown(sorted(record))))

    def _wanted(self, response: Response, narrative: str) -> Iterator[tuple[Topic, Response]]:
        """Yield the response with its topic, unless it is a duplicate or not asked for."""
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


def _digest(draft: Draft, line: int) -> str:
    """Return a digest of what is judged of a record."""
    parts = (draft.sentences, draft.references, draft.documents)
    try:
        text = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS, default=repr)
    except (TypeError, ValueError):  # an integer of too many digits: like no other
        text = str(line).encode()
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def not_a_run(path: Path, given_as: str = "") -> Finding | None:
    """Return the finding on a file that is no run; None of a run, and of one that is lost.

    `given_as` tells what else the file is given as, if it is.
    """
    own = own_output(path)
    if own:
        return Finding("own_output", Place(str(path)), f"is {own}, no run; passed over")
    what = "" if looks_like_a_run(path) else "is not a run"
    if not what and not any(map(format_of, first_objects(path, 1))):
        records = first_objects(path, PEEK)
        if not any(map(format_of, records)):
            kind = f"the {given_as}" if given_as else stray(records)
            what = f"holds {kind}, no responses" if kind else ""
    return Finding("file_not_a_run", Place(str(path)), f"{what}; passed over") if what else None


def looks_like_a_run(path: Path) -> bool:
    """Return whether the file's name says so or one of its first lines begins a JSON object.

    An empty file counts as a run, unless its name says otherwise, and so does what cannot be read,
    or begins like one: a run that is lost.
    """
    if RUN_NAME.search(path.name):
        return True
    first = head(path, PEEK)
    if not first:
        return not NOT_A_RUN.search(path.name)
    return any(RUN_LINE.match(line) for line in first)
