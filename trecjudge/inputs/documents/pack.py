"""The lines of a pack: the documents that jobs asked for, and those that they lack."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, cast

import orjson

from trecjudge.findings import Finding, shown
from trecjudge.inputs.sources.values import first_objects
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
PARTS = ("docid", "title", "text", "url", "date", "version", "sha256", "source")
"""The fields of a document's line, in their order; `sha256` is that of its text in UTF-8."""
DOCUMENT, LACK = frozenset(PARTS), frozenset({"docid", "found"})
DIGEST = re.compile(r"[0-9a-f]{64}")


def document_line(document: Document, source: str) -> bytes:
    """Return the line of a document; `source` is where it came from."""
    values = (
        *(document.doc_id, document.title, document.text),
        *(document.url, document.date, document.version, digest_of(document.text), source),
    )
    record = dict(zip(PARTS, values, strict=True))
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def lack_line(doc_id: str, why: Lack) -> bytes:
    """Return the line of an id whose document a pack does not have."""
    return orjson.dumps({"docid": doc_id, "found": why}, option=orjson.OPT_APPEND_NEWLINE)


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def packed_document(record: object) -> Document | None:
    """Return the document of a line of a pack; None where it is none."""
    if not isinstance(record, dict) or record.keys() != DOCUMENT:
        return None
    if not all(isinstance(value, str) for value in record.values()):
        return None
    if not (record["docid"] and DIGEST.fullmatch(record["sha256"])):
        return None
    return Document(*(record[n] for n in ("docid", "text", "title", "url", "date", "version")))


def lack_of(record: object) -> Lack | None:
    """Return why a line of a pack has no document; None where it is no such line."""
    if not isinstance(record, dict) or record.keys() != LACK:
        return None
    found: Any = record["found"]
    is_one = isinstance(record["docid"], str) and isinstance(found, str) and found in LACKS
    return cast(Lack, found) if is_one else None


def lacking(record: Any, why: Lack, place: Place) -> Finding:
    """Return the finding on an id whose document may be there all the same."""
    doc_id = str(record["docid"])
    return Finding("documents_unusable", place, f"{shown(doc_id)} {LACKS[why]}", doc_id)


def are_packs(files: Sequence[Path]) -> bool:
    """Return whether files are packs, all of them, by their first lines."""
    return bool(files) and all(map(_is_pack, files))


def _is_pack(file: Path) -> bool:
    first = next(iter(first_objects(file, 1)), None)
    return packed_document(first) is not None or lack_of(first) is not None
