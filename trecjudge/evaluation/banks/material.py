"""What banks are made of: topics with the responses to them, and the documents that these cite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trecjudge.findings import ignore
from trecjudge.inputs.documents.record import document_of
from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.inputs.sources.paths import files_below
from trecjudge.inputs.sources.values import as_id, as_text, first_objects, objects
from trecjudge.records import Document, Response, Topic


@dataclass(slots=True)
class Material:
    """A topic, the responses to it, its documents, and the runs that cite each of them."""

    topic: Topic
    responses: list[Response] = field(default_factory=list)
    documents: dict[str, Document] = field(default_factory=dict)
    citing: dict[str, dict[str, None]] = field(default_factory=dict)

    def add(self, response: Response, shared: dict[str, Document]) -> None:
        """Add a response; its documents are shared with those of other topics and runs."""
        for sentence in response.sentences:
            for citation in sentence.citations:
                document = response.documents.get(citation.doc_id or "")
                if document is None or not document.has_text:
                    continue
                known = shared.setdefault(document.doc_id, document)
                self.documents[document.doc_id] = known
                self.citing.setdefault(document.doc_id, {}).setdefault(response.run_id)
        # Each document is held once, whatever number of runs carry it.
        self.responses.append(replace(response, documents={}))

    def most_cited(self, most: int) -> list[Document]:
        """Return the documents that most runs cite, and of equal ones those found first."""
        order = sorted(self.documents, key=lambda doc_id: -len(self.citing.get(doc_id, ())))
        return [self.documents[doc_id] for doc_id in order[:most]]


def gather_material(
    topics: Mapping[str, Topic] | None, responses: Iterable[tuple[Topic, Response]]
) -> dict[str, Material]:
    """Return what there is on each of the topics, in their order; for None, those of responses."""
    found = {topic_id: Material(topic) for topic_id, topic in (topics or {}).items()}
    shared: dict[str, Document] = {}
    for topic, response in responses:
        found.setdefault(topic.topic_id, Material(topic)).add(response, shared)
    return found


def add_graded(
    found: Mapping[str, Material],
    grades: Mapping[str, Mapping[str, int]],
    store: DocumentStore | None,
) -> None:
    """Add the documents with a grade above 0, the best first."""
    for topic_id, material in found.items():
        graded = grades.get(topic_id, {})
        for doc_id in sorted(graded, key=lambda doc_id: -graded[doc_id]):
            document = store.get(doc_id) if store and graded[doc_id] > 0 else None
            if document is not None and document.has_text:
                material.documents.setdefault(doc_id, document)


def add_candidates(paths: Sequence[Path], found: dict[str, Material], new: bool) -> None:
    """Add the documents of candidates lists to their topics, to `new` ones too if that is asked."""
    for topic, documents in _candidates(paths):
        if topic.topic_id in found or new:
            material = found.setdefault(topic.topic_id, Material(topic))
            for document in documents:
                material.documents.setdefault(document.doc_id, document)


def _candidates(paths: Sequence[Path]) -> Iterator[tuple[Topic, list[Document]]]:
    files = (f for path in paths if path.exists() for f in files_below(path))
    for file in files:
        if not any("candidates" in record for record in first_objects(file, 1)):
            continue  # a file of documents: it is read elsewhere
        for _, record in objects(file, ignore):
            query, listed = record.get("query"), record.get("candidates")
            if not isinstance(listed, list):
                continue
            named: dict[str, Any] = query if isinstance(query, dict) else {"text": query}
            topic_id = as_id(named.get("qid") or record.get("qid"))
            if topic_id:
                documents = (_candidate(topic_id, n, raw) for n, raw in enumerate(listed, 1))
                with_text = [d for d in documents if d is not None and d.has_text]
                yield Topic(topic_id, as_text(named.get("text"))), with_text


def _candidate(topic_id: str, number: int, raw: object) -> Document | None:
    if isinstance(raw, str):
        return Document(f"{topic_id}#{number}", raw)
    return document_of(raw) if isinstance(raw, dict) else None
