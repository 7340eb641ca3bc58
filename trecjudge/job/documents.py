"""The documents that runs cite: where they are, and those of finished jobs in one file."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from trecjudge.errors import InputError, OutputError
from trecjudge.files import chosen
from trecjudge.findings import Finding, OnFinding, shown, unreported
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.units import FoundDocument
from trecjudge.inputs.documents.pack import (
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
from trecjudge.inputs.pipelines.fields import keyed
from trecjudge.inputs.topics import read_topics
from trecjudge.job.job import Job, JobInputs
from trecjudge.models.documents.opening import source_name
from trecjudge.records import Document, Place, Response
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.packed import Frames
from trecjudge.text.credentials import public

SHOWN = 3
"""Ids of the sources that are shown where they have none that is cited."""
CARRIED = "in the run itself"
Sources = Mapping[Path, DocumentStore]
Where = Path | str
"""A source as it was given, or else CARRIED or a key of LACKS."""
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

    def rows(self) -> Iterator[tuple[str, int, int]]:
        """Yield the name of each place, and how many citations and documents are there."""
        citations: Counter[Where] = sum(self.runs.values(), Counter())
        for where in (*self.sources, CARRIED, *LACKS):
            name = public(source_name(where)) if isinstance(where, Path) else where
            yield name, citations[where], len(self.ids.get(where, ()))

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        rows = [{"source": name, "citations": c, "documents": d} for name, c, d in self.rows()]
        count = len(self.sources)
        runs = [
            {"run_id": run_id, "citations": found.total(), "found": known(found)}
            | {str(lack): found[lack] for lack in LACKS}
            for run_id, found in self.runs.items()
        ]
        return {"sources": rows[:count], "others": rows[count:], "runs": runs}


def known(found: Counter[Where]) -> int:
    """Return how many citations have a document, from a source or of the run's own."""
    return sum(count for where, count in found.items() if where not in LACKS)


def check_documents(job: Job, report: OnFinding) -> CitedDocuments:
    """Return where the documents are that the runs of a job cite. Raises InputError."""
    cited = CitedDocuments(list(dict.fromkeys(job.documents)))
    places: dict[str, Where] = {}
    with _open_sources(job, report) as (sources, responses):
        cited.others.extend(DocumentStores(list(sources.values())).some_ids(SHOWN))
        for response in responses:
            run = cited.runs.setdefault(response.run_id, Counter())
            for doc_id in _cited_in(response):
                if doc_id not in places:
                    found = _look_up(sources, doc_id)
                    places[doc_id] = found if isinstance(found, str) else found[1]
                where, carried = places[doc_id], response.documents.get(doc_id)
                if where in LACKS and carried is not None and carried.own and carried.has_text:
                    where = CARRIED
                run[where] += 1
                cited.ids.setdefault(where, {})[doc_id] = None
    return cited


@contextmanager
def _open_sources(job: Job, report: OnFinding) -> Iterator[tuple[Sources, Iterator[Response]]]:
    """Open the sources of documents of a job, and its responses. Raises InputError."""
    with closing(JobInputs.read(job, report)) as inputs:
        if inputs.store is None:
            runs = ", ".join(map(str, job.runs))
            raise InputError(f"{runs}: no --documents: what is judged is what the runs carry")
        sources = dict(zip(job.documents, inputs.store.stores, strict=True))
        yield sources, (response for _, response in inputs.responses())


def _cited_in(response: Response) -> Iterator[str]:
    """Yield the id of each citation of a response, as often as it is cited."""
    for sentence in response.sentences:
        yield from (c.doc_id for c in sentence.citations if c.doc_id is not None)


def _look_up(sources: Sources, doc_id: str) -> tuple[Document, Path] | Lack:
    """Return the document of an id and its source, as `DocumentStores` choose it, or the lack."""
    first: tuple[Document, Path] | None = None
    for path, store in sources.items():
        found = store.get(doc_id)
        if found is not None:
            if found.has_text:
                return found, path
            first = first or (found, path)
    if first is None:
        return NOT_KNOWN if any(store.lost for store in sources.values()) else NOT_THERE
    return first if first[0].complete else NOT_LOOKED_FOR


