"""The reply cache: one SQLite file that processes may share, and read-only ones behind it."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trecjudge.errors import OutputError, why
from trecjudge.files import keep_private, remove_left_parts
from trecjudge.models.cache.behind import Behind
from trecjudge.models.cache.opened import CacheFile
from trecjudge.models.cache.rows import MOST_TOKENS, NAMES, checksum, kept_fault
from trecjudge.models.cache.schema import FILE, Damaged
from trecjudge.models.cache.turns import TurnReads
from trecjudge.version import __version__

WRITTEN = (*(name for name in NAMES if name != "source"), "checksum")
INSERT = f"INSERT OR REPLACE INTO replies ({', '.join(WRITTEN)}) VALUES"
PLACES = f"({', '.join('?' * len(WRITTEN))})"
SAMPLE = 20_000
"""Replies that are read to learn how long replies are."""
MOST_ROWS = 75
"""Rows of one statement: SQLite takes at least 999 values."""
KEPT = """
    SELECT key, reply, prompt_tokens, completion_tokens, source, checksum FROM replies
    WHERE key = ?
"""
MEASURED = f"""
    SELECT program, COUNT(*), SUM(stated), SUM(completion_tokens)
    FROM (SELECT model, program, stated, completion_tokens FROM replies LIMIT ?)
    WHERE model = ? AND program != '' AND typeof(program) = 'text'
    AND typeof(stated) = 'integer' AND stated BETWEEN 0 AND {MOST_TOKENS}
    AND typeof(completion_tokens) = 'integer' AND completion_tokens BETWEEN 1 AND {MOST_TOKENS}
    GROUP BY program
