"""Documents as JSON has them, in a run's `documents` field or in a file of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from trecjudge.inputs.documents.names import (
    ADDRESSES,
    ALL_TEXTS,
    DATES,
    IDENTIFYING,
    TITLES,
    VERSIONS,
    Shape,
    plain,
    shape_of,
)
from trecjudge.inputs.sources.values import as_id, as_text
from trecjudge.records import Document
from trecjudge.settings.limits import limits
from trecjudge.text.layout import without_markup
from trecjudge.text.visible import is_blank

FEWEST_WORDS, SURELY_LONG = 4, 12
"""Words of a sentence, and of what has no full stop, from which on they are a long text."""
# The text of a record that has none under a known name: that of its one long field.
WITHOUT_SPACES = 12
"""The same in characters of a script without spaces."""
SENTENCE = re.compile(r"[.!?…。！？।؟]\W?$")
MUCH_LONGER = 3
"""Of two fields the longer one is the text if it is so many times as long."""
OTHERS = (
    *("author", "authors", "byline", "creator", "publisher", "journal", "venue", "license"),
    *("keywords", "tags", "query", "question", "path", "filename", "breadcrumbs", "copyright"),
)
NOT_TEXTS = frozenset((*IDENTIFYING, *ADDRESSES, *TITLES, *DATES, *VERSIONS, *OTHERS))


@dataclass(frozen=True, slots=True)
class Guess:
    """The field that is the text, and the text; both empty where none surely is.

    `open` is whether some field may be it.
    """

    field: str = ""
    text: str = ""
    open: bool = False


def guess_text(record: dict[str, Any]) -> Guess:
    """Return which field of a record is its text: one inside it under a known name, or a long one.

    Of several long ones it is the one that is much longer than all others.
    """
    parts: dict[str, list[str]] = {}
    for field, text in _texts(record, ""):
        parts.setdefault(field, []).append(text)
    written = {field: "\n".join(texts) for field, texts in parts.items()}
    known = {f: t for f, t in written.items() if plain(f.rpartition(".")[2]) in ALL_TEXTS}
    long = known or {field: text for field, text in written.items() if _is_long(text)}
    first, *others = sorted(long, key=lambda field: -len(long[field])) or [""]
    if first and (not others or len(long[first]) >= MUCH_LONGER * len(long[others[0]])):
        return Guess(first, long[first], open=True)
    return Guess(open=any(" " in text or _is_long(text) for text in written.values()))


def _texts(value: Any, field: str) -> Iterator[tuple[str, str]]:
    """Yield (field, text) of all inside a value that may be texts: no ids, titles, addresses..."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, dict | list) or plain(key) not in NOT_TEXTS:
                yield from _texts(inner, f"{field}.{key}" if field else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, field)
    elif isinstance(value, str) and value.strip() and "://" not in value[:WITHOUT_SPACES]:
        yield field, value.strip()


def _is_long(text: str) -> bool:
    words, beyond = len(text.split()), sum(c >= "\u0e00" for c in text[:200])  # Thai and after
    sentence = words >= FEWEST_WORDS and SENTENCE.search(text[-2:])
    return bool(sentence) or words >= SURELY_LONG or beyond >= WITHOUT_SPACES


BEGINS_CUT = re.compile(r"\W{0,2}(?:\.\.\.|…)")
ENDS_CUT = re.compile(r"(?:\.\.\.|…)\W{0,2}$")
BREAKS_OFF = re.compile(
    r"(?:[\w,;:](?<!\betc)(?<!\bso on)\s?(?:\.{3}|…)"
    r"|[\[(](?:\.{3}|…|\W{0,3}truncated\W{0,3}|\+\d+ char\w{0,7})[\])])[\s\"'”’]*$",
    re.IGNORECASE,
)
"""The end of a text that is cut: dots in a word or a sentence, or a note."""
LONGEST_END = 40
Tell = Callable[[str], object]
"""Called with the name of the field from which a text was taken by guess."""


def document_of(
    record: object,
    doc_id: str | None = None,
    *,
    by_address: bool = True,
    carried: bool = False,
    tell: Tell | None = None,
) -> Document | None:
    """Return the document that a JSON value describes: an object, or plain text with its id.

    None if it has no id, or is neither of these. A null text is no text. Where a record has no id,
    its address is used as one. `carried`: a run carries it. With `tell`, a record without text
    under a known name has the text of its one long field.
    """
    if not isinstance(record, dict):
        texts = isinstance(record, list) and record and all(isinstance(t, str) for t in record)
        given = record is None or isinstance(record, str) or texts
        return Document(doc_id, _text_of_value(record), own=carried) if doc_id and given else None
    written, shape = record, shape_of(record)
    if shape.nested and any(isinstance(record[key], dict) for key in shape.nested):
        record = _flatten(record, shape)
        shape = shape_of(record)
    own = doc_id or next(_ids(record, shape), None)
    if own is None and by_address:
        own = _first(record, shape.addresses) or None
    if own is None:
        return None
    key, body = _text(record, shape)
    found = Document(
        own,
        body,
        next((text for key in shape.titles if (text := as_text(record[key]))), ""),
        url=_address(record, shape, carried),
        date=_first(record, shape.dates) if shape.dates else "",
        version=_first(record, shape.versions) if shape.versions else "",
        own=carried,
    )
    if not key and tell is not None:
        return _with_guessed_text(found, written, tell)
    if not (key and carried and (shape.excerpts or shape.flags)):
        return found
    cut = key in shape.excerpts and _is_cut(body)
    cut |= any(record[flag] is True for flag in shape.flags)
    return replace(found, complete=False) if cut else found


