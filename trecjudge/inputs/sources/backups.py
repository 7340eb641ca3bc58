"""Backups and copies of files, recognised by name, so that originals can come first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from trecjudge.inputs.sources.containers import ENDINGS, bare_name

BACKUP = re.compile(
    r"(~|\.~\d+~|\.(bak|backup|bck|orig|old|save?|sw[a-p]|tmp|rej)[-_.]?\d*)$", re.IGNORECASE
)
"""What editors, `patch`, `cp --backup` and people put after a name."""
COPY = re.compile(r"^copy of | - copy( ?\(\d+\))?$| copy( ?\d+)?$| ?\((copy|\d+)\)$", re.IGNORECASE)
"""What desktops and browsers put around a name."""


def backup_of(path: Path) -> str | None:
    """Return the bare name of the file that this is a backup of, by its name; None if it is none.

    `run.jsonl.bak`, `run.bak`, `run.jsonl~`, `#run.jsonl#`, `run.bak.gz`: `run`.
    """
    name = path.name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    if len(name) > 2 and name[0] == name[-1] == "#":
        return bare_name(Path(name[1:-1]))
    for candidate in (name, bare_name(Path(name))):
        found = BACKUP.search(candidate)
        # A name that is only the ending (`.bak`) is the backup of nothing.
        if found and found.start():
            return bare_name(Path(candidate[: found.start()]))
    return None


def copy_of(path: Path) -> str | None:
    """Return the bare name of the file that this is a copy of, by its name; None if it is none.

    `run (1).jsonl`, `run (copy).jsonl`, `Copy of run.jsonl`: `run`.
    """
    name = bare_name(path)
    original = COPY.sub("", name)
    return original if original and original != name else None


def backups_among(files: Iterable[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield (backup, original) of the files whose original is among them, in the same folder."""
    files = list(files)
    # Reversed, so that of several files with one bare name the first is the original.
    originals = {(f.parent, bare_name(f)): f for f in reversed(files) if backup_of(f) is None}
    for file in files:
        name = backup_of(file)
        original = originals.get((file.parent, name)) if name is not None else None
        if original is not None:
            yield file, original


def originals_first(files: Iterable[Path]) -> list[Path]:
    """Return the files in their order, but backups and copies after their originals."""
    files = list(files)
    names = {(file.parent, bare_name(file)) for file in files}

    def later(file: Path) -> bool:
        return any((file.parent, name) in names for name in (backup_of(file), copy_of(file)))

    return sorted(files, key=later)
