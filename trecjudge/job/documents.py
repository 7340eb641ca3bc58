"""The documents that runs cite: where they are, and those of finished jobs in one file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError, OutputError
from trecjudge.files import open_target
from trecjudge.findings import Finding, OnFinding, brief, ignore, plural
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.units import FoundDocument
from trecjudge.inputs.documents.index_file import (
    LACKS,
    NOT_KNOWN,
    NOT_LOOKED_FOR,
    NOT_THERE,
    Lack,
    add_lack,
    document_line,
    lack_line,
)
from trecjudge.inputs.documents.store import DocumentStore, DocumentStores, is_elsewhere
from trecjudge.inputs.pipelines.fields import use_record_keys
from trecjudge.inputs.sources.packing import Checksums
from trecjudge.inputs.sources.paths import files_below, own_output, was_given_elsewhere
from trecjudge.inputs.topics import read_topics
from trecjudge.job.config import file_digest
from trecjudge.job.inputs import JobInputs
from trecjudge.job.request import Job
from trecjudge.models.documents.opening import source_name
from trecjudge.models.opening import ModelOptions
from trecjudge.records import Document, Place
from trecjudge.results.config import read_config
from trecjudge.results.jobs import judged_job
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.packed import packing
from trecjudge.text.credentials import public

SHOWN = 3
"""Ids of the sources that are shown where they have none that is cited."""
CARRIED, WITHOUT_TEXT = "in the run itself", "without text"
Where = Path | str
"""A source as it was given, or else CARRIED, WITHOUT_TEXT or a key of LACKS."""
UNJUDGED = (WITHOUT_TEXT, NOT_KNOWN, NOT_LOOKED_FOR)
WITHOUT: Sequence[str] = (WITHOUT_TEXT, *LACKS)
"""Where there is no text to judge by."""
ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")


@dataclass(frozen=True, slots=True)
class CitedDocuments:
    """Where the documents are that runs cite: citations of each run, and ids of all, by place."""

    sources: Sequence[Path]
    runs: dict[str, Counter[Where]] = field(default_factory=dict)
    ids: dict[Where, dict[str, None]] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    """A few ids that the sources have, whether they are cited or not."""

    @property
    def none_found(self) -> bool:
        """Whether there are citations, and no source has a document of any."""
        return bool(self.ids) and self.ids.keys().isdisjoint(self.sources)

    @property
    def all_settled(self) -> bool:
        """Whether each document has a text, or is surely not there."""
        return self.ids.keys().isdisjoint(UNJUDGED)

    def rows(self) -> Iterator[tuple[str, int, int]]:
        """Yield the name of each place, and how many citations and documents are there."""
        citations: Counter[Where] = sum(self.runs.values(), Counter())
        places: Sequence[Where] = (*self.sources, CARRIED, *WITHOUT)
        for where in places:
            name = public(source_name(where)) if isinstance(where, Path) else where
            yield name, citations[where], len(self.ids.get(where, ()))

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        rows = [{"source": name, "citations": c, "documents": d} for name, c, d in self.rows()]
        count = len(self.sources)
        runs = [
            {"run_id": run_id, "citations": found.total(), "found": count_known(found)}
            | {str(where): found[where] for where in WITHOUT}
            for run_id, found in self.runs.items()
        ]
        return {"sources": rows[:count], "others": rows[count:], "runs": runs}


def count_known(found: Counter[Where]) -> int:
    """Return how many citations have a text, from a source or of the run's own."""
    return sum(count for where, count in found.items() if where not in WITHOUT)


