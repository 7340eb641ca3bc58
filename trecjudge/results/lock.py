"""A lock on a file: it ends with the process that holds it."""

from __future__ import annotations

import errno
import os
import platform
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from trecjudge.errors import OutputError, why
from trecjudge.files import NO_LINKS, is_running

try:
    import fcntl
except ImportError:  # not on every system
    fcntl = None  # type: ignore[assignment]

NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL)
"""Errors of network and container file systems that have no locks."""
HOLDER = re.compile(r"(\d+) (\S*)\n")
PATIENCE = 20
"""Tries to read who holds a lock, 10 ms apart: a lock is taken first, and signed after that."""


def flock(descriptor: int) -> None:
    """Take the lock of an open file. Raises BlockingIOError if another has it, else OSError."""
    if fcntl is None:
        raise OSError(errno.ENOSYS, "no locks")
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(
    path: Path, what: str, notify: Callable[[str], None], take: Callable[[int], None] = flock
) -> Iterator[None]:
    """Hold the lock at `path`, a file that is there only as long as it is held.

    Where the file system has no locks, the process number in the file replaces the lock, and
    `notify` gets a warning. Raises OutputError where another process holds it: the message names
    that process, and `what` it writes.
    """
    try:
        descriptor = _opened(path, what, notify, take)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _none_of_ours(path) from error
        raise OutputError(f"{path}: cannot be locked: {why(error)}") from error
    try:
        yield
    finally:
        with suppress(OSError):
            if _lies_at(path, descriptor):
                # While it is still locked: else another process could lock a file that is gone.
                path.unlink()
        os.close(descriptor)


def _opened(
    path: Path, what: str, notify: Callable[[str], None], take: Callable[[int], None]
) -> int:
    """Return the descriptor of the file, locked and signed with this process."""
    while True:
        # A link in a shared folder could lead to another user's file, which would be emptied.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | NO_LINKS, 0o666)
        try:
            if (found := os.fstat(descriptor)).st_nlink > 1 or not stat.S_ISREG(found.st_mode):
                raise _none_of_ours(path)
            _take(descriptor, path, what, notify, take)
            if _lies_at(path, descriptor):  # else its holder removed it meanwhile: try again
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()} {platform.node()}\n".encode(), 0)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _none_of_ours(path: Path) -> OutputError:
    return OutputError(
        f"{path}: cannot be locked: it is a link, or not a file, and no lock of this program;"
        " remove it"
    )


def _take(
    descriptor: int,
    path: Path,
    what: str,
    notify: Callable[[str], None],
    take: Callable[[int], None],
) -> None:
    try:
        take(descriptor)
    except BlockingIOError:
        holder = _holder(descriptor)
        process = f"process {_named(*holder)}" if holder else "another process"
        raise OutputError(
            f"{what}: {process} is writing there; wait for it, or give another --name or --out-dir"
        ) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        holder = _signed(descriptor)
        if holder and _may_run(*holder):
            message = f"process {_named(*holder)} is writing there; if it is gone, delete {path}"
            raise OutputError(f"{what}: {message}") from None
        notify(f"{path.parent} has no file locks: do not let two jobs of one --name write there")


def _holder(descriptor: int) -> tuple[int, str] | None:
    """Return the process that holds a lock, as soon as it has signed; None if it does not."""
    for _ in range(PATIENCE):
        holder = _signed(descriptor)
        if holder and _may_run(*holder):
            return holder
        time.sleep(0.01)
    return None


def _signed(descriptor: int) -> tuple[int, str] | None:
    """Return the process and the host that a file is signed with."""
    # 400 bytes hold a number and the longest host name.
    found = HOLDER.fullmatch(os.pread(descriptor, 400, 0).decode(errors="replace"))
    return (int(found[1]), found[2]) if found else None


def _named(process: int, host: str) -> str:
    return str(process) if host == platform.node() else f"{process} on {host}"


def _may_run(process: int, host: str) -> bool:
    """Return whether a process may be running; on another host it always may."""
    return host != platform.node() or is_running(process)


def _lies_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
