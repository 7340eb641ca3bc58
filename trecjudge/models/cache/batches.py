"""Batches under way, in SQLite: which requests are in which, and answers not asked for yet."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trecjudge.errors import JudgmentFailed, OutputError
from trecjudge.models.cache.cache_file import CacheFile, Work
from trecjudge.models.cache.replies import Origin

LONGEST_KEPT = 30 * 24 * 60 * 60
"""Seconds for which an answer is kept that no request asks for."""


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """A batch under way; `id` is empty while it is unknown whether it was begun."""

    file: str
    id: str
    endpoint: str
    model: str
    requests: int
    begun: int


@dataclass(frozen=True, slots=True)
class InBatch:
    """Where a request is: the input file of its batch, and its answer if it has arrived."""

    file: str
    answer: bytes | None


class BatchBook:
    """The batches of a cache file. Raises OutputError where it cannot be opened or read.

    `refused` is told of every write that fails; without it such a write raises OutputError.
    """

    def __init__(
        self,
        path: Path,
        notify: Callable[[str], None] = lambda message: None,
        refused: Callable[[Exception], None] | None = None,
    ) -> None:
        self._path = path
        self._refused = refused
        with self._usable():
            self._file = CacheFile(path, notify)
        oldest = int(time.time()) - LONGEST_KEPT
        self._write(lambda db: db.execute("DELETE FROM batched WHERE written < ?", (oldest,)))

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise OutputError(f"{self._path}: cannot be written: {error}") from error

    def _write(self, work: Work[object]) -> bool:
        """Write; return whether that was possible."""
        try:
            with self._usable():
                self._file.write(work)
        except OutputError as error:
            if self._refused is None:
                raise
            self._refused(error.__cause__ if isinstance(error.__cause__, Exception) else error)
            return False
        return True

    def _row(self, query: str, value: str) -> tuple[Any, ...] | None:
        """Return the first row of a query."""
        with self._usable():
            row: tuple[Any, ...] | None = self._file.read(
                lambda database: database.execute(query, (value,)).fetchone()
            )
        return row

    def where(self, key: str) -> InBatch | None:
        """Return where the request with this key is, None if it is in no batch."""
        row = self._row("SELECT file, answer FROM batched WHERE key = ?", key)
        return InBatch(*row) if row else None

    def record(self, file: str) -> BatchRecord | None:
        """Return the batch of an input file, where it is still under way."""
        row = self._row("SELECT * FROM batches WHERE file = ?", file)
        return BatchRecord(*row) if row else None

    def begin(self, file: str, origin: Origin, keys: Iterable[str]) -> None:
        """Note a batch before it is begun: after a crash it would else be paid for again.

        Raises JudgmentFailed where it cannot be noted.
        """
        rows = [(key, file) for key in keys]
        batch = (file, "", origin.endpoint, origin.model, len(rows), int(time.time()))
        statement = "INSERT OR REPLACE INTO batched (key, file) VALUES (?, ?)"

        def note(database: sqlite3.Connection) -> None:
            database.execute(f"INSERT OR REPLACE INTO batches VALUES ({_PLACES})", batch)
            database.executemany(statement, rows)

        if not self._write(note):
            raise JudgmentFailed("stopped", "its batch could not be noted, and was not begun")

    def begun(self, file: str, batch_id: str) -> None:
        """Note the id of a batch."""
        update = "UPDATE batches SET id = ? WHERE file = ?"
        self._write(lambda database: database.execute(update, (batch_id, file)))

    def keep(self, answers: Iterable[tuple[str, bytes]]) -> None:
        """Keep answers until requests ask for them."""
        now = int(time.time())
        rows = [(answer, now, key) for key, answer in answers]
        update = "UPDATE batched SET answer = ?, written = ? WHERE key = ?"
        self._write(lambda database: database.executemany(update, rows))

    def drop(self, key: str) -> None:
        """Forget an answer that was used."""
        delete = "DELETE FROM batched WHERE key = ?"
        self._write(lambda database: database.execute(delete, (key,)))

    def finish(self, file: str, used: Iterable[str] = ()) -> None:
        """Forget a batch, except for answers that are kept and not used yet."""
        keys = [(file, key) for key in used]

        def forget(database: sqlite3.Connection) -> None:
            drop = "DELETE FROM batched WHERE file = ? AND key = ?"
            database.executemany(drop, keys)
            delete = "DELETE FROM batched WHERE file = ? AND answer IS NULL"
            database.execute(delete, (file,))
            database.execute("DELETE FROM batches WHERE file = ?", (file,))

        self._write(forget)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


_PLACES = "?, ?, ?, ?, ?, ?"
