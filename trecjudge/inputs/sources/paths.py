"""Files by path, folder, pattern or standard input."""

from __future__ import annotations

import glob
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from trecjudge.errors import InputError
from trecjudge.settings.limits import limits, shown_bytes

STANDARD_INPUT = "-"
DESCRIPTOR = re.compile(r"/dev/(?:stdin|fd/(\d+))")
"""What names a file or pipe that this process was started with."""
PIECE = 1 << 20
_copies: dict[int, Path] = {}
"""Files with what streams of this process have given, by their numbers."""
_kept: list[tempfile.TemporaryDirectory[str]] = []
"""Folders to be deleted when the process ends."""


def files_below(path: Path) -> list[Path]:
    """Return `path` itself, or every file of a folder at any depth, or those that a pattern fits.

    `-` is standard input; a pipe that a shell makes, `<(zcat x)`, is read like it. Sorted by name;
    hidden files and folders are passed over. Raises InputError if `path` is not there.
    """
    path = as_file(path)
    if os.path.isdir(path):
        return sorted(_walk(path, set()))
    if os.path.exists(path):  # unlike Path.exists, False for a name too long
        return [path]
    fitting = glob.glob(str(path), recursive=True) if glob.has_magic(str(path)) else []
    if not fitting:
        raise InputError(f"{path}: no such file or folder")
    files = (_walk(Path(f), set()) if os.path.isdir(f) else [Path(f)] for f in fitting)
    return sorted({file for found in files for file in found})


def as_file(path: Path) -> Path:
    """Return a path as it is, or a file with what standard input or a shell's pipe gives."""
    number = _stream(path)
    if number is None:
        return path
    if number not in _copies:  # once, since inputs are read more than once
        if number:
            with os.fdopen(os.dup(number), "rb") as pipe:
                _copies[number] = _copy_stream(pipe, f"fd-{number}", f"/dev/fd/{number}")
        elif sys.stdin is None:
            raise InputError("standard input is closed")
        else:
            _copies[0] = _copy_stream(sys.stdin.buffer, "stdin", "standard input")
    return _copies[number]


def was_given_elsewhere(path: Path) -> bool:
    """Return whether a path that an earlier process noted names a stream: its own, not ours."""
    named = str(path) == STANDARD_INPUT or DESCRIPTOR.fullmatch(str(path))
    return bool(named) and _stream(path) not in _copies


def _stream(path: Path) -> int | None:
    """Return the number of the stream of this process that a path names, None for a file."""
    if str(path) == STANDARD_INPUT:
        return 0
    found = DESCRIPTOR.fullmatch(str(path))
    if found is None or os.path.isfile(path) or not os.path.exists(path):
        return None
    return int(found[1] or 0)


def _copy_stream(pipe: BinaryIO, name: str, shown: str) -> Path:
    folder = tempfile.TemporaryDirectory(prefix="trecjudge-")
    _kept.append(folder)
    path: Path = _Copy(folder.name) / name
    with path.open("wb") as file:
        most = limits().stdin
        for piece in iter(lambda: pipe.read(PIECE), b""):
            if file.tell() + len(piece) > most:
                message = f"is longer than {shown_bytes(most)} (--limit stdin): give it as a file"
                raise InputError(f"{shown} {message}")
            file.write(piece)
    return path


class _Copy(type(Path())):  # type: ignore[misc]
    """A path that is shown as `<stdin>`: its real name differs each time, outputs must not."""

    def __str__(self) -> str:
        return f"<{self.name}>" if self.name.startswith("fd-") else "<stdin>"

    def __fspath__(self) -> str:
        return str(super().__str__())


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
        else:  # a link to nowhere, or a pipe, is found when it is read
            yield entry
