"""What was found of a collection, in a small SQLite file that later jobs share and extend."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

import orjson

from trecjudge.errors import OutputError, why
from trecjudge.files import keep_private, make_private
from trecjudge.findings import Finding
from trecjudge.inputs.collections.units import FoundDocument
from trecjudge.inputs.sources.databases import is_database_of
from trecjudge.records import Document, Place

APPLICATION = 0x74724463
"""Says that a file of SQLite has what was found of a collection ("trDc")."""
SHAPE = 1
ELSEWHERE = "give another folder with --cache-dir"
WAIT = 60.0
"""Seconds in which another job must have written what it found."""
FIELDS = ("text", "title", "url", "date", "version")
"""The fields of a document beside its id, in the order of `Document`."""
ROW = attrgetter("doc_id", *FIELDS)
TABLES = (
    "CREATE TABLE documents (id TEXT PRIMARY KEY, text TEXT NOT NULL, title TEXT NOT NULL,"
    " url TEXT NOT NULL, date TEXT NOT NULL, version TEXT NOT NULL, path TEXT NOT NULL,"
    " place INTEGER NOT NULL, source TEXT NOT NULL) WITHOUT ROWID",
    # Files as they were when they were read.
    "CREATE TABLE files (path TEXT PRIMARY KEY, size INTEGER NOT NULL, changed INTEGER NOT NULL)"
    " WITHOUT ROWID",
    # Ids that were looked for everywhere; and those that could not be looked for.
    "CREATE TABLE missing (id TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE unknown (id TEXT PRIMARY KEY) WITHOUT ROWID",
    # Passes that have not come to their end, and which units they have read.
    "CREATE TABLE passes (number INTEGER PRIMARY KEY AUTOINCREMENT, wanted BLOB NOT NULL)",
    "CREATE TABLE units (pass INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (pass, name))"
    " WITHOUT ROWID",
    "CREATE TABLE findings (kind TEXT NOT NULL, path TEXT NOT NULL, line INTEGER,"
    " message TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (kind, path, line, message))",
    "CREATE TABLE samples (id TEXT PRIMARY KEY) WITHOUT ROWID",
)
ADD = (
    f"INSERT INTO documents VALUES ({', '.join('?' * (len(FIELDS) + 4))}) ON CONFLICT (id)"
    f" DO UPDATE SET {', '.join(f'{n} = excluded.{n}' for n in (*FIELDS, 'path', 'place'))},"
    " source = excluded.source WHERE (excluded.path, excluded.place) <= (path, place)"
)
# Where there is no line, to be unique does not help: nulls differ from one another.
ADD_FINDING = (
    "INSERT INTO findings SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS (SELECT 1 FROM findings"
    " WHERE kind = ?1 AND path = ?2 AND line IS ?3 AND message = ?4)"
)
LOST = (
    *("documents_unusable", "record_not_an_object", "line_not_json", "bad_utf8"),
    *("collection_unreadable", "record_too_large"),
)
"""Findings on records and files that gave no document."""
State = Literal["found", "not there", "not looked for"]


@dataclass(slots=True)
class KeptDocuments:
    """Documents that were found of one collection, what was looked for, and findings on its files.

    A document that is wanted and could not be looked for has no text, and is not complete: what
    depends on it is unjudged.
    """

    path: Path
    database: sqlite3.Connection = field(repr=False)
    wanted: Collection[str] = ()
    """The ids that this job wants of it."""

    unsaid: Collection[str] = ()
    """Ids of which a pack says nothing: another source that was looked through knows better."""
    to_fetch: int = 0
    """How many documents a service would be asked for, where it is only planned."""

    @classmethod
    def open(cls, folder: Path, name: str) -> KeptDocuments:
        """Return what a folder keeps of the collection of this name. Raises OutputError."""
        path = path_of(folder, name)
        with sqlite_errors_as_output_errors(path):
            keep_private(folder)
            if not path.exists():
                path.touch(0o600)
                make_private(path)
            # Another thread writes to it where an event loop runs in the one that waits for it.
            database = sqlite3.connect(path, WAIT, isolation_level=None, check_same_thread=False)
            kept = cls(path, database)
            with kept.change():
                ((application,),) = kept._rows("PRAGMA application_id")
                if application not in (0, APPLICATION):
                    raise sqlite3.DatabaseError("it is of another program")
                if not application:
                    kept._make_tables()
                    kept.database.execute(f"PRAGMA application_id = {APPLICATION}")
                    kept.database.execute(f"PRAGMA user_version = {SHAPE}")
            ((version,),) = kept._rows("PRAGMA user_version")
            if version != SHAPE:
                message = f"is of version {version}, and this program reads {SHAPE}; remove it"
                raise OutputError(f"{path}: {message}")
            return kept

    @classmethod
    def read(cls, path: Path) -> KeptDocuments:
        """Return what a file keeps, to be looked up only."""
        return cls(path, sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", WAIT, uri=True))

    @classmethod
    def of_this_process(cls, path: Path) -> KeptDocuments:
        """Return what holds the documents of a file outside of memory, as long as it is used."""
        kept = cls(path, sqlite3.connect("", isolation_level=None))
        kept._make_tables()
        return kept

    def _make_tables(self) -> None:
        for statement in TABLES:
            self.database.execute(statement)

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        """Return the rows that a query gives. Raises OutputError."""
        with sqlite_errors_as_output_errors(self.path):
            return self.database.execute(query, values).fetchall()

    @contextmanager
    def change(self) -> Iterator[None]:
        """Write all that is done within it, or nothing. Raises OutputError."""
        with sqlite_errors_as_output_errors(self.path):
            self.database.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self.database.execute("ROLLBACK")
                raise
            self.database.execute("COMMIT")

    def get(self, doc_id: str) -> Document | None:
        """Return the document with this id; one without text where it could not be looked for."""
        query = f"SELECT {', '.join(FIELDS)} FROM documents WHERE id = ?"
        for row in self._rows(query, (doc_id,)):
            return Document(doc_id, *row)
        return Document(doc_id, complete=False) if self._has("unknown", doc_id) else None

    def state_of(self, doc_id: str) -> State:
        """Return whether a document was found, is surely not there, or was not looked for."""
        if self._has("documents", doc_id):
            return "found"
        return "not there" if self._has("missing", doc_id) else "not looked for"

    def source_of(self, doc_id: str) -> str:
        """Return where a document is from: `file@place`, or an address; empty if it is not kept."""
        query = "SELECT path, place, source FROM documents WHERE id = ?"
        for path, place, source in self._rows(query, (doc_id,)):
            return source or f"{Path(path).name}@{place}"
        return ""

    def documents(self) -> Iterator[tuple[Document, str]]:
        """Yield each document that is kept, with its source, by id."""
        query = f"SELECT id, {', '.join(FIELDS)}, source FROM documents ORDER BY id"
        for *values, source in self.database.execute(query):
            yield Document(*values), source

    def _has(self, table: str, doc_id: str) -> bool:
        return bool(self._rows(f"SELECT 1 FROM {table} WHERE id = ?", (doc_id,)))

    @property
    def lost(self) -> int:
        """The number of records and files that gave no document: any id may be one of them."""
        query = f"SELECT count(*) FROM findings WHERE kind IN ({', '.join('?' * len(LOST))})"
        count: int = self._rows(query, LOST)[0][0]
        return count

    def some_ids(self, count: int) -> list[str]:
        """Return a few ids that the collection has, whether they are wanted or not."""
        query = "SELECT id FROM samples LIMIT ?"
        return [doc_id for (doc_id,) in self._rows(query, (count,))]

    def places(self, ids: Iterable[str]) -> Iterator[tuple[str, str, int]]:
        """Yield (id, path, place) of those documents that were found in files."""
        query = "SELECT id, path, place FROM documents WHERE id = ?"
        for doc_id in ids:
            yield from self._rows(query, (doc_id,))

    def findings(self) -> Iterator[Finding]:
        """Yield the findings on the files, as far as they were read."""
        query = "SELECT kind, path, line, message, value FROM findings ORDER BY path, line, rowid"
        for kind, path, line, message, value in self._rows(query):
            yield Finding(kind, Place(path, line), message, value)

    def begin(self, files: Sequence[Path]) -> None:
        """Forget what was found in files that have changed, and all that was not there."""
        # As places have them: the name of a file may not be UTF-8.
        states = {Place(str(file)).path: _state(file) for file in files}
        query = "SELECT path, size, changed FROM files"
        before = {path: (size, changed) for path, size, changed in self._rows(query)}
        if before == states:
            return
        with self.change():
            for path in before:
                if before[path] != states.get(path):
                    self.database.execute("DELETE FROM documents WHERE path = ?", (path,))
                    # Those on files in an archive are called `x.tar!name`.
                    within = f"{path}!"
                    query = "DELETE FROM findings WHERE path = ? OR substr(path, 1, ?) = ?"
                    self.database.execute(query, (path, len(within), within))
            for table in ("files", "missing", "passes", "units", "samples"):
                self.database.execute(f"DELETE FROM {table}")
            rows = ((path, *state) for path, state in states.items())
            self.database.executemany("INSERT INTO files VALUES (?, ?, ?)", rows)

    def select_unsettled(self, wanted: Iterable[str]) -> list[str]:
        """Return those ids that are neither kept nor known not to be there."""
        return [i for i in wanted if not (self._has("documents", i) or self._has("missing", i))]

    def begin_pass(self, wanted: Sequence[str]) -> Pass:
        """Return a pass that looks for these ids: one that was interrupted, or a new one.

        One that was interrupted may look for more.
        """
        query = "SELECT number, wanted FROM passes ORDER BY number DESC"
        for number, blob in self._rows(query):
            looked = orjson.loads(blob)
            if set(wanted) <= set(looked):
                names = self._rows("SELECT name FROM units WHERE pass = ?", (number,))
                return Pass(self, number, looked, frozenset(name for (name,) in names))
        with self.change():
            statement = "INSERT INTO passes (wanted) VALUES (?)"
            cursor = self.database.execute(statement, (orjson.dumps(list(wanted)),))
        assert cursor.lastrowid is not None
        return Pass(self, cursor.lastrowid, list(wanted), frozenset())

    def add(self, found: Iterable[FoundDocument], findings: Iterable[Finding] = ()) -> None:
        """Keep documents and findings. To be called within `change`."""
        for one in found:
            document = one.document
            row = (*ROW(document), Place(one.path).path, one.place, one.source)
            self.database.execute(ADD, row)
            for table in ("unknown", "missing"):
                self.database.execute(f"DELETE FROM {table} WHERE id = ?", (document.doc_id,))
        for finding in findings:
            path, line = finding.place.path, finding.place.line
            values = (finding.kind, path, line, finding.message, finding.value)
            self.database.execute(ADD_FINDING, values)

    def not_there(self, ids: Iterable[str]) -> None:
        """Note ids that are surely not in the collection."""
        rows = [(doc_id,) for doc_id in ids]
        with self.change():
            self.database.executemany("INSERT OR IGNORE INTO missing VALUES (?)", rows)
            for table in ("unknown", "documents"):
                self.database.executemany(f"DELETE FROM {table} WHERE id = ?", rows)

    def not_known(self, ids: Iterable[str]) -> None:
        """Note ids that are wanted, and of which it is not known whether they are there."""
        with self.change():
            for doc_id in ids:
                self.database.execute("INSERT OR IGNORE INTO unknown VALUES (?)", (doc_id,))
                self.database.execute("DELETE FROM missing WHERE id = ?", (doc_id,))

    def sample(self, ids: Iterable[str]) -> None:
        """Note a few ids that the collection has. To be called within `change`."""
        rows = ((doc_id,) for doc_id in ids)
        self.database.executemany("INSERT OR IGNORE INTO samples VALUES (?)", rows)

    def digest(self, ids: Iterable[str]) -> tuple[int, str]:
        """Return how many of these documents are kept, and a sha256 of their ids and texts."""
        count, digest = 0, hashlib.sha256()
        query = "SELECT id, title, text FROM documents WHERE id = ?"
        for doc_id in sorted(ids):
            for row in self._rows(query, (doc_id,)):
                count += 1
                digest.update(orjson.dumps(row))
        return count, digest.hexdigest()

    def remove_if_empty(self) -> None:
        """Remove the file where no document was found: it holds nothing that is worth keeping."""
        if not self._rows("SELECT 1 FROM documents LIMIT 1"):
            self.database.close()
            self.path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass over the files of a collection: `done` are the units that were read before.

    `wanted` are all the ids that it looks for.
    """

    kept: KeptDocuments
    number: int
    wanted: Sequence[str]
    done: frozenset[str]

    def unit_read(self, name: str) -> None:
        """Note that a unit was read to its end. To be called within `kept.change`."""
        # Another job may have ended the pass, or begun anew with files that have changed.
        statement = "INSERT OR IGNORE INTO units SELECT number, ? FROM passes WHERE number = ?"
        self.kept.database.execute(statement, (name, self.number))

    def end(self, missing: Iterable[str]) -> None:
        """Note that the pass has come to its end, and what it did not find anywhere."""
        database = self.kept.database
        # Where another job began anew, since files have changed, it looked at others than these.
        if self.kept._rows("SELECT 1 FROM passes WHERE number = ?", (self.number,)):
            self.kept.not_there(missing)
        with self.kept.change():
            database.execute("DELETE FROM passes WHERE number = ?", (self.number,))
            database.execute("DELETE FROM units WHERE pass = ?", (self.number,))


def path_of(folder: Path, name: str) -> Path:
    """Return the file in which a folder keeps what was found of a collection."""
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
    # The number is the version of the file.
    return folder / f"documents4-{digest}.sqlite"


def is_kept(path: Path) -> bool:
    """Return whether a file has what was found of a collection."""
    return is_database_of(path, APPLICATION)


@contextmanager
def sqlite_errors_as_output_errors(path: Path) -> Iterator[None]:
    """Raise what SQLite says of a file as OutputError."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        hint = ELSEWHERE if isinstance(error, sqlite3.OperationalError) else "remove it"
        raise OutputError(f"{path}: cannot be used: {error}; {hint}") from error
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {why(error)}; {ELSEWHERE}") from error


def _state(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_size, found.st_mtime_ns
