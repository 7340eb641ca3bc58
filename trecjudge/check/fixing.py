"""Repaired copies of run files, and a list of every change."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from trecjudge.check.mending import change_text, mend
from trecjudge.check.packed import Packed
from trecjudge.check.parts import Layout
from trecjudge.check.read_findings import LOST
from trecjudge.check.rules import Track, track_named, track_of
from trecjudge.errors import InputError, OutputError, why
from trecjudge.files import whole
from trecjudge.findings import Finding, unreported
from trecjudge.inputs.documents.shelf import Shelf
from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.inputs.formats.registry import format_of
from trecjudge.inputs.formats.response import Reader
from trecjudge.inputs.run_records import layout_of, not_a_run
from trecjudge.inputs.sources.containers import ENDINGS, Opened
from trecjudge.inputs.sources.values import objects
from trecjudge.records import Place, Response, Topic
from trecjudge.results.outputs import SAFE_NAME

OF_SENTENCE = re.compile(r" of sentence \d+")


@dataclass(frozen=True, slots=True)
class Change:
    """One difference of a repaired copy: what changed, the value before and after."""

    place: Place
    what: str
    before: str
    after: str

    @property
    def kind(self) -> str:
        """What changed, wherever it stands."""
        return OF_SENTENCE.sub("", self.what)

    def __str__(self) -> str:
        return f"{self.place}: {self.what}: {self.before or 'nothing'} -> {self.after or 'removed'}"


def fix(
    files: Sequence[Path],
    out_dir: Path,
    topics: Mapping[str, Topic] | None = None,
    *,
    track: str = "",
    dataset: str = "auto",
    store: DocumentStore | None = None,
) -> Packed[Change]:
    """Write a repaired copy of every run file below `out_dir` as JSONL; return what was changed.

    A copy has the file's name without the endings of containers. Second records of a topic and what
    is not JSON are left out. Raises InputError on an unknown track, OutputError if a file cannot be
    written or would take the place of one of `files`.
    """
    if track:
        track_named(track)
    changes = Packed[Change]()
    runs = [path for path in files if _is_run(path, changes)]
    _make(out_dir)
    for path, target in copies(runs, out_dir).items():
        copying = _Copying(path, topics or {}, track, dataset, changes, store)
        with whole(target) as file:
            copying.write(file)
    return changes


def _is_run(path: Path, changes: Packed[Change]) -> bool:
    finding = not_a_run(path)
    if finding is not None:
        why = finding.message.removesuffix("; passed over")
        changes.append(Change(finding.place, "file left out", why, ""))
    return finding is None


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {why(error)}; give another folder") from error


def copies(files: Iterable[Path], out_dir: Path) -> dict[Path, Path]:
    """Return the path of each file's copy; of files with one name the later ones get a number.

    Raises OutputError if a copy would take the place of one of the files.
    """
    files = list(files)
    originals = {path.resolve() for path in files}
    taken: set[str] = set()
    targets: dict[Path, Path] = {}
    for path in files:
        name = next(name for name in _names(path.name) if name.lower() not in taken)
        taken.add(name.lower())  # some file systems treat a and A as the same name
        targets[path] = out_dir / name
        # Resolved: a link or `..` may lead back to the originals.
        if targets[path].resolve() in originals:
            message = f"{targets[path]} is one of the files to mend; give another folder"
            raise OutputError(message)
        # An earlier copy may have been edited by hand since.
        if targets[path].exists():
            raise OutputError(f"{targets[path]} is there already; give a new folder")
    return targets


def _names(name: str) -> Iterator[str]:
    """Yield names for the copy of a file called `name`: `a.jsonl`, `a-2.jsonl`, and so on."""
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    if not SAFE_NAME.fullmatch(name):
        name = "run" + re.sub(r"[^\w.+-]+", "_", name)
    stem, dot, ending = (
        name.rpartition(".") if name.endswith((".json", ".jsonl")) else (name, "", "")
    )
    yield name
    number = 2
    while True:
        yield f"{stem}-{number}{dot}{ending}"
        number += 1


@dataclass(slots=True)
class _Copying:
    """Copies one file, record by record."""

    path: Path
    topics: Mapping[str, Topic]
    track_name: str
    dataset: str
    changes: Packed[Change]
    store: DocumentStore | None = None
    track: Track | None = None
    answered: set[tuple[str, str, str]] = field(default_factory=set)
    layout: Layout = field(default_factory=Layout)

    def write(self, file: BinaryIO) -> None:
        """Write the records that remain."""
        try:
            opened = Opened(self.path)
            beginning = layout_of(opened)
            for number, record in objects(opened, self._lose):
                place = Place(str(self.path), number)
                if fault := self.layout.fault_at(number, beginning):
                    self._change(place, "layout", fault, "JSONL")
                mended = self._mended(place, record)
                if mended is not None:
                    file.write(mended + b"\n")
        except InputError as error:  # keep what could be read of a truncated archive
            self._change(Place(str(self.path)), "rest of the file left out", str(error))

    def _change(self, place: Place, what: str, before: str, after: str = "") -> None:
        self.changes.append(Change(place, what, before, after))

    def _lose(self, finding: Finding) -> None:
        """Note a line that is left out because it is no record."""
        if finding.kind in LOST:
            self._change(finding.place, "line left out", f"{finding.kind} {finding.value}")

    def _mended(self, place: Place, record: dict[str, Any]) -> bytes | None:
        """Return the line of a record, None if it is left out."""
        claimed = format_of(record, self.dataset)
        if claimed is None:
            self._change(place, "line left out", f"record_unknown_shape {sorted(record)}")
            return None
        format_ = claimed[0]
        if self.track is None:
            named = track_named(self.track_name) if self.track_name else None
            self.track = named or track_of(format_.NAME, record, self.dataset)
        shelf = Shelf(self.store)
        # Read as the job reads it, since only then is it known which response this is.
        response = Reader(format_.draft(record), place, unreported, shelf).read()
        if response is not None and self._is_second(response):
            topic = f"second response on topic {response.topic_id!r}"
            self._change(place, "second response left out", topic)
            return None
        if format_.NAME in self.track.formats:
            topic_ = self.topics.get(response.topic_id) if response else None
            record = mend(
                record,
                self.track,
                topic_,
                lambda what, before, after: self._change(
                    place, what, change_text(before), change_text(after)
                ),
                response.documents if response else (),
            )
        try:
            # Not orjson: it refuses integers of more than 64 bits, which a record may hold.
            return json.dumps(record, ensure_ascii=False).encode()
        except (RecursionError, ValueError) as error:  # nested too deep; too many digits
            self._change(place, "line left out", f"cannot be written: {error}")
            return None

    def _is_second(self, response: Response) -> bool:
        key = (response.team_id, response.run_id, response.topic_id)
        second = key in self.answered
        self.answered.add(key)
        return second
