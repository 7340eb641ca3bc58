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
from trecjudge.models.cache.cache_file import CacheFile
from trecjudge.models.cache.store import ReplyOrigin

LONGEST_KEPT = 30 * 24 * 60 * 60
"""Seconds for which an answer is kept that no request asks for."""
Statement = tuple[str, Iterable[tuple[Any, ...]]]
"""SQL, and the values of each time that it is done."""


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
        self._write(("DELETE FROM batched WHERE written < ?", [(oldest,)]))

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise OutputError(f"{self._path}: cannot be written: {error}") from error

    def _write(self, *statements: Statement) -> bool:
        """Write in one transaction; return whether that was possible."""

        def write(database: sqlite3.Connection) -> None:
            for statement, rows in statements:
                database.executemany(statement, rows)

        try:
            with self._usable():
                self._file.write(write)
        except OutputError as error:
            if self._refused is None:
                raise
            self._refused(error.__cause__ if isinstance(error.__cause__, Exception) else error)
            return False
        return True

    def _row(self, query: str, value: str) -> Any:
        """Return the first row of a query."""
        with self._usable():
            return self._file.read(lambda database: database.execute(query, (value,)).fetchone())

    def where(self, key: str) -> InBatch | None:
        """Return where the request with this key is, None if it is in no batch."""
        row = self._row("SELECT file, answer FROM batched WHERE key = ?", key)
        return InBatch(*row) if row else None

    def record(self, file: str) -> BatchRecord | None:
        """Return the batch of an input file, where it is still under way."""
        row = self._row("SELECT * FROM batches WHERE file = ?", file)
        return BatchRecord(*row) if row else None

    def begin(self, file: str, origin: ReplyOrigin, keys: Iterable[str]) -> None:
        """Note a batch before it is begun: after a crash it would else be paid for again.

        Raises JudgmentFailed where it cannot be noted.
        """
        rows = [(key, file) for key in keys]
        batch = (file, "", origin.endpoint, origin.model, len(rows), int(time.time()))
        if not self._write(
            ("INSERT OR REPLACE INTO batches VALUES (?, ?, ?, ?, ?, ?)", [batch]),
            ("INSERT OR REPLACE INTO batched (key, file) VALUES (?, ?)", rows),
        ):
            raise JudgmentFailed("stopped", "its batch could not be noted, and was not begun")

    def note_id(self, file: str, batch_id: str) -> None:
        """Note the id of a batch."""
        self._write(("UPDATE batches SET id = ? WHERE file = ?", [(batch_id, file)]))

    def keep(self, answers: Iterable[tuple[str, bytes]]) -> None:
        """Keep answers until requests ask for them."""
        now = int(time.time())
        rows = [(answer, now, key) for key, answer in answers]
        self._write(("UPDATE batched SET answer = ?, written = ? WHERE key = ?", rows))

    def drop(self, key: str) -> None:
        """Forget an answer that was used."""
        self._write(("DELETE FROM batched WHERE key = ?", [(key,)]))

    def finish(self, file: str, used: Iterable[str] = ()) -> None:
        """Forget a batch, except for answers that are kept and not used yet."""
        self._write(
            ("DELETE FROM batched WHERE file = ? AND key = ?", [(file, key) for key in used]),
            ("DELETE FROM batched WHERE file = ? AND answer IS NULL", [(file,)]),
            ("DELETE FROM batches WHERE file = ?", [(file,)]),
        )

    def close(self) -> None:
        """Close the file."""
        self._file.close()
