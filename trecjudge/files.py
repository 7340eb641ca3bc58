"""Files written whole or not at all, and the folder of files kept between jobs."""

from __future__ import annotations

import errno
import glob
import io
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from trecjudge.errors import OutputError, why

FOLDER_VARIABLE = "TRECJUDGE_CACHE"
JUDGMENTS = (".judgments.jsonl", ".judgments.jsonl.zst")
"""How the source of truth of a job ends, plain or packed."""
OWN = {"/dev/stdout": 1, "/dev/fd/1": 1, "/dev/stderr": 2, "/dev/fd/2": 2}
"""Names of this process's own outputs."""
NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
"""The flag that refuses to open a link; 0 on systems without it."""
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINKS | getattr(os, "O_BINARY", 0)
PATIENCE = 10.0
"""Seconds for which somebody who reads a pipe is waited for."""
NOW = getattr(os, "O_NONBLOCK", 0)
"""The flag that opens a pipe without waiting for who writes to it."""
KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
"""What may be in the place of a file, beside devices, and may have no end."""
PART = re.compile(r"\.(\d+)-[0-9a-f]+\.part(?:-journal|-wal|-shm)?$")
"""The end of the name of a partial file, with the number of its process."""


def default_folder() -> Path:
    """Return TRECJUDGE_CACHE, else `trecjudge` below XDG_CACHE_HOME or ~/.cache."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen:
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trecjudge"
    except RuntimeError as error:
        raise OutputError(f"{error} Give --cache-dir, or set {FOLDER_VARIABLE}") from error


def open_regular(path: Path) -> io.BufferedReader:
    """Open a file of the user's for reading in bytes: all that others name is opened here.

    Raises OSError for what is no ordinary file, such as a pipe, which might never end.
    """
    _check_kind(path.stat().st_mode)  # before it is opened: a device may do something then
    number = os.open(path, os.O_RDONLY | NOW | getattr(os, "O_BINARY", 0))
    try:
        _check_kind(os.fstat(number).st_mode)  # another may be in its place by now
        if NOW:
            os.set_blocking(number, True)
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


def read_text(path: Path, most: int = -1) -> str:
    """Return the text of a file, or its first `most` characters.

    A byte order mark, as editors on Windows put it first, is dropped. Raises OSError,
    UnicodeDecodeError.
    """
    with io.TextIOWrapper(open_regular(path), encoding="utf-8-sig") as file:
        return file.read(most)


def _check_kind(mode: int) -> None:
    """Raise OSError for what is no ordinary file."""
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        kind = KINDS.get(stat.S_IFMT(mode), "a device")
        raise OSError(errno.ESPIPE, f"it is {kind}, not a file; give a file with what it holds")


@contextmanager
def chosen(path: Path) -> Iterator[BinaryIO]:
    """Open a file that the user named for writing: whole or not at all; a device or pipe directly.

    `/dev/stdout` is this process's own output. Raises OutputError if it cannot be written, or has
    the judgments of a job: nothing could make them again.
    """
    if path.name.endswith(JUDGMENTS) and os.path.lexists(path):
        raise OutputError(f"{path}: has the judgments of a job, which are kept; give another file")
    if not _is_stream(path):
        with whole(path) as file:
            yield file
        return
    try:
        # A copy of our own descriptor: opening the file behind it would overwrite its beginning.
        number = OWN.get(str(path))
        with os.fdopen(_open_stream(path) if number is None else os.dup(number), "wb") as file:
            yield file
    except BrokenPipeError:  # its reader has gone: that is no fault
        raise
    except OSError as error:
        raise _unwritable(path, error) from error


def _open_stream(path: Path) -> int:
    """Open a pipe or device for writing; a pipe that nobody reads is waited for a while."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            number = os.open(path, os.O_WRONLY | NOW)
            break
        except OSError as error:
            if error.errno != errno.ENXIO or time.monotonic() > until:
                raise
            time.sleep(0.05)
    if NOW:
        os.set_blocking(number, True)
    return number


def check_place(path: Path) -> None:
    """Raise OutputError where no file of this name can be written; nothing is left there."""
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        partial, file = new_part(path)
        file.close()
        partial.unlink()
    except OSError as error:
        raise _unwritable(path, error) from error


def _is_stream(path: Path) -> bool:
    if str(path) in OWN:
        return True
    try:
        kind = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(kind) or stat.S_ISFIFO(kind)


@contextmanager
def whole(path: Path, keep_partial: bool = False) -> Iterator[BinaryIO]:
    """Open a file that takes its name only when it is complete.

    After an error nothing of it remains. With `keep_partial`, as for a log, what was written stays
    as `NAME.part`. A link of that name is replaced, and its target is not changed. Raises
    OutputError if the file cannot be written.
    """
    with _part(path, keep_partial) as (_, file), _writing(path, file):
        yield file


@contextmanager
def whole_path(path: Path) -> Iterator[Path]:
    """Yield the path of a new file, which takes the name of `path` when all went well."""
    with _part(path) as (partial, file):
        file.close()
        yield partial


@contextmanager
def _part(path: Path, keep: bool = False) -> Iterator[tuple[Path, BinaryIO]]:
    """Yield a new file, and its path, that takes the name of `path` when all went well."""
    try:
        partial, file = new_part(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        yield partial, file
    except BaseException:
        with suppress(OSError):  # the first error is the useful one
            if keep:
                partial.replace(path.with_name(f"{path.name}.part"))
            else:
                partial.unlink(missing_ok=True)
        raise
    try:
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise _unwritable(path, error) from error


def new_part(path: Path) -> tuple[Path, BinaryIO]:
    """Return a new file beside `path`, and its name. Raises OSError."""
    # The name is random, since another job may write beside it, and since another user may have put
    # a link at a name that can be guessed. An existing file is never opened.
    partial = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(8)}.part")
    return partial, os.fdopen(os.open(partial, NEW, 0o666), "wb")


def remove_left_parts(folder: Path, name: str) -> None:
    """Remove what killed processes left of all files, or folders, whose names begin with `name`."""
    for part in folder.glob(f".{glob.escape(name)}*.part*"):
        found = PART.search(part.name)
        if found and not is_running(int(found[1])):
            with suppress(OSError):  # another user's: it does no harm
                (shutil.rmtree if part.is_dir() else Path.unlink)(part)


def is_running(process: int) -> bool:
    """Return whether a process of this host is there."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # such as another user's process: it counts as running
        return True
    return True


@contextmanager
def _writing(path: Path, file: BinaryIO) -> Iterator[None]:
    try:
        with file:
            yield
    except OSError as error:
        if error.filename is not None:  # it is about another file
            raise
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> OutputError:
    return OutputError(f"{path}: cannot be written: {why(error)}; give another path")
