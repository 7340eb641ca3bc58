"""One small file of the documents that jobs were judged by, for others to judge by."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from trecjudge.errors import OutputError
from trecjudge.files import chosen
from trecjudge.findings import Finding, OnFinding, shown, unreported
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.units import FoundDocument
from trecjudge.inputs.documents.pack import (
    LACKS,
    Lack,
    document_line,
    lack_line,
)
from trecjudge.inputs.documents.store import DocumentStore, is_elsewhere
from trecjudge.inputs.pipelines.fields import keyed
from trecjudge.inputs.topics import read_topics
from trecjudge.job.documents import cited_in, look_up, stores_of
from trecjudge.job.job import Job, JobInputs
from trecjudge.models.documents.opening import source_name
from trecjudge.records import Place, Response
from trecjudge.results.packed import Frames
from trecjudge.text.credentials import public

ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """A job on the runs and topics of what it judged: (run_id, topic_id) of each response.

    `keys` are those that were given for the parts of a record.
    """

    job: Job
    judged: frozenset[tuple[str, str]]
    keys: Mapping[str, str]

    @classmethod
    def of(cls, job: Job, judged: Iterable[Response], keys: Mapping[str, str]) -> FinishedJob:
        """Return a job by the responses that it judged."""
        asked = {(found.run_id, found.topic_id): found.topic_asked for found in judged}
        topics = set(asked.values())
        if job.topics is not None:  # a later turn of a conversation is not in the file
            topics |= {topic_id.rpartition("#")[0] for topic_id in topics}
            topics &= read_topics(job.topics, unreported).keys()
        runs = sorted({run_id for run_id, _ in asked})
        return cls(replace(job, only_runs=runs, only_topics=sorted(topics)), frozenset(asked), keys)


@dataclass(frozen=True, slots=True)
class Pack:
    """What was packed: documents, bytes of their text, and how many ids have none, by the lack."""

    path: Path
    documents: int
    text: int
    lacks: Mapping[Lack, int]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        size = {"pack": str(self.path), "bytes": self.path.stat().st_size, "text": self.text}
        return size | {"documents": self.documents, "lacks": dict(self.lacks)}


def check_ending(path: Path) -> None:
    """Raise OutputError for a name that does not say how a pack is written."""
    if not path.name.endswith(ENDINGS):
        raise OutputError(f"{path}: a pack is called NAME{', NAME'.join(ENDINGS)}")


def pack_documents(jobs: Sequence[FinishedJob], path: Path, report: OnFinding) -> Pack:
    """Write the documents that jobs asked for into one file; return what is in it.

    The same documents give the same bytes. Of two texts with one id that of the first job counts.
    Raises InputError where inputs of a job are not there, OutputError for a name that is none of a
    pack, or a file that cannot be written.
    """
    check_ending(path)
    kept, lacks = KeptDocuments.of_this_process(path), dict[str, Lack]()
    for number, finished in enumerate(jobs):
        with keyed(finished.keys), kept.change():
            _gather(finished, number, kept, lacks, report)
    documents = text = 0
    with _written(path) as file:
        for document, source in kept.documents():
            file.write(document_line(document, source))
            documents += 1
            text += len(document.text.encode())
        lacks = {i: lacks[i] for i in sorted(lacks) if kept.state_of(i) != "found"}
        for doc_id, lack in lacks.items():
            file.write(lack_line(doc_id, lack))
    return Pack(path, documents, text, Counter(lacks.values()))


def _gather(
    finished: FinishedJob,
    number: int,
    kept: KeptDocuments,
    lacks: dict[str, Lack],
    report: OnFinding,
) -> None:
    """Keep what the responses ask for that a job judged, the `number`-th one from 0."""
    job, seen = finished.job, set[str]()
    with closing(JobInputs.read(job, report)) as inputs:
        stores = stores_of(job, inputs).stores
        for _, response in inputs.responses():
            if (response.run_id, response.topic_id) not in finished.judged:
                continue
            named = {*cited_in(response), *response.references}
            for doc_id in sorted(named.union(response.documents) - seen):
                found = look_up(stores, doc_id)
                if not isinstance(found, str):
                    document, place = found
                    source = _source_of(doc_id, stores[place], job.documents[place])
                    first = kept.get(doc_id)
                    if first is not None and first.text != document.text:
                        message = f"has {shown(doc_id)} with another text than a job before it has"
                        report(Finding("documents_differ", Place(source), message, doc_id))
                    kept.add([FoundDocument(document, place=number, source=source)])
                elif doc_id not in named:
                    continue  # only the run itself has it; another one may name it
                else:  # of several jobs, what settles least
                    lacks[doc_id] = max(found, lacks.get(doc_id, found), key=[*LACKS].index)
                seen.add(doc_id)


def _source_of(doc_id: str, store: DocumentStore, path: Path) -> str:
    """Return where a document is from: a place in a file, an address, or what was given."""
    own = store.source_of(doc_id) if isinstance(store, KeptDocuments) else ""
    return public(own or (source_name(path) if is_elsewhere(path) else path.name))


@contextmanager
def _written(path: Path) -> Iterator[BinaryIO]:
    """Open a file that is written whole or not at all, packed as its name ends."""
    with chosen(path) as file:
        if path.suffix == ".zst":
            frames = Frames(file)
            yield cast(BinaryIO, frames)
            frames.end()
        elif path.suffix == ".gz":
            # Without name and time: the bytes depend on the documents only.
            with gzip.GzipFile("", "wb", 6, file, 0) as packed:
                yield cast(BinaryIO, packed)
        else:
            yield file
