"""Verifies a cache: the file, its rows, and its manifest, each in one line; writes nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.inputs.sources.databases import PATIENCE
from trecjudge.models.cache.foreign import ReadCache
from trecjudge.models.cache.manifest import MANIFEST, content_of, differences, read_manifest


@dataclass(frozen=True, slots=True)
class Check:
    """One check: what was checked, whether it is good, and what was found."""

    name: str
    good: bool
    found: str


def verify(folder: Path) -> list[Check]:
    """Return the checks of a cache. Raises InputError where it cannot be opened at all."""
    with closing(ReadCache(folder)) as cache:
        checks = [_file(cache)]
        try:
            content = content_of(cache)
        except InputError as error:
            return [*checks, Check("replies", False, str(error))]
        faults = ", ".join(f"{fault} ({count})" for fault, count in cache.skipped.items())
        bad = sum(cache.skipped.values())
        found = f"{content.replies} good" + (f", {bad} cannot be used: {faults}" if bad else "")
        checks.append(Check("replies", not bad, found))
        try:
            manifest = read_manifest(folder)
        except InputError as error:
            return [*checks, Check("manifest", False, str(error))]
        if manifest is None:
            none = f"none: there is no {MANIFEST} to compare with"
            return [*checks, Check("manifest", True, none)]
        different = "; ".join(differences(manifest, content))
        same = f"the content matches, sha256 {content.sha256}"
        return [*checks, Check("manifest", not different, different or same)]


def _file(cache: ReadCache) -> Check:
    cache.database.patience += cache.path.stat().st_size >> 20  # all of it is read
    try:
        found = [row[0] for row in cache.database.execute("PRAGMA integrity_check(3)")]
    except sqlite3.Error as error:
        found = [str(error)]
    cache.database.patience = PATIENCE
    sound = found == ["ok"]
    text = "sound" if sound else "damaged: " + " ".join("; ".join(map(str, found)).split())
    return Check("file", sound, text)
