"""An open cache file: a damaged one is set aside, and a new one gets what can still be read."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from trecjudge.files import make_private, part_of, resolve_links
from trecjudge.inputs.sources.databases import BESIDE, fault_of_files
from trecjudge.models.cache.schema import (
    ADD_ABILITY,
    ADD_REPLY,
    CHECKSUM,
    TABLES,
    Row,
    check_owner,
    check_regular,
    check_tables,
    check_version,
    fault_of,
    is_damage,
    migrate,
    row_columns,
    text_or_bytes,
)

LOCK = "replies.lock"
BUSY = 30.0
"""Seconds to wait for another process."""
LONGEST_REPAIR = 600.0
"""Seconds to wait for another process that opens or replaces the file."""
OTHERS = {
    "abilities": ADD_ABILITY,
    "batches": "INSERT OR IGNORE INTO batches VALUES (?, ?, ?, ?, ?, ?)",
    "batched": "INSERT OR IGNORE INTO batched VALUES (?, ?, ?, ?)",
}
"""The tables beside that of replies, and how a row of each is added."""
_BOUNDS = ("", *(f"{number:03x}" for number in range(1 << 12)), "g", "\U0010ffff")
"""Keys are read in so many parts, so that a damaged page costs no more than one of them."""

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


@dataclass(slots=True)
class CacheFile:
    """A connection to a cache file. Work is repeated where the file had to be replaced.

    Raises InputError for a file that cannot be used, sqlite3.Error or OSError where none can be
    kept there.
    """

    path: Path
    notify: Callable[[str], None]
    database: sqlite3.Connection = field(init=False, repr=False)
    _name: str = field(init=False, repr=False)
    _file: tuple[int, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._name = str(self.path)
        with lone(self.path):
            self._open()

    def read(self, work: Work[T]) -> T:
        """Return what `work` makes of the database. Raises sqlite3.Error."""
        try:
            return work(self.database)
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            self._mend(error)
            return work(self.database)

    def write(self, work: Work[T]) -> T:
        """Do `work` in a transaction, which is on disk when it returns. Raises sqlite3.Error."""

        def commit(database: sqlite3.Connection) -> T:
            with database:
                return work(database)

        result = self.read(commit)
        # What went into a file that another process has just set aside is written once more.
        while self.has_moved():
            self.reopen()
            result = self.read(commit)
        return result

    def has_moved(self) -> bool:
        """Return whether another file has taken the place of the one that is open."""
        return self._identity() != self._file

    def reopen(self) -> None:
        """Open the file that is at the path now."""
        self.close()
        with lone(self.path):
            self._open()

    def close(self) -> None:
        """Close the file."""
        with suppress(sqlite3.Error):  # of a damaged file: nothing is left in it that was not saved
            self.database.close()

    def _open(self) -> None:
        """Open the file, or make it; within `lone`, or another could move it before it is known."""
        try:
            self.database = open_sound(self.path)
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            replace_damaged(self.path, error, self.notify)
            self.database = open_sound(self.path)
        self._file = self._identity()

    def _identity(self) -> tuple[int, int]:
        try:
            found = os.stat(self._name)  # not by Path: this is done for each reply that is missing
        except OSError:
            return (0, 0)
        return (found.st_dev, found.st_ino)

    def _mend(self, error: sqlite3.Error) -> None:
        """Replace the file, unless another process or thread has done so."""
        with lone(self.path):
            if not self.has_moved():
                replace_damaged(self.path, error, self.notify)
            self.close()
            self._open()


def open_sound(path: Path) -> sqlite3.Connection:
    """Open (or make) a cache file for several threads, brought to the newest version.

    Raises InputError for a file that is newer, or of something else; DamagedCache or another
    sqlite3.Error where it cannot be used.
    """
    check_regular(path)
    make_private(path)  # SQLite gives the files beside it the same rights
    database = sqlite3.connect(path, timeout=BUSY, check_same_thread=False)
    try:
        database.execute("PRAGMA trusted_schema = OFF")
        check_version(database, path)
        check_owner(database, path)  # before anything is changed: it may be another program's file
        _write_ahead(database)
        database.execute("PRAGMA synchronous = NORMAL")  # a crash costs the last replies only
        migrate(database)
        check_tables(database, path, TABLES)
        # Damage at the root is found here, where nothing is under way yet.
        database.execute("SELECT key FROM replies LIMIT 1").fetchone()
    except BaseException:
        database.close()
        raise
    return database


def _write_ahead(database: sqlite3.Connection) -> None:
    """Switch to a write-ahead log; SQLite itself does not wait where another process does so."""
    until = time.monotonic() + BUSY
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)


@contextmanager
def lone(path: Path) -> Iterator[None]:
    """Let one process or thread at a time open or replace the file; a killed one frees the lock."""
    make_private(path.with_name(LOCK))
    lock = sqlite3.connect(path.with_name(LOCK), timeout=LONGEST_REPAIR, isolation_level=None)
    with closing(lock):
        lock.execute("BEGIN EXCLUSIVE")
        yield


def replace_damaged(path: Path, error: sqlite3.Error, notify: Callable[[str], None]) -> None:
    """Put a new file with all that SQLite can still read in place of a damaged one.

    To be called within `lone`. The damaged file is kept beside it. A process that has it open goes
    on in it, finds that it was moved, and repeats its last write in the new one.
    """
    # A link to a file on a larger disk stays: what it leads to is replaced.
    path = resolve_links(path)
    fresh = part_of(path)
    try:
        with _open_damaged(path) as damaged:
            with closing(open_sound(fresh)) as database:
                saved = _copy_readable(damaged, database) if damaged else 0
                # One file without a log: it can be renamed as a whole.
                database.execute("PRAGMA journal_mode = DELETE")
            aside = _set_aside(path)
            fresh.replace(path)
    finally:
        for suffix in ("", *BESIDE):
            fresh.with_name(fresh.name + suffix).unlink(missing_ok=True)
    notify(
        f"{path}: is damaged ({error}); {saved} replies are saved in a new file,"
        f" the damaged one is {aside}"
    )


@contextmanager
def _open_damaged(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Open a damaged file, if it is one, and keep others from writing as far as that is possible.

    A reply that another process writes after the copy and before the move would be lost.
    """
    if fault_of_files(path, beside=()):  # at a pipe SQLite would wait for ever
        yield None
        return
    # Of a file that has no proper log beside it only what is in itself is read.
    address = f"{path.absolute().as_uri()}?{'immutable=1' if fault_of_files(path) else 'mode=rw'}"
    database = sqlite3.connect(address, timeout=BUSY, isolation_level=None, uri=True)
    with closing(database):
        with suppress(sqlite3.Error):
            database.execute("PRAGMA writable_schema = ON")  # reads what is left of a cut file
            database.execute("BEGIN IMMEDIATE")
        yield database


