"""Records of run files, read in turn: recognised, named, made into responses."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, brief, ignore
from trecjudge.inputs.documents.record import document_of, leaf_keys
from trecjudge.inputs.documents.shelf import JudgedTexts
from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.inputs.formats.draft import Draft, with_said_beside
from trecjudge.inputs.formats.markers import MarkInventory
from trecjudge.inputs.formats.registry import Format, all_formats, format_of
from trecjudge.inputs.formats.response import ResponseReader, RunSurvey, drafts_in
from trecjudge.inputs.naming import RunNames
from trecjudge.inputs.pipelines.exports import is_export
from trecjudge.inputs.pipelines.reading import first_records, run_records
from trecjudge.inputs.pipelines.tables import is_table
from trecjudge.inputs.provenance import provenance_beside, with_provenance
from trecjudge.inputs.retrieved import retrieved_beside, with_retrieved
from trecjudge.inputs.sources.containers import BOM, Opened
from trecjudge.inputs.sources.packing import is_packed
from trecjudge.inputs.sources.paths import own_output
from trecjudge.inputs.sources.values import as_id, as_text, is_multi_line
from trecjudge.inputs.topics.record import name_fields, topic_of, turns_in
from trecjudge.records import Place, Response

OF_A_RUN = re.compile(
    r"answer|respon|output|generat|sentence|summar|predict|complet|citation|cited|^references?$"
    r"|^run|^team|^metadata$|^model|^system|^repl(y|ies)|^reports?$|^results?$|^messages?$",
    re.IGNORECASE,
)
"""Keys of a system's output in any shape: a record with one is an unreadable run, no stray."""


def stray_kind(records: Iterable[Mapping[str, Any]]) -> str:
    """Return what a file with these first records holds; empty where that is not clear."""
    kinds = {_kind(record) for record in records}
    return kinds.pop() if len(kinds) == 1 else ""


def _kind(record: Mapping[str, Any]) -> str:
    if any(record.values()) and all(isinstance(v, dict) for v in record.values()):
        grades = [grade for by_document in record.values() for grade in by_document.values()]
        if all(isinstance(g, int | float) and not isinstance(g, bool) for g in grades):
            return "qrels"
    if any(names <= record.keys() for names in DESCRIPTIONS):
        return "the description of a dataset"
    if turns_in(name_fields(dict(record))):
        return "topics or documents"
    if any(OF_A_RUN.search(key) for key in record):
        return ""
    found, document = topic_of(name_fields(dict(record))), document_of(record)
    texts = [document.text] if document else []
    if found is not None:
        topic = found[0]
        texts += [topic.title, topic.problem_statement, topic.background]
    return "topics or documents" if any(texts) else ""


DESCRIPTIONS = ({"_data_files", "_fingerprint"}, {"citation", "description", "features"})
"""Keys of the files beside the data of a dataset of Hugging Face."""
ARROW = ".arrow"
ARROW_HINT = (
    "is data of a Hugging Face dataset: write them as JSONL with"
    " `datasets.load_from_disk(FOLDER).to_json('run.jsonl')`"
)
PEEK = 5
"""Lines by which a file is recognised: a run may begin with a few broken ones."""
RUN_NAME = re.compile(r"\.jsonl?(\.(gz|bz2|xz|zst))?$")
NOT_A_RUN = re.compile(
    r"\.(txt|md|rst|log|err|out|[ct]sv|html?|ya?ml|toml|cfg|ini|py|sh|pdf)$", re.IGNORECASE
)
"""Endings of files that are no runs where they are empty."""
RUN_LINE = re.compile(rb"\[?\s*(\{|$)")
# A usual job fits; a large one is better parsed twice than held in memory.
ROOM = 8 << 20
"""Bytes of input whose records are kept for the next reader."""
MOST_SHOWN, LONGEST_SHOWN = 100, 200
"""Keys of a record of no known format that are named, and characters of them."""
KEYS_SHOWN = "--keys question=KEY,answer=KEY,contexts=KEY"
OF_A_FINDING = 500
"""Bytes of that room that one finding takes."""


@dataclass(frozen=True, slots=True)
class FileBegins:
    """A run file is opened."""

    path: Path


