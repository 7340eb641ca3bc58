"""Ids as they stand in files: what cannot have a wanted one is passed over without being read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import orjson

from trecjudge.inputs.documents.names import ADDRESSES, IDENTIFYING, plain
from trecjudge.inputs.sources.values import as_id

PLAIN = re.compile(r"[\w .:#,;@()|~=-]*", re.ASCII)
"""Ids that every writer of JSON leaves as they are; some escape `/`, `<`, `&` or letters like é."""
NUMBER = re.compile(rb'"([^"\\]{1,100}+)"\s*+:\s*+(-?\d{1,40}+)(?=[\s,}\]])')
"""A field with an integer."""
DIGITS = re.compile(r"-?\d{1,40}", re.ASCII)
LONGEST_ESCAPE = 6
"""Bytes of JSON that a UTF-16 unit takes at most."""
MARKS = bytes.maketrans(b"<>'[]\t\r\n", b'"' * 8)
"""All that may stand beside an id in a table or in markup, as one mark."""
_NAMES = b"|".join(b"[^<>A-Za-z0-9]?".join(bytes([c]) for c in n.encode()) for n in IDENTIFYING)
NAMES_ID = re.compile(
    rb"<(?:[\w.-]+:)?(?:%b)[\s>]|<[\w.:-]+\s(?:[^<>]*\s)?(?:%b)\s*="
    rb"|<[\w.:-]+\s[^<>]*name\s*=\s*[\"'](?:%b)[\"']" % (_NAMES, _NAMES, _NAMES),
    re.IGNORECASE,
)
"""An element or attribute of markup that has an id."""


@dataclass(frozen=True, slots=True)
class RawIds:
    """Wanted ids, and what shows that some bytes may have one of them."""

    ids: frozenset[str]
    raw: frozenset[bytes]
    """As bytes, with a space before or behind them too, which does not count."""
    numbers: frozenset[bytes]
    """Those that may be written as numbers."""
    escaped: bool
    """Whether a writer of JSON may have escaped some."""
    anywhere: bool
    """Whether some have characters that part ids from what is beside them."""
    longest: int
    """Bytes that the longest one takes, escaped."""

    @classmethod
    def of(cls, ids: Iterable[str]) -> RawIds:
        """Return ids to look for."""
        wanted = frozenset(filter(None, ids))
        raw = {i.encode(errors="surrogatepass") for i in wanted}
        spaced = {mark for i in raw for mark in (b" " + i, i + b" ", b" " + i + b" ")}
        for doc_id in wanted:
            if not doc_id.isascii():  # of tables and markup in other encodings
                for name in ("latin-1", "cp1252"):
                    with suppress(UnicodeEncodeError):
                        raw.add(doc_id.encode(name))
        return cls(
            wanted,
            frozenset(raw | spaced),
            frozenset(i.encode() for i in wanted if DIGITS.fullmatch(i)),
            not all(map(PLAIN.fullmatch, wanted)),
            any(mark in i for i in wanted for mark in "\"\\<>'[]\t\r\n&"),
            LONGEST_ESCAPE * max((2 * len(i) for i in wanted), default=0) + 2,
        )

    def in_json(self, text: bytes) -> bool:
        """Return whether JSON may have a wanted id: a string or number of it is one."""
        return not self.raw.isdisjoint(text.split(b'"')) or self.in_json_otherwise(text)

    def in_json_otherwise(self, text: bytes) -> bool:
        """Return whether JSON may have a wanted id as a number, or with escaped characters."""
        if self.numbers and any(
            number in self.numbers and _may_have_id(key) for key, number in NUMBER.findall(text)
        ):
            return True
        if not self.escaped or b"\\" not in text:
            return False
        if b'\\"' in text and self.anywhere:
            return True
        most = self.longest
        short = (s for s in text.split(b'"') if len(s) <= most and b"\\" in s)
        return any(_unescaped(string) in self.ids for string in short)

    def in_marks(self, text: bytes) -> bool:
        """Return whether a row of a table, or an element of markup, may have a wanted id."""
        parts = text.translate(MARKS).split(b'"')
        return self.anywhere or not self.raw.isdisjoint(map(bytes.strip, parts))

    def in_element(self, text: bytes) -> bool:
        """Return whether an element of markup may have a wanted id, or has none at all."""
        return self.in_marks(text) or NAMES_ID.search(text) is None


@lru_cache(maxsize=1024)
def _may_have_id(key: bytes) -> bool:
    name = plain(key.decode(errors="replace"))
    return name in IDENTIFYING or name in ADDRESSES


def _unescaped(string: bytes) -> str | None:
    """Return what is written between two quotation marks as an id; None where it is no string."""
    try:
        return as_id(orjson.loads(b'"' + string + b'"'))
    except orjson.JSONDecodeError:
        return None
