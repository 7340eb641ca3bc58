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
from trecjudge.models.cache.cache_file import CacheFile
from trecjudge.models.cache.readonly import Kept, ReadOnlyCaches
from trecjudge.models.cache.schema import FILE, MOST_TOKENS, NAMES, DamagedCache, checksum, fault_of
from trecjudge.version import __version__

WRITTEN = (*(name for name in NAMES if name != "source"), "checksum")
INSERT = f"INSERT OR REPLACE INTO replies ({', '.join(WRITTEN)}) VALUES"
PLACES = f"({', '.join('?' * len(WRITTEN))})"
MOST_ROWS = 75
"""Rows of one statement: SQLite takes at least 999 values."""
# A few milliseconds, and the shares of programs are known to a percent.
SAMPLE = 20_000
"""Replies that are read to learn how long replies are."""
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
class ReplyOrigin:
    """Where a reply came from."""

    endpoint: str
    model: str


NOT_KNOWN = RequestInfo()
Values = tuple[str | int, ...]
"""What is written of a reply."""


@dataclass(slots=True)
class ReplyCache:
    """Replies by key: read at once, written in groups on a thread of its own.

    `put` returns when the reply is on disk, so a killed process loses only what was in flight.
    `behind` are folders of read-only caches, in order. A damaged file is replaced and reported.
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
    _behind: ReadOnlyCaches = field(init=False, repr=False)
    _reader: CacheFile | None = field(init=False, repr=False, default=None)
    _writer: CacheFile = field(init=False, repr=False)
    _thread: ThreadPoolExecutor = field(init=False, repr=False)
    _pending: list[tuple[Values, asyncio.Future[None]]] = field(default_factory=list)
    _flush: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        own = None if self.writes else self.folder
        self._behind = ReadOnlyCaches(self.behind, own, self.notify)
        if not self.writes:
            return
        try:
            keep_private(self.folder)
            # Of jobs that were killed while they put a new file in place of a damaged one.
            remove_left_parts(self.folder, FILE)
            # Two connections: a reader does not wait for a write that is under way.
            self._writer = CacheFile(self.path, self.notify)
            self._reader = CacheFile(self.path, self.notify)
        except (OSError, sqlite3.Error) as error:
            message = f"{self.folder}: cannot keep the cache there: {why(error)}"
            raise OutputError(f"{message}; give a folder with --cache-dir") from error
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cache")

    @property
    def path(self) -> Path:
        """The database file."""
        return self.folder / FILE

    def get(self, key: str) -> CachedReply | None:
        """Return the reply to the request with this key, or None."""
        if (unwritten := self.held.get(key)) is not None:
            return unwritten
        kept = self._read(lambda database: read_reply(database, key)) if self._reader else None
        kept = kept or self._behind.reply(key)
        if kept is None:
            return None
        reply = CachedReply(*kept)
        if reply.source:
            self.used[reply.source] += 1
        return reply

    def _read(self, work: Callable[[sqlite3.Connection], Any]) -> Any:
        """Return what a read finds, also in a file that has taken the place of a damaged one."""
        reader = self._reader
        assert reader is not None
        try:
            found = reader.read(work)
            # Looked at only where something is missing: what is there is right in either file.
            if found is None and reader.has_moved():
                reader.reopen()
                found = reader.read(work)
        except (OSError, sqlite3.Error) as error:
            raise OutputError(f"{self.path}: cannot be read: {error}") from error
        return found

    def habits(self, origin: ReplyOrigin) -> str | None:
        """Return what is kept of the requests that this model's endpoint accepts, or None."""
        query = "SELECT form FROM abilities WHERE endpoint = ? AND model = ?"
        values = (origin.endpoint, origin.model)
        if self._reader is not None:
            row = self._read(lambda database: database.execute(query, values).fetchone())
            if row is not None:
                return str(row[0])
        return self._behind.habits(*values)

    def measure_lengths(self, model: str) -> dict[str, tuple[int, int, int]]:
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
            for program, count, expected, taken in rows:
                counts = found.get(program, (0, 0, 0))
                found[program] = (counts[0] + count, counts[1] + expected, counts[2] + taken)
        return found

    def record(self) -> list[dict[str, Any]]:
        """Return the other caches that replies came from, for the config: digest and count."""
        return self._behind.record(self.used)

    def keep_habits(self, origin: ReplyOrigin, habits: str) -> None:
        """Keep what requests this model's endpoint accepts."""
        row = (origin.endpoint, origin.model, habits)
        statement = "INSERT OR REPLACE INTO abilities VALUES (?, ?, ?)"
        # On the thread of all writes: two transactions of one connection would mix.
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
        self, key: str, reply: CachedReply, origin: ReplyOrigin, asked: RequestInfo = NOT_KNOWN
    ) -> bool:
        """Keep a reply, in place of an older one; return whether it is on disk.

        One that cannot be written is held. Raises OutputError where nobody is told of that.
        """
        kept = (key, reply.text, reply.prompt_tokens, reply.completion_tokens)
        purpose = (asked.program, asked.stated, asked.prompt, __version__)
        try:
            origins = (origin.endpoint, origin.model, int(time.time()))
            values = (*kept, *origins, *purpose, checksum(*kept))
        except UnicodeEncodeError as error:
            raise OutputError(f"{self.path}: cannot be written: {error}") from error
        written = asyncio.get_running_loop().create_future()
        self._pending.append((values, written))
        if self._flush is None or self._flush.done():
            self._flush = asyncio.create_task(self._write_pending())
        try:
            await written
        except (OSError, sqlite3.Error, OverflowError) as error:
            self.refuse(error)
            self.held[key] = reply
            return False
        return True

    async def _write_pending(self) -> None:
        loop = asyncio.get_running_loop()
        while self._pending:
            # All that came while the last group was written: the slower the disk, the larger.
            group, self._pending = self._pending, []
            failure: Exception | None = None
            try:
                rows = [values for values, _ in group]
                await loop.run_in_executor(self._thread, self._write, rows)
            except (OSError, sqlite3.Error, OverflowError) as error:
                failure = error
            for _, written in group:
                if not written.done():  # one that was cancelled meanwhile is kept too
                    written.set_exception(failure) if failure else written.set_result(None)

    def _write(self, rows: list[Values]) -> None:
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
            self._thread.shutdown()
            rows, self._pending = [values for values, _ in self._pending], []
            try:
                if rows:
                    self._write(rows)
            except (OSError, sqlite3.Error, OverflowError) as error:
                self.refuse(error)
            self._reader.close()
            self._writer.close()
        self._behind.close()


def read_reply(database: sqlite3.Connection, key: str) -> Kept | None:
    """Return a reply, its tokens in and out and its source, or None. Raises DamagedCache."""
    row = database.execute(KEPT, (key,)).fetchone()
    if row is None:
        return None
    # Only a row without a checksum, or with a wrong one, needs the longer look.
    if row[5] != checksum(*row[:4]) and (fault := fault_of(row[:4], row[5])):
        raise DamagedCache(f"in a reply, {fault}")
    kept: Kept = row[1:5]
    return kept
