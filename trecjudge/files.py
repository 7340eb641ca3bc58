"""Files written whole or not at all, folders kept between jobs, and times that files name."""

from __future__ import annotations

import errno
import glob
import io
import os
import re
import select
import shlex
import shutil
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from trecjudge.errors import OutputError, WorkflowError, why
from trecjudge.text.credentials import is_secret_address

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


# Files written whole or not at all, and the folder of files kept between jobs.
FOLDER_VARIABLE = "TRECJUDGE_CACHE"
JUDGMENTS = (".judgments.jsonl", ".judgments.jsonl.zst")
"""How the source of truth of a job ends, plain or packed."""
OWN = {"/dev/stdout": 1, "/dev/fd/1": 1, "/dev/stderr": 2, "/dev/fd/2": 2}
"""Names of this process's own outputs."""
NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
"""The flag that refuses to open a link; 0 on systems without it."""
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINKS | getattr(os, "O_BINARY", 0)
_UMASK = threading.Lock()
"""Held while the umask is looked at, since it can only be read by setting it."""
_TOLD: set[Path] = set()
"""Folders of which it was said that others can read them."""
PATIENCE = 10.0
"""Seconds for which somebody who reads a pipe is waited for."""
NOW = getattr(os, "O_NONBLOCK", 0)
"""The flag that opens a pipe without waiting for who writes to it."""
_last = Path()
KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
"""What may be in the place of a file, beside devices, and may have no end."""
PART = re.compile(r"\.(\d+)-([0-9a-f]+)\.part(?:-journal|-wal|-shm)?$")
"""The end of the name of a partial file, with the number of its process."""
_PROCESS = os.urandom(4).hex()
"""Tells this process from earlier ones of its number."""


class Patient(io.FileIO):
    """An open file; one that does not block is waited for as one that does."""

    def write(self, data: ReadableBuffer) -> int:
        """Write some of the bytes; return how many."""
        while (written := super().write(data)) is None:
            select.select([], [self], [])
        return written


def resolve_links(path: Path) -> Path:
    """Return a path without links and `..`; a link to itself stays, and cannot be read."""
    return Path(os.path.realpath(path))  # Path.resolve raises for such a link


def default_folder() -> Path:
    """Return TRECJUDGE_CACHE, else `trecjudge` below XDG_CACHE_HOME or ~/.cache."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen and is_secret_address(chosen):
        raise OutputError(f"{FOLDER_VARIABLE}: {chosen!r} is an address, not a folder")
    if chosen:
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trecjudge"
    except RuntimeError as error:
        raise OutputError(f"{error} Give --cache-dir, or set {FOLDER_VARIABLE}") from error


def keep_private(folder: Path) -> None:
    """Make a cache's folder where there is none: for this user only, whatever the umask."""
    folder.mkdir(0o700, parents=True, exist_ok=True)


