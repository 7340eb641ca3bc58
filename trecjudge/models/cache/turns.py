"""Transactions for reads: one for all reads in one turn of the event loop."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import suppress
from dataclasses import dataclass


@dataclass(slots=True)
class TurnReads:
    """Transactions of a connection that only reads, none of them longer than a turn.

    A transaction for each read would read the pages again that lie in the write-ahead log; one for
    longer than a turn would keep the log from being emptied.
    """

    database: sqlite3.Connection
    _is_open: bool = False

    def begin(self) -> bool:
        """Open a transaction, which the event loop ends; return False if one is open already."""
        if self._is_open:
            return False
        try:
            loop = asyncio.get_running_loop()
            self.database.execute("BEGIN")
        except (RuntimeError, sqlite3.Error):  # no event loop, or damaged: each read on its own
            return True
        self._is_open = True
        loop.call_soon(self.end)
        return True

    def end(self) -> None:
        """End the transaction, so that later writes are seen."""
        if self._is_open:
            self._is_open = False
            with suppress(sqlite3.Error):  # closed since, or damaged: there is nothing to end
                self.database.rollback()

    def follow(self, database: sqlite3.Connection) -> None:
        """Read from this connection from now on, where it is another one."""
        if database is not self.database:
            self._is_open = False
            self.database = database