def check_documents(job: Job, report: OnFinding) -> CitedDocuments:
    """Return where the documents are that the runs of a job cite. Raises InputError."""
    cited = CitedDocuments(list(dict.fromkeys(job.documents)))
    places: dict[str, Where] = {}
    with _open_inputs(job, report) as (inputs, store):
        cited.others.extend(store.some_ids(SHOWN))
        for _, response in inputs.responses():
            run = cited.runs.setdefault(response.run_id, Counter())
            for doc_id in response.named_ids():
                if doc_id not in places:
                    found = _look_up(store, doc_id)
                    if isinstance(found, str):
                        places[doc_id] = found
                    else:
                        document, place = found
                        source = job.documents[place]
                        places[doc_id] = source if document.has_text else WITHOUT_TEXT
                where, carried = places[doc_id], response.documents.get(doc_id)
                if where in WITHOUT and carried is not None and carried.own and carried.has_text:
                    where = CARRIED
                run[where] += 1
                cited.ids.setdefault(where, {})[doc_id] = None
    return cited


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """A job that is done, and what its config says of its inputs.

    `keys` are those given for the parts of a record, `files` the digests of the input files by
    path, `collections` what was found in each collection.
    """

    job: Job
    keys: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    collections: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, model: ModelOptions) -> FinishedJob:
        """Return a job by its files; `model` says whether services may be asked for documents.

        Raises InputError where a file is not there.
        """
        found = judged_job(path)
        path = found.outputs.config
        if not path.is_file():
            raise InputError(f"{path}: no such file; it says which documents a job read")
        config = read_config(path)
        given, record = config.inputs, config.record
        if streams := [p for p in (*given.runs, *given.documents) if was_given_elsewhere(p)]:
            raise InputError(f"{path}: the job read {streams[0]} from a pipe; give it as a file")
        job = Job(
            given.runs,
            found.outputs,
            topics=given.topics,
            documents=given.documents,
            own_documents=given.own_documents,
            dataset=given.dataset,
            model=model,
        )
        files, collections = record.get("inputs_sha256"), record.get("collections")
        return cls(job, given.keys, files or {}, collections or {})


@contextmanager
def _open_inputs(job: Job, report: OnFinding) -> Iterator[tuple[JobInputs, DocumentStores]]:
    with closing(JobInputs.read(job, report)) as inputs:
        if inputs.store is None:
            runs = ", ".join(map(str, job.runs))
            raise InputError(f"{runs}: no --documents: what is judged is what the runs carry")
        yield inputs, inputs.store


def _look_up(store: DocumentStores, doc_id: str) -> tuple[Document, int] | Lack:
    """Return the document of an id and the place of its source, or the lack."""
    found = store.look_up(doc_id)
    if found is None:
        return NOT_KNOWN if store.lost else NOT_THERE
    return found if found[0].has_text or found[0].complete else NOT_LOOKED_FOR


def narrow_to_judged(job: Job) -> tuple[Job, frozenset[tuple[str, str]]]:
    """Return a finished job on what it judged only, and (run_id, topic_id) of each response."""
    judged = (response for response, _ in JudgmentsReader(job.outputs.judgments))
    asked = {(found.run_id, found.topic_id): found.topic_asked for found in judged}
    topics = set(asked.values())
    if job.topics is not None:  # a later turn of a conversation is not in the file
        topics |= {topic_id.rpartition("#")[0] for topic_id in topics}
        topics &= read_topics(job.topics, ignore).keys()
    runs = sorted({run_id for run_id, _ in asked})
    return replace(job, only_runs=runs, only_topics=sorted(topics)), frozenset(asked)


