"""Maintains a reply cache: lists what it holds, copies, merges, checks and prunes it.

The folder None stands for the default one. `notify` gets messages on damage that was found, and
on replies that cannot be used.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import orjson

from trecjudge.errors import InputError, OutputError, unknown, why
from trecjudge.files import default_folder, give_rights, keep_private, whole
from trecjudge.findings import ignore
from trecjudge.inputs.sources.databases import PATIENCE
from trecjudge.models.access.addresses import stored_address
from trecjudge.models.cache.batch_book import BatchRecord
from trecjudge.models.cache.cache_file import CacheFile, open_sound
from trecjudge.models.cache.readonly import (
    FORMAT,
    MANIFEST,
    ReadCache,
    checked_digest,
    content_of,
    differences,
    label_of,
    read_manifest,
)
from trecjudge.models.cache.schema import (
    ADD_ABILITY,
    ADD_REPLY,
    ENDPOINT,
    FILE,
    MOST_TOKENS,
    SOURCE,
    WRITTEN,
    DamagedCache,
    Row,
    no_cache,
)
from trecjudge.version import __version__

DAY = 24 * 60 * 60
HELD = f"""
    SELECT endpoint, model, COUNT(*), SUM(prompt_tokens), SUM(completion_tokens) FROM replies
    WHERE typeof(endpoint) = 'text' AND typeof(model) = 'text'
    AND typeof(prompt_tokens) = 'integer' AND prompt_tokens BETWEEN 0 AND {MOST_TOKENS}
    AND typeof(completion_tokens) = 'integer' AND completion_tokens BETWEEN 0 AND {MOST_TOKENS}
    GROUP BY endpoint, model ORDER BY endpoint, model
