"""Arguments of a call as files for a job; runs, topics and documents read as a job reads them.

Records are written into a folder, one file for each run, so that both are read the same way.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from trecjudge.errors import InputError, TrecJudgeError
from trecjudge.findings import PREFIX, Finding, OnFinding, brief
from trecjudge.inputs.documents.store import documents_in
from trecjudge.inputs.formats.registry import format_of
from trecjudge.inputs.sources.values import as_id
from trecjudge.inputs.topics import read_topics as topics_by_id
from trecjudge.job.inputs import read_responses
from trecjudge.job.request import Job
from trecjudge.records import Citation, Document, Place, Response, Topic
from trecjudge.results.outputs import Outputs, replace_unsafe
from trecjudge.settings.strict_yaml import written_yaml
from trecjudge.text.credentials import public

PathLike: TypeAlias = str | os.PathLike[str]
Record: TypeAlias = Mapping[str, Any]
Paths: TypeAlias = PathLike | Iterable[PathLike]
Runs: TypeAlias = Paths | Iterable[Response] | Iterable[Record]
Topics: TypeAlias = PathLike | Iterable[Topic] | Iterable[Record] | Mapping[str, Any]
Documents: TypeAlias = Paths | Iterable[Document] | Iterable[Record] | Mapping[str, Any]
LONGEST_NAME = 100  # file systems allow 255 bytes, and a character may take four
DIGITS = 19
"""An index has fewer digits: no list is that long."""


def paths(given: Paths) -> list[Path]:
    """Return one path or several as a list. Raises InputError for anything else."""
    if isinstance(given, str | os.PathLike) or not isinstance(given, Iterable):
        return [path_of(given)]
    return [path_of(path) for path in given]


def path_of(given: Any) -> Path:
    """Return a path as one of pathlib. Raises InputError for anything else."""
    if not isinstance(given, str | os.PathLike):
        raise InputError(f"{brief(given)} is not a path")
    return Path(given)


def names(given: str | Iterable[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple; a number stands for its digits."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        return (str(given),)
    return tuple(map(str, given))


class TempFolder:
    """A new folder, removed when nothing refers to it, and at the latest when the process ends."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="trecjudge-")
        # TemporaryDirectory would warn that nobody closed it: nobody closes a result.
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class InputFiles:
    """Turns what a call gives into paths; records are written below `folder`."""

    folder: Path

    def runs(self, given: Runs) -> list[Path]:
        """Return the run files. Raises InputError for anything that is no run."""
        found, records = _split_paths(given, "runs")
        written: dict[str, Path] = {}
        for number, record in enumerate(records, 1):
            line = _run_record(record) if isinstance(record, Response) else record
            name = _file_name(_run_id(line, number))
            path = written.setdefault(name, self.folder / "runs" / f"{name}.jsonl")
            # Appended one by one: a generator of any length is never held in memory.
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                file.write(json_line(line, "runs", number))
        if not found and not written:
            raise InputError("runs: there are none; give run files, or records of responses")
        return [*found, *written.values()]

    def topics(self, given: Topics | None) -> Path | None:
        """Return the topic file, None where none is given."""
        if given is None:
            return None
        found, records = _split_paths(_as_records(given, "topic_id"), "topics")
        if len(found) > 1:
            raise InputError(f"topics: {len(found)} files; give one")
        path = self._file("topics.jsonl", map(_topic_record, records))
        return found[0] if found else path

    def documents(self, given: Documents | None) -> list[Path]:
        """Return the files and folders of documents."""
        if given is None:
            return []
        found, records = _split_paths(_as_records(given, "docid"), "documents")
        first = list(islice(records, 1))
        if not first:
            return found
        every = map(_document_record, chain(first, records))
        return [*found, self._file("documents.jsonl", every)]

    def workflow(self, given: PathLike | Record | None) -> Path | None:
        """Return the workflow file; a mapping, the content of one, is written first."""
        if not isinstance(given, Mapping):
            return None if given is None else path_of(given)
        path = self.folder / "workflow.yml"
        path.write_text(written_yaml(dict(given)), encoding="utf-8")
        return path

    def without(self, text: str) -> str:
        """Return a message that names written records by `runs/x.jsonl:3`, without the folder."""
        return text.replace(f"{self.folder}{os.sep}", "")

    def plain(self, finding: Finding) -> Finding:
        """Return a finding that names written records as `without` does."""
        named = Place(self.without(finding.place.path), finding.place.line)
        return replace(finding, place=named, message=self.without(finding.message))

    @contextmanager
    def plainly(self) -> Iterator[None]:
        """Name written records in errors as `without` does."""
        try:
            yield
        except TrecJudgeError as error:
            message = self.without(str(error))
            if message == str(error):
                raise
            raise type(error)(message) from error

    def _file(self, name: str, records: Iterable[Any]) -> Path:
        path = self.folder / name
        with path.open("wb") as file:
            file.writelines(json_line(r, path.stem, n) for n, r in enumerate(records, 1))
        return path


def object_of(record: Any, what: str, number: int) -> dict[str, Any]:
    """Return a record as a dict; `what` and its number are for the error. Raises InputError."""
    if not isinstance(record, Mapping):
        raise InputError(f"{what}: record {number} is {brief(record)}, not an object")
    return dict(record)


def json_line(record: Any, what: str, number: int) -> bytes:
    """Return a record as a line of JSON. Raises InputError where JSON cannot hold it."""
    fields = object_of(record, what, number)
    try:
        return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY)
    except TypeError as error:
        raise InputError(f"{what}: record {number} is not JSON: {error}") from error


