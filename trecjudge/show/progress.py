"""Progress of a job and of reading collections: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from trecjudge.findings import PREFIX, Finding, FirstFindings, plural, visible_line
from trecjudge.inputs.collections.progress import CollectionProgress, progress_to
from trecjudge.show.formats import format_size
from trecjudge.show.tables import cut, within

SECONDS_BETWEEN_LINES = 30.0  # a log of a night's job stays readable
BAR, SHORT_BAR, WIDTH_OF_BAR = 20, 8, 70
"""Columns of the bar, of one on a narrow terminal, and of a terminal that is not narrow."""
TIMES = 2 * 8 + 4 + 1
"""Columns of the times beside the bar, of the blanks between, and one to spare."""


THEIRS = {"it has": "they have", "its": "their"}


class CollectionWatcher:
    """Shows how far a collection is on `console`, and in a line at its end what was found.

    Where that is no terminal, a line says it now and then, at least `pause` seconds apart.
    """

    def __init__(self, console: Console, pause: float = 30.0) -> None:
        self._console = console
        self._pause = pause
        self._next = 0.0
        columns = BarColumn(BAR), TextColumn("{task.fields[state]}", markup=False)
        is_off = not console.is_terminal
        self._bar = Progress(*columns, console=console, transient=True, disable=is_off)
        self._task = self._bar.add_task("", state="")

    def __call__(self, progress: CollectionProgress) -> None:
        """Show a state."""
        if progress.ended:
            self.close()
            print_line(self._console, end_line(progress))
        elif self._console.is_terminal:
            state = cut(visible_line(state_line(progress)), self._console.width - BAR - 1)
            total = max(1, progress.total)
            self._bar.update(self._task, total=total, completed=progress.done, state=state)
            self._bar.start()
        elif progress.seconds >= self._next:
            self._next = progress.seconds + self._pause
            print_line(self._console, f"{progress.what}: {state_line(progress)}")

    def close(self) -> None:
        """Take the bar away: nothing more will come of this collection."""
        self._bar.stop()
        self._next = 0.0


def print_line(console: Console, line: str) -> None:
    """Print a line as it is, without control characters, and not folded."""
    console.print(escape(visible_line(line)), highlight=False, soft_wrap=True)


def on_standard_error() -> CollectionWatcher:
    """Return what shows it on standard error."""
    return CollectionWatcher(Console(stderr=True, emoji=False))


def state_line(progress: CollectionProgress) -> str:
    """Return how far a collection is: how much is done, found, and how long the rest will take."""
    if progress.in_bytes:
        # Of a file whose documents lie at known places only these are read.
        done = f"{format_size(progress.done)} of {format_size(progress.total)}"
    else:
        done = f"{progress.done:,} of {progress.total:,} asked for"
    left = (
        f", {_short_time(progress.seconds_left)} left" if progress.seconds_left is not None else ""
    )
    found = f"{progress.found:,} of {progress.wanted:,} documents found"
    return f"{done}, {found}{left}"


def end_line(progress: CollectionProgress) -> str:
    """Return what was read in all, and found."""
    found = f"{progress.found:,} of {progress.wanted:,} documents found"
    if progress.in_bytes:
        what = f"{progress.what}: {found} in {format_size(progress.done)}"
    else:
        what = f"{progress.what}: {found}, {progress.done:,} asked for"
    return f"{what}, in {_short_time(progress.seconds)}"


def _short_time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes else f"{rest} s"


class ConsoleWatcher:
    """Shows progress on `console`, and of each kind of finding the first few.

    On a terminal as a bar, elsewhere as a line every `pause` seconds. `clock` gives seconds; a test
    brings its own.
    """

    def __init__(
        self,
        console: Console,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
        pause: float = SECONDS_BETWEEN_LINES,
    ) -> None:
        self._console = console
        self._quiet = quiet
        self._clock = clock
        self._pause = pause
        self._first = FirstFindings()
        self._taken = TakenFiles()
        self._spent: Callable[[], dict[str, Any]] = dict
        self._expected: Callable[[], int | None] = lambda: None
        self._responses = self._items = 0
        self._began = clock()
        self._bar = Progress(
            BarColumn(bar_width=BAR if console.width >= WIDTH_OF_BAR else SHORT_BAR),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            _Counts(console, self._state),
            console=console,
            disable=quiet or not console.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task("responses", total=None)
        self._over = threading.Event()
        self._collection = CollectionWatcher(console, pause)
        self._collections = ExitStack()
        self._in_collection = False
        # The first response of a slow model may take minutes: lines must not wait for it.
        self._lines = threading.Thread(target=self._print_lines, daemon=True)

    def __enter__(self) -> ConsoleWatcher:
        self._bar.start()
        self._collections.callback(self._collection.close)
        self._collections.enter_context(progress_to(self._collection_read))
        if not (self._quiet or self._console.is_terminal):
            self._lines.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._collections.close()
        self._bar.stop()
        self._over.set()
        if self._lines.is_alive():
            self._lines.join()
        self._print_taken()
        if kind is not None:  # no closing lines will count them
            for line in self._first.rest():
                self.notify(line)

    def begins(
        self, responses: Callable[[], int | None], spent: Callable[[], dict[str, Any]]
    ) -> None:
        """Start the clock; `responses` returns the number of responses once it is known."""
        self._expected, self._spent = responses, spent
        self._began = self._clock()

    def taken(self, path: Path, format_name: str, why: str) -> None:
        """Keep which format a run file was read as, and why: a line for all that are alike."""
        self._taken.add(path, format_name, why)

    def counted(self, responses: int, items: int) -> None:
        """Show that so many more responses and items were judged."""
        self._responses += responses
        self._items += items
        if self._console.is_terminal:
            self._bar.update(self._task, total=self._expected(), advance=responses)
        if self._taken.is_new and self._clock() - self._began >= self._pause:
            self._print_taken("so far ")

    def line(self) -> str:
        """Return the state of the job in a line."""
        done = self._clock() - self._began
        # The estimate may be too low, and no time left may be negative.
        expected = max(self._expected() or 0, self._responses)
        left = "time left unknown"
        if self._responses:
            left = f"{_time(done / self._responses * (expected - self._responses))} left"
        share = f"{self._responses} of about {plural(expected, 'response')}"
        return ", ".join((share, f"{_time(done)} elapsed", left, *self._state()))

    def _collection_read(self, progress: CollectionProgress) -> None:
        if self._quiet or not progress.takes_long:
            return
        self._bar.stop()
        self._collection(progress)
        self._in_collection = not progress.ended
        if progress.ended:
            self._bar.start()

    def _print_lines(self) -> None:
        while not self._over.wait(self._pause):
            self._print_taken("so far ")
            if not self._in_collection:
                self.notify(self.line())

    def _print_taken(self, so_far: str = "") -> None:
        for line in self._taken.lines(so_far):
            self.notify(line)

    def finding(self, finding: Finding) -> None:
        """Print the first few findings; those after them are only counted."""
        if finding.kind == "input_lacking":  # hours of judging may be for nothing
            print_line(self._console, f"{PREFIX[finding.severity]}: {finding}")
        elif self._first.take(finding):
            self.notify(f"{PREFIX[finding.severity]}: {finding}")
        elif self._first.hidden.total() == 1:
            self.notify("… more findings: counted by kind below, all in the log")

    def notify(self, message: str) -> None:
        """Print a message, unless quiet."""
        if not self._quiet:
            print_line(self._console, message)

    def _state(self) -> list[str]:
        """Return items judged and, with a model, calls, cost, 429s, in flight, cached, tokens."""
        spent = self._spent()
        items = [f"{plural(self._items, 'item')} judged"]
        if not spent:
            return items
        rate = spent["calls"] / max(self._clock() - self._began, 0.001)
        cost = [f"cost {spent['cost']:.2f}"] if "cost" in spent else []
        tokens = spent["prompt_tokens"] + spent["completion_tokens"]
        return [
            f"{plural(spent['calls'], 'call')} ({rate:.1f}/s)",
            *cost,
            f"{spent['throttled']} x 429",
            *items,
            f"{spent['in_flight']} in flight",
            f"{spent['cached']} cached",
            plural(tokens, "token"),
        ]


def _time(seconds: float) -> str:
    return f"{int(seconds // 3600)}:{int(seconds % 3600 // 60):02}:{int(seconds % 60):02}"


class _Counts(ProgressColumn):
    """As many counts as the line holds whole, behind bar, number and times."""

    def __init__(self, console: Console, counts: Callable[[], Sequence[str]]) -> None:
        super().__init__()
        self._console = console
        self._counts = counts

    def render(self, task: Task) -> Text:
        width = self._console.width
        bar = BAR if width >= WIDTH_OF_BAR else SHORT_BAR
        number = 2 * len(str(int(task.total or task.completed))) + 1
        # A count that is cut would be another number: it is left out.
        return Text(within(self._counts(), width - bar - number - TIMES), no_wrap=True)


@dataclass(slots=True)
class TakenFiles:
    """Run files by the format that they were read as and the reason: a line for all alike."""

    paths: dict[tuple[str, str], dict[Path, None]] = field(default_factory=dict)
    printed: dict[tuple[str, str], int] = field(default_factory=dict)

    @property
    def is_new(self) -> bool:
        """Whether a format has no line yet."""
        return len(self.printed) < len(self.paths)

    def add(self, path: Path, format_name: str, why: str) -> None:
        """Add a file."""
        self.paths.setdefault((format_name, why), {})[path] = (
            None  # the jobs of a sweep read it too
        )

    def lines(self, so_far: str = "") -> list[str]:
        """Return a line for each format and reason whose files are not told yet.

        While files are still read, `so_far` says so, and only new formats have a line.
        """
        told = {key: len(paths) for key, paths in self.paths.items()}
        new = [
            key
            for key, count in told.items()
            if key not in self.printed or not (so_far or self.printed[key] == count)
        ]
        self.printed |= {key: told[key] for key in new}
        return [self._line(key, so_far) for key in new]

    def _line(self, key: tuple[str, str], so_far: str) -> str:
        (format_name, why), paths = key, self.paths[key]
        first = next(iter(paths))
        if len(paths) == 1:
            return f"{first}: read as {format_name}: {why}"
        # Of several formats a name tells which files are meant.
        such = f"; such as {first}" if len(self.paths) > 1 else ""
        return f"{len(paths)} files {so_far}read as {format_name}: {_of_several(why)}{such}"


def _of_several(why: str) -> str:
    """Return a reason that speaks of one file, such as `it has`, as one of several."""
    return re.sub(r"^(it has|its)\b", lambda word: THEIRS[word[0]], why)
