"""The runs, topics, documents, nuggets and labels of a folder, recognised by what files hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from trecjudge.errors import InputError
from trecjudge.findings import ignore
from trecjudge.inputs.documents.record import document_of
from trecjudge.inputs.formats.registry import format_named, format_of
from trecjudge.inputs.nuggets.registry import bank_format_of
from trecjudge.inputs.pipelines.reading import first_records
from trecjudge.inputs.runs import RunReader, find_runs
from trecjudge.inputs.sources.containers import Opened, first_line
from trecjudge.inputs.sources.own import own_output
from trecjudge.inputs.sources.paths import files_below
from trecjudge.inputs.sources.values import first_objects
from trecjudge.inputs.topics import read_topics
from trecjudge.inputs.topics.record import name_fields, topic_of
from trecjudge.results.trec import is_json_qrels, read_grades

Kind = Literal["run", "topics", "documents", "nuggets", "qrels", "labels"]
LOOKED_AT = 200
"""Records of a file that are read to recognise what it holds."""
LABELS, QRELS = "a file of labels", "a qrels file"
"""Names in `own_output` of the kinds of files that other tools write too."""


@dataclass(slots=True)
class FoundInputs:
    """The files of a folder by what they hold, and what is known of its runs."""

    files: dict[Kind, list[Path]] = field(default_factory=dict)
    formats: Counter[str] = field(default_factory=Counter)
    """Run files by format."""
    banks: set[str] = field(default_factory=set)
    """The formats of the banks of nuggets."""
    topic_ids: set[str] = field(default_factory=set)
    cited: set[str] = field(default_factory=set)
    responses: int = 0
    carries_text: bool = False
    """Whether the runs carry text of their documents."""

    @property
    def dataset(self) -> str:
        """The dataset of most runs, `any` where they are of none."""
        by_dataset: Counter[str] = Counter()
        for name, count in self.formats.items():
            by_dataset[format_named(name).DATASET] += count
        return by_dataset.most_common(1)[0][0] if by_dataset else "any"

    def of(self, kind: Kind) -> list[Path]:
        """Return the files of a kind."""
        return self.files.get(kind, [])

    def paths(self, kind: Kind) -> list[Path]:
        """Return the files of a kind; where they are all files of a folder, that folder instead."""
        return _by_folder(self.of(kind), [f for files in self.files.values() for f in files])


def discover(folder: Path) -> FoundInputs:
    """Return what lies in a folder. Raises InputError where there is no such folder."""
    found, others = FoundInputs(), []
    for path in files_below(folder):
        with suppress(OSError, InputError):  # what cannot be opened is not used
            kind = _kind_by_content(path)
            if kind is None:
                others.append(path)
            elif kind in ("run", "nuggets", "labels"):
                found.files.setdefault(kind, []).append(path)
    _read_runs(found)
    for path in found.of("nuggets"):
        for record in first_objects(path, 1):
            bank = bank_format_of(record)
            found.banks |= {bank.NAME} if bank else set()
    for path in others:
        with suppress(OSError, InputError):
            if kind := _kind_beside_runs(path, found):
                found.files.setdefault(kind, []).append(path)
    return found


def _kind_by_content(path: Path) -> Kind | Literal["ours"] | None:
    with closing(Opened(path)) as opened:
        own = own_output(opened)
        if own and own != QRELS:
            return "labels" if own == LABELS else "ours"
        if any(map(bank_format_of, first_objects(opened, 1))):
            return "nuggets"
        return "run" if any(map(format_of, first_records(opened, 1))) else None


def _read_runs(found: FoundInputs) -> None:
    if not found.of("run"):
        return
    # Without backups, as a job reads them.
    files = find_runs(found.of("run"))

    def taken(path: Path, format_name: str, why: str) -> None:
        found.formats[format_name] += 1

    for _, response in RunReader(files, ignore, taken=taken):
        found.responses += 1
        found.topic_ids.add(response.topic_id)
        found.cited.update(response.cited_ids())
        found.carries_text |= any(document.has_text for document in response.documents.values())


def _kind_beside_runs(path: Path, found: FoundInputs) -> Kind | None:
    """Return the kind of a file by the topics that the runs answer; None where it is no input."""
    records = first_objects(path, LOOKED_AT)
    if is_json_qrels(path) or not records:
        return _table_kind(path, found)
    topics = {topic[0].topic_id for r in records if (topic := topic_of(name_fields(r)))}
    documents = [document for r in records if (document := document_of(r)) is not None]
    if topics & found.topic_ids:
        return "topics"
    # Not by what is cited: of a large collection hardly one of the first documents is.
    return "documents" if any(document.text for document in documents) else None


def _table_kind(path: Path, found: FoundInputs) -> Kind | None:
    columns = first_line(path).split()
    # Our own qrels have a run in the second column: they are outputs.
    if is_json_qrels(path) or (len(columns) == 4 and columns[1] in (b"0", b"Q0")):
        graded = read_grades(path, ignore)
        if set(graded) & found.topic_ids:
            return "qrels"
    return "topics" if set(read_topics(path, ignore)) & found.topic_ids else None


def _by_folder(files: Sequence[Path], every: Sequence[Path]) -> list[Path]:
    """Return the files; where a folder holds several of them and no others, the folder instead."""
    of_kind, in_all = _counts(files), _counts(every)
    folders = {
        folder
        for folder in {file.parent for file in files}
        if in_all[folder] > 1 and in_all[folder] == of_kind[folder] == len(files_below(folder))
    }
    return list(dict.fromkeys(f.parent if f.parent in folders else f for f in files))


def _counts(files: Sequence[Path]) -> Counter[Path]:
    return Counter(folder for file in set(files) for folder in file.parents)
