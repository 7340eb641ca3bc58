"""Topics and documents, read again from the inputs: the files of a job do not hold them."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from trecjudge.errors import InputError
from trecjudge.files import default_folder
from trecjudge.findings import ignore
from trecjudge.inputs.collections.wanted import WantedDocuments
from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.inputs.packed import PackedRows
from trecjudge.inputs.pipelines.fields import use_record_keys
from trecjudge.inputs.runs import RunReader, find_runs
from trecjudge.inputs.sources.paths import was_given_elsewhere
from trecjudge.inputs.topics import read_topics
from trecjudge.models.documents.opening import ServiceUse, open_documents
from trecjudge.records import Document, Response, Topic
from trecjudge.show.html.blocks import Blocks
from trecjudge.show.html.output import ReportInputs


@dataclass(slots=True)
class Texts:
    """Topics by id, and where the documents of each response stand in the page's blocks."""

    topics: dict[str, Topic] = field(default_factory=dict)
    places: PackedRows = field(default_factory=PackedRows)
    """(doc_id, position in the topic's block of documents), by (run_id, topic_id)."""

    written_at: dict[str, dict[int | None, tuple[str, str]]] = field(default_factory=dict)
    """Run file -> line -> (run_id, topic_id) of the response there, to place findings."""

    missing: list[str] = field(default_factory=list)
    """What could not be read, each in one line."""

    def documents_of(self, response: Response) -> Mapping[str, int]:
        """Return where the documents of a response stand, by id."""
        return dict(self.places.rows((response.run_id, response.topic_id)))

    def written(self, place: str) -> tuple[str, str] | None:
        """Return (run_id, topic_id) of the response at a place, `path:line`, of a run."""
        path, _, line = place.rpartition(":")
        if path in self.written_at and line.isdecimal():
            return self.written_at[path].get(int(line))
        return self.written_at.get(place, {}).get(None)


def read_texts(inputs: ReportInputs, blocks: Blocks, wanted: PackedRows, strict: bool) -> Texts:
    """Read topics and the wanted documents, ids by (run_id, topic_id), these into `blocks`.

    With `strict`, an input that is not there raises InputError; else it is noted as missing.
    """
    texts = Texts()
    try:
        noted = () if strict else (inputs.topics, *inputs.runs, *inputs.documents)
        if streams := [path for path in noted if path and was_given_elsewhere(path)]:
            raise InputError(f"{streams[0]}: the job read it from a pipe")
        with use_record_keys(inputs.keys):
            _read(inputs, blocks, wanted, texts)
    except InputError as error:
        if strict:
            raise
        texts.missing.append(
            f"texts of topics or documents are missing: {error};"
            " give --rag-topics, --rag-responses, --documents"
        )
    return texts


def _read(inputs: ReportInputs, blocks: Blocks, wanted: PackedRows, texts: Texts) -> None:
    if inputs.topics is not None:
        texts.topics = read_topics(inputs.topics, ignore)
    if not inputs.runs:
        return
    files = find_runs(inputs.runs)

    def read(store: DocumentStore | None) -> RunReader:
        return RunReader(
            files,
            ignore,
            known=texts.topics,
            store=store,
            own_documents=inputs.own_documents,
            dataset=inputs.dataset,
        )

    store = None
    if inputs.document_text and inputs.documents:
        # What the job has fetched is kept: a report asks no service.
        use = ServiceUse(offline=True)
        store = open_documents(
            inputs.documents, default_folder(), ignore, lambda: WantedDocuments.of(read), use
        )
    shelf, given = _Shelf(blocks), set(texts.topics)
    for topic, response in read(store):
        # One name for all responses: these two are kept of each.
        topic_id = texts.topics.setdefault(topic.topic_id, topic).topic_id
        group = sys.intern(response.run_id), topic_id
        texts.written_at.setdefault(response.place.path, {})[response.place.line] = group
        if inputs.document_text:
            ids = wanted.rows(group)
            known = (document for doc_id in ids if (document := response.documents.get(doc_id)))
            places = [
                (document.doc_id, shelf.place(response.topic_id, document))
                for document in known
                if document.has_text
            ]
            texts.places.put(group, places)
    answered = {topic_id for file in texts.written_at.values() for _, topic_id in file.values()}
    if not answered:
        raise InputError(f"{', '.join(map(str, inputs.runs))}: no response could be read")
    if given and given.isdisjoint(answered):
        raise InputError(f"{inputs.topics}: has no topic that these runs answer")


@dataclass(slots=True)
class _Shelf:
    """Puts each document once into the block of its topic.

    Two runs may carry different texts under one id: each keeps its own.
    """

    blocks: Blocks
    seen: dict[bytes, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def place(self, topic_id: str, document: Document) -> int:
        """Return the position of a document in the block of the topic."""
        # By content, not by id: a digest takes 16 bytes, the text itself may take megabytes.
        key = _digest(topic_id, document)
        if key not in self.seen:
            self.seen[key] = self.counts[topic_id]
            self.counts[topic_id] += 1
            entry = {"id": document.doc_id, "title": document.title, "text": document.full_text}
            entry |= {"url": document.url, "date": document.date, "version": document.version}
            self.blocks.add("documents", topic_id, entry)
        return self.seen[key]


def _digest(topic_id: str, document: Document) -> bytes:
    parts = "\0".join((topic_id, document.doc_id, document.full_text))
    return hashlib.blake2b(parts.encode(errors="surrogatepass"), digest_size=16).digest()


def topics_for_page(texts: Texts, topic_ids: Collection[str]) -> list[dict[str, str]]:
    """Return the topics for the page, as far as they are known."""
    known = [texts.topics.get(topic_id, Topic(topic_id)) for topic_id in topic_ids]
    return [
        {
            "id": topic.topic_id,
            "title": topic.title,
            "problem": topic.problem_statement,
            "background": topic.background,
            "body": topic.body,
        }
        for topic in known
    ]
