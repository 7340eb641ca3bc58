"""The output folder: files named after the job, each written whole or not at all."""

from __future__ import annotations

import errno
import glob
import os
import platform
import re
import stat
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from trecjudge.errors import OutputError, why
from trecjudge.files import NO_LINKS, fixed_time, is_running, new_part, remove_left_parts
from trecjudge.results.packed import PACKED

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
def hold_lock(
    path: Path, what: str, notify: Callable[[str], None], take: Callable[[int], None] = flock
) -> Iterator[None]:
    """Hold the lock at `path`, a file that is there only as long as it is held.

    Where the file system has no locks, the process number in the file replaces the lock, and
    `notify` gets a warning. Raises OutputError where another process holds it: the message names
    that process, and `what` it writes.
    """
    try:
        descriptor = _open_locked(path, what, notify, take)
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


def _open_locked(
    path: Path, what: str, notify: Callable[[str], None], take: Callable[[int], None]
) -> int:
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
        process = f"process {_process_text(*holder)}" if holder else "another process"
        raise OutputError(
            f"{what}: {process} is writing there; wait for it, or give another --name or --out-dir"
        ) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        holder = _read_signature(descriptor)
        if holder and _may_run(*holder):
            message = (
                f"process {_process_text(*holder)} is writing there; if it is gone, delete {path}"
            )
            raise OutputError(f"{what}: {message}") from None
        notify(f"{path.parent} has no file locks: do not let two jobs of one --name write there")


def _holder(descriptor: int) -> tuple[int, str] | None:
    """Return the process that holds a lock, as soon as it has signed; None if it does not."""
    for _ in range(PATIENCE):
        holder = _read_signature(descriptor)
        if holder and _may_run(*holder):
            return holder
        time.sleep(0.01)
    return None


def _read_signature(descriptor: int) -> tuple[int, str] | None:
    # 400 bytes hold a number and the longest host name.
    found = HOLDER.fullmatch(os.pread(descriptor, 400, 0).decode(errors="replace"))
    return (int(found[1]), found[2]) if found else None


def _process_text(process: int, host: str) -> str:
    return str(process) if host == platform.node() else f"{process} on {host}"


def _may_run(process: int, host: str) -> bool:
    """Return whether a process may be running; on another host it always may."""
    return host != platform.node() or is_running(process)


def _lies_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


SAFE_NAME = re.compile(r"\w[\w.+-]*")
_OUTSIDE = re.compile(r"[^\w.+-]+")
UNSAFE = re.compile(r"[^\w-]")
"""What becomes a `+` in the name of a judge, where that is part of the name of a file."""
SUFFIXES: Mapping[str, str] = {
    "leaderboard": ".leaderboard.txt",
    "statistics": ".leaderboard.jsonl",
    "qrels": ".qrels",
    "judgments": ".judgments.jsonl",
    "review": ".review.jsonl",
    "log": ".log",
    "config": ".config.yml",
    "report": ".report.html",
    "card": ".card.json",
}
"""What follows the name of a job in the name of each of its files."""
PACKABLE = ("judgments", "log")
"""The files that a job may pack."""
BESIDE = (("log", ".log.part"), ("log", f".log{PACKED}.part"), ("report", ".report"))
"""The log of a job that broke off, and the folder of a report that is too large for one file."""


def replace_unsafe(name: str) -> str:
    """Return a name with `_` for what no name of a file of ours may have; see `SAFE_NAME`."""
    return _OUTSIDE.sub("_", name)


