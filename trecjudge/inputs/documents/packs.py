"""Packs, recognised and read: what they have of the documents that are wanted, and what not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trecjudge.findings import Finding, FindingLog, OnFinding, counted, shown
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.units import FoundDocument
from trecjudge.inputs.collections.wanted import Wanted
from trecjudge.inputs.documents.collection import record_unusable
from trecjudge.inputs.documents.files import documents_of
from trecjudge.inputs.documents.pack import (
    LACKS,
    NOT_KNOWN,
    NOT_LOOKED_FOR,
    NOT_THERE,
    Lack,
    add_lack,
    digest_of,
    lack_of,
    packed_document,
)
from trecjudge.inputs.documents.record import document_of
from trecjudge.inputs.sources.values import first_objects, values
from trecjudge.records import Document, Place

IN_FRONT = 1000
"""First lines of files, of all together, in which one of a pack is looked for: documents may have
been added in front of it."""


def packs_among(files: Sequence[Path], most: int) -> set[Path]:
    """Return those files that have a line of a pack among their first ones.

    None of them where the others have more than `most` bytes together: a larger collection in which
    a pack lies stays one.
    """
    count = max(1, IN_FRONT // max(1, len(files)))
    first = ((file, record) for file in files for record in first_objects(file, count))
    packs = {file for file, record in first if packed_document(record) or lack_of(record)}
    beside = sum(file.stat().st_size for file in files if file not in packs) if packs else 0
    return packs if beside <= most else set()


def open_packs(
    path: Path, files: Sequence[Path], packs: Collection[Path], wanted: Wanted, report: OnFinding
) -> KeptDocuments:
    """Return the wanted documents of `packs` and of files beside them, all given as `path`.

    A wanted id of which they say nothing counts as not looked for, unless another source knows.
    They are kept outside of memory: the pack of a season may be larger. Raises InputError where a
    file cannot be read.
    """
    kept = KeptDocuments.of_this_process(path)
    kept.wanted = wanted.named
    log = FindingLog([report, lambda finding: kept.add((), [finding])])
    lacks: dict[str, Lack] = {}
    with kept.change():
        for file in files:
            for line, document, record in _lines(file, file in packs, log):
                if document is not None:
                    _keep_document(document, record, Place(str(file), line), wanted, kept, log)
                elif (why := lack_of(record)) and record["docid"] in wanted.possible:
                    add_lack(lacks, record["docid"], why)
    left = {why: [i for i in kept.left(lacks) if lacks[i] == why] for why in LACKS}
    with kept.change():  # each counts as lost, as it did where the pack was made
        lost = (
            Finding("documents_unusable", Place(doc_id), NOT_KNOWN) for doc_id in left[NOT_KNOWN]
        )
        kept.add((), lost)
    kept.not_there(left[NOT_THERE])
    kept.unsaid = frozenset(i for i in kept.left(wanted.named) if i not in lacks)
    kept.not_known([*kept.unsaid, *left[NOT_LOOKED_FOR], *kept.left(wanted.beside)])
    _report_lacks(path, left, sorted(kept.unsaid), report)
    return kept


def _report_lacks(
    path: Path, left: Mapping[Lack, Sequence[str]], unsaid: Sequence[str], report: OnFinding
) -> None:
    """Report what packs do not settle, each kind of it once."""

    def message(said: str, ids: Sequence[str], why: str) -> str:
        return f"{said} {counted(len(ids), 'cited document')}, such as {shown(ids[0])}: {why}"

    place = Place(str(path))
    if ids := left[NOT_KNOWN]:
        text = message("lacks", ids, "a part of the collection could not be read")
        report(Finding("documents_unusable", place, text, ids[0]))
    if ids := left[NOT_LOOKED_FOR]:
        text = message("lacks", ids, "nobody could look there when it was packed")
        report(Finding("documents_not_packed", place, text, ids[0]))
    if unsaid:
        text = message("says nothing of", unsaid, "it was packed for other runs")
        report(Finding("documents_not_packed", place, text, unsaid[0]))


def _lines(
    file: Path, is_pack: bool, report: OnFinding
) -> Iterator[tuple[int, Document | None, Any]]:
    """Yield (line, document, record) of a file; of a pack also where there is no document."""
    if not is_pack:
        yield from ((line, found, {}) for _, line, found, _ in documents_of([file], report))
        return
    for line, record in values(file, report):
        lack = lack_of(record)
        document = None if lack else packed_document(record) or document_of(record)
        if document or lack:
            yield line, document, record
        else:
            report(record_unusable(file, line, record))


def _keep_document(
    document: Document,
    record: Any,
    place: Place,
    wanted: Wanted,
    kept: KeptDocuments,
    report: OnFinding,
) -> None:
    """Keep a document if it is wanted; one whose text was edited as it stands."""
    doc_id = document.doc_id
    kept.sample([doc_id])
    if doc_id not in wanted.possible:
        return
    if record.get("sha256") not in (None, digest_of(document)):
        message = f"the title or text of {shown(doc_id)} was edited: its SHA-256 is another"
        report(Finding("document_edited", place, message, doc_id))
    first = kept.get(doc_id)
    if first is not None and first != document:
        message = f"repeats document {shown(doc_id)} with another text"
        report(Finding("document_duplicate", place, message, doc_id))
    source = record["source"] if packed_document(record) else ""
    kept.add([FoundDocument(document, place.path, place.line or 0, source)])