def _copy_readable(damaged: sqlite3.Connection, target: sqlite3.Connection) -> int:
    """Copy the rows that SQLite can read into a new cache; return how many replies."""
    damaged.text_factory = text_or_bytes
    try:
        columns = row_columns(damaged)
    except sqlite3.Error:
        return 0
    with target:
        for start, end in pairwise(_BOUNDS):
            query = f"SELECT {columns} FROM replies WHERE key >= ? AND key < ? ORDER BY key"
            # Where a page cannot be read, all before it is there, and from the end all after it.
            for order in ("ASC", "DESC"):
                for row in _readable(damaged, f"{query} {order}", start, end):
                    if not fault_of(row[:CHECKSUM], row[CHECKSUM]):
                        target.execute(ADD_REPLY, row)
        for table, statement in OTHERS.items():
            for row in _readable(damaged, f"SELECT * FROM {table}"):
                target.execute(statement, row)
    count: int = target.execute("SELECT COUNT(*) FROM replies").fetchone()[0]
    return count


def _readable(damaged: sqlite3.Connection, query: str, *values: str) -> Iterator[Row]:
    """Yield the rows of an answer as far as they can be read."""
    with suppress(sqlite3.Error):
        yield from damaged.execute(query, values)


def _set_aside(path: Path) -> Path:
    """Rename a file, and the files beside it, to a free name; return that name."""
    number = 1
    while any(os.path.lexists(f"{path}.damaged-{number}{suffix}") for suffix in ("", *BESIDE)):
        number += 1
    aside = path.with_name(f"{path.name}.damaged-{number}")
    for suffix in BESIDE:
        beside = path.with_name(path.name + suffix)
        if suffix == "-shm" and not beside.is_dir():
            beside.unlink(missing_ok=True)
        elif os.path.lexists(beside):
            beside.rename(aside.with_name(aside.name + suffix))
    # Last, so that a process killed in between leaves a damaged file, not none.
    path.rename(aside)
    return aside
