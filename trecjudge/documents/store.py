"""Documents given beside the runs: held where they are few, indexed where they are many."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Protocol

from trecjudge.documents.record import ID_KEYS, document_of
from trecjudge.errors import InputError, OutputError
from trecjudge.findings import Finding, Report, shown
from trecjudge.outputs import whole_path
from trecjudge.records import Document, Place
from trecjudge.sources.own import own_output
from trecjudge.sources.paths import files_below
from trecjudge.sources.values import objects

HELD_BYTES = 64 << 20
"""Files up to this size together are held in memory."""

BATCH = 10_000
COLUMNS = ("text", "title", "url", "date", "version")
"""The fields of a document that an index has beside its id, in the order of `Document`."""
IRDS = "irds:"


class DocumentStore(Protocol):
    """Documents by id."""

    def get(self, doc_id: str) -> Document | None:
        """Return the document with this id, or None."""


@dataclass(slots=True)
class HeldDocuments:
    """Documents in memory."""

    documents: dict[str, Document] = field(default_factory=dict)

    def get(self, doc_id: str) -> Document | None:
        """Return the document with this id, or None."""
        return self.documents.get(doc_id)


@dataclass(slots=True)
class IndexedDocuments:
    """Documents in an SQLite file, looked up one by one."""

    path: Path
    _database: sqlite3.Connection = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._database = sqlite3.connect(self.path)

    def get(self, doc_id: str) -> Document | None:
        """Return the document with this id, or None."""
        query = f"SELECT {', '.join(COLUMNS)} FROM documents WHERE id = ? ORDER BY rowid LIMIT 1"
        row = self._database.execute(query, (doc_id,)).fetchone()
        return Document(doc_id, *row) if row else None


@dataclass(slots=True)
class DocumentStores:
    """Several stores, asked in order."""

    stores: Sequence[DocumentStore]

    def get(self, doc_id: str) -> Document | None:
        """Return the document of the first store that has it, or None."""
        return next((found for store in self.stores if (found := store.get(doc_id))), None)


def open_documents(
    paths: Sequence[Path], index_folder: Path, report: Report, held_bytes: int = HELD_BYTES
) -> DocumentStore:
    """Return the documents of JSONL files, or folders of them, of `docid`/`id`, `title`, `text`.

    `irds:NAME` is a data set of the package `ir_datasets`. The first record of an id counts. Many
    documents are indexed once, in `index_folder`, until a file changes. Raises InputError if a path
    holds no document, OutputError if the index cannot be written.
    """
    stores: list[DocumentStore] = []
    for path in paths:
        if is_data_set(path):
            stores.append(IrDatasetsDocuments(str(path).removeprefix(IRDS)))
            continue
        files = _documents_below(path, report)
        if sum(file.stat().st_size for file in files if file.exists()) > held_bytes:
            stores.append(_indexed(path, files, index_folder, report))
        else:
            stores.append(_held(path, files, report))
    return stores[0] if len(stores) == 1 else DocumentStores(stores)


def _documents_below(path: Path, report: Report) -> list[Path]:
    """Return the files below a path but for outputs of this program.

    Raises InputError if there is no other.
    """
    files = files_below(path)
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


def _held(path: Path, files: Sequence[Path], report: Report) -> HeldDocuments:
    store = HeldDocuments()
    for place, document in _documents(files, report):
        if store.documents.setdefault(document.doc_id, document) is not document:
            message = f"document {shown(document.doc_id)} was there before"
            report(Finding("document_duplicate", place, message, document.doc_id))
    if not store.documents:
        raise _nothing_in(path)
    return store


def _indexed(path: Path, files: Sequence[Path], folder: Path, report: Report) -> IndexedDocuments:
    """Return the index of these files, made if it is not there."""
    state = [f"{file.resolve()}\0{(s := file.stat()).st_size}\0{s.st_mtime_ns}" for file in files]
    digest = hashlib.sha256("\n".join(state).encode()).hexdigest()[:32]
    index = folder / f"documents2-{digest}.sqlite"
    if not index.is_file():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with whole_path(index) as partial:
                if not _write_index(partial, files, report):
                    raise _nothing_in(path)
        except (OSError, sqlite3.Error) as error:
            raise OutputError(f"{index}: cannot be written: {error}; use --cache-dir") from error
    return IndexedDocuments(index)


def _write_index(path: Path, files: Sequence[Path], report: Report) -> int:
    """Write an index of the documents; return how many there are."""
    database = sqlite3.connect(path)
    try:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        names = ", ".join(f"{name} TEXT" for name in ("id", *COLUMNS))
        database.execute(f"CREATE TABLE documents ({names})")
        rows = (astuple(document) for _, document in _documents(files, report))
        count = 0
        while batch := list(islice(rows, BATCH)):
            database.executemany("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?)", batch)
            count += len(batch)
        # Made last: filling a table in the order of random ids takes many times as long.
        database.execute("CREATE INDEX by_id ON documents (id)")
        database.commit()
    finally:
        database.close()
    return count


def _documents(files: Sequence[Path], report: Report) -> Iterator[tuple[Place, Document]]:
    for file in files:
        for number, record in objects(file, report):
            place = Place(str(file), number)
            document = document_of(record)
            if document is not None:
                yield place, document
                continue
            message = f"has no document id: none of {', '.join(ID_KEYS)} in it"
            report(Finding("documents_unusable", place, message, shown(sorted(record))))


def _nothing_in(path: Path) -> InputError:
    return InputError(f"{path}: no documents found; give JSONL records of docid and text")


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

    def get(self, doc_id: str) -> Document | None:
        """Return the document with this id, or None."""
        try:
            found = self._store.get(doc_id)
        except KeyError:
            return None
        return document_of(found._asdict(), doc_id)
