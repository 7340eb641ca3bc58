"""Saves what can be read of a damaged cache into a new file, and sets the damaged one aside."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from trecjudge.files import make_private, part_of
from trecjudge.inputs.sources.databases import BESIDE
from trecjudge.models.cache.pages import Values, records
from trecjudge.models.cache.rows import NAMES, SIZES, completed, fault_of
from trecjudge.models.cache.schema import (
    BUSY,
    Damaged,
    MissingTable,
    is_damage,
    is_regular,
    open_sound,
)

LOCK = "replies.lock"
LONGEST_REPAIR = 600.0
"""Seconds to wait for another process that opens or repairs the file."""
REPLY = f"""
    INSERT INTO replies ({", ".join(NAMES)}, checksum) VALUES ({", ".join("?" * (len(NAMES) + 1))})
    ON CONFLICT (key) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in (*NAMES[1:], "checksum"))}
    WHERE excluded.written >= written
"""
OTHERS = {
    3: ("abilities", (str, str, str)),
    4: ("batched", (str, str, (bytes, type(None)), (int, type(None)))),
    6: ("batches", (str, str, str, str, int, int)),
}
"""The other tables, by how many columns they have, and the types of these."""


def opened(path: Path, notify: Callable[[str], None]) -> sqlite3.Connection:
    """Open (or make) a cache file for several threads and processes; to be called in `lone`.

    A damaged one is repaired, and `notify` gets a message. Raises InputError for one that cannot be
    used, sqlite3.Error or OSError where none can be kept there.
    """
    try:
        return open_sound(path)
    except MissingTable as error:
        if not any(len(values) in SIZES for values, _ in records(path)):
            raise
        repair(path, Damaged(f"the table {error.name!r} is gone"), notify)
    except sqlite3.Error as error:
        # A damaged header may say that the file is only to be read, or is of another format.
        if not is_damage(error) and not (_blames_file(error) and os.access(path, os.W_OK)):
            raise
        repair(path, error, notify)
    return open_sound(path)


def _blames_file(error: sqlite3.Error) -> bool:
    blamed = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_READONLY)
    return getattr(error, "sqlite_errorcode", None) in blamed


@contextmanager
def lone(path: Path) -> Iterator[None]:
    """Let one process or thread at a time open or repair the file; a killed one frees the lock."""
    make_private(path.with_name(LOCK))
    lock = sqlite3.connect(path.with_name(LOCK), timeout=LONGEST_REPAIR, isolation_level=None)
    with closing(lock):
        lock.execute("BEGIN EXCLUSIVE")
        yield


def repair(path: Path, error: sqlite3.Error, notify: Callable[[str], None]) -> None:
    """Put a new file with all that can be read in place of a damaged one, which is kept aside.

    To be called within `lone`. A process that has the old file open goes on in it, finds that it
    was moved, and repeats its last write in the new one.
    """
    path = Path(os.path.realpath(path))
    fresh = part_of(path)
    try:
        with _still(path):
            with closing(open_sound(fresh)) as database:
                saved = fill(database, path)
                database.execute("PRAGMA journal_mode = DELETE")
            aside = _set_aside(path)
            fresh.replace(path)
    finally:
        _remove(fresh)
        if isinstance(error, Damaged) and error.held is not None:
            error.held.close()
    notify(
        f"{path}: is damaged ({error}); {saved} replies are saved in a new file,"
        f" the damaged one is {aside}"
    )


@contextmanager
def _still(path: Path) -> Iterator[None]:
    """Keep others from writing into a file, as far as it still can be locked."""
    # Of an empty one SQLite would delete the log, and at a pipe beside it wait for ever.
    if not is_regular(path) or not path.exists() or not path.stat().st_size:
        yield
        return
    with closing(sqlite3.connect(path, timeout=BUSY, isolation_level=None)) as database:
        with suppress(sqlite3.Error):
            database.execute("BEGIN IMMEDIATE")
        yield


def _remove(path: Path) -> None:
    for suffix in ("", *BESIDE):
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def fill(database: sqlite3.Connection, path: Path) -> int:
    """Copy every row that can be read from the pages of a file; return how many replies."""
    with database:
        for values, is_newest in records(path):
            if len(values) in SIZES:
                row = completed(values)
                if not fault_of(row):
                    database.execute(REPLY, row)
            elif is_newest and _is_of(values):
                name, kinds = OTHERS[len(values)]
                places = ", ".join("?" * len(kinds))
                database.execute(f"INSERT OR REPLACE INTO {name} VALUES ({places})", values)
    count: int = database.execute("SELECT COUNT(*) FROM replies").fetchone()[0]
    return count


def _is_of(values: Values) -> bool:
    _, kinds = OTHERS.get(len(values), ("", ()))
    return bool(kinds) and all(map(isinstance, values, kinds))


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
