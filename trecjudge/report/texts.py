"""Topics and documents, read again from what the job was given: its own files do not hold them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from trecjudge.cache.store import default_folder
from trecjudge.documents.store import open_documents
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.records import Document, Response, Topic
from trecjudge.report.blocks import Blocks
from trecjudge.report.output import Inputs
from trecjudge.runs import RunReader, find_runs
from trecjudge.topics import read_topics


@dataclass(slots=True)
class Texts:
    """Topics by id, and where the documents of each response stand in the page's blocks."""

    topics: dict[str, Topic] = field(default_factory=dict)
    places: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    """(run_id, topic_id) -> doc_id -> position in the topic's block of documents."""

    missing: list[str] = field(default_factory=list)
    """What could not be read, each in one line."""

    def documents_of(self, response: Response) -> Mapping[str, int]:
        """Return where the documents of a response stand, by id."""
        return self.places.get((response.run_id, response.topic_id), {})


def read_texts(
    inputs: Inputs, blocks: Blocks, numbers: Mapping[str, int], *, documents: bool, strict: bool
) -> Texts:
    """Read topics and, with `documents`, the documents of every response into `blocks`.

    `numbers` gives the number of each topic that is wanted. With `strict`, an input that is not
    there raises InputError; else it is noted as missing.
    """
    texts = Texts()
    try:
        _read(inputs, blocks, numbers, texts, documents)
    except InputError as error:
        if strict:
            raise
        texts.missing.append(
            f"texts of topics or documents are missing: {error};"
            " give --rag-topics, --rag-responses, --documents"
        )
    return texts


def _read(
    inputs: Inputs, blocks: Blocks, numbers: Mapping[str, int], texts: Texts, documents: bool
) -> None:
    if inputs.topics is not None:
        texts.topics = read_topics(inputs.topics, _unheard)
    if not inputs.runs:
        return
    store = None
    if documents and inputs.documents:
        store = open_documents(inputs.documents, default_folder(), _unheard)
    reader = RunReader(find_runs(inputs.runs), _unheard, store=store, dataset=inputs.dataset)
    seen: dict[bytes, int] = {}
    counts = dict.fromkeys(numbers, 0)
    for topic, response in reader:
        if topic.topic_id not in numbers:
            continue
        texts.topics.setdefault(topic.topic_id, topic)
        if documents:
            places = _placed(response, blocks, numbers[topic.topic_id], seen, counts)
            texts.places[response.run_id, response.topic_id] = places


def _placed(
    response: Response,
    blocks: Blocks,
    number: int,
    seen: dict[bytes, int],
    counts: dict[str, int],
) -> dict[str, int]:
    """Return where each document stands, added to the topic's block where it is new there.

    Two runs may carry different texts under one id: each keeps its own.
    """
    places = {}
    for doc_id, document in response.documents.items():
        if not document.text.strip():
            continue
        key = _digest(response.topic_id, document)
        if key not in seen:
            seen[key] = counts[response.topic_id]
            counts[response.topic_id] += 1
            entry = {"id": doc_id, "title": document.title, "text": document.full_text}
            blocks.add(f"documents-{number}", entry)
        places[doc_id] = seen[key]
    return places


def _digest(topic_id: str, document: Document) -> bytes:
    parts = "\0".join((topic_id, document.doc_id, document.full_text))
    return hashlib.blake2b(parts.encode(errors="surrogatepass"), digest_size=16).digest()


def _unheard(finding: Finding) -> None:
    """Findings were told when the runs were judged."""


def named(texts: Texts, topic_ids: Collection[str]) -> list[dict[str, str]]:
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
