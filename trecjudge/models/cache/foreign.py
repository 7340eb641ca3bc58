"""Caches that are only read: those of others, and the job's own where nothing may be written.

Nothing in them is trusted: a table may be a view, a number may be a text.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.inputs.sources.databases import Watched, open_database, rows_of
from trecjudge.models.cache.rows import COLUMNS, Row, fault_of
from trecjudge.models.cache.salvage import fill
from trecjudge.models.cache.schema import (
    FILE,
    MissingTable,
    check_regular,
    check_tables,
    check_version,
    make_tables,
    no_cache,
)


@dataclass(slots=True)
class ReadCache:
    """A cache that is only read. Replies that cannot be used are skipped and counted.

    Raises InputError where there is none, or one that cannot be read.
    """

    folder: Path
    rescue: Callable[[str], None] | None = None
    """For the job's own cache: called if it is damaged; what can be saved is then read."""
    skipped: Counter[str] = field(default_factory=Counter)
    database: Watched = field(init=False, repr=False)
    has_abilities: bool = field(init=False)
    _columns: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not os.path.lexists(self.path):  # a link to nothing is a cache that cannot be read
            raise InputError(f"{self.folder}: {no_cache(self.path)}; give a folder with a cache")
        try:
            check_regular(self.path)
            self.database = self._opened()
        except sqlite3.Error as error:
            if not self._rescued(error):
                message = f"{self.path}: is no cache that can be read: {error}"
                raise InputError(message) from error
        self._columns = ", ".join([*self._expressions(), self._checksum()])

    @property
    def path(self) -> Path:
        """The database file."""
        return self.folder / FILE

    def _opened(self) -> Watched:
        # What another process is writing lies beside the file; only where that cannot be looked at
        # (a read-only folder) is the file taken without it.
        if self.path.with_name(f"{FILE}-wal").exists():
            try:
                return self._checked("mode=ro")
            except sqlite3.Error:
                pass
        return self._checked("mode=ro&immutable=1")

    def _checked(self, mode: str) -> Watched:
        database = open_database(self.path, mode)
        try:
            database.text_factory = _text
            check_version(database, self.path)
            check_tables(database, self.path, ["replies"])
            self.has_abilities = _has(database, self.path, "abilities")
        except BaseException:
            database.close()
            raise
        return database

    def _rescued(self, error: sqlite3.Error) -> bool:
        """Read what can be saved of a damaged file into memory instead; return whether it was."""
        if self.rescue is None:
            return False
        notify, self.rescue = self.rescue, None
        self.database = sqlite3.connect(":memory:", check_same_thread=False, factory=Watched)
        make_tables(self.database)
        saved = fill(self.database, self.path)
        self.has_abilities = True
        notify(f"{self.path}: is damaged ({error}); {saved} replies can be read, none is written")
        return True

    def _names(self) -> set[str]:
        return {
            row[0] for row in self.database.execute("SELECT name FROM pragma_table_info('replies')")
        }

    def _expressions(self) -> Iterator[str]:
        names = self._names()
        for column in COLUMNS:
            missing = "''" if column.default == "" else str(column.default)
            yield column.name if column.name in names else missing

    def _checksum(self) -> str:
        return "checksum" if "checksum" in self._names() else "NULL"

    def row(self, key: str) -> Row | None:
        """Return the row of a reply; None if it is not there, or cannot be used."""
        query = f"SELECT {self._columns} FROM replies WHERE key = ?"
        try:
            row: Row | None = self.database.execute(query, (key,)).fetchone()
        except sqlite3.Error as error:
            if self._rescued(error):
                return self.row(key)
            self.skipped[str(error)] += 1
            return None
        return row if row is None or self._is_usable(row) else None

    def _is_usable(self, row: Row) -> bool:
        if fault := fault_of(row):
            self.skipped[fault] += 1
        return not fault

    def rows(self, model: str | None = None) -> Iterator[Row]:
        """Yield the rows of all replies, or of one model's, by key; unusable ones are counted.

        Raises InputError where the file is damaged.
        """
        query = f"SELECT {self._columns} FROM replies WHERE ?1 IS NULL OR model = ?1 ORDER BY key"
        return (row for row in self._all(query, (model,)) if self._is_usable(row))

    def abilities(self) -> Iterator[tuple[str, str, str]]:
        """Yield (endpoint, model, habits) of all that is known of endpoints."""
        if self.has_abilities:
            query = "SELECT endpoint, model, form FROM abilities ORDER BY endpoint, model"
            for endpoint, model, form in self._all(query, ()):
                if isinstance(endpoint, str) and isinstance(model, str) and isinstance(form, str):
                    yield endpoint, model, form

    def habits(self, endpoint: str, model: str) -> str | None:
        """Return what is known of the requests that an endpoint accepts, or None."""
        if not self.has_abilities:
            return None
        query = "SELECT form FROM abilities WHERE endpoint = ? AND model = ?"
        try:
            row = self.database.execute(query, (endpoint, model)).fetchone()
        except sqlite3.Error:
            return None
        return row[0] if row and isinstance(row[0], str) else None

    def _all(self, query: str, values: tuple[Any, ...]) -> Iterator[Any]:
        try:
            yield from rows_of(self.database, query, values)
        except sqlite3.Error as error:
            raise InputError(f"{self.path}: is damaged: {error}; see `cache verify`") from error

    def report(self, notify: Callable[[str], None]) -> None:
        """Report how many replies were skipped, and why."""
        for fault, count in self.skipped.items():
            notify(f"{self.path}: {count} replies are skipped: {fault}; see `cache verify`")

    def close(self) -> None:
        """Close the file."""
        self.database.close()


def _text(value: bytes) -> Any:
    """Return UTF-8 as text, and anything else as bytes."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _has(database: sqlite3.Connection, path: Path, name: str) -> bool:
    try:
        check_tables(database, path, [name])
    except MissingTable:
        return False
    return True
