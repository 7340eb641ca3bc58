"""Caches that are only read: those of others, and the job's own where nothing may be written.

Nothing in them is trusted: a table may be a view, a number may be a text.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError
from trecjudge.inputs.sources.databases import TimedConnection, open_database, rows_of
from trecjudge.models.cache.schema import (
    CHECKSUM,
    FILE,
    NAMES,
    SOURCE,
    Row,
    check_regular,
    check_tables,
    check_version,
    fault_of,
    is_damage,
    no_cache,
    row_columns,
    text_or_bytes,
)
from trecjudge.settings.limits import read_json_file

MANIFEST = "manifest.json"
FORMAT = 1
MOST_BYTES = 64 * 1024 * 1024
"""Bytes of the largest manifest."""
COUNTED = ("endpoint", "model", "program", "version", "source")
"""The columns whose values a manifest counts."""
Kept = tuple[str, int, int, str]
"""A reply, its tokens in and out, and the cache that it came from."""


@dataclass(slots=True)
class ReadCache:
    """A cache that is only read. Replies that cannot be used are skipped and counted.

    Raises InputError where there is none, or one that cannot be read.
    """

    folder: Path
    skipped: dict[Any, str] = field(default_factory=dict)
    """Why a reply cannot be used, by its key."""
    database: TimedConnection = field(init=False, repr=False)
    _columns: str = field(init=False, repr=False)
    _has_abilities: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not os.path.lexists(self.path):  # a link to nothing is a cache that cannot be read
            raise InputError(f"{self.folder}: {no_cache(self.path)}; give a folder with a cache")
        try:
            check_regular(self.path)
            self._open()
        except sqlite3.Error as error:
            message = f"{self.path}: is no cache that can be read: {error}"
            raise InputError(message) from error

    @property
    def path(self) -> Path:
        """The database file."""
        return self.folder / FILE

    def _open(self) -> None:
        # What another process is writing lies beside the file; only where that cannot be looked at
        # (a read-only folder) is the file taken without it.
        if self.path.with_name(f"{FILE}-wal").exists():
            with suppress(sqlite3.Error):
                self.database = self._connect("mode=ro")
                return
        self.database = self._connect("mode=ro&immutable=1")

    def _connect(self, mode: str) -> TimedConnection:
        database = open_database(self.path, mode)
        try:
            database.text_factory = text_or_bytes
            check_version(database, self.path)
            check_tables(database, self.path, ["replies"])
            query = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'abilities'"
            self._has_abilities = bool(database.execute(query).fetchone()[0])
            if self._has_abilities:
                check_tables(database, self.path, ["abilities"])
            self._columns = row_columns(database)
        except BaseException:
            database.close()
            raise
        return database

    def row(self, key: str) -> Row | None:
        """Return the row of a reply; None if it is not there, or cannot be used."""
        query = f"SELECT {self._columns} FROM replies WHERE key = ?"
        try:
            row: Row | None = self.database.execute(query, (key,)).fetchone()
        except sqlite3.Error as error:  # one damaged page must not end a job
            self.skipped[key] = str(error)
            return None
        return row if row is None or self._is_usable(row) else None

    def _is_usable(self, row: Row) -> bool:
        if fault := fault_of(row[:CHECKSUM], row[CHECKSUM]):
            self.skipped[row[0]] = fault
        return not fault

    def rows(self, model: str | None = None) -> Iterator[Row]:
        """Yield the rows of all replies, or of one model's, by key; unusable ones are counted.

        Raises InputError where the file is damaged.
        """
        query = f"SELECT {self._columns} FROM replies WHERE ?1 IS NULL OR model = ?1 ORDER BY key"
        return (row for row in self._answer(query, model) if self._is_usable(row))

    def abilities(self) -> Iterator[tuple[str, str, str]]:
        """Yield (endpoint, model, habits) of all that is known of endpoints."""
        if self._has_abilities:
            for row in self._answer("SELECT endpoint, model, form FROM abilities ORDER BY 1, 2"):
                if all(isinstance(value, str) for value in row):
                    yield row

    def habits(self, endpoint: str, model: str) -> str | None:
        """Return what is known of the requests that an endpoint accepts, or None."""
        if not self._has_abilities:
            return None
        query = "SELECT form FROM abilities WHERE endpoint = ? AND model = ?"
        try:
            row = self.database.execute(query, (endpoint, model)).fetchone()
        except sqlite3.Error:
            return None
        return row[0] if row and isinstance(row[0], str) else None

    def _answer(self, query: str, *values: Any) -> Iterator[Any]:
        try:
            yield from rows_of(self.database, query, values)
        except sqlite3.Error as error:
            raise InputError(f"{self.path}: is damaged: {error}; see `cache verify`") from error

    def report(self, notify: Callable[[str], None]) -> None:
        """Report how many replies were skipped, and why."""
        for fault, count in Counter(self.skipped.values()).items():
            notify(f"{self.path}: {count} replies are skipped: {fault}; see `cache verify`")

    def close(self) -> None:
        """Close the file."""
        self.database.close()


def content_of(cache: ReadCache) -> dict[str, Any]:
    """Return what a cache holds, as a manifest says it. Raises InputError where it is damaged.

    `sha256` is taken over lines of JSON arrays: every reply by its key, then what is known of
    endpoints. So equal content has the same one, even if the files differ. Provenance that was
    never noted is left out.
    """
    digest, sums = hashlib.sha256(), Counter[str]()
    counts = {name: Counter[str]() for name in COUNTED}
    prompts, times = defaultdict[str, set[str]](set), set[int]()
    for values in cache.rows():
        digest.update(orjson.dumps(values[:CHECKSUM], option=orjson.OPT_APPEND_NEWLINE))
        row = dict(zip(NAMES, values, strict=False))
        sums.update({name: row[name] for name in ("prompt_tokens", "completion_tokens")}, replies=1)
        for name, count in counts.items():
            count[row[name]] += 1
        prompts[row["program"]].add(row["prompt"])
        times.add(row["written"])
    for ability in cache.abilities():
        digest.update(orjson.dumps(ability, option=orjson.OPT_APPEND_NEWLINE))
    content: dict[str, Any] = {"sha256": digest.hexdigest()}
    content |= {name: sums[name] for name in ("replies", "prompt_tokens", "completion_tokens")}
    content["first_written"] = _time(min(times)) if times else ""
    content["last_written"] = _time(max(times)) if times else ""
    for name, count in counts.items():
        content[f"{name}s"] = {value: n for value, n in sorted(count.items()) if value}
        if name == "program":
            known = {program: sorted(filter(None, found)) for program, found in prompts.items()}
            content["prompts_sha256"] = {name: known[name] for name in sorted(known) if known[name]}
    return content


def differences(content: Mapping[str, Any], manifest: Mapping[str, Any]) -> list[str]:
    """Return how a manifest differs from what a cache holds, in words."""
    return [
        f"{name} is {_short(value)}, the manifest says {_short(manifest.get(name))}"
        for name, value in content.items()
        if value != manifest.get(name)
    ]


def _time(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return str(seconds)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest beside a cache, None where there is none. Raises InputError."""
    path = folder / MANIFEST
    try:
        record = read_json_file(path, MOST_BYTES)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: is no manifest that can be read: {error}") from error
    if not isinstance(record, dict) or not isinstance(record.get("sha256"), str):
        raise InputError(f"{path}: is no manifest: it has no sha256")
    if record.get("format") != FORMAT:
        message = f"{path}: has format {record.get('format')!r}; this trecjudge knows {FORMAT}"
        raise InputError(message)
    return record


