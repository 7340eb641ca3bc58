"""The output folder: files named after the job, each written whole or not at all."""

from __future__ import annotations

import glob
import re
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from trecjudge.errors import OutputError
from trecjudge.files import new_part, remove_left_parts
from trecjudge.results.lock import locked
from trecjudge.results.packed import PACKED
from trecjudge.settings.times import fixed_time

SAFE_NAME = re.compile(r"\w[\w.+-]*")
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
}
"""What follows the name of a job in the name of each of its files."""
PACKABLE = ("judgments", "log")
"""The files that a job may pack."""
BESIDE = (("log", ".log.part"), ("log", f".log{PACKED}.part"), ("report", ".report"))
"""The log of a job that broke off, and the folder of a report that is too large for one file."""


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
    def held(self, notify: Callable[[str], None] = lambda message: None) -> Iterator[None]:
        """Make the folder and lock its files of this name for this process.

        `notify` gets a warning where the folder has no locks. Raises OutputError if another process
        writes them, or the folder cannot be written.
        """
        self.prepare()
        with locked(self.folder / f".{self.name}.lock", f"{self.folder / self.name}.*", notify):
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
