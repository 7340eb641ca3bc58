"""Files of documents in every container that the field uses, as records, one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trecjudge.findings import Finding, OnFinding, shown
from trecjudge.inputs.documents.markup import begins_documents, marked_up
from trecjudge.inputs.documents.names import KNOWN, USUAL_IDS, USUAL_TEXTS, plain
from trecjudge.inputs.documents.tables import delimiter_of, rows
from trecjudge.inputs.sources.containers import opening
from trecjudge.inputs.sources.members import Members, first_members
from trecjudge.inputs.sources.packing import CHUNK
from trecjudge.inputs.sources.streams import JsonStream
from trecjudge.inputs.sources.values import values
from trecjudge.records import Place

CHOICES = (
    "JSON or JSONL of records with an id and a text, one object {id: document}, TSV (id, text),"
    " CSV with a header line, TREC SGML or XML (<DOC>), candidates lists; plain, gzip, bzip2, xz"
    " or zstd"
)
NAMES = f"ids are called {USUAL_IDS}; texts {USUAL_TEXTS}"
BESIDE = re.compile(
    r"(readme|licen[cs]e|copying|notice|changelog|makefile)\b.*|.*\.(md|rst|pdf|md5|sha\d*|py|sh|ya?ml)",
    re.IGNORECASE,
)
"""Names of files that lie beside a collection and hold no document."""
Entry = tuple[int, Any, str | None]
"""(line, record, id if it is outside the record, as a key)."""


def entries(path: Path, report: OnFinding) -> Iterator[Entry] | None:
    """Return the records of a file of documents, None for an unknown kind of file.

    Records that cannot be read are reported and passed over. Raises InputError if the file cannot
    be read.
    """
    first = opening(path)
    start = first.lstrip()[:1]
    if not start:
        return iter(())
    if start in b"{[":
        return _json(path, first, report)
    if start == b"<" and begins_documents(first):
        return ((line, record, None) for line, record in marked_up(path, report))
    line = first.lstrip(b"\r\n").partition(b"\n")[0].decode(errors="replace").rstrip("\r")
    # A null byte is in binary files only: those are no tables.
    delimiter = delimiter_of(line) if "\0" not in line else None
    if delimiter is not None:
        return ((number, record, None) for number, record in rows(path, delimiter, report))
    if b"\n{" in first:  # JSONL whose first line is broken
        return ((number, value, None) for number, value in values(path, report))
    return None


def _json(path: Path, first: bytes, report: OnFinding) -> Iterator[Entry]:
    text = first.decode(errors="replace").lstrip()
    if text.startswith("[") and "\n" not in text and len(first) >= CHUNK:
        # One line is the whole collection.
        return ((line, value, None) for line, value in JsonStream(path, report).read())
    if _are_documents(text):
        return ((line, value, key) for line, key, value in Members(path, report).members())
    return ((line, value, None) for line, value in values(path, report))


def _are_documents(text: str) -> bool:
    """Return whether a text begins with an object of documents by id, not with a record.

    No key of it is the name of a field, and a second object, if one follows, has other keys.
    """
    if not text.startswith("{"):
        return False
    members, rest = first_members(text)
    if not members or any(plain(key) in KNOWN for key in members):
        return False
    if not all(isinstance(value, str | dict | None) for value in members.values()):
        return False
    others = first_members(rest)[0] if rest and rest.startswith("{") else {}
    return not set(others) & set(members)


def file_unusable(path: Path) -> Finding:
    """Return the finding on a file of an unknown kind; a README is only noted."""
    message = f"is no collection of documents; give {CHOICES}"
    if BESIDE.fullmatch(path.name):
        return Finding("file_not_documents", Place(str(path)), message)
    return Finding("collection_unreadable", Place(str(path)), message)


def record_unusable(path: Path, line: int, record: object) -> Finding:
    """Return the finding on a record that is no document."""
    place = Place(str(path), line)
    if not isinstance(record, dict):
        message = f"holds {type(record).__name__}, not an object"
        return Finding("record_not_an_object", place, message, shown(record))
    keys = shown(sorted(record))
    message = f"has no document id that is known ({USUAL_IDS}): keys {keys}"
    return Finding("documents_unusable", place, message, keys)
