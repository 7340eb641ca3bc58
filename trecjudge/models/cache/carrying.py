"""Carries replies from one cache to another as they are: between processes of one job."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from trecjudge.errors import OutputError, why
from trecjudge.files import whole
from trecjudge.models.cache.readonly import ReadCache
from trecjudge.models.cache.schema import FILE, WRITTEN
from trecjudge.models.cache.upkeep import add_replies, write_cache


def export_replies(folder: Path, target: Path, model: str, since: int = 0) -> int:
    """Write a model's replies that a cache has got `since` a time into a new cache in `target`.

    It is one file, which many machines may read at once. Return how many replies it holds. Raises
    OutputError.
    """
    try:
        # Made on a local disk: SQLite needs locks, which a file system of many machines may lack.
        with closing(ReadCache(folder)) as source, TemporaryDirectory() as here:
            path = Path(here) / FILE
            rows = (row for row in source.rows(model) if row[WRITTEN] >= since)
            count = write_cache(path, rows, source, model)
            target.mkdir(parents=True, exist_ok=True)
            with path.open("rb") as made, whole(target / FILE) as file:
                shutil.copyfileobj(made, file)
    except (OSError, sqlite3.Error) as error:
        raise OutputError(f"{target}: cannot be written: {why(error)}") from error
    return count


def import_replies(folder: Path, source: Path, notify: Callable[[str], None]) -> None:
    """Add the replies that `carried_out` wrote to a cache. Raises OutputError."""
    with closing(ReadCache(source)) as other:
        add_replies(folder / FILE, other.rows(), other, notify)
