"""The read-only caches behind the job's own, in order, each checked before it is used."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trecjudge.models.cache.foreign import ReadCache
from trecjudge.models.cache.manifest import checked_digest
from trecjudge.models.cache.schema import FILE

SOURCE = 11
"""The column of the source in a row."""


@dataclass(frozen=True, slots=True)
class Behind:
    """Caches that are only read. `own` is the first of them where nothing may be written."""

    caches: list[ReadCache]
    labels: list[str]
    digests: list[str]
    notify: Callable[[str], None]

    @classmethod
    def opened(
        cls, folders: Iterable[Path], own: Path | None, notify: Callable[[str], None]
    ) -> Behind:
        """Open caches. Raises InputError for one that cannot be used, or is not its manifest's."""
        behind = cls([], [], [], notify)
        try:
            if own is not None and (own / FILE).exists():
                behind._add(ReadCache(own, notify), "", "")
            for folder in folders:
                behind._add_other(ReadCache(folder))
        except BaseException:
            behind._close_all()
            raise
        return behind

    def _add(self, cache: ReadCache, label: str, digest: str) -> None:
        self.caches.append(cache)
        self.labels.append(label)
        self.digests.append(digest)

    def _add_other(self, cache: ReadCache) -> None:
        self._add(cache, "", "")  # first, so that it is closed even if the check below fails
        digest = checked_digest(cache)
        self.labels[-1], self.digests[-1] = label_of(cache.folder, digest), digest

    def reply(self, key: str) -> tuple[str, int, int, str] | None:
        """Return a reply, what it cost, and where it came from, of the first cache that has it."""
        for cache, label in zip(self.caches, self.labels, strict=True):
            if (row := cache.row(key)) is not None:
                return row[1], row[2], row[3], label or row[SOURCE]
        return None

    def habits(self, endpoint: str, model: str) -> str | None:
        """Return what is known of an endpoint, from the first cache that knows it, or None."""
        found = (cache.habits(endpoint, model) for cache in self.caches)
        return next((text for text in found if text is not None), None)

    def databases(self) -> Iterable[sqlite3.Connection]:
        """Return the connections."""
        return [cache.database for cache in self.caches]

    def record(self, used: Mapping[str, int]) -> list[dict[str, Any]]:
        """Return every cache by its label, with its digest and how many replies came from it."""
        digests = dict(zip(self.labels, self.digests, strict=True))
        labels = dict.fromkeys([*filter(None, self.labels), *sorted(used)])
        records = [{"source": label, "replies": used.get(label, 0)} for label in labels]
        return [
            r | ({"sha256": d} if (d := digests.get(str(r["source"]))) else {}) for r in records
        ]

    def close(self) -> None:
        """Report what was skipped, and close the files."""
        for cache in self.caches:
            cache.report(self.notify)
        self._close_all()

    def _close_all(self) -> None:
        for cache in self.caches:
            cache.close()


def label_of(folder: Path, digest: str) -> str:
    """Return the name of a cache where a reply of it is used: its folder, its manifest's digest."""
    return f"{folder} sha256:{digest}" if digest else str(folder)
