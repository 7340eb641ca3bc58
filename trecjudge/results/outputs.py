"""The output folder: files named after the job, each written whole or not at all."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from trecjudge.errors import OutputError
from trecjudge.files import new_part, remove_left_parts
from trecjudge.results.lock import locked
from trecjudge.results.packed import PACKED

SAFE_NAME = re.compile(r"\w[\w.+-]*")
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

    def prepare(self) -> None:
        """Make the folder. Raises OutputError if it, or a file of ours in it, cannot be written."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            # Tried now: else a folder that cannot be written is found only after hours of judging.
            probe, file = new_part(self.folder / self.name)
            file.close()
            probe.unlink()
            remove_left_parts(self.folder, f"{self.name}.")
        except OSError as error:
            raise OutputError(self._why_not(error)) from error
        for path in map(self._file, SUFFIXES):
            if what := _in_the_way(path):
                message = f"{path}: cannot be written: {what} is in its way"
                raise OutputError(f"{message}; remove it, or give another --name or --out-dir")

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
