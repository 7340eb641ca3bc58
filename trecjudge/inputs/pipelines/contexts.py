"""What a pipeline retrieved, as documents with ids."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from trecjudge.inputs.documents.record import document_of
from trecjudge.records import Document

MADE = "made"
"""Stands for an id until the text is known that it is made from."""


def documents_in(contexts: Any) -> list[Document]:
    """Return the contexts of a record as documents, in order: one text, or a list of any shapes.

    One without an id gets one made from its text, so that one passage is one document in every
    record and every run. Of two that share an id and differ in text the later one's id gets its
    number. An entry that is neither text nor an object with text is a document without text.
    """
    found: dict[str, Document] = {}
    order: list[Document] = []
    for number, entry in enumerate(_entries(contexts), 1):
        document = _document(entry, number)
        same = found.setdefault(document.doc_id, document)
        if same.text != document.text:
            document = replace(document, doc_id=f"{document.doc_id}#{number}")
            found[document.doc_id] = document
        order.append(document)
    return order


def ids_made(contexts: Any) -> bool:
    """Return whether any of the contexts has no id of its own."""
    return any(document_of(entry, by_address=False) is None for entry in _entries(contexts))


def _entries(contexts: Any) -> Iterator[Any]:
    if isinstance(contexts, list):
        for entry in contexts:
            # Some keep a list of passages for each search.
            yield from _entries(entry) if isinstance(entry, list) else [entry]
    elif contexts is not None:
        yield contexts


def _document(entry: Any, number: int) -> Document:
    named = document_of(entry, by_address=False, carried=True)
    if named is not None:
        return named
    found = document_of(entry, MADE, carried=True)
    if found is None or not found.has_text:
        return Document(f"context-{number}", own=True)
    digest = hashlib.sha256(found.text.encode()).hexdigest()[:12]
    return replace(found, doc_id=f"context-{digest}")
