"""Progress of a job: a bar on a terminal, plain lines elsewhere, and the first findings."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from trecjudge.findings import PREFIX, Finding, visible
from trecjudge.judging.runner import JudgedResponse

SHOWN_OF_A_KIND = 3
SECONDS_BETWEEN_LINES = 30.0  # a log of a night's job stays readable


class ConsoleWatcher:
    """Shows progress on `console`, and of each kind of finding the first few.

    `clock` gives seconds; a test brings its own.
    """

    def __init__(
        self,
        console: Console,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console = console
        self._quiet = quiet
        self._clock = clock
        self._shown: Counter[str] = Counter()
        self._spent: Callable[[], dict[str, Any]] = dict
        self._expected: Callable[[], int | None] = lambda: None
        self._responses = self._items = 0
        self._began = self._printed_at = clock()
        self._bar = Progress(
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=quiet or not console.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task("responses", total=None)

    def __enter__(self) -> ConsoleWatcher:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def begins(
        self, responses: Callable[[], int | None], spent: Callable[[], dict[str, Any]]
    ) -> None:
        """Start the clock; `responses` returns the number of responses once it is known."""
        self._expected, self._spent = responses, spent
        self._began = self._printed_at = self._clock()

    def taken(self, path: Path, format_name: str, why: str) -> None:
        """Print which format a run file was read as, and why."""
        self.notify(f"{path}: read as {format_name}: {why}")

    def judged(self, judged: JudgedResponse) -> None:
        """Show that one more response was judged."""
        self._responses += 1
        self._items += len(judged.judgments)
        if self._console.is_terminal:
            total = self._expected()
            self._bar.update(self._task, total=total, advance=1, description=self._state())
        elif self._clock() - self._printed_at >= SECONDS_BETWEEN_LINES:
            self._printed_at = self._clock()
            # The estimate may be too low, and no time left may be negative.
            expected = max(self._expected() or 0, self._responses)
            share = f"{self._responses} of about {expected} responses"
            self.notify(f"{share}, {self._state()}, {self._left(expected)} left")

    def finding(self, finding: Finding) -> None:
        """Print the first few findings of a kind; those after them are only counted."""
        self._shown[finding.kind] += 1
        prefix = PREFIX[finding.severity]
        if self._shown[finding.kind] <= SHOWN_OF_A_KIND:
            self.notify(f"{prefix}: {finding}")
        elif self._shown[finding.kind] == SHOWN_OF_A_KIND + 1:
            self.notify(f"{prefix}: … more of {finding.kind}: counted below, all in the log")

    def notify(self, message: str) -> None:
        """Print a message, unless quiet."""
        if not self._quiet:
            self._console.print(escape(visible(message)), highlight=False, soft_wrap=True)

    def _state(self) -> str:
        """Return items judged and, with a model, calls, cached, in flight, 429s, tokens, cost."""
        spent = self._spent()
        if not spent:
            return f"{self._items} items judged"
        rate = spent["calls"] / max(self._clock() - self._began, 0.001)
        tokens = spent["prompt_tokens"] + spent["completion_tokens"]
        cost = f", cost {spent['cost']:.2f}" if "cost" in spent else ""
        return (
            f"{self._items} items judged, {spent['calls']} calls ({rate:.1f}/s),"
            f" {spent['cached']} cached, {spent['in_flight']} in flight,"
            f" {spent['throttled']} x 429, {tokens} tokens{cost}"
        )

    def _left(self, expected: int) -> str:
        """Return the time left, by the responses judged so far."""
        done = self._clock() - self._began
        left = done / self._responses * (expected - self._responses)
        return f"{int(left // 3600)}:{int(left % 3600 // 60):02}:{int(left % 60):02}"
