"""Packs, opened: what they have of the documents that are wanted, and what they say of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trecjudge.findings import Finding, FindingLog, OnFinding, counted, shown
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.units import FoundDocument
from trecjudge.inputs.collections.wanted import Wanted
from trecjudge.inputs.documents.collection import record_unusable
from trecjudge.inputs.documents.pack import (
    NOT_KNOWN,
    NOT_LOOKED_FOR,
    NOT_THERE,
    Lack,
    digest_of,
    lack_of,
    lacking,
    packed_document,
)
from trecjudge.inputs.documents.record import document_of
from trecjudge.inputs.sources.values import values
from trecjudge.records import Document, Place

SAMPLES = 30
"""Ids that are kept for messages."""


def open_packs(
    path: Path, files: Sequence[Path], wanted: Wanted, report: OnFinding
) -> KeptDocuments:
    """Return the wanted documents of packs, the `files` of what was given as `path`.

    A wanted id of which they say nothing counts as not looked for. A document whose text was
    edited is reported, and read as it stands. They are kept outside of memory, by this process
    only. Raises InputError where a file cannot be read.
    """
    kept = KeptDocuments.of_this_process(path)
    kept.wanted = wanted.named
    findings: list[Finding] = []
    reader = _Reader(wanted, FindingLog([report, findings.append]))
    with kept.change():
        for file in files:
            for found in reader.documents(file):
                _report_repeated(kept, found, reader.report)
                kept.add([found])
        kept.add((), findings)
        kept.sample(reader.samples)
    kept.not_there(i for i, why in reader.lacks.items() if why == NOT_THERE)
    unsaid = [i for i in kept.left(wanted.named) if i not in reader.lacks]
    if unsaid:
        said = f"says nothing of {counted(len(unsaid), 'cited document')}"
        message = f"{said}, such as {shown(unsaid[0])}: it was packed for other runs"
        report(Finding("documents_not_packed", Place(str(path)), message, unsaid[0]))
    unsought = (i for i, why in reader.lacks.items() if why == NOT_LOOKED_FOR)
    kept.not_known([*unsaid, *unsought])
    return kept


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads packs; `lacks` are the wanted ids that they lack, `samples` some that they have."""

    wanted: Wanted
    report: OnFinding
    lacks: dict[str, Lack] = field(default_factory=dict)
    samples: list[str] = field(default_factory=list)

    def documents(self, file: Path) -> Iterator[FoundDocument]:
        """Yield the wanted documents of a pack."""
        for line, record in values(file, self.report):
            place = Place(str(file), line)
            if why := lack_of(record):
                self._lack(record, why, place)
                continue
            document = packed_document(record)
            source = record["source"] if document is not None else ""
            document = document or document_of(record)
            if document is None:
                self.report(record_unusable(file, line, record))
                continue
            if len(self.samples) < SAMPLES:
                self.samples.append(document.doc_id)
            if document.doc_id in self.wanted.possible:
                _report_edited(document, record, place, self.report)
                yield FoundDocument(document, str(file), line, source)

    def _lack(self, record: dict[str, Any], why: Lack, place: Place) -> None:
        doc_id = record["docid"]
        # What one pack does not know, another one's "not there" does not settle.
        if doc_id in self.wanted.possible and self.lacks.get(doc_id, NOT_THERE) == NOT_THERE:
            self.lacks[doc_id] = why
            if why == NOT_KNOWN:  # counts as lost, as it did where the pack was made
                self.report(lacking(record, why, place))


def _report_edited(document: Document, record: Any, place: Place, report: OnFinding) -> None:
    given = record.get("sha256") if isinstance(record, dict) else None
    if given is not None and given != digest_of(document.text):
        message = f"the text of {shown(document.doc_id)} was edited: its SHA-256 is another"
        report(Finding("document_edited", place, message, document.doc_id))


def _report_repeated(kept: KeptDocuments, found: FoundDocument, report: OnFinding) -> None:
    document = found.document
    first = kept.get(document.doc_id)
    if first is not None and first != document:
        message = f"repeats document {shown(document.doc_id)} with another text"
        place = Place(found.path, found.place)
        report(Finding("document_duplicate", place, message, document.doc_id))
