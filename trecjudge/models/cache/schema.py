"""What is in a cache file: its tables and versions, the values of a reply, and their checks."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.inputs.sources.databases import fault_of_files
from trecjudge.version import __version__

FILE = "replies.sqlite"
TABLES = ("replies", "abilities", "batches", "batched")
MOST_TEXT = 16 * 1024 * 1024
"""Characters of the longest text that is taken for a reply."""
MOST_TOKENS = 100_000_000
"""More than any reply has: a larger number is damage."""
LATEST = 1 << 40
"""The latest time that is believed, in seconds since 1970."""
BELIEVABLE = 1_000_000
"""A version above it is a damaged number."""

# Files of every version are in use: one is added at the end, and none is ever changed. Keys are
# hashes, so rows lie in the tree of the keys itself: a read is one way down, not two.
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


@dataclass(frozen=True, slots=True)
class CacheColumn:
    """A column: its type, the most that it may hold, and its value for rows of older files."""

    name: str
    kind: type
    most: int
    default: Any = None


COLUMNS = (
    CacheColumn("key", str, 1000),
    CacheColumn("reply", str, MOST_TEXT),
    CacheColumn("prompt_tokens", int, MOST_TOKENS),
    CacheColumn("completion_tokens", int, MOST_TOKENS),
    CacheColumn("endpoint", str, 10_000),
    CacheColumn("model", str, 10_000),
    CacheColumn("written", int, LATEST),
    CacheColumn("program", str, 1000, ""),
    CacheColumn("stated", int, MOST_TOKENS, 0),
    CacheColumn("prompt", str, 1000, ""),
    CacheColumn("version", str, 1000, ""),
    CacheColumn("source", str, 10_000, ""),
)
"""The columns of a reply and of what asked for it; `checksum` follows them."""
NAMES = tuple(column.name for column in COLUMNS)
ENDPOINT, WRITTEN, SOURCE, CHECKSUM = map((*NAMES, "checksum").index, (
    "endpoint", "written", "source", "checksum",
))  # fmt: skip
"""Places of columns in a row."""
# What is there wins: judgments were made with it.
ADD_REPLY = f"""
    INSERT OR IGNORE INTO replies ({", ".join(NAMES)}, checksum)
    VALUES ({", ".join("?" * (len(NAMES) + 1))})
"""
ADD_ABILITY = "INSERT OR IGNORE INTO abilities VALUES (?, ?, ?)"

Row = tuple[Any, ...]
"""The values of COLUMNS, and the checksum."""
_WORDS = {str: "text", int: "an integer", float: "a float", bytes: "a BLOB", type(None): "NULL"}


class DamagedCache(sqlite3.DatabaseError):
    """A file that is damaged, though SQLite itself finds nothing wrong."""


def is_damage(error: BaseException | None) -> bool:
    """Return whether the file is damaged; a lock, the disk or permissions may be at fault too."""
    if not isinstance(error, sqlite3.Error):
        return False
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(error, DamagedCache) or code is None:
        return isinstance(error, DamagedCache) or "decode" in str(error)  # text that is no UTF-8
    damage = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT)
    return (code & 0xFF) in damage or code == sqlite3.SQLITE_IOERR_SHORT_READ


def fault_of(row: Sequence[Any], kept_checksum: Any) -> str:
    """Return what is wrong with the first columns of a reply, four at least; "" if nothing is."""
    for column, value in zip(COLUMNS, row, strict=False):
        kind = type(value)  # SQLite keeps any type in any column, whatever the table says
        if kind is not column.kind:
            return f"{column.name} is {_WORDS[kind]}, not {_WORDS[column.kind]}"
        size: int = len(value) if column.kind is str else value
        if not 0 <= size <= column.most:
            return f"{column.name} is out of range"
    if not row[0]:
        return "the key is empty"
    # Older versions wrote none.
    is_sound = kept_checksum is None or kept_checksum == checksum(*row[:4])
    return "" if is_sound else "the checksum is wrong"


def checksum(key: str, reply: str, prompt_tokens: int, completion_tokens: int) -> int:
    """Return a checksum, by which damage to a reply is found later."""
    return zlib.crc32(f"{key}\0{prompt_tokens}\0{completion_tokens}\0{reply}".encode())


def version_of(database: sqlite3.Connection) -> int:
    """Return the version of a cache file, 0 for a new one."""
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    return version


def row_columns(database: sqlite3.Connection) -> str:
    """Return what to select for a Row in a file of any version."""
    names = {row[1] for row in database.execute("PRAGMA table_info(replies)")}
    missing = {name: repr(column.default) for name, column in zip(NAMES, COLUMNS, strict=True)}
    missing["checksum"] = "NULL"
    return ", ".join(name if name in names else default for name, default in missing.items())


def text_or_bytes(value: bytes) -> Any:
    """Return UTF-8 as text, and anything else as bytes: a `text_factory` that never fails."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def migrate(database: sqlite3.Connection) -> None:
    """Bring a file, or a new one, to the newest version, while others may do the same."""
    if version_of(database) >= len(MIGRATIONS):
        return
    # Looked at again below: another process may have done it while this one waited for the lock.
    database.execute("BEGIN IMMEDIATE")
    for migration in MIGRATIONS[version_of(database) :]:
        for statement in filter(str.strip, migration.split(";")):
            try:
                database.execute(statement)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
                    raise
                why = f"its tables are not those of its version: {error}"
                raise DamagedCache(why) from error
    version = len(MIGRATIONS)
    database.execute("INSERT OR REPLACE INTO versions VALUES (?, ?)", (version, __version__))
    database.execute(f"PRAGMA user_version = {version}")
    database.commit()


