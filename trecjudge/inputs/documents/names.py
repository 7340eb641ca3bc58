"""The names of the parts of a document in the files of the field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

PASSAGE_IDS = ("pid", "passageid", "segmentid", "psgid", "chunkid", "paragraphid")
"""Ids of a part of a document: preferred to the document's own, unless they are only numbers."""
IDS = (
    *("docno", "clueweb22id", "clueweb12id", "clueweb09id", "warctrecid", "docid", "documentid"),
    *("did", "corpusid", "pmid", "corduid", "nctid", "id", "uuid", "paperid", "articleid"),
    *("pubmedid", "identifier"),
)
ADDRESSES = ("url", "uri", "link", "sourceurl", "source")
"""What can stand for an id where a document has none."""
TEXTS = (
    *("text", "segment", "contents", "content", "passage", "body", "cleantext", "pagecontent"),
    *("fulltext", "plaintext", "bodytext", "maintext", "documenttext", "passagetext", "chunktext"),
    *("paragraphtext", "rawcontent", "chunkcontent", "textcontent"),
    *("paragraph", "chunk", "document", "doc", "article", "abstract", "abstracttext", "snippet"),
    *("summary", "description", "html", "raw"),
)
"""Names of the text, the preferred ones first: summaries and raw text come last."""
EXCERPTS = ("excerpt", "quote", "snippet", "highlights", "snippets", "excerpts")
"""Texts that may be cut from a longer one."""
ALL_TEXTS = (*TEXTS[:-4], "sentences", "paragraphs", *EXCERPTS, *TEXTS[-4:])
"""Those of TEXTS, and more for JSON: in markup the names of EXCERPTS are parts of a text."""
CUT = ("truncated", "istruncated")
"""Flags of a text that is cut."""
WHOLE = frozenset({"body", "fulltext", "bodytext", "maintext", "article"})
"""Texts of whole documents; where an abstract is longer, they were cut, and the abstract counts."""
ABSTRACTS = ("abstract", "abstracttext")
TITLES = ("articletitle", "title", "headline", "head", "ttl")
URLS = ("url", "uri", "link", "sourceurl")
FILES = ("source", "filename", "filepath", "documentname", "name")
"""What names a document that has no address: its file, or what it is from."""
DATES = ("date", "published", "publicationdate", "timestamp", "time")
VERSIONS = ("version", "revision")
NESTED = (
    *("doc", "document", "source", "node", "passage", "payload", "fields", "properties", "entity"),
    *("kwargs", "data", "content", "textresource", "chunk", "retrievedcontext", "metadata", "meta"),
)
"""Objects inside a record that describe the same document."""
LISTS = (
    *("candidates", "documents", "docs", "passages", "hits", "results", "corpus", "ctxs"),
    *("contexts", "data", "records", "rows", "items"),
)
"""Lists of documents inside a record that is none itself."""
USUAL_IDS = "docid, doc_id, docno, id, _id, pid, pmid, ClueWeb22-ID, segment_id"
"""The usual names, as written, for messages."""
USUAL_TEXTS = "text, contents, content, segment, passage, body, abstract, fullText, Clean-Text"

# A record with more keys is an object of documents by id: its shape will not come again.
MOST_KEYS = 64
LONGEST_KNOWN = 64
"""Characters of a name that is kept."""
IDENTIFYING = frozenset((*PASSAGE_IDS, *IDS))
KNOWN = frozenset(
    (*IDENTIFYING, *ADDRESSES, *ALL_TEXTS, *TITLES, *DATES, *VERSIONS, *LISTS, *NESTED)
)
"""No document has such an id: an object with such a key is a record, not documents by id."""
Keys = tuple[str, ...]
_OF: Sequence[Iterable[str]] = (
    *(PASSAGE_IDS, IDS, ADDRESSES, ALL_TEXTS, EXCERPTS, CUT, WHOLE, ABSTRACTS),
    *(TITLES, URLS, FILES, DATES, VERSIONS, NESTED, LISTS),
)
"""The names of each field of a shape."""


def plain(name: object) -> str:
    """Return a name without case, and without what is neither letter nor digit: `Clean-Text`."""
    text = str(name)
    return _known_plain(text) if len(text) <= LONGEST_KNOWN else _plain(text)


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


_known_plain = lru_cache(maxsize=1 << 12)(_plain)
"""Of the few names that records have, found once."""


class Shape(NamedTuple):
    """The keys of a record by what they hold, as written, the preferred ones first."""

    passage_ids: Keys
    ids: Keys
    addresses: Keys
    texts: Keys
    excerpts: Keys
    flags: Keys
    whole: Keys
    abstracts: Keys
    titles: Keys
    urls: Keys
    files: Keys
    dates: Keys
    versions: Keys
    nested: Keys
    lists: Keys

    @classmethod
    def of(cls, keys: Iterable[str]) -> Shape:
        """Return the shape of a record with these keys."""
        written: dict[str, list[str]] = {}
        for key in keys:
            written.setdefault(plain(key), []).append(key)
        return cls(*(tuple(k for name in names for k in written.get(name, ())) for names in _OF))


_shapes = lru_cache(maxsize=1024)(Shape.of)


def shape_of(record: Mapping[str, Any]) -> Shape:
    """Return the shape of a record; shapes are kept, since a collection has few."""
    if len(record) > MOST_KEYS:
        return Shape.of(record)
    return _shapes(tuple(record))


def id_keys(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the keys of an object that hold an id, the preferred ones first."""
    shape = shape_of(record)
    return (*shape.ids, *shape.passage_ids)


# The fields of a document's record that are no part of a `Document`: what it can be found by.
LONGEST = 1000
"""Characters; a longer value is a text, and no field to search by."""
READ = frozenset((*IDENTIFYING, *TEXTS, *TITLES, *URLS, *DATES, *VERSIONS, *LISTS))
"""Names of what a `Document` has. `source` is a field too: it often names a collection."""
INSIDE = frozenset(NESTED) - set(ADDRESSES)


def further_fields(record: object) -> dict[str, str]:
    """Return the further texts, numbers and truth values of a record, as text, by name.

    Those of an object inside it, such as `metadata`, too; the record's own count first.
    """
    if not isinstance(record, dict):
        return {}
    found = dict(_own_fields(record))
    for name, value in record.items():
        if isinstance(value, dict) and plain(name) in INSIDE:
            found = dict(_own_fields(value)) | found
    return found


def _own_fields(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (str(name), text)
        for name, value in record.items()
        if plain(name) not in READ and (text := _format_value(value)) and len(text) <= LONGEST
    ]


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else ""
