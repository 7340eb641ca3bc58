"""How far the reading of collections is: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from trecjudge.findings import visible_line
from trecjudge.inputs.collections.progress import CollectionProgress
from trecjudge.show.tables import cut, format_size

BAR = 20
"""Columns of the bar."""


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
        self._bar = Bar(*columns, console=console, transient=True, disable=is_off)
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
    left = f", {_time(progress.seconds_left)} left" if progress.seconds_left is not None else ""
    found = f"{progress.found:,} of {progress.wanted:,} documents found"
    return f"{done}, {found}{left}"


def end_line(progress: CollectionProgress) -> str:
    """Return what was read in all, and found."""
    found = f"{progress.found:,} of {progress.wanted:,} documents found"
    if progress.in_bytes:
        what = f"{progress.what}: {found} in {format_size(progress.done)}"
    else:
        what = f"{progress.what}: {found}, {progress.done:,} asked for"
    return f"{what}, in {_time(progress.seconds)}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes else f"{rest} s"
