"""Files by path, folder, pattern or standard input."""

from __future__ import annotations

import glob
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.settings.limits import limits, shown_bytes

STANDARD_INPUT = "-"
PIECE = 1 << 20


def files_below(path: Path) -> list[Path]:
    """Return `path` itself, or every file of a folder at any depth, or those that a pattern fits.

    `-` is standard input. Sorted by name; hidden files and folders are passed over. Raises
    InputError if `path` is not there.
    """
    if str(path) == STANDARD_INPUT:
        return [standard_input()]
    if os.path.isfile(path):  # unlike Path.is_file, False for a name too long
        return [path]
    if os.path.isdir(path):
        return sorted(_walk(path, set()))
    fitting = glob.glob(str(path), recursive=True) if glob.has_magic(str(path)) else []
    if not fitting:
        raise InputError(f"{path}: no such file or folder")
    files = (_walk(Path(f), set()) if os.path.isdir(f) else [Path(f)] for f in fitting)
    return sorted({file for found in files for file in found})


@cache
def standard_input() -> Path:
    """Return a file with the content of standard input, since inputs are read more than once."""
    folder = tempfile.TemporaryDirectory(prefix="trecjudge-")
    _kept.append(folder)
    if sys.stdin is None:
        raise InputError("standard input is closed")
    path: Path = _StandardInput(folder.name) / "stdin"
    with path.open("wb") as file:
        most = limits().stdin
        for piece in iter(lambda: sys.stdin.buffer.read(PIECE), b""):
            if file.tell() + len(piece) > most:
                message = f"is longer than {shown_bytes(most)} (--limit stdin): give it as a file"
                raise InputError(f"standard input {message}")
            file.write(piece)
    return path


class _StandardInput(type(Path())):  # type: ignore[misc]
    """A path that is shown as `<stdin>`: its real name differs each time, outputs must not."""

    def __str__(self) -> str:
        return "<stdin>"

    def __fspath__(self) -> str:
        return str(super().__str__())


_kept: list[tempfile.TemporaryDirectory[str]] = []
"""Folders to be deleted when the process ends."""


def _walk(folder: Path, seen: set[str]) -> Iterator[Path]:
    """Yield the files below a folder; linked folders too, each folder once."""
    # By its real path: links between folders could lead round in a circle.
    real = os.path.realpath(folder)
    if real in seen:
        return
    seen.add(real)
    for entry in sorted(folder.iterdir()):
        # Left by systems and editors: `.DS_Store`, `._run.jsonl`, `.run.jsonl.swp`.
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _walk(entry, seen)
        elif entry.is_file() or entry.is_symlink():  # a link to nowhere is found when it is read
            yield entry
