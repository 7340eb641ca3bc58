"""Model replies by exact request, in one SQLite file that several processes may share."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from trecjudge.errors import OutputError

FILE = "replies.sqlite"
FOLDER_VARIABLE = "TRECJUDGE_CACHE"
SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, reply TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL
) WITHOUT ROWID
"""


@dataclass(frozen=True, slots=True)
class CachedReply:
    """A reply that parsed, and what it cost when it was paid for."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


def default_folder() -> Path:
    """Return TRECJUDGE_CACHE, else `trecjudge` below XDG_CACHE_HOME or ~/.cache."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trecjudge"


@dataclass(slots=True)
class ReplyCache:
    """Reads at once; writes in groups on a thread of its own.

    `put` returns when the reply is on disk, so a killed process loses only what was in flight.
    A file that is no database is moved aside and `say` is told.
    """

    folder: Path
    say: Callable[[str], None] = lambda message: None
    _database: sqlite3.Connection = field(init=False, repr=False)
    _thread: ThreadPoolExecutor = field(init=False, repr=False)
    _pending: list[tuple[str, CachedReply, asyncio.Future[None]]] = field(default_factory=list)
    _flush: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._database = self._open()
        except (OSError, sqlite3.OperationalError) as error:
            message = f"{self.folder}: cannot keep the cache there: {error}; use --cache-dir"
            raise OutputError(message) from error
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cache")

    @property
    def path(self) -> Path:
        """The database file."""
        return self.folder / FILE

    def _open(self) -> sqlite3.Connection:
        try:
            return _connect(self.path)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            aside = self._move_aside()
            self.say(f"{self.path}: is damaged ({error}); moved to {aside}, starting afresh")
            return _connect(self.path)

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
        row = self._database.execute(query, (key,)).fetchone()
        return CachedReply(*row) if row else None

    async def put(self, key: str, reply: CachedReply) -> None:
        """Keep a reply; returns when it is on disk."""
        done = asyncio.get_running_loop().create_future()
        self._pending.append((key, reply, done))
        if self._flush is None or self._flush.done():
            self._flush = asyncio.create_task(self._write_pending())
        await done

    async def _write_pending(self) -> None:
        loop = asyncio.get_running_loop()
        while self._pending:
            batch, self._pending = self._pending, []
            rows = [
                (key, reply.text, reply.prompt_tokens, reply.completion_tokens)
                for key, reply, _ in batch
            ]
            failure: Exception | None = None
            try:
                await loop.run_in_executor(self._thread, self._write, rows)
            except sqlite3.Error as error:
                failure = OutputError(f"{self.path}: cannot be written: {error}")
            for _, _, done in batch:
                if done.done():
                    continue
                if failure is None:
                    done.set_result(None)
                else:
                    done.set_exception(failure)

    def _write(self, rows: list[tuple[str, str, int, int]]) -> None:
        with self._database:
            self._database.executemany("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?)", rows)

    def close(self) -> None:
        """Wait for writes under way and close the file."""
        self._thread.shutdown()
        self._database.close()


def _connect(path: Path) -> sqlite3.Connection:
    """Open (or make) the database for use from several threads and processes."""
    database = sqlite3.connect(path, timeout=30, check_same_thread=False)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute(SCHEMA)
        database.commit()
    except sqlite3.Error:
        database.close()
        raise
    return database
