"""What commands print and write: tables, lines, JSON, findings, progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import typer

from trecjudge.cli.exits import Later, before_error, print_errors
from trecjudge.errors import InputError
from trecjudge.files import open_target
from trecjudge.findings import PREFIX, Finding, FirstFindings, visible, visible_line
from trecjudge.measures import UNJUDGED
from trecjudge.results.json_lines import open_json_lines
from trecjudge.text.credentials import without_typed

if TYPE_CHECKING:  # they take a fifth of the time of --help
    from rich.console import Console

    from trecjudge.results.outputs import Outputs
    from trecjudge.scores.summary import Summary
    from trecjudge.show import closing, progress
    from trecjudge.show.html import writing
    from trecjudge.show.tables import TextTable
    from trecjudge.stats.scores import Scores
else:
    closing = Later("trecjudge.show.closing")
    progress = Later("trecjudge.show.progress")
    closing = Later("trecjudge.show.closing")
    writing = Later("trecjudge.show.html.writing")

PIECE = 1 << 16
"""Bytes of JSON that are printed at once."""

LINES = 1000
"""Lines of a long list that are printed at once."""
TEXT_WIDTH = 200
"""Columns of running text where the output is no terminal: long lines, for grep."""


def output(width: int | None = None, stderr: bool = False) -> Console:
    """Return the console of standard output; where that is no terminal, of COLUMNS or 80."""
    from rich.console import Console

    return Console(width=width, stderr=stderr, emoji=False)  # text of runs may hold `:on:`


def text_output() -> Console:
    """Return the console of standard output for running text, in long lines where it is a pipe."""
    return output(None if sys.stdout.isatty() else TEXT_WIDTH)


def print_table(table: TextTable) -> None:
    """Print a table; nothing of it is cut or folded."""
    output().print(table, soft_wrap=True)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines as they are."""
    console = output()
    for line in lines:
        # No markup: text from runs may hold square brackets.
        console.print(visible(line), highlight=False, markup=False, soft_wrap=True)


def print_many(lines: Iterable[str]) -> None:
    """Print lines, each as one whatever is in it, in pieces: there may be a million."""
    rest = iter(lines)
    while piece := list(islice(rest, LINES)):
        typer.echo("\n".join(map(visible_line, piece)))


def print_listing(rows: list[tuple[str, str]], quiet: bool = False) -> int:
    """Print names with one line each; return 0."""
    if not quiet:
        text_output().print(closing.listing(rows))
    return 0


def print_json(records: list[dict[str, Any]]) -> None:
    """Print one JSON object: the only record, or all of them under `jobs`."""
    record = records[0] if len(records) == 1 else {"jobs": records}
    parts, size = [], 0
    for part in json_parts(record):
        parts.append(part)
        size += len(part)
        if size > PIECE:
            typer.echo(_hide_typed(parts), nl=False)
            parts, size = [], 0
    typer.echo(_hide_typed(parts))


def _hide_typed(parts: Iterable[bytes]) -> bytes:
    return without_typed(b"".join(parts).decode()).encode()


def json_parts(value: object) -> Iterator[bytes]:
    """Yield JSON in parts, so that a long sequence is never in memory as a whole."""
    if isinstance(value, dict):
        for place, (name, held) in enumerate(value.items()):
            yield (b"," if place else b"{") + orjson.dumps(name) + b":"
            yield from json_parts(held)
        yield b"}" if value else b"{}"
    elif isinstance(value, Iterable) and not isinstance(value, list | tuple | str):
        yield from _list_parts(value)
    else:
        try:
            yield orjson.dumps(value)
        except TypeError:
            if not isinstance(value, list | tuple):
                raise
            yield from _list_parts(value)  # a long sequence is somewhere inside


def _list_parts(values: Iterable[object]) -> Iterator[bytes]:
    yield b"["
    for place, entry in enumerate(values):
        yield b"," if place else b""
        try:  # most entries are short and plain
            yield orjson.dumps(entry)
        except TypeError:
            yield from json_parts(entry)
    yield b"]"


