"""Packs: files of the documents that jobs asked for, and of the ids that have none."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, cast

import orjson

from trecjudge.findings import Finding, FindingLog, OnFinding, counted, shown
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.units import FoundDocument
from trecjudge.inputs.collections.wanted import Wanted
from trecjudge.inputs.documents.collection import record_unusable
from trecjudge.inputs.documents.record import document_of
from trecjudge.inputs.sources.values import first_objects, values
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
        "sha256": digest_of(document.text),
        "source": source,
    }
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def lack_line(doc_id: str, why: Lack) -> bytes:
    """Return the line of an id whose document a pack does not have."""
    return orjson.dumps({"docid": doc_id, "found": why}, option=orjson.OPT_APPEND_NEWLINE)


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def packed_document(record: object) -> Document | None:
    """Return the document of a line of a pack; None where it is none."""
    if not isinstance(record, dict) or record.keys() != DOCUMENT:
        return None
    if not all(isinstance(value, str) for value in record.values()):
        return None
    if not (record["docid"] and DIGEST.fullmatch(record["sha256"])):
        return None
    return Document(*(record[name] for name in FIELDS))


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


def add_lack(lacks: dict[str, Lack], doc_id: str, why: Lack) -> None:
    """Add why an id has no document; of several reasons the one counts that settles least."""
    lacks[doc_id] = max(why, lacks.get(doc_id, why), key=[*LACKS].index)


def are_packs(files: Sequence[Path]) -> bool:
    """Return whether files are packs, all of them, by their first lines."""
    return bool(files) and all(map(_is_pack, files))


def _is_pack(file: Path) -> bool:
    first = next(iter(first_objects(file, 1)), None)
    return packed_document(first) is not None or lack_of(first) is not None


def open_packs(
    path: Path, files: Sequence[Path], wanted: Wanted, report: OnFinding
) -> KeptDocuments:
    """Return the wanted documents of packs, the `files` of what was given as `path`.

    A wanted id of which they say nothing counts as not looked for. They are kept outside of memory:
    the pack of a season may be larger. Raises InputError where a file cannot be read.
    """
    kept = KeptDocuments.of_this_process(path)
    kept.wanted = wanted.named
    log = FindingLog([report, lambda finding: kept.add((), [finding])])
    lacks: dict[str, Lack] = {}
    with kept.change():
        for file in files:
            for line, record in values(file, log):
                if why := lack_of(record):
                    if record["docid"] in wanted.possible:
                        add_lack(lacks, record["docid"], why)
                        if why == NOT_KNOWN:  # counts as lost, as it did where the pack was made
                            log(lacking(record, why, Place(str(file), line)))
                else:
                    _keep_document(record, file, line, wanted, kept, log)
    kept.not_there(doc_id for doc_id in kept.left(lacks) if lacks[doc_id] == NOT_THERE)
    unsaid = [doc_id for doc_id in kept.left(wanted.named) if doc_id not in lacks]
    if unsaid:
        said = f"says nothing of {counted(len(unsaid), 'cited document')}"
        message = f"{said}, such as {shown(unsaid[0])}: it was packed for other runs"
        report(Finding("documents_not_packed", Place(str(path)), message, unsaid[0]))
    kept.not_known([*unsaid, *(i for i, why in lacks.items() if why == NOT_LOOKED_FOR)])
    return kept


def _keep_document(
    record: Any, file: Path, line: int, wanted: Wanted, kept: KeptDocuments, report: OnFinding
) -> None:
    """Keep the document of a line if it is wanted; one whose text was edited as it stands."""
    packed = packed_document(record)
    document = packed or document_of(record)
    if document is None:
        report(record_unusable(file, line, record))
        return
    doc_id, place = document.doc_id, Place(str(file), line)
    kept.sample([doc_id])
    if doc_id not in wanted.possible:
        return
    if record.get("sha256") not in (None, digest_of(document.text)):
        message = f"the text of {shown(doc_id)} was edited: its SHA-256 is another"
        report(Finding("document_edited", place, message, doc_id))
    first = kept.get(doc_id)
    if first is not None and first != document:
        message = f"repeats document {shown(doc_id)} with another text"
        report(Finding("document_duplicate", place, message, doc_id))
    kept.add([FoundDocument(document, str(file), line, record["source"] if packed else "")])
