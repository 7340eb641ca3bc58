"""Maintains a reply cache: lists what it holds, exports copies, merges caches, deletes replies.

A folder that is None is the default one.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from trecjudge.errors import InputError, OutputError, unknown
from trecjudge.files import default_folder
from trecjudge.models.cache.batches import BatchRecord
from trecjudge.models.cache.replies import FILE, connect, open_read_only

DAY = 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class Holding:
    """The replies of one model at one endpoint; tokens are what they cost."""

    endpoint: str
    model: str
    replies: int
    prompt_tokens: int
    completion_tokens: int

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return int(self.prompt_tokens or 0) + int(self.completion_tokens or 0)


def holdings(folder: Path | None) -> list[Holding]:
    """Return what the cache in `folder` holds, by endpoint and model."""
    query = """
        SELECT endpoint, model, COUNT(*), SUM(prompt_tokens), SUM(completion_tokens)
        FROM replies GROUP BY endpoint, model ORDER BY endpoint, model
    """
    with _readable(folder), closing(_existing(folder)) as database:
        return [Holding(*row) for row in database.execute(query)]


def batches_under_way(folder: Path | None) -> list[BatchRecord]:
    """Return the batches that the cache in `folder` knows to be under way, the oldest first."""
    with _readable(folder), closing(_existing(folder)) as database:
        rows = database.execute("SELECT * FROM batches ORDER BY begun, file")
        return [BatchRecord(*row) for row in rows]


def export_to(folder: Path | None, target: Path, model: str | None = None) -> int:
    """Copy a cache, or one model's part of it, into a new folder; return the replies copied.

    Raises OutputError if there is a cache in `target` already.
    """
    if (target / FILE).exists():
        raise OutputError(f"{target / FILE}: is there already; give another folder")
    _check_model(folder, model)
    source = _path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        with closing(connect(target / FILE)) as database:
            count = _merge(database, source, model)
            database.execute("PRAGMA journal_mode = DELETE")  # one file, for a read-only place
    except (OSError, sqlite3.Error) as error:
        raise OutputError(f"{target}: cannot be written: {error}") from error
    return count


def import_from(folder: Path | None, source: Path) -> int:
    """Add the replies of another cache, where this one has none; return the replies added."""
    open_read_only(source).close()
    path = _path(folder)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(connect(path)) as database:
            return _merge(database, source / FILE)
    except (OSError, sqlite3.Error) as error:
        raise OutputError(f"{path}: cannot be written: {error}") from error


def prune(
    folder: Path | None, model: str | None = None, older_than_days: float | None = None
) -> int:
    """Delete replies of a model, or written so many days ago, or both; return how many.

    Raises InputError if neither is given.
    """
    if model is None and older_than_days is None:
        raise InputError("give --model or --older-than: what to delete")
    _check_model(folder, model)
    before = time.time() - older_than_days * DAY if older_than_days is not None else None
    with _readable(folder), closing(_existing(folder)) as database:
        with database:
            done = database.execute(
                "DELETE FROM replies WHERE (?1 IS NULL OR model = ?1)"
                " AND (?2 IS NULL OR written < ?2)",
                (model, before),
            )
        # Outside the transaction, as SQLite wants it; only this gives the space back.
        database.execute("VACUUM")
        return done.rowcount


def _check_model(folder: Path | None, model: str | None) -> None:
    """Raise InputError if a model is named that the cache has no replies of."""
    _existing(folder).close()
    if model is None:
        return
    models = {holding.model for holding in holdings(folder)}
    if model not in models:
        raise InputError(unknown("model", model, models))


def _path(folder: Path | None) -> Path:
    return (folder or default_folder()) / FILE


def _existing(folder: Path | None) -> sqlite3.Connection:
    path = _path(folder)
    if not path.is_file():
        raise InputError(f"{path}: no cache there; give --cache-dir")
    try:
        return connect(path)
    except sqlite3.Error as error:
        raise InputError(f"{path}: is no cache that can be read: {error}") from error


@contextmanager
def _readable(folder: Path | None) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise InputError(f"{_path(folder)}: is no cache that can be read: {error}") from error


def _merge(database: sqlite3.Connection, source: Path, model: str | None = None) -> int:
    database.execute("ATTACH ? AS other", (str(source),))
    with database:
        columns = ", ".join(_columns(database))
        done = database.execute(
            f"INSERT OR IGNORE INTO replies ({columns})"
            f" SELECT {columns} FROM other.replies WHERE ?1 IS NULL OR model = ?1",
            (model,),
        )
        # Ours win: what this cache learned of an endpoint is newer, or as good.
        database.execute("INSERT OR IGNORE INTO abilities SELECT * FROM other.abilities")
    database.execute("DETACH other")
    return done.rowcount


def _columns(database: sqlite3.Connection) -> list[str]:
    """Return the columns of replies that the attached cache has too: it may be an older one."""
    query = "SELECT name FROM pragma_table_info('replies', ?)"
    ours, theirs = ([row[0] for row in database.execute(query, (s,))] for s in ("main", "other"))
    return [name for name in ours if name in theirs]
