"""What brackets in a text can point to: `[1]`, `[1, 2]`, `[1-3]`, `[d-7]`, `(Source: d-7)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

BRACKETS = re.compile(
    r"\[{1,2}([^\[\]\n]{1,300})\]{1,2}(?:\((?:https?:|\#)[^()\s]*\))?"
    r"|【([^【】\n]{1,300})】"
    r"|\(\s*(?:sources?|citations?|refs?|references?)\s*[:：]\s*([^()\n]{1,500})\)",
    re.IGNORECASE,
)
"""What may be a marker, with the link that follows some; the content is in one of three groups."""
PARTS = re.compile(r"\s*[,;，；、]\s*|\s+(?:and|&)\s+|\]\s*\[")
LABEL = re.compile(
    r"\^|(?:docs?|documents?|sources?|refs?|references?|passages?|segments?|snippets?|citations?)"
    r"[\s.:#_-]*(?=\d)",
    re.IGNORECASE,
)
"""What may stand before a number: `[^1]`, `[Source 1]`, `[doc: 1]`."""
NUMBERS = re.compile(r"(\d{1,9})(?:\s*[-–—]\s*(\d{1,9}))?(?::\d+)?(?:†.*)?", re.ASCII)
"""`1`, `1-3`, and what OpenAI's tools write: `4:0†source`."""
WIDEST = 50
"""The longest range of citations: `[1-1000]` is a range of something else."""
# `[2024]` is a year, unless the response has so many documents.
YEARS = range(1000, 3000)


@dataclass(frozen=True, slots=True)
class Targets:
    """What markers can point to.

    `ids` are the documents that numbers count, `listed` all that the response lists by id.
    `is_document` returns whether an id is that of a document, `names` gives ids by the titles and
    addresses of documents.
    """

    ids: Sequence[str | None]
    listed: frozenset[str]
    is_document: Callable[[str], bool]
    names: Callable[[], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Pointer:
    """One target of a marker: as written, as a number if it is one, and its document."""

    written: str
    number: int | None = None
    doc_id: str | None = None


def bracketed(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, content) of what may be a marker in a text."""
    for match in BRACKETS.finditer(text):
        yield match.start(), match.end(), next(filter(None, match.groups())).strip(" []")


def pointers_in(content: str, targets: Targets) -> list[Pointer]:
    """Return what brackets point to, nothing if any part of them can be no pointer."""
    whole = _by_id(content, targets)
    if whole is not None:
        return [whole]
    found: list[Pointer] = []
    for part in PARTS.split(content):
        pointers = _part(part.strip(" []"), targets)
        if not pointers:
            return []
        found += pointers
    return found


def _part(part: str, targets: Targets) -> list[Pointer]:
    if (named := _by_id(part, targets)) is not None:
        return [named]
    match = NUMBERS.fullmatch(LABEL.sub("", part, count=1))
    if match is not None:
        first = int(match[1])
        last = int(match[2] or first)
        if first <= last < first + WIDEST:
            return [Pointer(str(number), number) for number in range(first, last + 1)]
    # It has the form of a listed id, so it is an id that is not there; `[sic]` has no such form.
    alien = any(map(str.isdigit, part)) and _form(part) in map(_form, targets.listed)
    return [Pointer(part)] if alien else []


def _by_id(written: str, targets: Targets) -> Pointer | None:
    """Return the document that a text names by id, title or address; a number counts instead."""
    if not written or (written.isascii() and written.isdigit()):
        return None
    if written in targets.listed or targets.is_document(written):
        return Pointer(written, None, written)
    doc_id = targets.names().get(written.casefold())
    return Pointer(written, None, doc_id) if doc_id else None


def _form(doc_id: str) -> str:
    """Return the form of an id: `k-01` and `x-7` have the same."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", doc_id))
