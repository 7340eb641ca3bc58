"""What a document and an index are known by: equal contents have equal digests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from trecjudge.baseline.index.protocol import Source
from trecjudge.inputs.documents import index_file
from trecjudge.records import Document

MODULUS = 1 << 256


class Digests(NamedTuple):
    """`text` is the sha256 of title and text; `record` that of all that is kept of a document."""

    text: str
    record: str


def digested(source: Source) -> tuple[Source, Digests]:
    """Return a document with its digests; characters that no file can hold become `?`."""
    try:
        return source, digests_of(source)
    except UnicodeEncodeError:  # half of a surrogate pair
        mended = _mended(source)
        return mended, digests_of(mended)


def _mended(source: Source) -> Source:
    own = source.document
    document = Document(
        _encodable(own.doc_id),
        _encodable(own.text),
        _encodable(own.title),
        _encodable(own.url),
        _encodable(own.date),
        _encodable(own.version),
    )
    fields = {_encodable(name): _encodable(value) for name, value in source.metadata.items()}
    return Source(document, fields)


def _encodable(text: str) -> str:
    return text.encode(errors="replace").decode()


def digests_of(source: Source) -> Digests:
    """Return the digests of a document with its further fields."""
    return Digests(*index_file.digests_of(source.document, source.metadata))


def with_record(content: str, record: str) -> str:
    """Return the digest of a set of documents with one more. The order makes no difference."""
    return _as_hex(int(content, 16) + int(record, 16))


def without_record(content: str, record: str) -> str:
    """Return the digest of a set of documents with one less."""
    return _as_hex(int(content, 16) - int(record, 16))


def _as_hex(number: int) -> str:
    return f"{number % MODULUS:064x}"


NOTHING = _as_hex(0)
"""The digest of no documents."""


def version_of(content: str, made_by: Mapping[str, Any]) -> str:
    """Return the version of an index: of its documents, and of the settings that it was made by."""
    settings = orjson.dumps(made_by, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(content.encode() + settings).hexdigest()[:16]
