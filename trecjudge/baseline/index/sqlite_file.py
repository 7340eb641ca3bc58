"""The SQLite file of an index: its tables, how it is opened, and what a wrong one is called."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trecjudge.baseline.index.state import AGAIN, State, state_of
from trecjudge.errors import InputError, OutputError, why

APPLICATION = 0x74724978
"""Says that a file is an index of this program ("trIx")."""
SHAPE = 1
"""The version of the tables."""
MODES = ("mode=rw", "mode=ro", "mode=ro&immutable=1")
"""How a file is opened to be read, the first that can be: the last to close a file that it may
write clears up beside it; where nothing may be written, it cannot be shared with a writer."""
PATIENCE = 10.0
"""Seconds for which a refresh waits for another one."""
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
    _check_header(path)
    with understood(path):
        database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            if not _is_empty(database):
                check_tables(database, path)
        finally:
            database.close()


def _check_header(path: Path) -> None:
    """Raise InputError for a folder, and for a file that is not of SQLite: none is overwritten."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {why(error)}") from error
    if start != b"SQLite format 3\0":
        raise InputError(f"{path}: is no index, but another file; give another path")


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


def open_reader(path: Path) -> sqlite3.Connection:
    """Return a connection that only reads. Raises InputError where there is no index."""
    if not path.exists():
        there = f"make one: run_judge.py index DOCUMENTS --to {path}"
        raise InputError(f"{path}: there is no such index; {there}")
    _check_header(path)
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


def read_state(database: sqlite3.Connection, path: Path) -> State:
    """Return the state of an index. Raises InputError for one that cannot be read."""
    row = database.execute("SELECT state FROM state").fetchone()
    if row is None:
        raise InputError(f"{path}: is damaged: it has no state; {AGAIN}")
    return state_of(row[0], str(path))
