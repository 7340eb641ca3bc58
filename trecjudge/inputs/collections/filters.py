"""Ids as they stand in files: what cannot have a wanted one is passed over without being read."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import orjson

from trecjudge.inputs.documents.names import ADDRESSES, IDENTIFYING, plain

PLAIN = re.compile(r"[\w .:#,;@()|~-]*", re.ASCII)
"""Ids that every writer of JSON leaves as they are."""
NUMBER = re.compile(rb'"([^"\\]{1,100}+)"\s*+:\s*+(-?\d{1,40}+)(?=[\s,}\]])')
"""A field with an integer."""
INTEGER = re.compile(rb":\s*+(-?\d{1,40}+)(?=[\s,}\]])")
DIGITS = re.compile(r"-?\d{1,40}", re.ASCII)
BEYOND_ASCII, IN_HTML = re.compile(r"[^\x00-\x7f]"), re.compile("[<>&]")
IN_SCRIPTS, IN_PAGES = re.compile("['+`]"), re.compile("[=']")
"""Characters that some writers of JSON escape."""
Write = Callable[[str], str]
MARKS = bytes.maketrans(b"<>&'[]\t\r\n", b'"' * 9)
"""All that may stand beside an id in a table or in markup, or in it, as one mark."""
ENCODINGS = ("latin-1", "cp1252")
"""What tables and markup may be written in besides UTF-8."""
_NAMES = b"|".join(b"[^<>A-Za-z0-9]?".join(bytes([c]) for c in n.encode()) for n in IDENTIFYING)
NAMES_ID = re.compile(
    rb"<(?:[\w.-]+:)?(?:%b)[\s>]|<[\w.:-]+\s(?:[^<>]*\s)?(?:%b)\s*="
    rb"|<[\w.:-]+\s[^<>]*name\s*=\s*[\"'](?:%b)[\"']" % (_NAMES, _NAMES, _NAMES),
    re.IGNORECASE,
)
"""An element or attribute of markup that has an id."""


@dataclass(frozen=True, slots=True)
class RawIds:
    """Wanted ids, and what shows that some bytes may have one of them.

    Of an id in which quotation marks or the like stand, the longest part between them shows it.
    """

    ids: frozenset[str]
    in_strings: frozenset[bytes]
    """What stands between two quotation marks of JSON, a space before or behind it included."""
    in_marks: frozenset[bytes]
    """What stands between two marks of a table or of markup, without spaces around it."""
    numbers: frozenset[bytes]
    """Those that may be written as numbers."""

    @classmethod
    def of(cls, ids: Iterable[str]) -> RawIds:
        """Return ids to look for."""
        wanted = frozenset(filter(None, ids))
        strings = {_longest(form.split(b'"')) for i in wanted for form in _in_json(i)}
        spaced = {s for i in strings for s in (b" " + i, i + b" ", b" " + i + b" ")}
        parts = (form.translate(MARKS).split(b'"') for i in wanted for form in _in_markup(i))
        marks = {_longest([part.strip() for part in found]) for found in parts}
        numbers = frozenset(i.encode() for i in wanted if DIGITS.fullmatch(i))
        return cls(wanted, frozenset(strings | spaced), frozenset(filter(None, marks)), numbers)

    def may_be_in_json(self, text: bytes) -> bool:
        """Return whether JSON may have a wanted id: a string or number of it is one."""
        strings = text.split(b'"')
        return not self.in_strings.isdisjoint(strings) or self.may_be_number_in(text)

    def may_be_number_in(self, text: bytes) -> bool:
        """Return whether JSON may have a wanted id that is written as a number."""
        if not self.numbers or self.numbers.isdisjoint(INTEGER.findall(text)):
            return False
        fields = NUMBER.findall(text)
        return any(number in self.numbers and _may_have_id(key) for key, number in fields)

    def may_be_in_row(self, text: bytes) -> bool:
        """Return whether a row of a table may have a wanted id."""
        marked = text.translate(MARKS)
        if not self.in_marks.isdisjoint(map(bytes.strip, marked.split(b'"'))):
            return True
        if marked.isascii():
            return False
        parts = marked.decode(errors="ignore").split('"')
        return not self.ids.isdisjoint(map(str.strip, parts))  # without other blanks than ASCII's

    def may_be_in_element(self, text: bytes) -> bool:
        """Return whether an element of markup may have a wanted id, or surely has no id."""
        return self.may_be_in_row(text) or NAMES_ID.search(text) is None


def _longest(parts: Iterable[bytes]) -> bytes:
    return max(parts, key=len)


def _in_json(doc_id: str) -> Iterator[bytes]:
    """Yield an id as writers of JSON write it: some escape more than they must."""
    if PLAIN.fullmatch(doc_id):
        yield doc_id.encode()
        return
    text = orjson.dumps(doc_id.encode(errors="replace").decode())[1:-1].decode()
    choices: tuple[tuple[Write, ...], ...] = (
        (_escaped(BEYOND_ASCII, "04x"), _escaped(BEYOND_ASCII, "04X")),
        (lambda written: written.replace("/", "\\/"),),
        (_escaped(IN_HTML, "04x"), _escaped(IN_HTML, "04X")),
        (_escaped(IN_SCRIPTS, "04X"),),
        (_escaped(IN_PAGES, "04x"),),
        (lambda written: written.replace('\\"', "\\u0022"),),
    )
    forms = {text}
    for writers in choices:
        forms |= {write(form) for form in forms for write in writers}
    yield from map(str.encode, forms)


def _escaped(some: re.Pattern[str], digits: str) -> Write:
    """Return what escapes some characters, with small or capital letters in their numbers."""

    def written(found: re.Match[str]) -> str:
        units = found[0].encode("utf-16-be")
        pairs = (units[n] << 8 | units[n + 1] for n in range(0, len(units), 2))
        return "".join(f"\\u{unit:{digits}}" for unit in pairs)

    return lambda text: some.sub(written, text)


def _in_markup(doc_id: str) -> Iterator[bytes]:
    """Yield an id as it stands in tables and in markup."""
    entities = (html.escape(doc_id), html.escape(doc_id, quote=False))
    for form in dict.fromkeys((doc_id, *entities, doc_id.replace('"', '""'))):
        yield form.encode(errors="replace")
        if not form.isascii():
            yield form.encode("ascii", "xmlcharrefreplace")
            for name in ENCODINGS:
                with suppress(UnicodeEncodeError):
                    yield form.encode(name)


@lru_cache(maxsize=1024)
def _may_have_id(key: bytes) -> bool:
    name = plain(key.decode(errors="replace"))
    return name in IDENTIFYING or name in ADDRESSES