"""
Notify = Callable[[str], None]


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
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class CacheCheck:
    """One check: what was checked, whether it is good, and what was found."""

    name: str
    good: bool
    found: str


def holdings(folder: Path | None, notify: Notify = ignore) -> list[Holding]:
    """Return what the cache in `folder` holds, by endpoint and model."""
    with _existing(folder, notify) as file:
        rows = file.read(lambda database: database.execute(HELD).fetchall())
        return [Holding(*row) for row in rows]


def batches_under_way(folder: Path | None, notify: Notify = ignore) -> list[BatchRecord]:
    """Return the batches that the cache in `folder` knows to be under way, the oldest first."""
    query = "SELECT * FROM batches ORDER BY begun, file"
    with _existing(folder, notify) as file:
        rows = file.read(lambda database: database.execute(query).fetchall())
        return [BatchRecord(*row) for row in rows]


def export_to(
    folder: Path | None, target: Path, model: str | None = None, notify: Notify = ignore
) -> int:
    """Copy a cache, or one model's part of it, into a new folder, with a manifest.

    Return the replies copied. Raises OutputError if there is a cache in `target` already.
    """
    if (target / FILE).exists():
        raise OutputError(f"{target / FILE}: exists already; give another folder")
    _check_model(folder, model, notify)
    with closing(ReadCache(_path(folder).parent)) as source:
        try:
            target.mkdir(parents=True, exist_ok=True)
            write_cache(target / FILE, map(_without_secrets, source.rows(model)), source, model)
            give_rights(target / FILE, target)  # to be given to others
        except (OSError, sqlite3.Error) as error:
            raise OutputError(f"{target}: cannot be written: {why(error)}") from error
        source.report(notify)
    return _write_manifest(target)


def write_cache(path: Path, rows: Iterable[Row], source: ReadCache, model: str | None) -> int:
    """Write rows into a new cache of one file, and what is known of endpoints; return how many."""
    with closing(open_sound(path)) as database:
        with database:
            count = database.executemany(ADD_REPLY, rows).rowcount
            add_abilities(database, source, model)
        database.execute("PRAGMA journal_mode = DELETE")  # one file, for a read-only place
    return max(0, count)


def _write_manifest(folder: Path) -> int:
    """Write the manifest of the cache in a folder; return how many replies that has."""
    with closing(ReadCache(folder)) as cache:
        content = content_of(cache)
    record = {"format": FORMAT, "written_by": f"trecjudge {__version__}"} | content
    with whole(folder / MANIFEST) as file:
        file.write(orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    count: int = content["replies"]
    return count


def import_from(folder: Path | None, source: Path, notify: Notify = ignore) -> int:
    """Add the replies of another cache, where this one has none; return the replies added.

    Raises InputError where it is not what its manifest says.
    """
    with closing(ReadCache(source)) as other:
        label = label_of(source, checked_digest(other))
        rows = (_from(label, row) for row in other.rows())
        count = add_replies(_path(folder), rows, other, notify)
        other.report(notify)
    return count


def add_replies(path: Path, rows: Iterable[Row], source: ReadCache, notify: Notify) -> int:
    """Add rows to a cache where it has none, and what is known of endpoints; return how many.

    Raises OutputError.
    """

    def add(database: sqlite3.Connection) -> int:
        count = database.executemany(ADD_REPLY, rows).rowcount
        add_abilities(database, source)
        return count

    try:
        keep_private(path.parent)  # there may be no cache yet
        with closing(CacheFile(path, notify)) as file:
            return file.write(add)
    except (OSError, sqlite3.Error) as error:
        raise OutputError(f"{path}: cannot be written: {why(error)}") from error


def prune(
    folder: Path | None,
    model: str | None = None,
    older_than_days: float | None = None,
    notify: Notify = ignore,
) -> int:
    """Delete replies of a model, or written so many days ago, or both; return how many.

    Raises InputError if neither is given.
    """
    if model is None and older_than_days is None:
        raise InputError("give --model or --max days=N: what to delete")
    _check_model(folder, model, notify)
    before = time.time() - older_than_days * DAY if older_than_days is not None else None
    statement = (
        "DELETE FROM replies WHERE (?1 IS NULL OR model = ?1) AND (?2 IS NULL OR written < ?2)"
    )
    with _existing(folder, notify) as file:
        count = file.write(lambda database: database.execute(statement, (model, before)).rowcount)
        # Outside the transaction, as SQLite wants it; only this gives the space back.
        file.read(lambda database: database.execute("VACUUM"))
        return count


def verify(folder: Path) -> list[CacheCheck]:
    """Check the file of a cache, its replies and its manifest; write nothing.

    Raises InputError where it cannot be opened at all.
    """
    with closing(ReadCache(folder)) as cache:
        checks = [_check_file(cache)]
        try:
            content = content_of(cache)
        except InputError as error:
            return [*checks, CacheCheck("replies", False, str(error))]
        counts = Counter(cache.skipped.values())
        faults = ", ".join(f"{fault} ({count})" for fault, count in counts.items())
        bad = counts.total()
        found = f"{content['replies']} good" + (f", {bad} cannot be used: {faults}" if bad else "")
        checks.append(CacheCheck("replies", not bad, found))
        try:
            manifest = read_manifest(folder)
        except InputError as error:
            return [*checks, CacheCheck("manifest", False, str(error))]
        if manifest is None:
            none = f"none: there is no {MANIFEST} to compare with"
            return [*checks, CacheCheck("manifest", True, none)]
        different = "; ".join(differences(content, manifest))
        same = f"the content matches, sha256 {content['sha256']}"
        return [*checks, CacheCheck("manifest", not different, different or same)]


def _check_file(cache: ReadCache) -> CacheCheck:
    cache.database.patience += cache.path.stat().st_size >> 20  # all of it is read
    try:
        found = [row[0] for row in cache.database.execute("PRAGMA integrity_check(3)")]
    except sqlite3.Error as error:
        found = [str(error)]
    cache.database.patience = PATIENCE
    sound = found == ["ok"]
    text = "sound" if sound else "damaged: " + " ".join("; ".join(map(str, found)).split())
    return CacheCheck("file", sound, text)


def _check_model(folder: Path | None, model: str | None, notify: Notify) -> None:
    """Raise InputError if a model is named that the cache has no replies of."""
    models = {holding.model for holding in holdings(folder, notify)}
    if model is not None and model not in models:
        raise InputError(unknown("model", model, models))


def _path(folder: Path | None) -> Path:
    return (folder or default_folder()) / FILE


@contextmanager
def _existing(folder: Path | None, notify: Notify) -> Iterator[CacheFile]:
    """Open a cache that is there; one that is damaged anywhere is replaced."""
    path = _path(folder)
    if not path.exists():
        raise InputError(f"{path.parent}: {no_cache(path)}: no cache there; give --cache-dir DIR")
    try:
        with closing(CacheFile(path, notify)) as file:
            file.read(_check_pages)  # or damage would be met in the middle of a command
            yield file
    except sqlite3.Error as error:
        raise InputError(f"{path}: is no cache that can be read: {error}") from error


def _check_pages(database: sqlite3.Connection) -> None:
    (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise DamagedCache(" ".join(found.split()))


def add_abilities(
    database: sqlite3.Connection, source: ReadCache, model: str | None = None
) -> None:
    """Add what another cache knows of endpoints, where this one knows nothing."""
    rows = (
        (_address(endpoint), name, form)
        for endpoint, name, form in source.abilities()
        if model in (None, name)
    )
    # Ours win: what this cache learned of an endpoint is newer, or as good.
    database.executemany(ADD_ABILITY, rows)


def _from(label: str, row: Row) -> Row:
    """Return a reply's row as an imported one; a source that it has already is kept."""
    return _without_secrets((*row[:SOURCE], row[SOURCE] or label, *row[SOURCE + 1 :]))


def _without_secrets(row: Row) -> Row:
    return (*row[:ENDPOINT], _address(row[ENDPOINT]), *row[ENDPOINT + 1 :])


def _address(endpoint: str) -> str:
    """Return an address without name, password and secrets: older caches may hold some."""
    shown = stored_address(endpoint)
    try:
        parts = urlsplit(shown)
    except ValueError:
        return shown
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


# Carries replies from one cache to another as they are: between processes of one job.
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
    """Add the replies that `export_replies` wrote to a cache. Raises OutputError."""
    with closing(ReadCache(source)) as other:
        add_replies(folder / FILE, other.rows(), other, notify)
