"""The file of an index that `run_judge.py index` made: opened to be read, and its documents."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from trecjudge.errors import InputError, OutputError, why
from trecjudge.records import Document

MAGIC = b"SQLite format 3\0"
PLACE = slice(68, 72)
"""Where a file of SQLite says which application it belongs to."""
AGAIN = "index the documents again, into another file"
APPLICATION = 0x74724978
"""Says that a file is an index of this program ("trIx")."""
SHAPE = 1
"""The version of the tables."""
MODES = ("mode=rw", "mode=ro", "mode=ro&immutable=1")
"""How a file is opened to be read, the first that can be: the last to close a file that it may
write clears up beside it; where nothing may be written, it cannot be shared with a writer."""
PATIENCE = 10.0
"""Seconds for which a refresh waits for another one."""


@contextmanager
def understood(path: Path) -> Iterator[None]:
    """Raise what SQLite says of a file as InputError, or as OutputError where it is in use."""
    try:
        yield
    except sqlite3.Error as error:
        if _is_busy(error):
            raise OutputError(
                f"{path}: another refresh of this index is under way; try again when it has ended"
            ) from error
        if isinstance(error, sqlite3.OperationalError):
            raise OutputError(f"{path}: cannot be used: {error}") from error
        raise InputError(f"{path}: is damaged: {error}; {AGAIN}") from error


def _is_busy(error: sqlite3.Error) -> bool:
    return "locked" in str(error) or "busy" in str(error)


def check_header(path: Path) -> None:
    """Raise InputError for a folder, and for a file that is not of SQLite: none is overwritten."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {why(error)}") from error
    if start != MAGIC:
        raise InputError(f"{path}: is no index, but another file; give another path")


def open_reader(path: Path) -> sqlite3.Connection:
    """Return a connection that only reads. Raises InputError where there is no index."""
    if not path.exists():
        there = f"make one: run_judge.py index DOCUMENTS --to {path}"
        raise InputError(f"{path}: there is no such index; {there}")
    check_header(path)
    with understood(path):
        for mode in MODES[:-1]:
            try:
                return _checked(path, mode)
            except sqlite3.OperationalError:
                continue
        return _checked(path, MODES[-1])


def _checked(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{mode}"
    database = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)
    try:
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA query_only = ON")
        check_tables(database, path)
    except BaseException:
        database.close()
        raise
    return database


def check_tables(database: sqlite3.Connection, path: Path) -> None:
    """Raise InputError for a database of another program, or of another version of this one."""
    found = {
        pragma: database.execute(f"PRAGMA {pragma}").fetchone()[0]
        for pragma in ("application_id", "user_version")
    }
    if found["application_id"] != APPLICATION:
        raise InputError(f"{path}: is no index, but another database; give another path")
    if found["user_version"] != SHAPE:
        message = f"is of version {found['user_version']}, and this program reads {SHAPE}"
        raise InputError(f"{path}: {message}; {AGAIN}")


def is_index(path: Path) -> bool:
    """Return whether a file is an index of this program."""
    try:
        with path.open("rb") as file:
            head = file.read(PLACE.stop)
    except OSError:
        return False
    return head.startswith(MAGIC) and head[PLACE] == APPLICATION.to_bytes(4, "big")


@dataclass(slots=True)
class DocumentsOfIndex:
    """The whole documents of an index, looked up one by one."""

    path: Path
    lost: int = 0
    _database: sqlite3.Connection = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._database = open_reader(self.path)

    def get(self, doc_id: str) -> Document | None:
        """Return the document with this id, or None."""
        query = (
            "SELECT text, title, url, date, version FROM documents"
            " JOIN texts ON texts.document = documents.number WHERE id = ?"
        )
        with understood(self.path):
            row = self._database.execute(query, (doc_id,)).fetchone()
        return Document(doc_id, *row) if row else None

    def some_ids(self, count: int) -> list[str]:
        """Return the first ids."""
        query = "SELECT id FROM documents ORDER BY number LIMIT ?"
        with understood(self.path):
            return [doc_id for (doc_id,) in self._database.execute(query, (count,))]
