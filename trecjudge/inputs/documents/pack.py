"""The lines of a pack: documents that jobs asked for, and ids that have none."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

import orjson

from trecjudge.findings import Finding, brief
from trecjudge.records import Document, Place

NOT_THERE: Final = "not there"
NOT_LOOKED_FOR: Final = "not looked for"
NOT_KNOWN: Final = "not known"
Lack = Literal["not there", "not looked for", "not known"]
LACKS: Mapping[Lack, str] = {
    NOT_THERE: "is surely not in the collection",
    NOT_KNOWN: "was not found in a collection of which a part could not be read",
    NOT_LOOKED_FOR: "could not be looked for",
}
"""Why a pack has no document of an id, what settles least last."""
FIELDS = ("docid", "text", "title", "url", "date", "version")
"""The fields of a line that are a document's, in the order of `Document`."""
DOCUMENT, LACK = frozenset({*FIELDS, "sha256", "source"}), frozenset({"docid", "found"})
DIGEST = re.compile(r"[0-9a-f]{64}")


def document_line(document: Document, source: str) -> bytes:
    """Return the line of a document; `source` is where it came from."""
    record = {
        "docid": document.doc_id,
        "title": document.title,
        "text": document.text,
        "url": document.url,
        "date": document.date,
        "version": document.version,
        "sha256": digest_of(document),
        "source": source,
    }
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def lack_line(doc_id: str, why: Lack) -> bytes:
    """Return the line of an id whose document a pack does not have."""
    return orjson.dumps({"docid": doc_id, "found": why}, option=orjson.OPT_APPEND_NEWLINE)


def digest_of(document: Document) -> str:
    """Return the SHA-256, in hexadecimal digits, of a title, a line's end and a text, in UTF-8."""
    return hashlib.sha256(f"{document.title}\n{document.text}".encode()).hexdigest()


def packed_document(record: object) -> Document | None:
    """Return the document of a line of a pack; None where it is none."""
    if not isinstance(record, dict) or not record.keys() >= DOCUMENT:
        return None
    if not all(isinstance(record[name], str) for name in DOCUMENT):
        return None
    if not (record["docid"] and DIGEST.fullmatch(record["sha256"])):
        return None
    return Document(*(record[name] for name in FIELDS))


def lack_of(record: object) -> Lack | None:
    """Return why a line of a pack has no document; None where it is no such line."""
    if not isinstance(record, dict) or not record.keys() >= LACK or "text" in record:
        return None
    found: Any = record["found"]
    is_one = isinstance(record["docid"], str) and isinstance(found, str) and found in LACKS
    return cast(Lack, found) if is_one else None


def lacking(record: Any, why: Lack, place: Place) -> Finding:
    """Return the finding on an id whose document may be there, where no pack is read as one."""
    doc_id = str(record["docid"])
    message = f"{brief(doc_id)} {LACKS[why]}; only the pack says so, an index of it does not"
    return Finding("documents_unusable", place, message, doc_id)


def add_lack(lacks: dict[str, Lack], doc_id: str, why: Lack) -> None:
    """Add why an id has no document; of several reasons the one counts that settles least."""
    lacks[doc_id] = max(why, lacks.get(doc_id, why), key=[*LACKS].index)