def _split_paths(given: Any, what: str) -> tuple[list[Path], Iterator[Any]]:
    """Return paths and records; one of the two is empty."""
    if isinstance(given, str | os.PathLike):
        return [Path(given)], iter(())
    if hasattr(given, "columns"):  # it would be taken for the names of these
        raise InputError(f'{what}: a data frame: give its records, frame.to_dict("records")')
    if isinstance(given, Mapping | bytes) or not isinstance(given, Iterable):
        raise InputError(f"{what}: {brief(given)}: give paths, or a list of records")
    every = iter(given)
    # The first entry decides, so that a generator is not consumed to find out.
    first = list(islice(every, 1))
    if not all(isinstance(one, str | os.PathLike) for one in first):
        return [], chain(first, every)
    paths = [*first, *every]
    for other in paths:
        if not isinstance(other, str | os.PathLike):
            raise InputError(
                f"{what}: {brief(other)} beside paths: give only paths, or only records"
            )
    return [Path(path) for path in paths], iter(())


def _as_records(given: Any, key: str) -> Any:
    """Return a mapping by id, of texts or records, as a list of records; all else as it is."""
    if not isinstance(given, Mapping):
        return given
    return [
        {key: name, "text": value} if isinstance(value, str) else _with_id(value, key, name)
        for name, value in given.items()
    ]


def _with_id(value: Any, key: str, name: str) -> Any:
    return {key: name, **value} if isinstance(value, Mapping) else value


def _run_id(record: Any, number: int) -> str:
    """Return the run of a record as written; `runs` where it has none."""
    claimed = format_of(object_of(record, "runs", number))
    return (as_id(claimed[0].draft(record).run_id) if claimed else None) or "runs"


def _file_name(run_id: str) -> str:
    return replace_unsafe(run_id).lstrip(".")[:LONGEST_NAME] or "runs"


def _run_record(response: Response) -> dict[str, Any]:
    """Return a response as a line of a run file."""
    metadata = {"run_id": response.run_id, "topic_id": response.topic_asked}
    carried = {
        doc_id: _document_record(document)
        for doc_id, document in response.documents.items()
        # Without text and not the run's own: --documents may have it, and must not be hidden.
        if document.own or document.has_text
    }
    sentences = [
        {
            "text": s.text,
            "citations": [_citation_value(c, response.references) for c in s.citations],
        }
        for s in response.sentences
    ]
    record = {
        "is_ragtime": True,  # this format takes citations by id or by index
        "metadata": metadata | ({"team_id": response.team_id} if response.team_id else {}),
        "responses": sentences,
        "references": list(response.references),
        "documents": carried,
    }
    given = {key: value for key, value in record.items() if value or key == "responses"}
    more = {name: getattr(response, name) for name in ("abstained", "retrieved", "sample")}
    return given | {key: value for key, value in more.items() if value not in (None, "")}


def _citation_value(citation: Citation, references: Sequence[str]) -> Any:
    """Return a citation as a run would write it: an index where it was one, else the id."""
    written: Any = citation.value if citation.doc_id is None else citation.doc_id
    if citation.value.isdecimal() and citation.value.isascii() and len(citation.value) < DIGITS:
        index = int(citation.value)
        at_index = references[index] if index < len(references) else None
        written = index if at_index == citation.doc_id else written
    return written if citation.score is None else {"docid": written, "score": citation.score}


def _topic_record(topic: Any) -> Any:
    if not isinstance(topic, Topic):
        return topic
    names = ("topic_id", "title", "problem_statement", "background", "body", "url", "limit")
    return {name: value for name in names if (value := getattr(topic, name)) not in ("", None)}


def _document_record(document: Any) -> Any:
    if not isinstance(document, Document):
        return document
    named = {name: getattr(document, name) for name in ("title", "url", "date", "version")}
    given: dict[str, Any] = {name: value for name, value in named.items() if value}
    if not document.complete:
        given["truncated"] = True
    if document.complete or document.has_text:
        given["text"] = document.text
    return {"docid": document.doc_id} | given


PACKAGE = "trecjudge."


class FindingWarning(UserWarning):
    """A problem of the input, raised as a warning where no `on_finding` is given."""


def warn(finding: Finding) -> None:
    """Issue a Python warning for a finding, unless it is only a note."""
    if finding.severity != "note":
        text = public(f"{PREFIX[finding.severity]}: {finding}")
        warnings.warn(text, FindingWarning, stacklevel=_callers_level())


def _callers_level() -> int:
    """Return how many frames above `warn` the line stands that called this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    return level


def read_runs(
    runs: Paths,
    *,
    documents: Paths = (),
    dataset: str = "auto",
    own_documents: bool = False,
    on_finding: OnFinding = warn,
) -> Iterator[Response]:
    """Yield every response of run files, or folders of them, in the order of files and lines.

    `documents` are those whose text counts, as for `judge`. Raises InputError where nothing is
    there; any other problem is a finding.
    """
    job = Job(
        paths(runs),
        Outputs(Path(), "runs"),
        documents=paths(documents),
        own_documents=own_documents,
        dataset=dataset,
    )
    return (response for _, response in read_responses(job, on_finding))


def read_topics(topics: PathLike, *, on_finding: OnFinding = warn) -> Iterator[Topic]:
    """Yield the topics of a file, in its order. Raises InputError where none is there."""
    return iter(topics_by_id(Path(topics), on_finding).values())


def read_documents(documents: Paths, *, on_finding: OnFinding = warn) -> Iterator[Document]:
    """Yield the documents of files, or folders of them, in their order, as often as they stand.

    Raises InputError for a file that cannot be one of documents.
    """
    return documents_in(paths(documents), on_finding)
