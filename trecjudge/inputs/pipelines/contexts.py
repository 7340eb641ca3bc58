"""What a pipeline retrieved, as documents with ids; and values of a table's cells."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from trecjudge.inputs.documents.carried import ReadDocuments
from trecjudge.inputs.documents.names import ALL_TEXTS, KNOWN, plain
from trecjudge.inputs.documents.record import (
    Tell,
    breaks_off,
    document_of,
    documents_within,
    guess_text,
    ids_of,
    names_text,
)
from trecjudge.inputs.sources.values import as_id, loads_leniently
from trecjudge.records import Document
from trecjudge.settings.limits import limits

TOKEN = re.compile(
    r"""\s*(?:(?P<text>u?(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"))"""
    r"""|(?P<begin>array\(|[{(\[])|(?P<end>(?:,\s*dtype=[\w<>'"]+\s*)?\)|[]}])|(?P<mark>[:,])"""
    r"""|(?P<word>[\w+-][\w.+-]*))""",
    re.DOTALL,
)
DEEPEST = 500
"""Lists inside each other; Python reads no more of them."""


class Unsplit(str):
    """A text that looks like a list, and was not surely split."""

    __slots__ = ()


def cell_value(cell: str) -> Any:
    """Return a cell's value: a list or an object as JSON or Python writes it, else the text.

    What looks like a list of texts and cannot be read for sure is `Unsplit`.
    """
    text = cell.strip()
    if text.startswith(("[", "{", "array(")) and not limits().excess_of_text(text):
        with suppress(ValueError):
            return loads_leniently(text)
        # Nothing is evaluated but plain values.
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return ast.literal_eval(_with_commas(text))
    first = text.removeprefix("array(").lstrip(
        "[ \n"
    )  # a list or an object of texts begins with one of these
    return Unsplit(cell) if text != first and first[:1] in ("'", '"', "{") else cell


def _with_commas(text: str) -> str:
    """Return a printed list with commas, which numpy leaves out between the entries of an array.

    Python would join texts that stand side by side. Raises ValueError where a list has some commas
    and some gaps, or an array leaves entries out.
    """
    written: list[str] = []
    # Of every list that is open: whether its entries are separated by commas; None so far.
    commas: list[bool | None] = []
    position, after_value, most = 0, False, limits().entries
    while position < len(text):
        token = TOKEN.match(text, position)
        if token is None or len(commas) > DEEPEST or len(written) > most:
            raise ValueError("is no printed list")
        position, kind, found = token.end(), token.lastgroup, token[0].strip()
        gap = kind in ("text", "begin", "word")
        if after_value and commas and (gap or found == ","):
            if commas[-1] is gap or (gap and not token[0][0].isspace()):
                raise ValueError("has commas between some entries only")
            commas[-1] = not gap
            written += "," if gap else ""
        if kind == "begin":
            commas.append(None)
        elif kind == "end" and commas:
            commas.pop()
        plain = "None" if found in ("nan", "NaN", "null") else found.replace("\n", "\\n")
        written.append({"begin": found[-1], "end": found[-1]}.get(kind or "", plain))
        after_value = kind in ("text", "end", "word")
    return " ".join(written)


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
    record and every run. An entry that is not surely read, or an object that names no text, is a
    document that is not complete; one with an empty text is complete.
    """
    entries = _entries(contexts)
    entries = entries and in_order(entries)
    if entries is None:
        whole = Document("contexts", own=True, complete=False)
        return ReadDocuments((whole,), unread=True, entries=(contexts,))
    guessed: list[str] = []
    if entries and all(map(_is_id, entries)):
        return ReadDocuments(tuple(Document(str(entry)) for entry in entries))
    found = [_document(entry, number, guessed.append) for number, entry in enumerate(entries, 1)]
    return ReadDocuments(tuple(found), tuple(dict.fromkeys(guessed)), entries=tuple(entries))


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
        return list(_flatten(value or []))
    if isinstance(value, dict):
        return _of_object(value)
    if not isinstance(value, str) or isinstance(value, Unsplit):
        return None
    pieces = NUMBERED.split(value)  # "[1] One passage. [2] Another." as a prompt has them
    return [value] if len(pieces) < 3 or pieces[0].strip() else pieces[1:]


def _flatten(entries: Entries) -> Iterator[Any]:
    for entry in entries:
        if isinstance(entry, list | tuple):
            pair = _pair(list(entry))
            # Some keep a list of passages for each search.
            yield from _flatten(list(entry)) if pair is None else [pair]
        else:
            yield from (isinstance(entry, dict) and _within(entry)) or [entry]


def _within(record: dict[str, Any]) -> Entries:
    """Return the documents in the lists of an object that has no text of its own."""
    found = [] if names_text(record) else list(documents_within(record))
    return list(_flatten(found)) if all(isinstance(e, str | dict | list) for e in found) else []


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
        return list(_flatten(of_objects[0]))
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
    silent = isinstance(entry, dict) and not found.has_text
    unread = not names_text(entry) if silent else breaks_off(found.text)
    return replace(found, complete=False) if unread else found


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
