"""The SQLite file of an index: its tables, how it is opened, and what a wrong one is called."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from trecjudge.baseline.index.state import State, state_of
from trecjudge.errors import OutputError, why
from trecjudge.inputs.documents.index_file import (
    APPLICATION,
    SHAPE,
    TABLES,
    check_header,
    check_tables,
    damaged,
    understood,
)
from trecjudge.inputs.sources.databases import PATIENCE, Watched, fault_of_files, open_database


def make(path: Path, state: State) -> None:
    """Make an empty index, unless there is one. Raises InputError for a file of another kind."""
    if not path.absolute().parent.is_dir():
        raise OutputError(f"{path}: there is no such folder; make it, or give another path")
    try:
        is_new = not path.exists() or path.stat().st_size == 0
        fault = fault_of_files(path) if is_new else ""
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {why(error)}; give another path") from error
    if fault:
        raise OutputError(f"{path}: cannot be written: {fault}; give another path")
    if not is_new:
        _check_ours(path)
    with understood(path), open_writer(path) as database:
        if _is_empty(database):
            database.execute(f"PRAGMA application_id = {APPLICATION}")
            database.execute(f"PRAGMA user_version = {SHAPE}")
            for table in TABLES:
                database.execute(table)
            database.execute("INSERT INTO state VALUES (?)", (state.as_json(),))


def _is_empty(database: Watched) -> bool:
    return database.execute("SELECT 1 FROM sqlite_master").fetchone() is None


def _check_ours(path: Path) -> None:
    """Raise InputError for a file that is neither an index nor empty. It is not changed."""
    check_header(path)
    with understood(path), closing(open_database(path, "mode=ro")) as database:
        if not _is_empty(database):
            check_tables(database, path)


@contextmanager
def open_writer(path: Path) -> Iterator[Watched]:
    """Yield a connection with a transaction begun; it is written at the end, or not at all."""
    database = open_database(path, "mode=rwc", PATIENCE, to_write=True)
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


def read_state(database: Watched, path: Path) -> State:
    """Return the state of an index. Raises InputError for one that cannot be read."""
    rows = database.execute("SELECT state FROM state LIMIT 2").fetchall()
    if len(rows) != 1:
        raise damaged(path, f"it has {len(rows) or 'no'} states")
    return state_of(rows[0][0], str(path))