def print_summaries(
    summaries: list[Summary], quiet: bool, as_json: bool, wanted: closing.TableOptions | None = None
) -> None:
    """Print the closing tables, or one JSON object (a list of them under `jobs` if several)."""
    if as_json:
        print_json([summary.as_dict() for summary in summaries])
        return
    if quiet:
        return
    chosen = wanted or closing.ONLY_THE_BEST
    for summary in summaries:
        print_table(closing.ranking(summary, chosen))
        print_lines(closing.ranking_lines(summary, chosen))
        print_lines(closing.closing_lines(summary))


def print_plans(plans: list[dict[str, Any]], as_json: bool) -> int:
    """Print the plans of jobs; return 0."""
    if as_json:
        print_json(plans)
    else:
        print_lines(line for plan in plans for line in closing.plan_lines(plan))
    return 0


class FindingPrinter:
    """Prints the first few findings of each kind as they come, and keeps all of them.

    With `quiet` only errors are printed (something was left out), and the kinds in `always`.
    """

    def __init__(self, quiet: bool = False, always: Collection[str] = ()) -> None:
        self.findings: dict[Finding, None] = {}
        self.quiet = quiet
        self._always = always
        self._first = FirstFindings()
        before_error(self.close)

    def __call__(self, finding: Finding) -> None:
        # Leaderboards are read more than once in a command, and would report the same each time.
        if finding in self.findings:
            return
        self.findings[finding] = None
        is_printed = not self.quiet or finding.severity == "error" or finding.kind in self._always
        if is_printed and self._first.take(finding):
            print_errors([f"{PREFIX[finding.severity]}: {finding}"])

    def close(self) -> None:
        """Print, once, how many findings of each kind were not printed."""
        print_errors(self._first.rest())
        self._first.hidden.clear()

    def status(self, strict: bool = False) -> int:
        """Return 3 if something was left out, 1 for any other finding if `strict`, else 0."""
        bad = {finding.severity for finding in self.findings}
        if strict and bad & {"error", "warning"}:
            return 1
        # 3 also means that something was left out, as after a job with unjudged items.
        return 3 if "error" in bad else 0

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the findings as JSON values."""
        return [{"kind": finding.kind, "message": str(finding)} for finding in self.findings]


def print_sources(tables: Iterable[Scores], quiet: bool = False) -> None:
    """Print where the counts of unjudged items of each leaderboard come from."""
    for table in () if quiet else tables:
        if table.statistics:
            print_errors([f"note: {table.name}: with its statistics, {table.statistics}"])
        elif table.unjudged:
            rows = f"its rows of MEASURE{UNJUDGED} count what is unjudged; no bounds are known"
            print_errors([f"note: {table.name}: {rows}"])


def sources(tables: Iterable[Scores]) -> dict[str, str | None]:
    """Return the statistics file of each leaderboard by its name, None where none is used."""
    return {table.name: table.statistics or None for table in tables}


def write_jsonl(path: Path, records: Iterable[object]) -> None:
    """Write one JSON object a line, or Parquet, whole or not at all. Raises OutputError."""
    with open_json_lines(path) as file:
        for record in records:
            file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def write_text(path: Path | None, text: str) -> None:
    """Write a text whole or not at all; print it where no path is given. Raises OutputError."""
    if path is None:
        typer.echo(text, nl=False)
        return
    with open_target(path) as file:
        file.write(text.encode(errors="backslashreplace"))


def check_form(to: str | None, as_json: bool, out: Path | None = None) -> None:
    """Raise InputError for --to beside --json, and for an --output that --to does not fill."""
    if to is not None and as_json:
        raise InputError("--to prints a table and --json an object: give one of them")
    if to is None and out is not None:
        raise InputError("--output needs --to: markdown, latex, html or csv")


@contextmanager
def progress_shown(quiet: bool, as_json: bool) -> Iterator[progress.ConsoleWatcher]:
    """Yield the watcher that shows how far judging is, on standard error."""
    # What a judge prints must not stand in the JSON on standard output.
    apart = redirect_stdout(sys.stderr) if as_json else nullcontext()
    with apart, progress.ConsoleWatcher(output(stderr=True), quiet=quiet) as watcher:
        yield watcher


def report_written(outputs: Outputs, notify: Callable[[str], None]) -> str:
    """Write the report of a finished job; return its path."""
    written = writing.write_report(writing.ReportOptions(outputs, trust=True))
    for note in written.notes:
        notify(f"report: {note}")
    return str(written.path)