def _address(record: Mapping[str, Any], shape: Shape, carried: bool) -> str:
    """Return a record's address; of a document that a run carries else the name of its file."""
    address = _first(record, shape.urls) if shape.urls else ""
    return address or (_first(record, shape.files) if carried and shape.files else "")


def _with_guessed_text(document: Document, record: dict[str, Any], tell: Tell) -> Document:
    """Return a document with the text of its one long field; not complete if several may be it."""
    guess = guess_text(record)
    if guess.field:
        tell(guess.field)
        return replace(document, text=guess.text)
    # A text that the run itself left empty is empty, whatever else is in the record.
    some = guess.open or any(record[flag] is True for flag in shape_of(record).flags)
    unread = document.own and some and not names_text(record)
    return replace(document, complete=not unread)


def _is_cut(excerpt: str) -> bool:
    text = excerpt.strip()
    return bool(BEGINS_CUT.match(text) or ENDS_CUT.search(text[-6:]))


def breaks_off(text: str) -> bool:
    """Return whether a text ends in the middle of a word or a sentence, with dots or a note."""
    return BREAKS_OFF.search(text[-LONGEST_END:]) is not None


def merge_chunks(chunks: Sequence[Document]) -> Document:
    """Return chunks of one document as one: all their texts in order, each once."""
    texts = dict.fromkeys(chunk.text for chunk in chunks if chunk.has_text)
    title = next((chunk.title for chunk in chunks if chunk.title), "")
    complete = all(chunk.complete for chunk in chunks)
    return replace(chunks[0], text="\n\n".join(texts), title=title, complete=complete)


def ids_of(record: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return a record's ids, the preferred one first, and its addresses."""
    record = _flatten(record, shape_of(record))
    shape = shape_of(record)
    addresses = (as_id(record[key]) for key in shape.addresses)
    return list(dict.fromkeys(_ids(record, shape))), [found for found in addresses if found]


def leaf_keys(value: object) -> Iterator[str]:
    """Yield the keys that lead to the values of an object, as `node.text`; of lists the first's."""
    if isinstance(value, list) and value:
        yield from leaf_keys(value[0])
    for key, inner in value.items() if isinstance(value, dict) else ():
        deeper = [f"{key}.{rest}" for rest in leaf_keys(inner)]
        yield from deeper or [str(key)]


def names_text(record: Mapping[str, Any]) -> bool:
    """Return whether a record has a field of text, even a null one."""
    parts = record, _flatten(record, shape_of(record))
    return any(not isinstance(p[key], dict) for p in parts for key in shape_of(p).texts)


def documents_within(record: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the entries of the lists of documents that a record holds, such as `candidates`."""
    for key in shape_of(record).lists:
        value = record[key]
        if isinstance(value, dict):  # an object of documents by id, or a search engine's reply
            inner = [v for k in shape_of(value).lists if isinstance(v := value[k], list)]
            entries = ((k, v if isinstance(v, dict) else {"text": v}) for k, v in value.items())
            value = inner[0] if inner else [{"id": key} | entry for key, entry in entries]
        if isinstance(value, list):
            yield from value


def _ids(record: Mapping[str, Any], shape: Shape) -> Iterator[str]:
    """Yield the ids; that of a passage before its document's, unless it is only a number."""
    numbers = []
    for key in shape.passage_ids:
        if found := as_id(record[key]):
            if not found.isdecimal():
                yield found
            else:
                numbers.append(found)
    for key in shape.ids:
        if found := as_id(record[key]):
            yield found
    yield from numbers


def _flatten(record: Mapping[str, Any], shape: Shape) -> Mapping[str, Any]:
    """Return the record with the parts of the objects inside it that describe the document."""
    inner = [value for key in shape.nested if isinstance(value := record[key], dict)]
    if not inner:
        return record
    whole: dict[str, Any] = {}
    # Later values win: the record's own, then those of the first object inside it.
    flat = [_flatten(part, shape_of(part)) for part in reversed(inner)]
    for part in (*flat, record):
        kept = {k: v for k, v in part.items() if v is not None and not isinstance(v, dict)}
        whole |= {k: v for k, v in kept.items() if v != "" or k not in whole}
    return whole


def _first(record: Mapping[str, Any], keys: Iterable[str]) -> str:
    for key in keys:
        if found := as_id(record[key]):
            return found
    return ""


def _text(record: Mapping[str, Any], shape: Shape) -> tuple[str, str]:
    """Return (key, text) of the first text that is not blank; no key where all are.

    Of an abstract and a whole text it is the longer one.
    """
    blank = ""
    for key in shape.texts:
        value = record[key]
        text = value if isinstance(value, str) else _text_of_value(value)
        if is_blank(text):
            blank = blank or text
            continue
        if shape.abstracts and key in shape.whole:
            abstracts = (_text_of_value(record[name]) for name in shape.abstracts)
            return key, max(text, *abstracts, key=len)
        return key, _unpack_raw(text) if key.casefold() in ("raw", "html") else text
    return "", blank


def _text_of_value(value: object) -> str:
    """Return text; that of a list of paragraphs, or of objects that have some, line by line."""
    if not isinstance(value, list):
        return as_text(value)
    parts = (part if isinstance(part, str) else _part(part) for part in value)
    return "\n".join(filter(None, parts))


def _part(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    keys = shape_of(value).texts
    return next((found for key in keys if (found := as_text(value[key]))), "")


def _unpack_raw(raw: str) -> str:
    """Return the text of an index's field `raw`, which is the document's JSON or markup."""
    start = raw.lstrip()[:1]
    if start == "{":
        most = limits()
        try:
            record = None if most.excess_of_text(raw) else orjson.loads(raw)
        except orjson.JSONDecodeError:
            return raw
        if record is None or most.excess(record):
            return raw
        return _text(record, shape_of(record))[1] or raw
    return without_markup(raw) if start == "<" else raw
