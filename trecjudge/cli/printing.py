"""What commands print on standard output: tables, lines, JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson
import typer

from trecjudge.cli.lazy import Later
from trecjudge.findings import visible, visible_line
from trecjudge.text.credentials import without_typed

if TYPE_CHECKING:  # they take a fifth of the time of --help
    from rich.console import Console

    from trecjudge.scores.summary import Summary
    from trecjudge.show import closing, ranking
    from trecjudge.show.columns import Columns
else:
    closing = Later("trecjudge.show.closing")
    ranking = Later("trecjudge.show.ranking")

PIECE = 1 << 16
"""Bytes of JSON that are printed at once."""

LINES = 1000
"""Lines of a long list that are printed at once."""
TEXT_WIDTH = 200
"""Columns of running text where the output is no terminal: long lines, for grep."""


def output(width: int | None = None) -> Console:
    """Return the console of standard output; where that is no terminal, of COLUMNS or 80."""
    from rich.console import Console

    return Console(width=width, emoji=False)  # text of runs may hold `:on:`


def text_output() -> Console:
    """Return the console of standard output for running text, in long lines where it is a pipe."""
    return output(None if sys.stdout.isatty() else TEXT_WIDTH)


def print_table(table: Columns) -> None:
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


def print_listing(rows: list[tuple[str, str]]) -> int:
    """Print names with one line each; return 0."""
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
            typer.echo(_untyped(parts), nl=False)
            parts, size = [], 0
    typer.echo(_untyped(parts))


def _untyped(parts: Iterable[bytes]) -> bytes:
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
    summaries: list[Summary], quiet: bool, as_json: bool, wanted: ranking.Wanted | None = None
) -> None:
    """Print the closing tables, or one JSON object (a list of them under `jobs` if several)."""
    if as_json:
        print_json([summary.as_dict() for summary in summaries])
        return
    if quiet:
        return
    chosen = wanted or ranking.ONLY_THE_BEST
    for summary in summaries:
        print_table(ranking.ranking(summary, chosen))
        print_lines(ranking.ranking_lines(summary, chosen))
        print_lines(closing.closing_lines(summary))


def print_plans(plans: list[dict[str, Any]], as_json: bool) -> int:
    """Print the plans of jobs; return 0."""
    if as_json:
        print_json(plans)
    else:
        print_lines(line for plan in plans for line in closing.plan_lines(plan))
    return 0