@dataclass(frozen=True, slots=True)
class FileRecognised:
    """The format of a file is recognised; `why` names the keys that show it."""

    path: Path
    format_name: str
    why: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A record of a known format; `response` is None where its topic is not known.

    `repeated`: its file only repeats what another one has. `size` is how many bytes were read
    since the record before it, `position` how far all files are read, in bytes on disk. `digest`
    is that of what is judged where another record on the topic may be a sample; else empty.
    `layout` is what its file has that JSONL has not, empty where it may be JSONL.
    """

    place: Place
    written: dict[str, Any]
    format_name: str
    response: Response | None
    narrative: str
    repeated: bool
    size: int
    position: int
    digest: str = ""
    layout: str = ""


Event = FileBegins | FileRecognised | RunRecord
ReadRecords = Callable[[OnFinding], Iterator[Event]]
"""Reads run files from their beginning, and reports findings on the way."""


@dataclass(slots=True)
class RunRecords:
    """Reads run files record by record. A path is first checked to be a run; `Opened` ones were."""

    files: Sequence[Path | Opened]
    store: DocumentStore | None = None
    own_documents: bool = False
    dataset: str = "auto"
    flag_instructions: bool = False
    report: OnFinding = ignore
    names: RunNames = field(init=False, repr=False)
    shelf: JudgedTexts = field(init=False)
    survey: RunSurvey = field(init=False)
    _position: int = field(init=False, default=0)
    """The size of the files that were read."""
    _inventory: MarkInventory = field(init=False, repr=False, default_factory=MarkInventory)

    def __post_init__(self) -> None:
        self.names = RunNames(self._digests)
        self.shelf = JudgedTexts(self.store, self.own_documents)
        self.survey = RunSurvey([Opened.of(file).path for file in self.files], self.dataset)

    def read(self, report: OnFinding) -> Iterator[Event]:
        """Yield files and records as they are read, and report findings between them."""
        self.report, self._inventory = report, MarkInventory()
        for file in self.files:
            opened = Opened.of(file)
            yield FileBegins(opened.path)
            if opened is not file and (finding := not_a_run(opened)) is not None:
                self.report(finding)
                continue
            try:
                yield from self.of_file(opened)
            except InputError as error:
                message = str(error).removeprefix(f"{opened.path}: ")
                self.report(Finding("file_unreadable", Place(str(opened.path)), message))
            self._position += opened.position
        if self._inventory.counts:
            self.report(Finding("marks_in_all", Place("runs"), str(self._inventory)))

    def forget_names(self) -> None:
        """Name the runs of the next file as if it were the first one."""
        self.names = RunNames(self._digests)

    def of_file(self, opened: Opened) -> Iterator[Event]:
        """Yield the records of one of the files. Raises InputError where it cannot be read."""
        path, format_name, count, before = opened.path, "", 0, 0
        inventories: dict[str, MarkInventory] = defaultdict(MarkInventory)
        beside, layout = provenance_beside(path, self.report), layout_of(opened)
        searched = retrieved_beside(path, self.report)
        for number, record in run_records(opened, self.report):
            place = Place(str(path), number)
            claimed = format_of(record, self.dataset)
            if claimed is None:
                self._unknown_shape(place, record)
                continue
            count += 1
            format_, why = claimed
            draft = with_said_beside(format_.draft(record), record)
            name = self._name(draft, place)
            if format_name != format_.NAME:
                format_name = format_.NAME
                yield FileRecognised(
                    path, format_.NAME, why
                )  # at the first record, and at a change
                self._other_dataset(place, name, format_, why)
            response = ResponseReader(
                draft,
                place,
                self.report,
                self.shelf,
                self.flag_instructions,
                name,
                self.survey,
                inventories[name],
            ).read()
            if response is not None and (beside or searched is not None):
                key = as_id(draft.run_id) or response.run_id, response.topic_id
                response = with_provenance(response, beside.get(key, ()), self.report)
                if searched is not None:
                    response = with_retrieved(response, searched.get(key))
            size, before = opened.read_bytes - before, opened.read_bytes
            yield RunRecord(
                place,
                record,
                format_.NAME,
                response,
                as_text(draft.narrative),
                (place.path, name) in self.names.repeated,
                size,
                self._position + opened.position,
                # Of a track's run the first record on a topic counts: its rules know no samples.
                _digest(draft, number) if draft.sample or not draft.of_a_track else "",
                layout,
            )
        for name, inventory in inventories.items():
            if inventory.counts:
                self._inventory.add_all(inventory)
                message = f"run {name!r} marks citations in its texts: {inventory}"
                self.report(Finding("marks_counted", Place(str(path)), message, run_id=name))
        if not count:
            self.report(Finding("file_without_responses", Place(str(path)), "holds no response"))

    def _name(self, draft: Draft, place: Place) -> str:
        """Return the name of a record's run; report where that is not its run_id."""

        def complain(kind: str, message: str, name: str) -> None:
            topic_id = draft.topic_id or ""
            self.report(Finding(kind, place, message, run_id=name, topic_id=topic_id))

        team = as_id(draft.team_id) or ""
        return self.names.of(place.path, team, as_id(draft.run_id), complain).name

    def _digests(self, path: str, written: str | None) -> dict[str, dict[str, str]]:
        """Return a digest of each response that a file has of this run, by team and topic."""
        digests: dict[str, dict[str, str]] = {}
        paths = (Opened.of(file).path for file in self.files)
        file = next(file for file in paths if Place(str(file)).path == path)
        for line, draft in drafts_in(file, self.dataset):
            if as_id(draft.run_id) == written and draft.topic_id is not None:
                of_team = digests.setdefault(as_id(draft.team_id) or "", {})
                answer = f"{draft.topic_id}~{draft.sample}"  # a run may be a file for a sample
                of_team.setdefault(answer, _digest(draft, line))
        return digests

    def _other_dataset(self, place: Place, name: str, format_: Format, why: str) -> None:
        ours = ("auto", format_.DATASET)
        if self.dataset not in ours and format_.DATASET != "any":
            message = f"is a {format_.NAME} run ({why}), not one of {self.dataset}; read as such"
            self.report(Finding("file_other_dataset", place, message, format_.NAME, run_id=name))

    def _unknown_shape(self, place: Place, record: dict[str, Any]) -> None:
        names = ", ".join(f.NAME for f in all_formats())
        keys = sorted(islice(leaf_keys(record), MOST_SHOWN))
        message = f"is of no known format ({names}): keys {brief(keys, LONGEST_SHOWN)}"
        message += f"; if they hold an answer, say where: {KEYS_SHOWN}"
        self.report(Finding("record_unknown_shape", place, message, brief(sorted(record))))


