"""Files of documents in every container that the field uses, as records, one at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, shown
from trecjudge.inputs.documents.markup import begins_documents, marked_up
from trecjudge.inputs.documents.names import KNOWN, USUAL_IDS, USUAL_TEXTS, plain
from trecjudge.inputs.documents.parquet import is_parquet, parquet_entries
from trecjudge.inputs.documents.tables import delimiter_of, rows
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.members import Members, first_members
from trecjudge.inputs.sources.packing import CHUNK
from trecjudge.inputs.sources.streams import JsonStream
from trecjudge.inputs.sources.values import is_multi_line, values
from trecjudge.records import Place

CHOICES = (
    "JSON or JSONL of records with an id and a text, one object {id: document}, TSV (id, text),"
    " CSV with a header line, TREC SGML or XML (<DOC>), Parquet, candidates lists; plain, gzip,"
    " bzip2, xz or zstd, or in a tar archive"
)
NAMES = f"ids are called {USUAL_IDS}; texts {USUAL_TEXTS}"
BESIDE = re.compile(
    r"(readme|licen[cs]e|copying|notice|changelog|makefile)\b.*|.*\.(md|rst|pdf|md5|sha\d*|py|sh|ya?ml)",
    re.IGNORECASE,
)
"""Names of files that lie beside a collection and hold no document."""
Entry = tuple[int, Any, str | None]
"""(line, record, id if it is outside the record, as a key)."""


def entries(
    file: Path | Opened, report: OnFinding, chosen: Callable[[bytes], bool] | None = None
) -> Iterator[Entry] | None:
    """Return the records of a file of documents, None for an unknown kind of file.

    Records that cannot be read are reported and passed over. With `chosen`, of TSV and markup only
    those records are read of whose bytes it is true. Raises InputError if the file cannot be read.
    """
    opened = Opened.of(file)
    first = opened.beginning()
    start = first.lstrip()[:1]
    if not start:
        return iter(())
    if start in b"{[":
        return _json(opened, first, report)
    if start == b"<" and begins_documents(first):
        return ((line, record, None) for line, record in marked_up(opened, report, chosen))
    if is_parquet(first):
        return parquet_entries(opened, report)
    delimiter = _delimiter(first)
    if delimiter is not None:
        return ((line, record, None) for line, record in rows(opened, delimiter, report, chosen))
    if b"\n{" in first:  # JSONL whose first line is broken
        return ((number, value, None) for number, value in values(opened, report))
    return None


def is_json_lines(opened: Opened) -> bool:
    """Return whether a file has one record of JSON on each line."""
    first = opened.beginning()
    start = first.lstrip()[:1]
    if start == b"{":
        held = opened.first(2)
        text = first.decode(errors="replace").lstrip()
        return not (_are_documents(text) or (held and is_multi_line(*held)))
    known = not start or start in b"[<" or is_parquet(first) or _delimiter(first) is not None
    return not known and b"\n{" in first


def _delimiter(first: bytes) -> str | None:
    """Return what separates the cells of a table that begins so, None for what is none."""
    line = first.lstrip(b"\r\n").partition(b"\n")[0].decode(errors="replace").rstrip("\r")
    # A null byte is in binary files only: those are no tables.
    return delimiter_of(line) if "\0" not in line else None


def _json(opened: Opened, first: bytes, report: OnFinding) -> Iterator[Entry]:
    text = first.decode(errors="replace").lstrip()
    if text.startswith("[") and "\n" not in text and len(first) >= CHUNK:
        # One line is the whole collection.
        return ((line, value, None) for line, value in JsonStream(opened, report).read())
    if _are_documents(text):
        return ((line, value, key) for line, key, value in Members(opened, report).members())
    return ((line, value, None) for line, value in values(opened, report))


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


def nothing_in(path: Path) -> InputError:
    """Return the error where a path holds no document."""
    return InputError(f"{path}: no documents found; give {CHOICES}; {NAMES}")
