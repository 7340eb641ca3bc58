"""How far the reading of collections is: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from trecjudge.findings import visible_line
from trecjudge.inputs.collections.progress import Progress
from trecjudge.show.words import cut, sized

PAUSE = 30.0
"""Seconds between lines, at least."""
BAR = 20
"""Columns of the bar."""


class CollectionWatcher:
    """Shows how far a collection is on `console`, and in a line at its end what was found.

    Where that is no terminal, a line says it now and then, at least `pause` seconds apart.
    """

    def __init__(self, console: Console, pause: float = PAUSE) -> None:
        self._console = console
        self._pause = pause
        self._next = 0.0
        self._bar: Bar | None = None

    def __call__(self, progress: Progress) -> None:
        """Show a state."""
        if progress.ended:
            self.close()
            self._print(end_line(progress))
        elif self._console.is_terminal:
            self._show(progress)
        elif progress.seconds >= self._next:
            self._next = progress.seconds + self._pause
            self._print(f"{progress.what}: {state_line(progress)}")

    def close(self) -> None:
        """Take the bar away: nothing more will come of this collection."""
        if self._bar is not None:
            self._bar.stop()
        self._bar, self._next = None, 0.0

    def _show(self, progress: Progress) -> None:
        if self._bar is None:
            columns = BarColumn(BAR), TextColumn("{task.fields[state]}", markup=False)
            self._bar = Bar(*columns, console=self._console, transient=True)
            self._bar.add_task("", state="")
            self._bar.start()
        state = cut(visible_line(state_line(progress)), self._console.width - BAR - 1)
        total = max(1, progress.total)
        self._bar.update(self._bar.task_ids[0], total=total, completed=progress.done, state=state)

    def _print(self, line: str) -> None:
        self._console.print(escape(visible_line(line)), highlight=False, soft_wrap=True)


def on_standard_error() -> CollectionWatcher:
    """Return what shows it on standard error."""
    return CollectionWatcher(Console(stderr=True, emoji=False))


def state_line(progress: Progress) -> str:
    """Return how far a collection is: how much is done, found, and how long the rest will take."""
    if progress.in_bytes:
        # Of a file whose documents lie at known places only these are read.
        done = f"{sized(progress.done)} of {sized(progress.total)}"
    else:
        done = f"{progress.done:,} of {progress.total:,} asked for"
    found = f"{progress.found:,} of {progress.wanted:,} documents found"
    left = [] if progress.left is None else [f"{_time(progress.left)} left"]
    return ", ".join((done, found, *left))


def end_line(progress: Progress) -> str:
    """Return what was read in all, and found."""
    found = f"{progress.found:,} of {progress.wanted:,} documents found"
    if progress.in_bytes:
        what = f"{progress.what}: {found} in {sized(progress.done)}"
    else:
        what = f"{progress.what}: {found}, {progress.done:,} asked for"
    return f"{what}, in {_time(progress.seconds)}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes else f"{rest} s"
