"""Our responses, topics and nuggets as AutoJudge has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trecjudge import AllResponses, Document, InputError, Response, Topic, nuggets_record

from .measures import base

BANK_FORMATS = {"NuggetizerNuggetBank": "nuggetizer", "Ragtime26NuggetBank": "ragtime26"}


@dataclass(slots=True)
class Given:
    """What theirs is given: all reports, and the topics; `first` is the first run on a topic."""

    reports: list[Any] = field(default_factory=list)
    topics: dict[str, Topic] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    keys: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, responses: AllResponses, with_documents: bool) -> Given:
        """Return all responses of a job as reports; each text of a document is held once."""
        given = cls(topics=dict(responses.topics or {}))
        documents: dict[Document, Any] = {}
        for topic, response in responses:
            given.topics[topic.topic_id] = topic
            given.first.setdefault(topic.topic_id, response.run_id)
            given.keys.append((response.run_id, topic.topic_id))
            given.reports.append(_report(response, documents if with_documents else None))
        return given

    @property
    def requests(self) -> list[Any]:
        """The topics as theirs."""
        return [_request(topic) for topic in self.topics.values()]


def _report(response: Response, documents: dict[Document, Any] | None) -> Any:
    metadata = {"team_id": response.team_id, "run_id": response.run_id}
    record: dict[str, Any] = {
        "metadata": metadata | {"topic_id": response.topic_id},
        "responses": list(_sentences(response)),
        "references": list(response.references),
    }
    if documents is not None:
        record["documents"] = {
            doc_id: documents.get(document) or _document(document, documents)
            for doc_id, document in response.documents.items()
            if document.has_text
        }
    return base().Report.model_validate(record)


def _sentences(response: Response) -> Iterator[dict[str, Any]]:
    """Yield sentences with citations by id; with their scores where the run gave them to all."""
    cited = [c for s in response.sentences for c in s.citations if c.doc_id is not None]
    scored = bool(cited) and all(c.score is not None for c in cited)
    for sentence in response.sentences:
        usable = [c for c in sentence.citations if c.doc_id is not None]
        ids: Any = {c.doc_id: c.score for c in usable} if scored else [c.doc_id for c in usable]
        yield {"text": sentence.text, "citations": ids}


def _document(document: Document, made: dict[Document, Any]) -> Any:
    from autojudge_base.document import Document as Theirs

    named = {"id": document.doc_id, "text": document.text, "title": document.title or None}
    made[document] = Theirs(**named, url=document.url or None)
    return made[document]


def _request(topic: Topic) -> Any:
    return base().Request(
        request_id=topic.topic_id,
        title=topic.title,
        background=topic.background or None,
        problem_statement=topic.problem_statement or topic.body or None,
        limit=topic.limit,
    )


def banks_of(topics: Iterable[Topic], kind: Any) -> Any:
    """Return the nuggets of topics as banks of their kind; None where no topic has any."""
    model = kind.get_bank_model()
    format_ = BANK_FORMATS.get(model.__name__, "autoargue")
    records = [record for topic in topics if (record := nuggets_record(topic, format_))]
    return kind.from_banks_list([model.model_validate(r) for r in records]) if records else None


def banks_at(path: str, kind: Any) -> Any:
    """Return the banks of a file or folder, read by theirs. Raises InputError."""
    from autojudge_base.workflow.paths import load_nugget_banks_from_path

    try:
        return load_nugget_banks_from_path(Path(path), kind)
    except (OSError, ValueError) as error:
        raise InputError(f"nugget_input {path}: cannot be read: {error}") from error
