"""Document text given beside the runs, and documents as runs carry them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import Finding, Report, shown
from trecjudge.records import Document, Place
from trecjudge.sources.paths import files_below
from trecjudge.sources.values import as_id, as_text, objects

ID_KEYS = ("docid", "doc_id", "id", "_id", "pid")
TEXT_KEYS = ("text", "segment", "contents", "content", "body", "passage")


def document_of(record: object, doc_id: str | None = None) -> Document | None:
    """Return the document that a JSON value describes: an object, or plain text with its id.

    None if it has no id, or is neither. A null text is no text.
    """
    if isinstance(record, str) or record is None:
        return Document(doc_id, as_text(record)) if doc_id else None
    if not isinstance(record, Mapping):
        return None
    own = doc_id or next((found for key in ID_KEYS if (found := as_id(record.get(key)))), None)
    text = next((as_text(record[key]) for key in TEXT_KEYS if record.get(key)), "")
    return Document(own, text, as_text(record.get("title"))) if own else None


def documents_of(field_value: object) -> Iterator[tuple[Any, Document | None]]:
    """Yield (entry as written, document or None if unusable) of a run's `documents` field."""
    if isinstance(field_value, Mapping):
        for key, entry in field_value.items():
            yield key, document_of(entry, as_id(key))
    elif isinstance(field_value, list):
        for entry in field_value:
            yield entry, document_of(entry)
    elif field_value is not None:
        yield field_value, None


@dataclass(slots=True)
class DocumentStore:
    """Documents by id, from files given beside the runs."""

    documents: dict[str, Document] = field(default_factory=dict)

    def get(self, doc_id: str) -> Document | None:
        """Return the document with this id, or None."""
        return self.documents.get(doc_id)


def read_documents(paths: Iterable[Path], report: Report) -> DocumentStore:
    """Read JSONL files (or folders of them) of `docid`/`id`, `title`, `text`.

    The first record of an id counts. Raises InputError if a path holds no document.
    """
    store = DocumentStore()
    for path in paths:
        before = len(store.documents)
        for file in files_below(path):
            _read_file(file, store.documents, report)
        if len(store.documents) == before:
            raise InputError(f"{path}: no documents found; give JSONL records of docid and text")
    return store


def _read_file(path: Path, documents: dict[str, Document], report: Report) -> None:
    for number, record in objects(path, report):
        place = Place(str(path), number)
        document = document_of(record)
        if document is None:
            message = f"has no document id: none of {', '.join(ID_KEYS)} in it"
            report(Finding("documents_unusable", place, message, shown(sorted(record))))
        elif documents.setdefault(document.doc_id, document) is not document:
            message = f"document {document.doc_id!r} was there before"
            report(Finding("document_duplicate", place, message, document.doc_id))
