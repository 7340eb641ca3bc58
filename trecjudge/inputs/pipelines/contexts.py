"""What a pipeline retrieved, as documents with ids."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from trecjudge.inputs.documents.carried import ReadDocuments
from trecjudge.inputs.documents.guessing import guess_text
from trecjudge.inputs.documents.names import ALL_TEXTS, KNOWN, plain
from trecjudge.inputs.documents.record import (
    Tell,
    breaks_off,
    document_of,
    documents_within,
    ids_of,
    names_text,
)
from trecjudge.inputs.pipelines.cells import Unsplit, cell_value
from trecjudge.inputs.sources.values import as_id
from trecjudge.records import Document

NUMBERED = re.compile(r"^(?=[ \t]*\[\d{1,3}\][ \t])", re.MULTILINE)
"""Where a passage begins in one text that numbers its passages."""
NUMBERS = ("rank", "position", "number", "index", "refid", "citationid")
"""Names of the number of a context among those of its record."""
MADE = "made"
"""Stands for an id until the text is known that it is made from."""
Entries = list[Any]


def read_contexts(contexts: Any) -> ReadDocuments:
    """Return the contexts of a record as documents, in order: a text, or a list of any shapes.

    One without an id gets one made from its text, so that one passage is one document in every
    record and every run. An entry that is not surely read is a document that is not complete.
    """
    entries = _entries(contexts)
    entries = entries and in_order(entries)
    if entries is None:
        return ReadDocuments((Document("contexts", own=True, complete=False),), unread=True)
    guessed: list[str] = []
    if entries and all(map(_is_id, entries)):
        return ReadDocuments(tuple(Document(str(entry)) for entry in entries))
    found = [_document(entry, number, guessed.append) for number, entry in enumerate(entries, 1)]
    return ReadDocuments(tuple(found), tuple(dict.fromkeys(guessed)))


def in_order(entries: Entries) -> Entries:
    """Return contexts by their numbers, from 0 or 1 on, where all have some; else as they are."""
    keys = [{plain(key): key for key in e} if isinstance(e, dict) else {} for e in entries]
    for name in NUMBERS if len(entries) > 1 else ():
        if name not in keys[0] or not all(name in names for names in keys):
            continue
        numbers = [as_id(e[names[name]]) for e, names in zip(entries, keys, strict=True)]
        places = {number: place for place, number in enumerate(numbers)}
        for wanted in (range(len(entries)), range(1, len(entries) + 1)):
            if places.keys() == set(map(str, wanted)):
                return [entries[places[str(number)]] for number in wanted]
    return entries


def ids_made(contexts: Any) -> bool:
    """Return whether any of the contexts has no id of its own."""
    entries = _entries(contexts) or []
    named = (isinstance(entry, dict) and ids_of(entry)[0] for entry in entries)
    return not (all(named) or all(map(_is_id, entries)))


def _is_id(entry: object) -> bool:
    """Return whether an entry is an id, and no text: one word with a digit."""
    if not isinstance(entry, str):
        return type(entry) is int
    one_word = entry.isascii() and entry.split() == [entry] and entry[-1].isalnum()
    return one_word and any(map(str.isdigit, entry))


def _entries(contexts: Any) -> Entries | None:
    """Return the entries of contexts in any shape; None where they are not surely read."""
    value = cell_value(contexts) if isinstance(contexts, str) else contexts
    if value is None or isinstance(value, list):
        return list(_listed(value or []))
    if isinstance(value, dict):
        return _of_object(value)
    if not isinstance(value, str) or isinstance(value, Unsplit):
        return None
    pieces = NUMBERED.split(value)  # "[1] One passage. [2] Another." as a prompt has them
    return [value] if len(pieces) < 3 or pieces[0].strip() else pieces[1:]


def _listed(entries: Entries) -> Iterator[Any]:
    for entry in entries:
        if isinstance(entry, list | tuple):
            pair = _pair(list(entry))
            # Some keep a list of passages for each search.
            yield from _listed(list(entry)) if pair is None else [pair]
        else:
            yield from (isinstance(entry, dict) and _within(entry)) or [entry]


def _within(record: dict[str, Any]) -> Entries:
    """Return the documents in the lists of an object that has no text of its own."""
    found = [] if names_text(record) else list(documents_within(record))
    return list(_listed(found)) if all(isinstance(e, str | dict | list) for e in found) else []


def _pair(entry: Entries) -> Any:
    """Return what a pair holds: (id, text), (title, sentences); else None.

    There may be a score too, or a title between an id and a text.
    """
    kept = [part for part in entry if not isinstance(part, float)]
    if len(kept) > 1 and type(kept[-1]) is int:
        kept.pop()
    if len(kept) == 1 < len(entry) <= 3 and isinstance(kept[0], str | dict):
        return kept[0]
    if len(kept) == 3 and all(isinstance(part, str) for part in kept) and _is_id(kept[0]):
        return dict(zip(("id", "title", "text"), kept, strict=True))
    first, second = kept if len(kept) == 2 else (None, None)
    if isinstance(first, str) and isinstance(second, list):
        return {"title": first, "sentences": second}
    is_text = isinstance(second, str) and len(second.split()) > 1
    return {"id": first, "text": second} if is_text and _is_id(first) else None


def _of_object(value: dict[str, Any]) -> Entries | None:
    """Return the entries of an object: its columns, its list, texts by id, or itself."""
    if found := _rows(value) or _within(value):
        return found
    of_objects = [v for v in value.values() if isinstance(v, list) and v and isinstance(v[0], dict)]
    if len(of_objects) == 1 and not names_text(value):
        return list(_listed(of_objects[0]))
    named = any(plain(key) in KNOWN for key in value)
    if value and not named and all(map(_is_entry, value.values())):
        as_objects = ((k, v if isinstance(v, dict) else {"text": v}) for k, v in value.items())
        return [{"id": key} | entry for key, entry in as_objects]
    return ([value] if _tells_text(value) else None) if value else []


def _rows(value: dict[str, Any]) -> Entries:
    """Return the entries of an object of columns, one of them of texts; empty where it is none."""
    columns = {key: column for key, column in value.items() if isinstance(column, list)}
    if all(len(column) == 1 and isinstance(column[0], list) for column in columns.values()):
        columns = {key: column[0] for key, column in columns.items()}  # one search of several
    plurals = {key: plain(key) for key in columns}
    names = [name if name in ALL_TEXTS else name.rstrip("s") for name in plurals.values()]
    even = len(set(map(len, columns.values()))) == 1
    if len(columns) < 2 or not even or not set(names).intersection(ALL_TEXTS):
        return []
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _is_entry(value: object) -> bool:
    """Return whether a value is a text, or an object that has one."""
    return _tells_text(value if isinstance(value, dict) else {"a text": value})


def _tells_text(record: dict[str, Any]) -> bool:
    """Return whether an object has a text, even an empty one, or a field that may be it."""
    return names_text(record) or guess_text(record).open


def _document(entry: Any, number: int, tell: Tell) -> Document:
    """Return a context as a document; services cut texts under any name."""
    found = _as_given(entry, number, tell)
    return replace(found, complete=False) if breaks_off(found.text) else found


def _as_given(entry: Any, number: int, tell: Tell) -> Document:
    named = document_of(entry, by_address=False, carried=True, tell=tell)
    if named is not None:
        return named
    found = document_of(entry, MADE, carried=True, tell=tell)
    if found is None or not found.has_text:
        found = found or Document(MADE, own=True, complete=False)
        return replace(found, doc_id=f"context-{number}")
    digest = hashlib.sha256(found.text.encode()).hexdigest()[:12]
    return replace(found, doc_id=f"context-{digest}")