@dataclass(frozen=True, slots=True)
class Outputs:
    """The files of one job: `NAME.leaderboard.txt` and so on in `folder`.

    Where they are `packed`, judgments and log are `NAME.judgments.jsonl.zst` and `NAME.log.zst`.
    """

    folder: Path
    name: str
    packed: bool = False

    def __post_init__(self) -> None:
        if not SAFE_NAME.fullmatch(self.name):
            message = f"name {self.name!r}: letters, digits, '.', '_', '+' and '-' only"
            raise OutputError(message)

    def prepare(self, judges: Sequence[str] = ()) -> None:
        """Make the folder. Raises OutputError if it, or a file of ours in it, cannot be written.

        `judges` are those of the job: of several, each has its own qrels. Raises WorkflowError for
        a SOURCE_DATE_EPOCH that is no time.
        """
        fixed_time()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            # Tried now: else a folder that cannot be written is found only after hours of judging.
            probe, file = new_part(self.folder / self.name)
            file.close()
            probe.unlink()
            remove_left_parts(self.folder, f"{self.name}.")
        except OSError as error:
            raise OutputError(self._why_not(error)) from error
        for path in (*map(self._file, SUFFIXES), *self.qrels_of(judges).values()):
            if what := _in_the_way(path):
                message = f"{path}: cannot be written: {what} is in its way"
                raise OutputError(f"{message}; remove it, or give another --name or --out-dir")
        self._check_apart(judges)

    def _check_apart(self, judges: Sequence[str]) -> None:
        """Raise OutputError where qrels of this job and of another one would be the same file."""
        # By their names, those of a judge of the job `x` could be those of a job `x.JUDGE`.
        others = [replace(self, name=path.stem) for path in self.qrels_of(judges).values()]
        if "." in self.name and self.qrels.exists() and not self.is_there:
            others.append(replace(self, name=self.name.rpartition(".")[0]))
        for other in others:
            if other != self and other.is_there:
                message = f"the job {other.name!r} there has qrels of this job's name"
                raise OutputError(f"{self.folder / self.name}: {message}; give another --name")

    def _why_not(self, error: OSError) -> str:
        reason = error.strerror or str(error)
        if isinstance(error, FileExistsError | NotADirectoryError):
            leads_nowhere = self.folder.is_symlink() and not self.folder.exists()
            reason = "it is a link to nothing" if leads_nowhere else "a file is in its way"
        return f"{self.folder}: cannot be written: {reason}; give another --out-dir"

    @contextmanager
    def lock(self, notify: Callable[[str], None] = lambda message: None) -> Iterator[None]:
        """Make the folder and lock its files of this name for this process.

        `notify` gets a warning where the folder has no locks. Raises OutputError if another process
        writes them, or the folder cannot be written.
        """
        self.prepare()
        with hold_lock(self.folder / f".{self.name}.lock", f"{self.folder / self.name}.*", notify):
            yield

    @property
    def is_there(self) -> bool:
        """Whether a job of this name has written its leaderboard."""
        return self.leaderboard.exists()

    @property
    def leaderboard(self) -> Path:
        """`run topic MEASURE value` rows."""
        return self._file("leaderboard")

    @property
    def statistics(self) -> Path:
        """Means with intervals, bounds, ties and groups: one object for each run and measure."""
        return self._file("statistics")

    @property
    def qrels(self) -> Path:
        """The grades of documents."""
        return self._file("qrels")

    def qrels_of(self, judges: Sequence[str]) -> dict[str, Path]:
        """Return where the grades of each judge go: `NAME.qrels`, of several `NAME.JUDGE.qrels`."""
        if len(judges) <= 1:
            return dict.fromkeys(judges, self.qrels)
        found: dict[str, Path] = {}
        taken: set[str] = set()
        for judge in judges:
            name = f"{self.name}.{UNSAFE.sub('+', judge)}"
            while name.casefold() in taken:  # some file systems know no case
                name += "+"
            taken.add(name.casefold())
            found[judge] = self.folder / f"{name}{SUFFIXES['qrels']}"
        return found

    def remove_other_qrels(
        self, kept: Collection[Path], known: Callable[[], Collection[str]]
    ) -> None:
        """Remove the qrels of earlier jobs of this name: they would be taken for those of this one.

        Of `NAME.JUDGE.qrels`, ours are those of `known` judges and of `module:Class`.
        """
        every = self.folder.glob(f"{glob.escape(self.name)}.*{SUFFIXES['qrels']}")
        for path in (self.qrels, *every):
            judge = path.name[len(self.name) + 1 : -len(SUFFIXES["qrels"])]
            ours = not judge or "+" in judge or judge in known()
            other = replace(self, name=path.stem)
            if path not in kept and ours and (other == self or not other.is_there):
                path.unlink(missing_ok=True)

    @property
    def log(self) -> Path:
        """The debug log."""
        return self._file("log")

    @property
    def judgments(self) -> Path:
        """Every judgment with its evidence."""
        return self._file("judgments")

    @property
    def review(self) -> Path:
        """The responses that a gate rejects or wants looked at."""
        return self._file("review")

    @property
    def config(self) -> Path:
        """What makes the job repeatable."""
        return self._file("config")

    @property
    def report(self) -> Path:
        """The report for a browser."""
        return self._file("report")

    @property
    def card(self) -> Path:
        """The card of its judge, where one was made."""
        return self._file("card")

    def _file(self, kind: str) -> Path:
        ending = PACKED if self.packed and kind in PACKABLE else ""
        return self.folder / f"{self.name}{SUFFIXES[kind]}{ending}"

    def of(self, suffix: str) -> Outputs:
        """Return the outputs of a variant or sweep point."""
        return replace(self, name=f"{self.name}.{suffix}") if suffix else self


def _in_the_way(path: Path) -> str:
    """Return what is at a path where a file cannot or must not replace it; empty for nothing."""
    try:
        kind = path.lstat().st_mode
    except OSError:
        return ""
    if stat.S_ISREG(kind) or stat.S_ISLNK(kind):  # a link is replaced, never followed
        return ""
    return "a folder" if stat.S_ISDIR(kind) else "a pipe, socket or device"