def layout_of(opened: Opened) -> str:
    """Return what the beginning of a file has that JSONL has not; empty where it may be JSONL."""
    with suppress(InputError):  # reported where the file is read
        beginning, first = next(opened.look(), b""), opened.first(2)
        if is_packed(opened.on_disk) and opened.path.suffix != ".gz":
            return "is packed, or not UTF-8"
        if beginning.startswith(BOM):
            return "begins with a byte order mark"
        if beginning.lstrip()[:1] == b"[":
            return "is a JSON array"
        if first and is_multi_line(*first):
            return "has records over several lines"
    return ""


def _digest(draft: Draft, line: int) -> str:
    """Return a digest of the parts of a record that are judged."""
    parts = (draft.sentences, draft.references, draft.documents)
    try:
        text = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS, default=repr)
    except (TypeError, ValueError):  # an integer of too many digits: like no other
        text = str(line).encode()
    return hashlib.blake2b(text, digest_size=16).hexdigest()


class KeptRecords:
    """Records for several readers in turn: parsed once where they fit into `room` bytes.

    Where they do not fit, nothing is kept, and the next reader reads the files again.
    """

    def __init__(self, records: RunRecords, room: int = ROOM) -> None:
        self._records, self._room = records, room
        self._report: OnFinding = records.report
        self._begin()

    def read(self, report: OnFinding) -> Iterator[Event]:
        """Yield and report everything from the beginning, and keep it for the next reader."""
        return self._read(report, keep=True)

    def read_last(self, report: OnFinding) -> Iterator[Event]:
        """Yield and report everything, for the last time."""
        return self._read(report, keep=False)

    def _begin(self) -> None:
        self._kept: deque[Event | Finding] = deque()
        self._left = self._room
        self._keeps = True
        self._going_on = replace(self._records).read(self._on_finding)

    def _read(self, report: OnFinding, keep: bool) -> Iterator[Event]:
        # It did not fit, so part of it is gone: the files are read again.
        if self._left < 0:
            self._begin()
        kept = iter(self._kept) if keep else _drain(self._kept)
        for event in kept:
            if isinstance(event, Finding):
                report(event)
            else:
                yield event
        self._report, self._keeps = report, keep
        for event in self._going_on:
            self._keep(event, event.size if isinstance(event, RunRecord) else 0)
            yield event

    def _on_finding(self, finding: Finding) -> None:
        self._keep(finding, OF_A_FINDING)
        self._report(finding)

    def _keep(self, event: Event | Finding, size: int) -> None:
        if not self._keeps:
            return
        self._left -= size
        if self._left < 0:
            # All or nothing: a part could not be continued from the middle of a file.
            self._keeps = False
            self._kept.clear()
        else:
            self._kept.append(event)


def _drain(kept: deque[Event | Finding]) -> Iterator[Event | Finding]:
    """Yield what is kept, and free each entry as it is yielded."""
    while kept:
        yield kept.popleft()


def not_a_run(file: Path | Opened, given_as: str = "") -> Finding | None:
    """Return the finding on a file that is no run; None for a run, also for an unreadable one.

    `given_as` names the other input that the same file is given as, if any.
    """
    opened = Opened.of(file)
    path = opened.path
    own = "" if is_export(path) else own_output(opened)
    if own:
        return Finding("own_output", Place(str(path)), f"is {own}, no run; passed over")
    what = "" if looks_like_a_run(opened) else "is not a run"
    if path.suffix == ARROW:
        what = ARROW_HINT
    # Most files are known by one record: the next few are parsed only where that is of no format.
    if not what and not any(map(format_of, first_records(opened, 1))):
        records = first_records(opened, PEEK)
        if not any(map(format_of, records)):
            kind = f"the {given_as}" if given_as else stray_kind(records)
            what = f"holds {kind}, no responses" if kind else ""
    return Finding("file_not_a_run", Place(str(path)), f"{what}; passed over") if what else None


def looks_like_a_run(file: Path | Opened) -> bool:
    """Return whether a file is a run by its name, or by a JSON object on one of its first lines.

    An empty file counts as a run, unless its name shows otherwise. So does a file that cannot be
    read, or only begins like a run: it is reported as a lost run, not passed over.
    """
    opened = Opened.of(file)
    if RUN_NAME.search(opened.path.name) or is_export(opened.path) or is_table(opened):
        return True
    first = opened.first(PEEK)
    if not first:
        return not NOT_A_RUN.search(opened.path.name)
    return any(RUN_LINE.match(line) for line in first)