"""


@dataclass(frozen=True, slots=True)
class CachedReply:
    """A reply that parsed, and what it cost when it was paid for."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    source: str = field(default="", compare=False)
    """The cache that it was taken or imported from, where that is another one."""


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """The request for a reply: name of its program, reply tokens it states, prompt digest."""

    program: str = ""
    stated: int = 0
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a reply came from."""

    endpoint: str
    model: str


NOT_KNOWN = RequestInfo()
Kept = tuple[str, int, int, str]
"""A reply, its tokens in and out, and the cache that it came from."""


@dataclass(slots=True)
class ReplyCache:
    """Replies by key: read at once, written in groups on a thread of its own.

    `put` returns when the reply is on disk, so a killed process loses only what was in flight.
    `behind` are folders of read-only caches, in order. A damaged file is repaired and reported.
    Where not `writes`, the cache is only read, if there is one.
    """

    folder: Path
    notify: Callable[[str], None] = lambda message: None
    behind: Iterable[Path] = ()
    writes: bool = True
    used: Counter[str] = field(default_factory=Counter)
    """How many replies were taken from other caches, by where they came from."""
    held: dict[str, CachedReply] = field(default_factory=dict)
    """Replies that could not be written, by key: they are there for this process only."""
    refused: str = ""
    """Why the last write failed that did so."""
    on_refused: Callable[[str], None] | None = None
    """Told of every write that fails; without it such a write raises OutputError."""
    _behind: Behind = field(init=False, repr=False)
    _reader: CacheFile | None = field(init=False, repr=False, default=None)
    _reads: TurnReads = field(init=False, repr=False)
    _writer: CacheFile = field(init=False, repr=False)
    _thread: ThreadPoolExecutor = field(init=False, repr=False)
    _pending: list[tuple[tuple[str | int, ...], asyncio.Future[None]]] = field(default_factory=list)
    _flush: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self._behind = Behind.opened(self.behind, None if self.writes else self.folder, self.notify)
        if not self.writes:
            return
        try:
            keep_private(self.folder)
            remove_left_parts(self.folder, FILE)
            self._writer = CacheFile(self.path, self.notify)
            self._reader = CacheFile(self.path, self.notify)
        except (OSError, sqlite3.Error) as error:
            message = f"{self.folder}: cannot keep the cache there: {why(error)}"
            message += "; give a folder with --cache-dir"
            raise OutputError(message) from error
        self._reads = TurnReads(self._reader.database)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cache")

    @property
    def path(self) -> Path:
        """The database file."""
        return self.folder / FILE

    def get(self, key: str) -> CachedReply | None:
        """Return the reply to the request with this key, or None."""
        if (unwritten := self.held.get(key)) is not None:
            return unwritten
        reply = self._own(key) or self._behind.reply(key)
        if reply is None:
            return None
        found = CachedReply(*reply)
        if found.source:
            self.used[found.source] += 1
        return found

    def _own(self, key: str) -> Kept | None:
        if self._reader is None:
            return None
        is_new_turn = self._reads.begin()
        reply: Kept | None = self._read(lambda database: _reply(database, key), self._reader)
        if reply is None and is_new_turn and self._reader.has_moved():
            self._reads.end()
            self._reader.reopen()
            reply = self._read(lambda database: _reply(database, key), self._reader)
        self._reads.follow(self._reader.database)
        return reply

    def _read(self, work: Callable[[sqlite3.Connection], Any], reader: CacheFile) -> Any:
        try:
            return reader.read(work)
        except (OSError, sqlite3.Error) as error:
            raise OutputError(f"{self.path}: cannot be read: {error}") from error

    def renew(self) -> None:
        """End the current read, so that the next one sees writes of this turn of the event loop."""
        self._reads.end()

    def habits(self, origin: Origin) -> str | None:
        """Return what is kept of the requests that this model's endpoint accepts, or None."""
        query = "SELECT form FROM abilities WHERE endpoint = ? AND model = ?"
        values = (origin.endpoint, origin.model)
        if self._reader is not None:
            row = self._read(lambda db: db.execute(query, values).fetchone(), self._reader)
            if row is not None:
                return str(row[0])
        return self._behind.habits(*values)

    def measured(self, model: str) -> dict[str, tuple[int, int, int]]:
        """Return (replies, tokens expected, tokens taken) of a model's kept replies, by program.

        They are a sample: the first keys, which are hashes and so as good as random.
        """
        found: dict[str, tuple[int, int, int]] = {}
        own = [self._reader.database] if self._reader is not None else []
        for database in (*own, *self._behind.databases()):
            try:
                rows = database.execute(MEASURED, (SAMPLE, model)).fetchall()
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

    def record(self) -> list[dict[str, Any]]:
        """Return the other caches that replies came from, for the config: digest and count."""
        return self._behind.record(self.used)

    def keep_habits(self, origin: Origin, habits: str) -> None:
        """Keep what requests this model's endpoint accepts."""
        row = (origin.endpoint, origin.model, habits)
        statement = "INSERT OR REPLACE INTO abilities VALUES (?, ?, ?)"
        work = self._thread.submit(
            self._writer.write, lambda database: database.execute(statement, row)
        )
        try:
            work.result()
        except (OSError, sqlite3.Error) as error:
            self.refuse(error)

    def refuse(self, error: Exception) -> None:
        """Report that something cannot be written. Raises OutputError where nobody is told."""
        self.refused = f"{self.path}: cannot be written: {why(error)}"
        if self.on_refused is None:
            raise OutputError(self.refused) from error
        self.on_refused(self.refused)

    async def put(
        self, key: str, reply: CachedReply, origin: Origin, asked: RequestInfo = NOT_KNOWN
    ) -> bool:
        """Keep a reply, in place of an older one; return whether it is on disk.

        One that cannot be written is held. Raises OutputError where nobody is told of that.
        """
        kept = (key, reply.text, reply.prompt_tokens, reply.completion_tokens)
        when = int(time.time())
        purpose = (asked.program, asked.stated, asked.prompt, __version__)
        try:
            row = (*kept, origin.endpoint, origin.model, when, *purpose, checksum(*kept))
        except UnicodeEncodeError as error:
            raise OutputError(f"{self.path}: cannot be written: {error}") from error
        done = asyncio.get_running_loop().create_future()
        self._pending.append((row, done))
        if self._flush is None or self._flush.done():
            self._flush = asyncio.create_task(self._write_pending())
        try:
            await done
        except (OSError, sqlite3.Error, OverflowError) as error:
            self.refuse(error)
            self.held[key] = reply
            return False
        return True

    async def _write_pending(self) -> None:
        loop = asyncio.get_running_loop()
        while self._pending:
            batch, self._pending = self._pending, []
            failure: Exception | None = None
            try:
                rows = [row for row, _ in batch]
                await loop.run_in_executor(self._thread, self._write, rows)
            except (OSError, sqlite3.Error, OverflowError) as error:
                failure = error
            self._reads.end()
            for _, done in batch:
                if not done.done():  # one that was cancelled meanwhile is kept too
                    done.set_result(None) if failure is None else done.set_exception(failure)

    def _write(self, rows: list[tuple[str | int, ...]]) -> None:
        """Write rows in few statements, since this thread waits for its turn after each one."""

        def insert(database: sqlite3.Connection) -> None:
            for start in range(0, len(rows), MOST_ROWS):
                part = rows[start : start + MOST_ROWS]
                places = ", ".join([PLACES] * len(part))
                database.execute(f"{INSERT} {places}", [value for row in part for value in row])

        self._writer.write(insert)

    def close(self) -> None:
        """Wait for writes under way, report what was skipped, and close the files."""
        if self._reader is not None:
            self._reads.end()
            self._thread.shutdown()
            left, self._pending = [row for row, _ in self._pending], []
            try:
                if left:
                    self._write(left)
            except (OSError, sqlite3.Error, OverflowError) as error:
                self.refuse(error)
            self._reader.close()
            self._writer.close()
        self._behind.close()


def _reply(database: sqlite3.Connection, key: str) -> Kept | None:
    """Return a reply, its tokens and its source, or None. Raises Damaged for a damaged row."""
    row = database.execute(KEPT, (key,)).fetchone()
    if row is None:
        return None
    _, reply, prompt_tokens, completion_tokens, source, _ = row
    if fault := kept_fault(row):
        raise Damaged(f"in a reply, {fault}")
    return reply, prompt_tokens, completion_tokens, source
