"""One small file of the documents that jobs were judged by, for others to judge by."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from trecjudge.errors import OutputError
from trecjudge.files import chosen
from trecjudge.findings import OnFinding, unreported
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.units import FoundDocument
from trecjudge.inputs.documents.pack import (
    NOT_KNOWN,
    NOT_LOOKED_FOR,
    NOT_THERE,
    Lack,
    document_line,
    lack_line,
)
from trecjudge.inputs.pipelines.fields import keyed
from trecjudge.inputs.topics import read_topics
from trecjudge.job.documents import cited_in, look_up, origin_of, stores_of
from trecjudge.job.job import Job, JobInputs
from trecjudge.records import Document, Response
from trecjudge.results.packed import Frames

ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")
ORDER: tuple[Lack, ...] = (NOT_THERE, NOT_KNOWN, NOT_LOOKED_FOR)
"""Why a document is lacking, what is least certain last: of several jobs that counts."""


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
    """What was packed: how many documents and bytes of text, and how many ids lack one, and why.

    `other_text` counts the documents of which two jobs have different texts.
    """

    path: Path
    documents: int
    text: int
    lacks: Counter[Lack]
    other_text: int

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return self.path.stat().st_size

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        lacks = {why.replace(" ", "_"): self.lacks[why] for why in ORDER}
        return {
            "pack": str(self.path),
            "bytes": self.bytes,
            "documents": self.documents,
            "text": self.text,
            **lacks,
            "other_text": self.other_text,
        }


def check_ending(path: Path) -> None:
    """Raise OutputError for a name that does not say how a pack is written."""
    if not path.name.endswith(ENDINGS):
        raise OutputError(f"{path}: a pack is called NAME{', NAME'.join(ENDINGS)}")


def pack_documents(jobs: Sequence[FinishedJob], path: Path, report: OnFinding) -> Pack:
    """Write the documents that jobs asked for into one file; return what is in it.

    The same documents give the same bytes. Raises InputError where the inputs of a job are not
    there, OutputError for a name that is none of a pack, or a file that cannot be written.
    """
    check_ending(path)
    gathered = _Gathered(KeptDocuments.of_this_process(path))
    for number, finished in enumerate(jobs):
        with keyed(finished.keys):
            gathered.add_job(finished, number, report)
    with _written(path) as file:
        return gathered.write(path, file)


@dataclass(slots=True)
class _Gathered:
    """The documents of several jobs; of two with one id that of the first job counts."""

    kept: KeptDocuments
    lacks: dict[str, Lack] = field(default_factory=dict)
    other_text: int = 0

    def add_job(self, finished: FinishedJob, number: int, report: OnFinding) -> None:
        """Add what the responses that a job judged ask for."""
        job, seen = finished.job, set[str]()
        with closing(JobInputs.read(job, report)) as inputs, self.kept.change():
            stores = stores_of(job, inputs).stores
            for _, response in inputs.responses():
                if (response.run_id, response.topic_id) not in finished.judged:
                    continue
                named = {*cited_in(response), *response.references}
                for doc_id in sorted(named.union(response.documents) - seen):
                    found = look_up(stores, doc_id)
                    if found.document is not None and found.source is not None:
                        path = job.documents[found.source]
                        origin = origin_of(doc_id, stores[found.source], path)
                        self._add(found.document, origin, number)
                    elif doc_id not in named:
                        continue  # only the run itself has it; another one may name it
                    elif ORDER.index(found.lack) >= ORDER.index(self.lacks.get(doc_id, NOT_THERE)):
                        self.lacks[doc_id] = found.lack
                    seen.add(doc_id)

    def _add(self, document: Document, origin: str, number: int) -> None:
        document = replace(document, text=_encodable(document.text))
        first = self.kept.get(document.doc_id)
        self.other_text += first is not None and first.text != document.text
        self.kept.add([FoundDocument(document, place=number, source=origin)])

    def write(self, path: Path, file: BinaryIO) -> Pack:
        """Write everything by id, documents first."""
        documents = text = 0
        for document, source in self.kept.documents():
            file.write(document_line(document, source))
            documents += 1
            text += len(document.text.encode())
        lacking = {i: why for i, why in self.lacks.items() if self.kept.state_of(i) != "found"}
        for doc_id in sorted(lacking):
            file.write(lack_line(doc_id, lacking[doc_id]))
        return Pack(path, documents, text, Counter(lacking.values()), self.other_text)


def _encodable(text: str) -> str:
    """Return a text as it can be written: half of a surrogate pair is `?`."""
    return text.encode(errors="replace").decode()


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
