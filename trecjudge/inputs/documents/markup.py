"""Documents in TREC's SGML, several in a file without a root element, and in XML.

This small reader looks for known elements, and expands no entities that a file defines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.documents.names import (
    ADDRESSES,
    DATES,
    IDENTIFYING,
    TEXTS,
    TITLES,
    VERSIONS,
    plain,
)
from trecjudge.inputs.sources.containers import Opened
from trecjudge.records import Place
from trecjudge.settings.limits import limits
from trecjudge.text.layout import literal, without_markup

RECORDS = (
    *(b"doc", b"document", b"pubmedarticle", b"medlinecitation", b"record", b"article"),
    *(b"passage", b"segment", b"page", b"row", b"item", b"entry"),
)
BEGIN = re.compile(rb"<(" + b"|".join(RECORDS) + rb")(?=[\s>])[^<>]*>", re.IGNORECASE)
KEPT = 1 << 10
"""Bytes that are kept where no document begins: the tag that begins one may be split there."""
TAG = re.compile(r"<([A-Za-z][\w.:-]*)([^<>]*)>")
ATTRIBUTE = re.compile(r"""([A-Za-z][\w.:-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
NOT_TEXT = frozenset(("docoldno", "dochdr", "fileid", "doctype"))
"""Elements that belong neither to the text nor to any other field of a document."""
MOST_PASSED = 100
"""Elements of one name whose end is searched for: each search may read the whole document."""
NAMED = ("field", "str", "arr")
"""Elements that stand for the one named by their attribute `name`."""
PARTS = re.compile(
    r"<(?:[\w.-]+:)?(?:title|articletitle|headline|abstract|text|docno|docid|pmid)[\s>]",
    re.IGNORECASE,
)
"""An element that has one of these inside only holds a document's parts together."""
TEXT_NAMES, DATE_NAMES = frozenset((*TEXTS, "abstracttext")), frozenset((*DATES, *VERSIONS))
FIELDS = IDENTIFYING | TEXT_NAMES | DATE_NAMES | NOT_TEXT | frozenset((*ADDRESSES, *TITLES))
# Names of elements are few, and each is asked for in every document.
_plain = lru_cache(maxsize=1024)(plain)


def begins_documents(opening: bytes) -> bool:
    """Return whether a document begins in the first bytes of a file."""
    return BEGIN.search(opening) is not None


def marked_up(
    file: Path | Opened, report: OnFinding, chosen: Callable[[bytes], bool] | None = None
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line, record) of every document of a file; one that breaks off is reported.

    Only those are read whose bytes are `chosen`. The first element that can be a document gives the
    name of all others. Where one is not closed before the next begins, it ends there. No more than
    one document is held at a time.
    """
    opened = Opened.of(file)
    elements = _Elements(opened)
    for line, document in elements.read():
        if chosen is None or chosen(document):
            yield line, _record(_decode(document))
    if elements.broken:
        place = Place(str(opened.path), elements.line)
        report(Finding("collection_unreadable", place, "a document is not closed from here on"))


class _Elements:
    """Reads the elements of one name from a file, each with the tag that begins it."""

    def __init__(self, file: Opened) -> None:
        self.line = 1
        self.broken = False
        self._chunks = file.chunks()
        self._held = b""
        self._position = 0
        self._begin = self._end = BEGIN

    def read(self) -> Iterator[tuple[int, bytes]]:
        """Yield (line, element up to the tag that closes it)."""
        while self._to_the_next():
            looked = 1
            while (end := self._end.search(self._held, self._position + looked)) is None:
                # Not from the start again: a document of many chunks would take quadratic time.
                looked = max(1, len(self._held) - self._position - KEPT)
                if looked > limits().record or not self._more():
                    self.broken = True
                    return
            yield self.line, self._held[self._position : end.start()]
            self._pass(end.end() if end[0].startswith(b"</") else end.start())

    def _to_the_next(self) -> bool:
        """Go to where the next element begins; return False if there is none."""
        while (found := self._begin.search(self._held, self._position)) is None:
            self._pass(max(self._position, len(self._held) - KEPT))
            if not self._more():
                return False
        if self._begin is BEGIN:
            name = found[1]
            self._begin = re.compile(rb"<(" + name + rb")(?=[\s>])[^<>]*>", re.IGNORECASE)
            self._end = re.compile(rb"</" + name + rb"\s*>|<" + name + rb"(?=[\s>])", re.IGNORECASE)
        self._pass(found.start())
        return True

    def _pass(self, position: int) -> None:
        self.line += self._held.count(b"\n", self._position, position)
        self._position = position

    def _more(self) -> bool:
        """Hold a chunk more, without what was passed."""
        chunk = next(self._chunks, b"")
        self._held, self._position = self._held[self._position :] + chunk, 0
        return bool(chunk)


def _decode(raw: bytes) -> str:
    """Return the text; the collections of the nineties are Latin-1."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _record(document: str) -> dict[str, str]:
    """Return the known elements of a document; without an element of text, the rest is its text."""
    text = literal(document)
    found: dict[str, list[str]] = {}
    rest: list[str] = []
    passed: Counter[str] = Counter()
    looked = position = 0
    while tag := TAG.search(text, looked):
        looked = tag.end()
        name = tag[1].lower()
        if not tag.start():
            attributes = _attributes(tag)
            found |= {k: [v] for k, v in attributes.items() if plain(k) in IDENTIFYING}
            position = looked
            continue
        called = _attributes(tag).get("name", "") if name in NAMED else name.rpartition(":")[2]
        known = _plain(called)
        if known not in FIELDS or passed[name] > MOST_PASSED or tag[2].endswith("/"):
            continue
        close = _closing(name).search(text, looked)
        if close is None or _holds_parts(known, text[looked : close.start()]):
            passed[name] += 1 if close else MOST_PASSED + 1
            continue
        rest.append(text[position : tag.start()])
        found.setdefault(called, []).append(text[looked : close.start()])
        looked = position = close.end()
    rest.append(text[position:])
    return _fields(found, "\n".join(rest))


def _attributes(tag: re.Match[str]) -> dict[str, str]:
    return {found[1].lower(): found[2] or found[3] or "" for found in ATTRIBUTE.finditer(tag[2])}


@lru_cache(maxsize=256)
def _closing(name: str) -> re.Pattern[str]:
    # The whole name: `</abstracttext>` closes no `<abstract>`.
    return re.compile(rf"</{re.escape(name)}\s*>", re.IGNORECASE)


def _holds_parts(name: str, content: str) -> bool:
    """Return whether an element is no field itself, but holds some: `<Article>` of PubMed."""
    if "<" not in content or name in ("text", "abstract", "headline"):
        return False
    may_have_tags = name in TEXT_NAMES or name in NOT_TEXT or name in TITLES
    return not may_have_tags or PARTS.search(content) is not None


def _fields(found: dict[str, list[str]], rest: str) -> dict[str, str]:
    """Return the fields without markup: all texts joined, of other fields the first."""
    fields = {}
    for name, contents in found.items():
        if plain(name) not in NOT_TEXT:
            kept = contents if plain(name) in TEXT_NAMES else contents[:1]
            fields[name] = "\n".join(without_markup(content) for content in kept)
    if not any(plain(name) in TEXT_NAMES and value for name, value in fields.items()):
        fields["text"] = without_markup(rest)
    return fields