def narrow_to_judged(job: Job) -> tuple[Job, frozenset[tuple[str, str]]]:
    """Return a finished job on what it judged only, and (run_id, topic_id) of each response."""
    judged = (response for response, _ in JudgmentsReader(job.outputs.judgments))
    asked = {(found.run_id, found.topic_id): found.topic_asked for found in judged}
    topics = set(asked.values())
    if job.topics is not None:  # a later turn of a conversation is not in the file
        topics |= {topic_id.rpartition("#")[0] for topic_id in topics}
        topics &= read_topics(job.topics, unreported).keys()
    runs = sorted({run_id for run_id, _ in asked})
    return replace(job, only_runs=runs, only_topics=sorted(topics)), frozenset(asked)


def pack_documents(
    jobs: Iterable[tuple[Job, Mapping[str, str]]], path: Path, report: OnFinding
) -> dict[str, Any]:
    """Write the documents that jobs asked for into one file; return what is in it, as JSON values.

    Each job comes with the keys that were given for the parts of a record. The same documents give
    the same bytes. Of two texts with one id that of the first job counts. Raises InputError where
    inputs of a job are not there, OutputError for a name that is none of a pack, or a file that
    cannot be written.
    """
    if not path.name.endswith(ENDINGS):
        raise OutputError(f"{path}: a pack is called NAME{', NAME'.join(ENDINGS)}")
    kept, lacks = KeptDocuments.of_this_process(path), dict[str, Lack]()
    for number, (job, keys) in enumerate(jobs):
        with keyed(keys), kept.change():
            _gather_documents(job, number, kept, lacks, report)
    documents = text = 0
    with _open_pack(path) as file:
        for document, source in kept.documents():
            file.write(document_line(document, source))
            documents += 1
            text += len(document.text.encode())
        left = kept.left(sorted(lacks))
        for doc_id in left:
            file.write(lack_line(doc_id, lacks[doc_id]))
    size = {"pack": str(path), "bytes": path.stat().st_size, "text": text}
    return size | {"documents": documents, "lacks": dict(Counter(lacks[i] for i in left))}


def _gather_documents(
    finished: Job, number: int, kept: KeptDocuments, lacks: dict[str, Lack], report: OnFinding
) -> None:
    """Keep what the responses ask for that a job judged, the `number`-th one from 0."""
    job, judged = narrow_to_judged(finished)
    seen: set[str] = set()
    with _open_sources(job, report) as (sources, responses):
        for response in responses:
            if (response.run_id, response.topic_id) not in judged:
                continue
            named = {*_cited_in(response), *response.references}
            for doc_id in sorted(named.union(response.documents) - seen):
                found = _look_up(sources, doc_id)
                if not isinstance(found, str):
                    document, path = found
                    source = _source_of(doc_id, sources[path], path)
                    first = kept.get(doc_id)
                    if first is not None and first.text != document.text:
                        message = f"has {shown(doc_id)} with another text than a job before it has"
                        report(Finding("documents_differ", Place(source), message, doc_id))
                    kept.add([FoundDocument(document, place=number, source=source)])
                elif doc_id not in named:
                    continue  # only the run itself has it; another one may name it
                else:
                    add_lack(lacks, doc_id, found)
                seen.add(doc_id)


def _source_of(doc_id: str, store: DocumentStore, path: Path) -> str:
    """Return where a document is from: a place in a file, an address, or what was given."""
    own = store.source_of(doc_id) if isinstance(store, KeptDocuments) else ""
    return public(own or (source_name(path) if is_elsewhere(path) else path.name))


@contextmanager
def _open_pack(path: Path) -> Iterator[BinaryIO]:
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