def no_cache(path: Path) -> str:
    """Return why there is no cache at a path: its folder or its file is missing."""
    if path.parent.is_dir():
        return f"no {path.name} in it"
    return "is a file, not a folder" if path.parent.exists() else "there is no such folder"


def check_regular(path: Path) -> None:
    """Raise DamagedCache where a folder, a pipe or a device is: reading may never end."""
    if fault := fault_of_files(path):
        raise DamagedCache(fault)


def check_version(database: sqlite3.Connection, path: Path) -> None:
    """Raise InputError for a version newer than ours, DamagedCache for an absurd one."""
    version = version_of(database)
    if not 0 <= version <= BELIEVABLE:
        raise DamagedCache(f"its version is {version}")
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


def check_owner(database: sqlite3.Connection, path: Path) -> None:
    """Raise InputError for something else, DamagedCache for tables without a version."""
    names = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
    if version_of(database):
        check_tables(database, path, ["replies"])
    elif "replies" in names:
        raise DamagedCache("it has tables but no version")
    elif names:
        raise InputError(f"{path}: is a database of something else; give another folder")


def check_tables(database: sqlite3.Connection, path: Path, names: Sequence[str]) -> None:
    """Raise InputError where a table is missing, or anything but an ordinary table of ours.

    A view or a computed column could keep a reader busy for ever, a trigger could change writes.
    """
    query = "SELECT name, type, rootpage FROM sqlite_master"
    found = {name: (kind, root) for name, kind, root in database.execute(query)}
    where = f"{path}: is no cache that can be read:"
    for name in names:
        kind, root = found.get(name, ("", 0))
        if not kind:
            raise InputError(
                f"{where} its version is {version_of(database)}, but its table {name!r} is"
                " missing; move the file away, or give another folder"
            )
        if kind != "table" or not root:  # a virtual table has no page of its own
            kind = "virtual table" if kind == "table" else kind
            raise InputError(f"{where} {name!r} is a {kind}")
    triggers = [name for name, (kind, _) in found.items() if kind == "trigger"]
    if triggers:
        raise InputError(f"{where} has a trigger {triggers[0]!r}")
    _check_columns(database, f"{where} its table 'replies'")


def _check_columns(database: sqlite3.Connection, where: str) -> None:
    query = "SELECT name, pk, hidden FROM pragma_table_xinfo('replies')"
    columns = {name: (pk, hidden) for name, pk, hidden in database.execute(query)}
    for column in COLUMNS:
        if column.default is None and column.name not in columns:
            raise InputError(f"{where} has no column {column.name!r}")
    if any(hidden for _, hidden in columns.values()):
        raise InputError(f"{where} has a computed column")
    if [name for name, (pk, _) in columns.items() if pk] != ["key"]:
        raise InputError(f"{where} has another primary key than 'key'")
