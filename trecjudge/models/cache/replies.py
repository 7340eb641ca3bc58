"""The reply cache: one SQLite file that processes may share, and read-only ones behind it."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from trecjudge.errors import InputError, OutputError
from trecjudge.models.cache.turns import TurnReads

FILE = "replies.sqlite"
BUSY = 30.0
"""Seconds to wait for another process."""
INSERT = """
    INSERT OR REPLACE INTO replies (
        key, reply, prompt_tokens, completion_tokens, endpoint, model, written, program, stated
    ) VALUES
"""
PLACES = "(?, ?, ?, ?, ?, ?, ?, ?, ?)"
SAMPLE = 20_000
"""Replies that are read to learn how long replies are."""
MOST_ROWS = 100
"""Rows of one statement: SQLite takes at least 999 values."""

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
)
"""SQL that leads from one version of the file to the next; the version is `user_version`."""


@dataclass(frozen=True, slots=True)
class CachedReply:
    """A reply that parsed, and what it cost when it was paid for."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """What a reply was asked for: the program's name, and the reply tokens that it states."""

    program: str = ""
    stated: int = 0


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a reply came from."""

    endpoint: str
    model: str


NOT_KNOWN = RequestInfo()


def connect(path: Path) -> sqlite3.Connection:
    """Open (or make) a cache file for use from several threads and processes.

    Raises sqlite3.Error; DatabaseError that is no OperationalError where it is no database.
    """
    database = sqlite3.connect(path, timeout=BUSY, check_same_thread=False)
    try:
        _write_ahead(database)
        database.execute("PRAGMA synchronous = NORMAL")  # a crash costs the last replies only
        _migrate(database)
    except sqlite3.Error:
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


def _migrate(database: sqlite3.Connection) -> None:
    """Bring a file to the newest version; another process may be doing the same."""
    if _version(database) >= len(MIGRATIONS):
        return
    database.execute("BEGIN IMMEDIATE")
    for migration in MIGRATIONS[_version(database) :]:
        for statement in filter(str.strip, migration.split(";")):
            database.execute(statement)
    database.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    database.commit()


def _version(database: sqlite3.Connection) -> int:
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    return version


def open_read_only(folder: Path) -> sqlite3.Connection:
    """Open the cache in `folder` for reading only. Raises InputError if there is none."""
    path = folder / FILE
    # What another process is writing lies beside the file; only where that cannot be looked at
    # (a read-only folder) is the file taken without it.
    live = path.with_name(f"{FILE}-wal").exists()
    try:
        return _read_only(path, "mode=ro") if live else _read_only(path, "mode=ro&immutable=1")
    except sqlite3.Error:
        try:
            return _read_only(path, "mode=ro&immutable=1")
        except sqlite3.Error as error:
            raise InputError(f"{path}: is no cache that can be read: {error}") from error


def _read_only(path: Path, mode: str) -> sqlite3.Connection:
    database = sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True)
    try:
        database.execute("SELECT 1 FROM replies LIMIT 1")
    except sqlite3.Error:
        database.close()
        raise
    return database


@dataclass(slots=True)
class ReplyCache:
    """Reads at once; writes in groups on a thread of its own.

    `put` returns when the reply is on disk, so a killed process loses only what was in flight.
    `behind` are folders of read-only caches, in order. A damaged file is moved aside and reported.
    """

    folder: Path
    notify: Callable[[str], None] = lambda message: None
    behind: Iterable[Path] = ()
    _reader: sqlite3.Connection = field(init=False, repr=False)
    _reads: TurnReads = field(init=False, repr=False)
    _writer: sqlite3.Connection = field(init=False, repr=False)
    _others: list[sqlite3.Connection] = field(init=False, repr=False)
    _thread: ThreadPoolExecutor = field(init=False, repr=False)
    _pending: list[tuple[tuple[str | int, ...], asyncio.Future[None]]] = field(default_factory=list)
    _flush: asyncio.Task[None] | None = None
    _damage_reported: bool = False

    def __post_init__(self) -> None:
        self._others = [open_read_only(folder) for folder in self.behind]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._writer = self._open()
            self._reader = connect(self.path)
        except (OSError, sqlite3.Error) as error:
            message = f"{self.folder}: cannot keep the cache there: {error}; use --cache-dir"
            raise OutputError(message) from error
        self._reads = TurnReads(self._reader)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cache")

    @property
    def path(self) -> Path:
        """The database file."""
        return self.folder / FILE

    def _open(self) -> sqlite3.Connection:
        try:
            database = connect(self.path)
            database.execute("SELECT key FROM replies LIMIT 1")
        except sqlite3.OperationalError:  # locked, or no space: the file itself is sound
            raise
        except sqlite3.DatabaseError as error:
            aside = self._move_aside()
            self.notify(f"{self.path}: is damaged ({error}); moved to {aside}, starting afresh")
            return connect(self.path)
        return database

    def _move_aside(self) -> Path:
        number = 1
        while (aside := self.folder / f"{FILE}.damaged-{number}").exists():
            number += 1
        self.path.rename(aside)
        for suffix in ("-wal", "-shm"):
            self.path.with_name(FILE + suffix).unlink(missing_ok=True)
        return aside

    def get(self, key: str) -> CachedReply | None:
        """Return the reply to the request with this key, or None."""
        query = "SELECT reply, prompt_tokens, completion_tokens FROM replies WHERE key = ?"
        self._reads.begin()
        row = self._first(query, (key,))
        return CachedReply(str(row[0]), int(row[1]), int(row[2])) if row else None

    def renew(self) -> None:
        """See from now on what was written in this turn of the event loop, too."""
        self._reads.end()

    def habits(self, origin: Origin) -> str | None:
        """Return what is kept of how this model wants to be asked, or None."""
        query = "SELECT form FROM abilities WHERE endpoint = ? AND model = ?"
        row = self._first(query, (origin.endpoint, origin.model))
        return str(row[0]) if row else None

    def measured(self, model: str) -> dict[str, tuple[int, int, int]]:
        """Return, by program: replies of a model, tokens that they were to have, and that they had.

        They are a sample: those of the first keys, which are as good as random.
        """
        query = """
            SELECT program, COUNT(*), SUM(stated), SUM(completion_tokens)
            FROM (SELECT model, program, stated, completion_tokens FROM replies LIMIT ?)
            WHERE model = ? AND program != '' AND completion_tokens > 0 GROUP BY program
        """
        found: dict[str, tuple[int, int, int]] = {}
        for database in (self._reader, *self._others):
            try:
                rows = database.execute(query, (SAMPLE, model)).fetchall()
            except sqlite3.DatabaseError:  # damaged in places, or of an older version
                continue
            for program, *counts in rows:
                before = found.get(program, (0, 0, 0))
                found[program] = (
                    before[0] + counts[0],
                    before[1] + counts[1],
                    before[2] + counts[2],
                )
        return found

    def _first(self, query: str, values: tuple[str, ...]) -> tuple[str | int, ...] | None:
        for database in (self._reader, *self._others):
            try:
                row: tuple[str | int, ...] | None = database.execute(query, values).fetchone()
            except sqlite3.DatabaseError as error:
                self._warn(f"{self.path}: is damaged in places ({error}); asking again there")
                continue
            if row is not None:
                return row
        return None

    def _warn(self, message: str) -> None:
        if not self._damage_reported:
            self._damage_reported = True
            self.notify(message)

    def keep_habits(self, origin: Origin, habits: str) -> None:
        """Keep how this model wants to be asked. Raises OutputError."""
        try:
            self._thread.submit(self._write_habits, origin, habits).result()
        except sqlite3.Error as error:
            raise OutputError(f"{self.path}: cannot be written: {error}") from error

    def _write_habits(self, origin: Origin, habits: str) -> None:
        with self._writer:
            row = (origin.endpoint, origin.model, habits)
            self._writer.execute("INSERT OR REPLACE INTO abilities VALUES (?, ?, ?)", row)

    async def put(
        self, key: str, reply: CachedReply, origin: Origin, asked: RequestInfo = NOT_KNOWN
    ) -> None:
        """Keep a reply, in place of an older one; returns when it is on disk.

        Raises OutputError if it cannot be written.
        """
        cost = (reply.prompt_tokens, reply.completion_tokens)
        when = int(time.time())
        purpose = (asked.program, asked.stated)
        row = (key, reply.text, *cost, origin.endpoint, origin.model, when, *purpose)
        done = asyncio.get_running_loop().create_future()
        self._pending.append((row, done))
        if self._flush is None or self._flush.done():
            self._flush = asyncio.create_task(self._write_pending())
        await done

    async def _write_pending(self) -> None:
        loop = asyncio.get_running_loop()
        while self._pending:
            batch, self._pending = self._pending, []
            failure: OutputError | None = None
            try:
                rows = [row for row, _ in batch]
                await loop.run_in_executor(self._thread, self._write, rows)
            except (sqlite3.Error, OverflowError) as error:
                failure = OutputError(f"{self.path}: cannot be written: {error}")
            self._reads.end()
            for _, done in batch:
                if not done.done():  # cancelled while it was written: kept all the same
                    done.set_result(None) if failure is None else done.set_exception(failure)

    def _write(self, rows: list[tuple[str | int, ...]]) -> None:
        """Write rows in few statements: after each one this thread waits for its turn again."""
        with self._writer:
            for start in range(0, len(rows), MOST_ROWS):
                part = rows[start : start + MOST_ROWS]
                places = ", ".join([PLACES] * len(part))
                statement = f"{INSERT} {places}"
                self._writer.execute(statement, [value for row in part for value in row])

    def close(self) -> None:
        """Wait for writes under way and close the files."""
        self._reads.end()
        self._thread.shutdown()
        left, self._pending = [row for row, _ in self._pending], []
        if left:
            self._write(left)
        for database in (self._reader, self._writer, *self._others):
            database.close()