def pack_documents(jobs: Iterable[FinishedJob], path: Path, report: OnFinding) -> dict[str, Any]:
    """Write the documents that jobs asked for into one file; return what is in it, as JSON values.

    The same documents give the same bytes. Of two texts with one id that of the first job counts.
    Raises InputError where inputs of a job are not there, or none cites a document, OutputError for
    a name that is none of a pack, and a file that is an input or cannot be written.
    """
    if not path.name.endswith(ENDINGS):
        raise OutputError(f"{path}: a pack is called NAME{', NAME'.join(ENDINGS)}")
    if what := path.is_file() and own_output(path):
        raise OutputError(f"{path}: is {what}; give another name")
    kept, lacks = KeptDocuments.of_this_process(path), dict[str, Lack]()
    for number, finished in enumerate(jobs):
        _check_apart(path, finished.job)
        with use_record_keys(finished.keys), kept.change():
            _gather_documents(finished, number, kept, lacks, report)
    left = kept.select_unsettled(sorted(lacks))
    if not left and not any(kept.documents()):
        raise InputError(f"{path}: not written: what was judged cites no document")
    if there := sorted(i for i in lacks.keys() - left if lacks[i] == NOT_THERE):
        said = f"has {plural(len(there), 'document')} that one job found and another did not"
        message = f"{said}, such as {brief(there[0])}"
        report(Finding("documents_lacked", Place(str(path)), message, there[0]))
    documents = text = 0
    with open_target(path) as plain, packing(plain, path.suffix) as file:
        for document, source in kept.documents():
            file.write(document_line(document, source))
            documents += 1
            text += len(document.text.encode())
        for doc_id in left:
            file.write(lack_line(doc_id, lacks[doc_id]))
    size = {"pack": str(path), "bytes": path.stat().st_size, "text": text}
    return size | {"documents": documents, "lacks": dict(Counter(lacks[i] for i in left))}


def _check_apart(path: Path, job: Job) -> None:
    """Raise OutputError where a pack would be written over an input of a job."""
    given = [path for path in (job.topics, *job.runs, *job.documents) if path]
    files = (file for source in given if not is_elsewhere(source) for file in files_below(source))
    if path.exists() and any(path.samefile(file) for file in files):
        raise OutputError(f"{path}: is an input of {job.outputs.name}; give another name")


def _gather_documents(
    finished: FinishedJob,
    number: int,
    kept: KeptDocuments,
    lacks: dict[str, Lack],
    report: OnFinding,
) -> None:
    """Keep what the responses ask for that a job judged, the `number`-th one from 0."""
    job, judged = narrow_to_judged(finished.job)
    seen: set[str] = set()
    with _open_inputs(job, report) as (inputs, store):
        _report_changes(finished, inputs, report)
        for _, response in inputs.responses():
            if (response.run_id, response.topic_id) not in judged:
                continue
            named = {*response.named_ids(), *response.references}
            for doc_id in sorted(named.union(response.documents) - seen):
                found = _look_up(store, doc_id)
                if not isinstance(found, str):
                    document, place = found
                    source = _source_of(doc_id, store.stores[place], job.documents[place])
                    first = kept.get(doc_id)
                    if first is not None and first.text != document.text:
                        message = f"has {brief(doc_id)} with another text than a job before it has"
                        report(Finding("documents_differ", Place(source), message, doc_id))
                    kept.add([FoundDocument(document, place=number, source=source)])
                elif doc_id not in named:
                    continue  # only the run itself has it; another one may name it
                else:
                    add_lack(lacks, doc_id, found)
                seen.add(doc_id)


def _report_changes(finished: FinishedJob, inputs: JobInputs, report: OnFinding) -> None:
    """Report each input that is another now than when the job read it."""
    read, now = finished.files, set(map(str, inputs.paths))
    for name in sorted(now | read.keys()):
        if not os.path.exists(name):
            what = "is gone since the job read it"
        elif name not in read:
            what = "is new: the job did not read it"
        elif name in now and read[name] != file_digest(Path(name), Checksums()):
            what = "has changed since the job read it"
        else:
            continue  # as it was, or of no use here, such as a workflow
        report(Finding("input_changed", Place(name), what))
    for name, found in inputs.collections.items():
        before = finished.collections.get(name)
        if before is not None and before != found:
            count, then = found["documents"], before["documents"]
            what = "other texts" if count == then else f"{plural(count, 'document')}, {then} then"
            message = f"is not as the job read it: {what}"
            report(Finding("input_changed", Place(name), message))


def _source_of(doc_id: str, store: DocumentStore, path: Path) -> str:
    """Return where a document is from: a place in a file, an address, or what was given."""
    own = store.source_of(doc_id) if isinstance(store, KeptDocuments) else ""
    return public(own or (source_name(path) if is_elsewhere(path) else path.name))
