"""The SQLite file of an index: its tables, how it is opened, and what a wrong one is called."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trecjudge.baseline.index.state import State, state_of
from trecjudge.errors import InputError, OutputError, why
from trecjudge.inputs.documents.index_file import (
    AGAIN,
    APPLICATION,
    PATIENCE,
    SHAPE,
    check_header,
    check_tables,
    understood,
)

TABLES = (
    "CREATE TABLE state (state TEXT NOT NULL)",
    "CREATE TABLE documents (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " sha256 TEXT NOT NULL, record TEXT NOT NULL, title TEXT NOT NULL, url TEXT NOT NULL,"
    " date TEXT NOT NULL, version TEXT NOT NULL, metadata TEXT NOT NULL,"
    " first_chunk INTEGER NOT NULL, chunks INTEGER NOT NULL)",
    # Apart, so that looking through the documents does not read their texts.
    "CREATE TABLE texts (document INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    "CREATE TABLE chunks (number INTEGER PRIMARY KEY, document INTEGER NOT NULL,"
    " start INTEGER NOT NULL, end INTEGER NOT NULL)",
    "CREATE TABLE fields (name TEXT NOT NULL, value TEXT NOT NULL, document INTEGER NOT NULL,"
    " PRIMARY KEY (name, value, document)) WITHOUT ROWID",
    "CREATE TABLE segments (number INTEGER PRIMARY KEY, chunks BLOB NOT NULL,"
    " lengths BLOB NOT NULL, gone BLOB NOT NULL)",
    "CREATE TABLE postings (segment INTEGER NOT NULL, term TEXT NOT NULL, list BLOB NOT NULL,"
    " PRIMARY KEY (segment, term)) WITHOUT ROWID",
    "CREATE TABLE vectors (chunk INTEGER PRIMARY KEY, vector BLOB NOT NULL)",
)


def make(path: Path, state: State) -> None:
    """Make an empty index, unless there is one. Raises InputError for a file of another kind."""
    if not path.absolute().parent.is_dir():
        raise OutputError(f"{path}: there is no such folder; make it, or give another path")
    try:
        is_new = not path.exists() or path.stat().st_size == 0
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {why(error)}; give another path") from error
    if not is_new:
        _check_ours(path)
    with understood(path), open_writer(path) as database:
        if _is_empty(database):
            database.execute(f"PRAGMA application_id = {APPLICATION}")
            database.execute(f"PRAGMA user_version = {SHAPE}")
            for table in TABLES:
                database.execute(table)
            database.execute("INSERT INTO state VALUES (?)", (state.as_json(),))


def _is_empty(database: sqlite3.Connection) -> bool:
    return database.execute("SELECT 1 FROM sqlite_master").fetchone() is None


def _check_ours(path: Path) -> None:
    """Raise InputError for a file that is neither an index nor empty. It is not changed."""
    check_header(path)
    with understood(path):
        database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            if not _is_empty(database):
                check_tables(database, path)
        finally:
            database.close()


@contextmanager
def open_writer(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection with a transaction begun; it is written at the end, or not at all."""
    database = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    try:
        # Readers go on with what was there while a refresh writes.
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("BEGIN IMMEDIATE")
        try:
            yield database
        except BaseException:
            database.rollback()
            raise
        database.execute("COMMIT")
        # One file has it all, where no reader is in the way.
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        database.close()


def read_state(database: sqlite3.Connection, path: Path) -> State:
    """Return the state of an index. Raises InputError for one that cannot be read."""
    row = database.execute("SELECT state FROM state").fetchone()
    if row is None:
        raise InputError(f"{path}: is damaged: it has no state; {AGAIN}")
    return state_of(row[0], str(path))
