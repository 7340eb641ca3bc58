"""Documents given with --documents: a few are held in memory, many are indexed on disk."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from itertools import islice
from pathlib import Path
from sys import getsizeof
from typing import Protocol

from trecjudge.errors import InputError, OutputError
from trecjudge.files import keep_private, remove_left_parts, whole_path
from trecjudge.findings import Finding, FindingLog, OnFinding, shown
from trecjudge.inputs.documents.collection import (
    CHOICES,
    NAMES,
    entries,
    file_unusable,
    record_unusable,
)
from trecjudge.inputs.documents.index_file import DocumentsOfIndex, is_index
from trecjudge.inputs.documents.record import document_of, documents_within
from trecjudge.inputs.sources.own import own_output
from trecjudge.inputs.sources.paths import files_below
from trecjudge.records import Document, Place

HELD_BYTES = 64 << 20
"""Files up to this size together are held in memory."""
IN_MEMORY = 3
"""How many times as many bytes their documents may take in memory: packed files hold more."""
OF_DOCUMENT = 500
"""Bytes of memory that a document takes besides its text."""

COLUMNS = ("text", "title", "url", "date", "version")
"""The fields of a document that an index has beside its id, in the order of `Document`."""
IRDS = "irds:"
LOST = (
    *("documents_unusable", "record_not_an_object", "line_not_json", "bad_utf8"),
    *("collection_unreadable", "record_too_large"),
)
"""Findings on records and files that gave no document."""


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


@dataclass(slots=True)
class IndexedDocuments:
    """Documents in an SQLite file, looked up one by one."""

    path: Path
    lost: int = 0
    _database: sqlite3.Connection = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._database = sqlite3.connect(self.path)

    def get(self, doc_id: str) -> Document | None:
        """Return the document with this id, or None."""
        query = f"SELECT {', '.join(COLUMNS)} FROM documents WHERE id = ? ORDER BY rowid LIMIT 1"
        row = self._database.execute(query, (doc_id,)).fetchone()
        return Document(doc_id, *row) if row else None

    def some_ids(self, count: int) -> list[str]:
        """Return the first ids."""
        query = "SELECT id FROM documents ORDER BY rowid LIMIT ?"
        return [doc_id for (doc_id,) in self._database.execute(query, (count,))]

    def findings(self) -> Iterator[Finding]:
        """Yield the findings of when the index was made."""
        query = "SELECT kind, path, line, message, value FROM findings ORDER BY rowid"
        for kind, path, line, message, value in self._database.execute(query):
            yield Finding(kind, Place(path, line), message, value)


@dataclass(slots=True)
class DocumentStores:
    """Several stores, asked in order."""

    stores: Sequence[DocumentStore]

    def get(self, doc_id: str) -> Document | None:
        """Return the document of the first store that has it, or None."""
        return next((found for store in self.stores if (found := store.get(doc_id))), None)

    @property
    def lost(self) -> int:
        """The number of records of all stores that have no known id or could not be read."""
        return sum(store.lost for store in self.stores)

    def some_ids(self, count: int) -> list[str]:
        """Return the first ids of each store, `count` in all."""
        # Rounded up, so that one store with few ids leaves room to the others.
        each = -(-count // len(self.stores))
        return [doc_id for store in self.stores for doc_id in store.some_ids(each)][:count]


def open_documents(
    paths: Sequence[Path], index_folder: Path, report: OnFinding, held_bytes: int = HELD_BYTES
) -> DocumentStore:
    """Return the documents of files, or folders of them, in any container of `collection`.

    `irds:NAME` is a data set of the package `ir_datasets`; a path may also be an index that
    `run_judge.py index` made. The first record of an id counts. Many
    documents are indexed once, in `index_folder`, until a file changes. Raises InputError if a path
    holds no document, OutputError if the index cannot be written.
    """
    stores: list[DocumentStore] = []
    for path in paths:
        if is_data_set(path):
            stores.append(IrDatasetsDocuments(str(path).removeprefix(IRDS)))
            continue
        if is_index(path):
            stores.append(DocumentsOfIndex(path))
            continue
        files = _documents_below(path, report)
        index = _index_of(files, index_folder)
        size = sum(file.stat().st_size for file in files if file.exists())
        if size > held_bytes or index.is_file():
            stores.append(_indexed(path, files, index, report))
        else:
            stores.append(_held(path, files, index, report, IN_MEMORY * held_bytes))
    return stores[0] if len(stores) == 1 else DocumentStores(stores)


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
        if is_data_set(path):
            raise InputError(f"{path}: a data set is not read through; open_documents looks up ids")
        for file, line, document, record in _documents(_documents_below(path, report), report):
            yield Place(str(file), line), document, record


def _documents_below(path: Path, report: OnFinding) -> list[Path]:
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
    return [file for file in files if file not in written]


def is_data_set(path: Path) -> bool:
    """Return whether a path names a data set of `ir_datasets` instead of a file."""
    return str(path).startswith(IRDS)


def _held(
    path: Path, files: Sequence[Path], index: Path, report: OnFinding, most: int
) -> DocumentStore:
    """Return the documents in memory; an index of them where they take more than `most` bytes."""
    store, log, size = HeldDocuments(), FindingLog([report]), 0
    for file, line, document, _ in _documents(files, log):
        size += OF_DOCUMENT + getsizeof(document.text)
        if size > most:
            store.documents.clear()
            return _indexed(path, files, index, _unless_reported(log.counts, report))
        first = store.documents.setdefault(document.doc_id, document)
        if first is not document and first != document:  # one of many candidates lists is the same
            message = f"repeats document {shown(document.doc_id)} with another text"
            place = Place(str(file), line)
            log(Finding("document_duplicate", place, message, document.doc_id))
    if not store.documents:
        raise _nothing_in(path)
    store.lost = _lost(log)
    return store


def _unless_reported(counts: Mapping[str, int], report: OnFinding) -> OnFinding:
    """Return what reports the findings of files read again, but for those reported before."""
    left = Counter(counts)

    def tell(finding: Finding) -> None:
        left[finding.kind] -= 1
        if left[finding.kind] < 0:
            report(finding)

    return tell


def _index_of(files: Sequence[Path], folder: Path) -> Path:
    """Return where the index of these files is, or would be."""
    found = [(file, file.stat()) for file in files if file.exists()]
    state = [f"{file.resolve()}\0{s.st_size}\0{s.st_mtime_ns}" for file, s in found]
    digest = hashlib.sha256(os.fsencode("\n".join(state))).hexdigest()[:32]
    # The number is the version of the index; a changed file makes another digest.
    return folder / f"documents3-{digest}.sqlite"


def _indexed(path: Path, files: Sequence[Path], index: Path, report: OnFinding) -> IndexedDocuments:
    """Return the index of these files, made if it is not there."""
    folder, log = index.parent, FindingLog([report])
    if not index.is_file():
        try:
            keep_private(folder)
            remove_left_parts(folder, "documents")
            with whole_path(index, private=True) as partial:
                if not _write_index(partial, files, log):
                    raise _nothing_in(path)
        except (OSError, sqlite3.Error) as error:
            raise OutputError(f"{index}: cannot be written: {error}; use --cache-dir") from error
        return IndexedDocuments(index, _lost(log))
    store = IndexedDocuments(index)
    for finding in store.findings():
        log(finding)
    store.lost = _lost(log)
    return store


def _lost(log: FindingLog) -> int:
    """Return how many records or files gave no document."""
    return sum(log.counts[kind] for kind in LOST)


def _write_index(path: Path, files: Sequence[Path], log: FindingLog) -> int:
    """Write an index of the documents, and the findings; return how many documents there are."""
    database = sqlite3.connect(path)

    def keep(finding: Finding) -> None:
        place = finding.place
        row = (finding.kind, place.path, place.line, finding.message, finding.value)
        database.execute("INSERT INTO findings VALUES (?, ?, ?, ?, ?)", row)

    log.listeners.append(keep)
    try:
        # No journal: a file that is not finished is thrown away as a whole.
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        names = ", ".join(f"{name} TEXT" for name in ("id", *COLUMNS))
        database.execute(f"CREATE TABLE documents ({names})")
        database.execute(
            "CREATE TABLE findings (kind TEXT, path TEXT, line INTEGER, message TEXT, value TEXT)"
        )
        found = _documents(files, log)
        rows = (astuple(document)[: len(COLUMNS) + 1] for _, _, document, _ in found)
        count = 0
        for row in rows:
            database.execute("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?)", row)
            count += 1
        # Made last: filling an indexed table in the order of random ids takes many times as long.
        database.execute("CREATE INDEX by_id ON documents (id)")
        database.commit()
    finally:
        database.close()
    return count


def _documents(
    files: Sequence[Path], report: OnFinding
) -> Iterator[tuple[Path, int, Document, object]]:
    """Yield (file, line, document, its record); records that are none are reported."""
    for file in files:
        found = entries(file, report)
        if found is None:
            report(file_unusable(file))
            continue
        guessed: dict[str, None] = {}
        for line, record, key in found:
            document = document_of(record, key)
            if document is not None and document.has_text:
                yield file, line, document, record
                continue
            within = list(_within(record))
            if document is not None and not within:
                document = document_of(record, key, tell=guessed.setdefault)
            for other, entry in within or [(document, record)]:
                if other is None:
                    report(record_unusable(file, line, record))
                else:
                    yield file, line, other, entry
        for name in guessed:
            message = f"has texts in the field {name!r}, whose name is not known"
            report(Finding("text_field_guessed", Place(str(file)), message, name))


def _within(record: object) -> Iterator[tuple[Document | None, object]]:
    """Yield (document, entry) of a record's lists, such as `candidates`; None for what is none."""
    if isinstance(record, dict):
        for entry in documents_within(record):
            yield document_of(entry), entry


def _nothing_in(path: Path) -> InputError:
    return InputError(f"{path}: no documents found; give {CHOICES}; {NAMES}")


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