def tell_if_open(folder: Path, notify: Callable[[str], None]) -> None:
    """Tell, once, that other users may look into a cache, unless that is a team's."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & 0o077 and not _is_team(mode) and folder not in _TOLD:
        _TOLD.add(folder)
        remedy = f"to keep them out, chmod -R go= {shlex.quote(str(folder))}"
        notify(f"{folder}: other users may look into this cache (mode {mode:03o}); {remedy}")


def make_private(path: Path) -> None:
    """Make an empty file in a cache where there is none, for this user only.

    In the folder of a team (setgid, writable by the group) it is for the group too. Raises OSError
    where another user may have put a link there.
    """
    folder = stat.S_IMODE(path.parent.stat().st_mode)
    try:
        descriptor = os.open(path, NEW, 0o600)
    except FileExistsError:  # not opened: closing it would free SQLite's locks on it
        found = path.lstat()
        # In a folder of one's own a link is one's own: the file may lie on a larger disk.
        if stat.S_ISLNK(found.st_mode) and (folder & 0o022 or found.st_uid != os.geteuid()):
            reason = "it is a link, which another user may have put there"
            raise OSError(errno.ELOOP, reason, str(path)) from None
        return
    with os.fdopen(descriptor):
        if _is_team(folder):
            os.fchmod(descriptor, 0o660)


def _is_team(mode: int) -> bool:
    return bool(mode & stat.S_ISGID and mode & stat.S_IWGRP)


def give_rights(path: Path, like: Path) -> None:
    """Give a file the rights that the umask leaves, and none that a file `like` lacks."""
    with _UMASK:
        mask = os.umask(0o077)
        os.umask(mask)
    mode = 0o666 & ~mask
    with suppress(OSError):  # a file system without rights, or nothing there
        found = like.lstat().st_mode
        mode &= found if stat.S_ISREG(found) else mode
    with suppress(OSError):
        path.chmod(mode)


def open_regular(path: Path) -> io.BufferedReader:
    """Open a file of the user's for reading in bytes: all that others name is opened here.

    Raises OSError for what is no ordinary file, such as a pipe, which might never end.
    """
    global _last
    _check_kind(path.stat().st_mode)  # before it is opened: a device may do something then
    _last = path
    number = os.open(path, os.O_RDONLY | NOW | getattr(os, "O_BINARY", 0))
    try:
        _check_kind(os.fstat(number).st_mode)  # another may be in its place by now
        if NOW:
            os.set_blocking(number, True)
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


def last_opened() -> Path:
    """Return the file that was opened last, for a message on what took too much memory."""
    return _last


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
def open_target(path: Path) -> Iterator[BinaryIO]:
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
        raw = Patient(_open_stream(path) if number is None else os.dup(number), "wb")
        with io.BufferedWriter(raw) as file:
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
def whole_path(path: Path, private: bool = False) -> Iterator[Path]:
    """Yield the path of a new file, which takes the name of `path` when all went well.

    A `private` one is for this user only, whatever the umask.
    """
    with _part(path, private=private) as (partial, file):
        file.close()
        yield partial


@contextmanager
def _part(path: Path, keep: bool = False, private: bool = False) -> Iterator[tuple[Path, BinaryIO]]:
    """Yield a new file, and its path, that takes the name of `path` when all went well."""
    broken_off = path.with_name(f"{path.name}.part")
    try:
        partial, file = new_part(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        yield partial, file
    except BaseException:
        with suppress(OSError):  # the first error is the useful one
            if keep:
                give_rights(partial, path)
                partial.replace(broken_off)
            else:
                partial.unlink(missing_ok=True)
        raise
    try:
        if not private:
            give_rights(partial, path)
        partial.replace(path)
        if keep:  # what an earlier one left that broke off
            broken_off.unlink(missing_ok=True)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise _unwritable(path, error) from error


def new_part(path: Path) -> tuple[Path, BinaryIO]:
    """Return a new file beside `path`, for this user only, and its name. Raises OSError."""
    partial = part_of(path)
    return partial, os.fdopen(os.open(partial, NEW, 0o600), "wb")


def part_of(path: Path) -> Path:
    """Return a name beside `path` for what is to take its name, or to be removed, in the end."""
    # It is random, since another job may write beside it, and since another user may have put a
    # link at a name that can be guessed. An existing file is never opened.
    return path.with_name(f".{path.name}.{os.getpid()}-{_PROCESS}{os.urandom(8).hex()}.part")


def remove_left_parts(folder: Path, name: str) -> None:
    """Remove what killed processes left of all files, or folders, whose names begin with `name`."""
    for part in folder.glob(f".{glob.escape(name)}*.part*"):
        found = PART.search(part.name)
        # In a container a job has the same number each time.
        if found and (
            not is_running(int(found[1]))
            or (int(found[1]) == os.getpid() and not found[2].startswith(_PROCESS))
        ):
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


def make_folder(folder: Path) -> None:
    """Make a folder that the user named, where there is none. Raises OutputError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {why(error)}; give another folder") from error


def _unwritable(path: Path, error: OSError) -> OutputError:
    return OutputError(f"{path}: cannot be written: {why(error)}; give another path")


# Times that files name: with SOURCE_DATE_EPOCH those of two equal jobs are the same.
FIXED = "SOURCE_DATE_EPOCH"
"""The variable of reproducible builds: seconds since 1970."""


def fixed_time() -> str:
    """Return the time of SOURCE_DATE_EPOCH, UTC, ISO 8601; no text where it is not set.

    Raises WorkflowError where it is no number of seconds.
    """
    seconds = os.environ.get(FIXED, "")
    try:
        return datetime.fromtimestamp(int(seconds), UTC).isoformat() if seconds else ""
    except (ValueError, OverflowError, OSError):
        raise WorkflowError(f"{FIXED} is {seconds!r}: give seconds since 1970") from None


def seconds_since(started: float) -> float:
    """Return the seconds since a value of `time.perf_counter`; 0 where the time is fixed."""
    return 0.0 if fixed_time() else round(time.perf_counter() - started, 3)
