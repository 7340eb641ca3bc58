"""The tables of a cache file, its versions, and the checks of a sound file."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.files import make_private, part_of
from trecjudge.inputs.sources.databases import fault_of_files
from trecjudge.models.cache.pages import FRAME_HEADER, WAL_HEADER, frames, header_is_sound
from trecjudge.models.cache.rows import NEEDED
from trecjudge.version import __version__

FILE = "replies.sqlite"
BUSY = 30.0
"""Seconds to wait for another process."""
TABLES = ("replies", "abilities", "batches", "batched")
LOOKS = 3
"""How often a log is looked at before it counts as damaged."""
BELIEVABLE = 1_000_000
"""A version above it is a damaged number."""

MIGRATIONS: Sequence[str] = (
    """
    CREATE TABLE replies (
        key TEXT PRIMARY KEY, reply TEXT NOT NULL,
        prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL,
        endpoint TEXT NOT NULL, model TEXT NOT NULL, written INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE abilities (
        endpoint TEXT NOT NULL, model TEXT NOT NULL, form TEXT NOT NULL,
        PRIMARY KEY (endpoint, model)
    ) WITHOUT ROWID;
    """,
    """
    ALTER TABLE replies ADD COLUMN program TEXT NOT NULL DEFAULT '';
    ALTER TABLE replies ADD COLUMN stated INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE batches (
        file TEXT PRIMARY KEY, id TEXT NOT NULL, endpoint TEXT NOT NULL, model TEXT NOT NULL,
        requests INTEGER NOT NULL, begun INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE batched (
        key TEXT PRIMARY KEY, file TEXT NOT NULL, answer BLOB, written INTEGER
    ) WITHOUT ROWID;
    CREATE INDEX batched_by_file ON batched (file);
    """,
    """
    ALTER TABLE replies ADD COLUMN prompt TEXT NOT NULL DEFAULT '';
    ALTER TABLE replies ADD COLUMN version TEXT NOT NULL DEFAULT '';
    ALTER TABLE replies ADD COLUMN source TEXT NOT NULL DEFAULT '';
    ALTER TABLE replies ADD COLUMN checksum INTEGER;
    CREATE TABLE versions (version INTEGER PRIMARY KEY, trecjudge TEXT NOT NULL);
    """,
)
"""SQL that leads from one version of the file to the next; the version is `user_version`."""


class Damaged(sqlite3.DatabaseError):
    """A file that is damaged, though SQLite itself finds nothing wrong.

    `held` is the connection that found it. It stays open until the content of the log is saved:
    closing it would empty the log.
    """

    held: sqlite3.Connection | None = None


class MissingTable(InputError):
    """A file of a version that we know, without one of its tables."""

    def __init__(self, path: Path, version: int, name: str) -> None:
        super().__init__(
            f"{path}: is no cache that can be read: its version is {version}, but its table"
            f" {name!r} is missing; move the file away, or give another folder"
        )
        self.name = name


_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT)


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether the file is damaged; a lock, the disk or permissions may be at fault too."""
    if isinstance(error, Damaged):
        return True
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return "decode" in str(error)  # text that is no UTF-8
    return (code & 0xFF) in _DAMAGE or code == sqlite3.SQLITE_IOERR_SHORT_READ


def open_sound(path: Path) -> sqlite3.Connection:
    """Open (or make) a cache file, brought to the newest version.

    Raises InputError for a file that is newer, or of something else; Damaged or another
    sqlite3.Error where it cannot be used.
    """
    check_regular(path)
    if not os.path.lexists(path):
        _make(path)
    make_private(path)
    if path.exists() and path.stat().st_size == 0:
        raise Damaged("it is empty")
    log = log_of(path)
    database = sqlite3.connect(path, timeout=BUSY, check_same_thread=False)
    try:
        database.execute("PRAGMA trusted_schema = OFF")
        check_version(database, path)
        _check_owner(database, path)
        _write_ahead(database)
        database.execute("PRAGMA synchronous = NORMAL")  # a crash costs the last replies only
        make_tables(database)
        # A damaged header may say that the file is only to be read.
        database.execute("DELETE FROM versions WHERE version < 0")
        database.commit()
        check_tables(database, path, TABLES)
        database.execute("SELECT key FROM replies LIMIT 1").fetchone()
        _check_log(database, path, log)
    except Damaged as error:
        error.held = database
        raise
    except BaseException:
        database.close()
        raise
    return database


def _make(path: Path) -> None:
    """Make a new file; it gets its name when SQLite has begun it: an empty one is damaged."""
    part = part_of(path)
    make_private(part)  # SQLite gives the files beside it the same rights
    with closing(sqlite3.connect(part)) as database:
        _write_ahead(database)
    part.replace(path)


def no_cache(path: Path) -> str:
    """Return why there is no cache at a path: its folder or its file is missing."""
    if path.parent.is_dir():
        return f"no {path.name} in it"
    return "is a file, not a folder" if path.parent.exists() else "there is no such folder"


def check_regular(path: Path) -> None:
    """Raise Damaged where a folder, a pipe or a device is at the path: reading may never end."""
    if fault := fault_of_files(path):
        raise Damaged(fault)


def is_regular(path: Path) -> bool:
    """Return whether a file and those beside it are ordinary files, as far as they exist."""
    return not fault_of_files(path)


def _size(name: str) -> int:
    return os.stat(name).st_size if os.path.exists(name) else 0


def version_of(database: sqlite3.Connection) -> int:
    """Return the version of a cache file, 0 for a new one."""
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    return version


def check_version(database: sqlite3.Connection, path: Path) -> None:
    """Raise InputError for a file that a newer trecjudge wrote, Damaged for an absurd version."""
    version = version_of(database)
    if not 0 <= version <= BELIEVABLE:
        raise Damaged(f"its version is {version}")
    if version > len(MIGRATIONS):
        raise InputError(
            f"{path}: is a cache of version {version}, written by {_writer(database, version)};"
            f" this is trecjudge {__version__}, which knows versions up to {len(MIGRATIONS)}:"
            " update trecjudge, or give another folder"
        )


def _writer(database: sqlite3.Connection, version: int) -> str:
    """Return which trecjudge brought a file to its version, if the file has that."""
    try:
        query = "SELECT trecjudge FROM versions WHERE version = ?"
        row = database.execute(query, (version,)).fetchone()
    except sqlite3.Error:
        row = None
    return f"trecjudge {row[0]}" if row and isinstance(row[0], str) else "a newer trecjudge"


def _check_owner(database: sqlite3.Connection, path: Path) -> None:
    """Raise InputError for the database of something else, Damaged for tables of no version."""
    names = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
    if version_of(database):
        check_tables(database, path, ["replies"])
    if version_of(database) or not names:
        return
    if "replies" in names:
        raise Damaged("it has tables but no version")
    raise InputError(f"{path}: is a database of something else; give another folder")


def check_tables(database: sqlite3.Connection, path: Path, names: Sequence[str]) -> None:
    """Raise InputError where a table is missing, or anything but an ordinary table of ours.

    A view or a computed column could keep a reader busy for ever, a trigger could change writes.
    """
    query = "SELECT name, type, rootpage FROM sqlite_master"
    found = {name: (kind, root) for name, kind, root in database.execute(query)}
    version = version_of(database)
    for name in names:
        kind, root = found.get(name, ("", 0))
        if not kind:
            raise MissingTable(path, version, name)
        if kind != "table" or not root:
            kind = "virtual table" if kind == "table" else kind
            raise InputError(f"{path}: is no cache that can be read: {name!r} is a {kind}")
    triggers = [name for name, (kind, _) in found.items() if kind == "trigger"]
    if triggers:
        raise InputError(f"{path}: is no cache that can be read: has a trigger {triggers[0]!r}")
    _check_columns(database, path)


def _check_columns(database: sqlite3.Connection, path: Path) -> None:
    query = "SELECT name, pk, hidden FROM pragma_table_xinfo('replies')"
    columns = {name: (pk, hidden) for name, pk, hidden in database.execute(query)}
    where = f"{path}: is no cache that can be read: its table 'replies'"
    for name in NEEDED:
        if name not in columns:
            raise InputError(f"{where} has no column {name!r}")
    if any(hidden for _, hidden in columns.values()):
        raise InputError(f"{where} has a computed column")
    if [name for name, (pk, _) in columns.items() if pk] != ["key"]:
        raise InputError(f"{where} has another primary key than 'key'")


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


def make_tables(database: sqlite3.Connection) -> None:
    """Bring a file, or a new one, to the newest version, while others may do the same."""
    if version_of(database) >= len(MIGRATIONS):
        return
    database.execute("BEGIN IMMEDIATE")
    for migration in MIGRATIONS[version_of(database) :]:
        for statement in filter(str.strip, migration.split(";")):
            _changed(database, statement)
    version = len(MIGRATIONS)
    database.execute("INSERT OR REPLACE INTO versions VALUES (?, ?)", (version, __version__))
    database.execute(f"PRAGMA user_version = {version}")
    database.commit()


def _changed(database: sqlite3.Connection, statement: str) -> None:
    try:
        database.execute(statement)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise
        raise Damaged(f"its tables are not those of its version: {error}") from error


Log = tuple[bytes, int]
"""The salts of a write-ahead log, new ones in each round; how many frames are to be taken."""


def log_of(path: Path) -> Log:
    """Return the salts and frames of a file's log; -1 frames where its header is damaged."""
    log = Path(f"{path}-wal")
    if _size(str(log)) <= WAL_HEADER:
        return b"", 0
    data = log.read_bytes()
    size = int.from_bytes(data[8:12], "big")
    if not header_is_sound(data[:WAL_HEADER]):
        return data[16:24], -1
    ends = [start for _, start, is_end in frames(data, size) if is_end]
    step = FRAME_HEADER + size
    return data[16:24], (ends[-1] - WAL_HEADER) // step + 1 if ends else 0


def _check_log(database: sqlite3.Connection, path: Path, log: Log) -> None:
    """Raise Damaged where SQLite left out a part of the log, which it does without an error."""
    for _ in range(LOOKS):
        seen = database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
        # Fewer than none: another process is at work on the log, and has found it sound.
        if seen < 0 or 0 <= log[1] <= seen:
            return
        time.sleep(0.05)  # it may be in the middle of writing, or have begun a new round
        before, log = log, log_of(path)
        if log[0] != before[0]:
            return
    raise Damaged("its write-ahead log is damaged")
