"""A cache file in use: repaired when damage is found, reopened when another process moved it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from trecjudge.models.cache.salvage import lone, opened, repair
from trecjudge.models.cache.schema import is_damage

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


@dataclass(slots=True)
class CacheFile:
    """A connection to a cache file. Work is repeated where the file had to be replaced."""

    path: Path
    notify: Callable[[str], None]
    database: sqlite3.Connection = field(init=False, repr=False)
    _name: str = field(init=False, repr=False)
    _file: tuple[int, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._name = str(self.path)
        self._open()

    def read(self, work: Work[T]) -> T:
        """Return what `work` makes of the database. Raises sqlite3.Error."""
        try:
            return work(self.database)
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            self._mend(error)
            return work(self.database)

    def write(self, work: Work[T]) -> T:
        """Do `work` in a transaction, which is on disk when it returns. Raises sqlite3.Error."""

        def whole(database: sqlite3.Connection) -> T:
            with database:
                return work(database)

        done = self.read(whole)
        # What went into a file that another process has just set aside is written once more.
        while self.has_moved():
            self.reopen()
            done = self.read(whole)
        return done

    def has_moved(self) -> bool:
        """Return whether another file has taken the place of the one that is open."""
        return self._there() != self._file

    def reopen(self) -> None:
        """Open the file that is at the path now."""
        old = self.database
        self._open()
        _close(old)

    def _open(self) -> None:
        with lone(self.path):  # or it might be moved before it is known which file was opened
            self.database = opened(self.path, self.notify)
            self._file = self._there()

    def _there(self) -> tuple[int, int]:
        try:
            found = os.stat(self._name)
        except OSError:
            return (0, 0)
        return (found.st_dev, found.st_ino)

    def _mend(self, error: sqlite3.Error) -> None:
        """Repair the file, unless another process or thread has done so."""
        with lone(self.path):
            if not self.has_moved():
                repair(self.path, error, self.notify)
            old, self.database = self.database, opened(self.path, self.notify)
            self._file = self._there()
        _close(old)

    def close(self) -> None:
        """Close the file."""
        _close(self.database)


def _close(database: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):  # of a damaged file: nothing is left in it that was not saved
        database.close()
