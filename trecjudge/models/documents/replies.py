"""The document in a service's reply, or why there is none that can be taken."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from trecjudge.findings import shown
from trecjudge.inputs.documents.names import NESTED, plain
from trecjudge.inputs.documents.record import Tell, document_of, ids_of, names_text
from trecjudge.inputs.pipelines.layers import parsed
from trecjudge.models.faults import plain as text_of_page
from trecjudge.records import Document
from trecjudge.settings.limits import limits

Mask = Callable[[str], str]


class NotTaken(Exception):
    """A reply that is not the document that was asked for."""


def document_in(payload: bytes, doc_id: str, path: str, tell: Tell, mask: Mask = str) -> Document:
    """Return the document of a reply, which is JSON: an object, or its text.

    `path` is the dotted path to the text, empty where it is found as in any document. `tell` is
    called with a field that is the text by guess, `mask` hides secrets. Raises NotTaken.
    """
    try:
        value = _load(payload)
    except orjson.JSONDecodeError:
        words = " ".join(mask(text_of_page(payload.decode(errors="replace"))).split())
        raise NotTaken(f"is not JSON: {shown(words)}") from None
    record = _mask_texts(value, mask)
    if isinstance(record, dict):
        record = {k: _load_object(v) if plain(k) in NESTED else v for k, v in record.items()}
    ids = [*ids_of(record)[0]] if isinstance(record, Mapping) else []
    if ids and doc_id not in ids:
        raise NotTaken(f"is of another document: {shown(ids[0])}")
    # Without an id it may be a message: the one long field of that is no text.
    document = document_of(record, doc_id, tell=tell if ids and not path else None)
    if document is None:
        raise NotTaken(f"holds no document: {shown(record)}")
    if path:
        named = document_of({"text": _text_at(record, path)}, doc_id)
        return replace(document, text=named.text if named else "")
    if not document.has_text and isinstance(record, Mapping):
        if error := next((record[key] for key in ("error", "errors") if record.get(key)), None):
            raise NotTaken(f"is an error: {shown(error)}")
        if not names_text(record):
            raise NotTaken(f"has no text under a known name: keys {shown(sorted(record))}")
    return document


def names(doc_id: str, payload: bytes, words: str) -> bool:
    """Return whether an object of JSON has this id in its `words`, and not in an address only.

    Only the service itself says so that a document is not there; a gateway may quote the address.
    """
    is_object = payload.lstrip().startswith(b"{")
    return is_object and bool(re.search(rf"(?<![\w/=]){re.escape(doc_id)}(?!\w)", words))


def _load(payload: bytes) -> Any:
    """Return what JSON holds. Raises NotTaken beyond a limit, JSONDecodeError."""
    most = limits()
    if excess := most.excess_of_text(payload):
        raise NotTaken(excess)
    value = orjson.loads(payload)
    if excess := most.excess(value):
        raise NotTaken(excess)
    return value


def _mask_texts(value: Any, mask: Mask) -> Any:
    """Return a value without secrets. Before a message quotes a part of it: half a key is one."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        return {mask(key): _mask_texts(inner, mask) for key, inner in value.items()}
    return [_mask_texts(inner, mask) for inner in value] if isinstance(value, list) else value


def _load_object(value: Any) -> Any:
    """Return the object that a text of JSON holds, and any other value as it is."""
    found = parsed(value.lstrip()) if isinstance(value, str) else value
    return found if isinstance(found, dict) else value


def _text_at(record: Any, path: str) -> Any:
    """Return the text at a dotted path. Raises NotTaken where there is none."""
    value = record
    for name in path.split("."):
        value = _load_object(value)
        if not isinstance(value, dict) or name not in value:
            keys = f"keys {shown(sorted(value))}" if isinstance(value, dict) else shown(value)
            raise NotTaken(f"has no {path!r} (`text` of the service): {name!r} is not in {keys}")
        value = value[name]
    if not (isinstance(value, str) or value is None or isinstance(value, list)):
        raise NotTaken(f"has no text at {path!r} (`text` of the service): {shown(value)}")
    return value
