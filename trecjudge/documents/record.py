"""Documents as JSON has them, in a run's `documents` field or in a file of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trecjudge.records import Document
from trecjudge.sources.values import as_id, as_text

ID_KEYS = ("docid", "doc_id", "id", "_id", "pid")
URL_KEYS = ("url", "uri", "link", "source_url")
DATE_KEYS = ("date", "published", "publication_date", "timestamp", "time")
VERSION_KEYS = ("version", "revision")
TEXT_KEYS = ("text", "segment", "contents", "content", "body", "passage")


def document_of(record: object, doc_id: str | None = None) -> Document | None:
    """Return the document that a JSON value describes: an object, or plain text with its id.

    None if it has no id, or is neither. A null text is no text.
    """
    if isinstance(record, str) or record is None:
        return Document(doc_id, as_text(record)) if doc_id else None
    if not isinstance(record, dict):
        return None
    own = doc_id or next((found for key in ID_KEYS if (found := as_id(record.get(key)))), None)
    if own is None:
        return None
    text = record.get("text") or next((record[key] for key in TEXT_KEYS if record.get(key)), "")
    return Document(
        own,
        as_text(text),
        as_text(record.get("title")),
        url=_first(record, URL_KEYS),
        date=_first(record, DATE_KEYS),
        version=_first(record, VERSION_KEYS),
    )


def _first(record: dict[str, Any], keys: tuple[str, ...]) -> str:
    """Return the first of the values that is text or a number, as text."""
    given = (record.get(key) for key in keys)
    return next((found for value in given if (found := as_id(value))), "")


def documents_of(field_value: object) -> Iterator[tuple[Any, Document | None]]:
    """Yield (entry as written, document or None if unusable) of a run's `documents` field."""
    if isinstance(field_value, dict):
        for key, entry in field_value.items():
            yield key, document_of(entry, as_id(key))
    elif isinstance(field_value, list):
        for entry in field_value:
            yield entry, document_of(entry)
    elif field_value is not None:
        yield field_value, None