def checked_digest(cache: ReadCache) -> str:
    """Return the sha256 of a cache by its manifest, "" where it has none.

    Raises InputError where the content differs.
    """
    manifest = read_manifest(cache.folder)
    if manifest is None:
        return ""
    # Only replies that the job wants are to be reported as skipped.
    skipped = cache.skipped.copy()
    different = differences(content_of(cache), manifest)
    cache.skipped = skipped
    if different:
        raise InputError(
            f"{cache.path}: is not what its {MANIFEST} says: {different[0]};"
            f" see `cache verify {cache.folder}`"
        )
    return str(manifest["sha256"])


def label_of(folder: Path, digest: str) -> str:
    """Return the name of a cache where a reply of it is used: its folder, its manifest's digest."""
    return f"{folder} sha256:{digest}" if digest else str(folder)


class ReadOnlyCaches:
    """Caches that are only read, in order, each checked before it is used.

    `own` is the job's own, where nothing may be written. Raises InputError for one of the others
    that cannot be used, or is not what its manifest says.
    """

    def __init__(
        self, folders: Iterable[Path], own: Path | None, notify: Callable[[str], None]
    ) -> None:
        self._notify = notify
        self._caches: list[tuple[ReadCache, str]] = []
        self._digests: dict[str, str] = {}
        try:
            # An empty file is that of a job which was killed when it had just made it.
            if own is not None and (own / FILE).exists() and (own / FILE).stat().st_size:
                self._add_own(own)
            for folder in folders:
                self._add_other(ReadCache(folder))
        except BaseException:
            self._close_all()
            raise

    def _add_own(self, folder: Path) -> None:
        try:
            self._caches.append((ReadCache(folder), ""))
        except InputError as error:
            if not is_damage(error.__cause__):
                raise
            self._notify(f"{error}; nothing is taken from it, and nothing is written")

    def _add_other(self, cache: ReadCache) -> None:
        try:
            digest = checked_digest(cache)
        except BaseException:
            cache.close()
            raise
        label = label_of(cache.folder, digest)
        self._caches.append((cache, label))
        self._digests[label] = digest

    def reply(self, key: str) -> Kept | None:
        """Return a reply, what it cost, and where it came from, of the first cache that has it."""
        for cache, label in self._caches:
            if (row := cache.row(key)) is not None:
                return row[1], row[2], row[3], label or row[SOURCE]
        return None

    def habits(self, endpoint: str, model: str) -> str | None:
        """Return what is known of an endpoint, from the first cache that knows it, or None."""
        found = (cache.habits(endpoint, model) for cache, _ in self._caches)
        return next((text for text in found if text is not None), None)

    def databases(self) -> list[sqlite3.Connection]:
        """Return the connections."""
        return [cache.database for cache, _ in self._caches]

    def record(self, used: Mapping[str, int]) -> list[dict[str, Any]]:
        """Return every cache by its label, with its digest and how many replies came from it."""
        records = []
        for label in dict.fromkeys([*self._digests, *sorted(used)]):
            digest = self._digests.get(label)
            records.append(
                {"source": label, "replies": used.get(label, 0)}
                | ({"sha256": digest} if digest else {})
            )
        return records

    def close(self) -> None:
        """Report what was skipped, and close the files."""
        for cache, _ in self._caches:
            cache.report(self._notify)
        self._close_all()

    def _close_all(self) -> None:
        for cache, _ in self._caches:
            cache.close()
