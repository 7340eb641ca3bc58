"""SQLite files that others may have written: opened with care, and given no endless time."""

from __future__ import annotations

import math
import os
import sqlite3
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from trecjudge.files import open_regular
from trecjudge.settings.limits import limits

MAGIC = b"SQLite format 3\0"
PLACE = slice(68, 72)
"""Where a file of SQLite says which application it belongs to."""
PATIENCE = 10.0
"""Seconds that one answer of a file may take: its pages may lead round in a circle."""
STEPS = 100_000
"""Steps of SQLite's machine between two looks at the clock."""
BESIDE = ("-wal", "-shm", "-journal")
"""Endings of the files that SQLite keeps beside a file."""
OF_SEVERAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""The end of a journal that names another file, which SQLite would delete; we write none such."""
ROOM = 1 << 20
"""Bytes of a row beside its longest text."""
PRAGMAS = ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0")
LIMITS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}


class TimedConnection(sqlite3.Connection):
    """A connection whose answers take `patience` seconds each at most, else it is interrupted."""

    patience = PATIENCE
    until = math.inf

    def begin(self) -> None:
        """Start the clock of the next answer."""
        self.until = time.monotonic() + self.patience

    def execute(self, *statement: Any) -> sqlite3.Cursor:
        """Return the answer to a statement; the clock runs until its last row."""
        self.begin()
        try:
            return super().execute(*statement)
        except UnicodeDecodeError as error:  # SQLite's own message quotes a spoiled schema
            raise sqlite3.DatabaseError("its schema is not UTF-8") from error

    def executemany(self, *statements: Any) -> sqlite3.Cursor:
        """Write many rows, which are ours; they may take any time."""
        self.until = math.inf
        return super().executemany(*statements)


def rows_of(database: sqlite3.Connection, *statement: Any) -> Iterator[Any]:
    """Yield the rows of an answer, each with a clock of its own."""
    for row in database.execute(*statement):
        yield row
        if isinstance(database, TimedConnection):
            database.begin()


def open_database(
    path: Path, mode: str, timeout: float = PATIENCE, to_write: bool = False
) -> TimedConnection:
    """Return a connection to a file by URI, in which nothing is trusted. Raises sqlite3.Error."""
    uri = f"{path.absolute().as_uri()}?{mode}"
    database = sqlite3.connect(
        uri,
        timeout,
        isolation_level=None,
        check_same_thread=False,
        factory=TimedConnection,
        uri=True,
    )
    try:
        database.set_progress_handler(lambda: time.monotonic() > database.until, STEPS)
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limits().record + ROOM)
        for what, most in LIMITS.items():
            database.setlimit(what, most)
        if (defensive := getattr(sqlite3, "SQLITE_DBCONFIG_DEFENSIVE", None)) is not None:
            getattr(database, "setconfig")(defensive, True)  # noqa: B009 (from Python 3.12 on)
        for pragma in (*PRAGMAS, f"query_only = {'OFF' if to_write else 'ON'}"):
            database.execute(f"PRAGMA {pragma}")
    except BaseException:
        database.close()
        raise
    return database


def is_database_of(path: Path, application: int) -> bool:
    """Return whether a file is a database of an application, by its number."""
    try:
        with open_regular(path) as file:
            head = file.read(PLACE.stop)
    except OSError:
        return False
    return head.startswith(MAGIC) and head[PLACE] == application.to_bytes(4, "big")


def fault_of_files(path: Path, beside: Sequence[str] = BESIDE) -> str:
    """Return why SQLite must not open a file, and those beside it; empty if it may.

    A pipe would be waited for, and a journal of several databases names files to be deleted.
    """
    for name in (str(path), *(f"{path}{ending}" for ending in beside)):
        try:
            mode = os.stat(name).st_mode
        except OSError:  # not there, or a link to nothing
            continue
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "no ordinary file"
            return f"{Path(name).name} is {kind}"
        if name.endswith("-journal") and _end(name) == OF_SEVERAL:
            return f"{Path(name).name} is a journal of several databases"
    return ""


def _end(name: str) -> bytes:
    with open_regular(Path(name)) as file:
        file.seek(max(0, os.stat(name).st_size - len(OF_SEVERAL)))
        return file.read(len(OF_SEVERAL))
