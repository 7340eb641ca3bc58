"""Documents by id: a few files of them held in memory, packs, and several stores as one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from sys import getsizeof
from typing import Any, Protocol

from trecjudge.errors import InputError
from trecjudge.findings import Finding, FindingLog, OnFinding, brief, plural
from trecjudge.inputs.collections.kept import LOST, KeptDocuments
from trecjudge.inputs.collections.units import FoundDocument
from trecjudge.inputs.collections.wanted import WantedDocuments
from trecjudge.inputs.documents.collection import documents_of, nothing_in, record_unusable
from trecjudge.inputs.documents.index_file import (
    LACKS,
    NOT_KNOWN,
    NOT_LOOKED_FOR,
    NOT_THERE,
    Lack,
    add_lack,
    digest_of,
    index_address,
    lack_of,
    packed_document,
)
from trecjudge.inputs.documents.record import document_of
from trecjudge.inputs.sources.paths import files_below, own_output
from trecjudge.inputs.sources.values import first_objects, values
from trecjudge.records import Document, Place

OF_DOCUMENT = 500
"""Bytes of memory that a document takes besides its text."""
IN_MEMORY = 3
"""How many times the bytes of their files documents may take in memory: packed files hold more."""

IRDS = "irds:"
ADDRESS = re.compile(r"(https?):/{1,2}(?!/)", re.IGNORECASE)
"""How an address begins; a path keeps one of its two slashes."""
IN_FRONT = 1000
"""First lines of files, of all together, in which one of a pack is looked for: documents may have
been added in front of it."""


class DocumentStore(Protocol):
    """Documents by id."""

    def get(self, doc_id: str) -> Document | None:
        """Return the document with this id, or None."""

    @property
    def lost(self) -> int:
        """The number of records that have no known id or could not be read: any id may be one."""

    def some_ids(self, count: int) -> list[str]:
        """Return a few of the ids, for a message; none where they cannot be listed."""


@dataclass(slots=True)
class HeldDocuments:
    """Documents in memory."""

    documents: dict[str, Document] = field(default_factory=dict)
    lost: int = 0

    def get(self, doc_id: str) -> Document | None:
        """Return the document with this id, or None."""
        return self.documents.get(doc_id)

    def some_ids(self, count: int) -> list[str]:
        """Return the first ids."""
        return list(islice(self.documents, count))


@dataclass(frozen=True, slots=True)
class DocumentStores:
    """The stores of a job, asked in order: the first that has a document counts.

    `paths` are what opens the same stores again, in any process; `files` are the documents' files
    that were read whole.
    """

    stores: Sequence[DocumentStore]
    paths: Sequence[Path] = ()
    files: Sequence[Path] = ()

    def get(self, doc_id: str) -> Document | None:
        """Return the document that `look_up` finds, or None."""
        found = self.look_up(doc_id)
        return found[0] if found else None

    def look_up(self, doc_id: str) -> tuple[Document, int] | None:
        """Return the document of the first store that has its text, and the store's place.

        Else the first one without text, which may be one that a store could not look for; None
        where no store has it. A pack that says nothing of it counts if no other store knows.
        """
        empty: tuple[Document, int] | None = None
        unsaid, missing = empty, False
        for place, store in enumerate(self.stores):
            found = store.get(doc_id)
            if found is None:
                missing = True
            elif found.has_text:
                return found, place
            elif isinstance(store, KeptDocuments) and doc_id in store.unsaid:
                unsaid = unsaid or (found, place)
            else:
                empty = empty or (found, place)
        return empty or (None if missing else unsaid)

    @property
    def to_fetch(self) -> int:
        """How many documents services would be asked for, where it is only planned."""
        return sum(store.to_fetch for store in self.stores if isinstance(store, KeptDocuments))

    @property
    def lost(self) -> int:
        """The number of records of all stores that have no known id or could not be read."""
        return sum(store.lost for store in self.stores)

    def some_ids(self, count: int) -> list[str]:
        """Return the first ids of each store, `count` in all."""
        # Rounded up, so that one store with few ids leaves room to the others.
        each = -(-count // len(self.stores))
        return [doc_id for store in self.stores for doc_id in store.some_ids(each)][:count]


def documents_in(paths: Sequence[Path], report: OnFinding) -> Iterator[Document]:
    """Yield the documents of files, or folders of them, one at a time, in their order.

    A repeated id comes twice. Raises InputError where a path is an output of this program, or a
    data set, which can only be looked up by id.
    """
    return (document for _, document, _ in read_through(paths, report))


def read_through(
    paths: Sequence[Path], report: OnFinding
) -> Iterator[tuple[Place, Document, object]]:
    """Yield (place, document, record as written), as `documents_in` does."""
    for path in paths:
        if is_elsewhere(path):
            what = (
                "a data set"
                if is_data_set(path)
                else "an index"
                if index_address(path)
                else "a service"
            )
            raise InputError(f"{path}: {what} is not read through; its documents are looked up")
        for file, line, document, record in documents_of(document_files(path, report), report):
            yield Place(str(file), line), document, record


def document_files(path: Path, report: OnFinding) -> list[Path]:
    """Return the files below a path, without outputs of this program.

    Raises InputError if there is no other.
    """
    files = files_below(path)
    if path.is_dir():  # a pipe among them is lost, and ends nothing
        for file in [file for file in files if file.exists() and not file.is_file()]:
            message = "is a pipe or a device, not a file; passed over"
            report(Finding("collection_unreadable", Place(str(file)), message))
            files.remove(file)
    written = {file: own for file in files if (own := own_output(file))}
    for file, own in written.items():
        message = f"is {own}, no documents"
        if len(files) == 1:
            raise InputError(f"{file}: {message}")
        report(Finding("own_output", Place(str(file)), f"{message}; passed over"))
    return sorted((file for file in files if file not in written), key=str)


def is_data_set(path: Path) -> bool:
    """Return whether a path names a data set of `ir_datasets` instead of a file."""
    return str(path).startswith(IRDS)


def address_in(path: Path) -> str:
    """Return the address that was given as a path; empty for anything else."""
    if index := index_address(path):
        return index
    found = ADDRESS.match(str(path))
    return f"{found[1].lower()}://{str(path)[found.end() :]}" if found else ""


def is_elsewhere(path: Path) -> bool:
    """Return whether documents are not in files: a data set, a service or a database."""
    return is_data_set(path) or bool(address_in(path))


def hold_documents(
    path: Path, files: Sequence[Path], log: FindingLog, most: int
) -> HeldDocuments | None:
    """Return the documents in memory; None where the files have more than `most` bytes, or swell.

    Raises InputError where there is none.
    """
    if sum(file.stat().st_size for file in files if file.exists()) > most:
        return None
    store, size = HeldDocuments(), 0
    for file, line, document, _ in documents_of(files, log):
        size += OF_DOCUMENT + getsizeof(document.text)
        if size > IN_MEMORY * most:
            return None
        first = store.documents.setdefault(document.doc_id, document)
        if first is not document and first != document:  # one of many candidates lists is the same
            message = f"repeats document {brief(document.doc_id)} with another text"
            place = Place(str(file), line)
            log(Finding("document_duplicate", place, message, document.doc_id))
    if not store.documents:
        raise nothing_in(path)
    store.lost = sum(log.counts[kind] for kind in LOST)
    return store


class IrDatasetsDocuments:
    """The documents of a data set of the package `ir_datasets`, which is an extra."""

    def __init__(self, name: str) -> None:
        try:
            import ir_datasets
        except ImportError as error:
            message = f"{IRDS}{name}: needs the package: pip install 'trecjudge[irds]'"
            raise InputError(message) from error
        try:
            self._store = ir_datasets.load(name).docs_store()
        except (KeyError, AttributeError) as error:
            raise InputError(f"{IRDS}{name}: ir_datasets has no such documents") from error

    lost = 0

    def some_ids(self, count: int) -> list[str]:
        """Return none: a data set can only be looked up by id."""
        return []

    def get(self, doc_id: str) -> Document | None:
        """Return the document with this id, or None."""
        try:
            found = self._store.get(doc_id)
        except KeyError:
            return None
        return document_of(found._asdict(), doc_id)


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
    path: Path,
    files: Sequence[Path],
    packs: Collection[Path],
    wanted: WantedDocuments,
    report: OnFinding,
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
    left = {why: [i for i in kept.select_unsettled(lacks) if lacks[i] == why] for why in LACKS}
    with kept.change():  # each counts as lost, as it did where the pack was made
        lost = (
            Finding("documents_unusable", Place(doc_id), NOT_KNOWN) for doc_id in left[NOT_KNOWN]
        )
        kept.add((), lost)
    kept.not_there(left[NOT_THERE])
    kept.unsaid = frozenset(i for i in kept.select_unsettled(wanted.named) if i not in lacks)
    kept.not_known([*kept.unsaid, *left[NOT_LOOKED_FOR], *kept.select_unsettled(wanted.beside)])
    _report_lacks(path, left, sorted(kept.unsaid), report)
    return kept


def _report_lacks(
    path: Path, left: Mapping[Lack, Sequence[str]], unsaid: Sequence[str], report: OnFinding
) -> None:
    """Report what packs do not settle, each kind of it once."""
    unread = "a part of the collection could not be read"
    unseen = "nobody could look there when it was packed"
    kinds = (
        ("documents_unusable", "lacks", left[NOT_KNOWN], unread),
        ("documents_not_packed", "lacks", left[NOT_LOOKED_FOR], unseen),
        ("documents_not_packed", "says nothing of", unsaid, "it was packed for other runs"),
    )
    for kind, said, ids, why in kinds:
        if ids:
            text = f"{said} {plural(len(ids), 'cited document')}, such as {brief(ids[0])}: {why}"
            report(Finding(kind, Place(str(path)), text, ids[0]))


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
    wanted: WantedDocuments,
    kept: KeptDocuments,
    report: OnFinding,
) -> None:
    """Keep a document if it is wanted; one whose text was edited as it stands."""
    doc_id = document.doc_id
    kept.sample([doc_id])
    if doc_id not in wanted.possible:
        return
    if record.get("sha256") not in (None, digest_of(document)):
        message = f"the title or text of {brief(doc_id)} was edited: its SHA-256 is another"
        report(Finding("document_edited", place, message, doc_id))
    first = kept.get(doc_id)
    if first is not None and first != document:
        message = f"repeats document {brief(doc_id)} with another text"
        report(Finding("document_duplicate", place, message, doc_id))
    source = record["source"] if packed_document(record) else ""
    kept.add([FoundDocument(document, place.path, place.line or 0, source)])
