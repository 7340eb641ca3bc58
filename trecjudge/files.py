"""Files written whole or not at all, and the folder of files kept between jobs."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from trecjudge.errors import OutputError

FOLDER_VARIABLE = "TRECJUDGE_CACHE"


def default_folder() -> Path:
    """Return TRECJUDGE_CACHE, else `trecjudge` below XDG_CACHE_HOME or ~/.cache."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen:
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trecjudge"
    except RuntimeError as error:
        raise OutputError(f"{error} Give --cache-dir, or set {FOLDER_VARIABLE}") from error


@contextmanager
def whole(path: Path, keep_partial: bool = False) -> Iterator[BinaryIO]:
    """Open a file that takes its name only when it is complete.

    After an error nothing of it remains; with `keep_partial` (a log) all that was written, as
    `NAME.part`. Raises OutputError if it cannot be written.
    """
    with whole_path(path, keep_partial) as partial, _writable(path, partial) as file:
        yield file


@contextmanager
def whole_path(path: Path, keep_partial: bool = False) -> Iterator[Path]:
    """Yield a path to write to, which takes the name of `path` when all went well."""
    # A random name: another job may write beside it, and at a name that can be guessed somebody
    # may have put a link.
    partial = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        yield partial
    except BaseException:
        if keep_partial and partial.exists():
            partial.replace(path.with_name(f"{path.name}.part"))
        else:
            with suppress(OSError):  # the first error is the useful one
                partial.unlink(missing_ok=True)
        raise
    try:
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error


@contextmanager
def _writable(path: Path, partial: Path) -> Iterator[BinaryIO]:
    try:
        file = partial.open("xb")
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
    try:
        with file:
            yield file
    except OSError as error:
        if error.filename is not None:  # it is about another file
            raise
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
