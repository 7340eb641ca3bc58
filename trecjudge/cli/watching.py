"""What commands that judge show meanwhile, and the report that they may write at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout

from rich.console import Console

from trecjudge.results.outputs import Outputs
from trecjudge.show.progress import ConsoleWatcher


@contextmanager
def progress_shown(quiet: bool, as_json: bool) -> Iterator[ConsoleWatcher]:
    """Yield the watcher that shows how far judging is, on standard error."""
    # What a judge prints must not stand in the JSON on standard output.
    apart = redirect_stdout(sys.stderr) if as_json else nullcontext()
    with apart, ConsoleWatcher(Console(stderr=True, emoji=False), quiet=quiet) as watcher:
        yield watcher


def report_written(outputs: Outputs, notify: Callable[[str], None]) -> str:
    """Write the report of a finished job; return its path."""
    from trecjudge.show.html.writing import Wanted, write_report  # jinja2: not in every job

    written = write_report(Wanted(outputs, trust=True))
    for note in written.notes:
        notify(f"report: {note}")
    return str(written.path)
