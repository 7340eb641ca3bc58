"""How a command prints and ends: exit statuses, one line for what the user can put right."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec

import typer

if TYPE_CHECKING:
    from rich.console import Console

P = ParamSpec("P")
INTERRUPTED = 130
WIDE = 200
"""Columns where the output is no terminal."""


def exits(command: Callable[P, int]) -> Callable[P, NoReturn]:
    """Make a command that returns its exit status exit with it, or with 1 and one line."""

    @functools.wraps(command)
    def run(*arguments: P.args, **options: P.kwargs) -> NoReturn:
        raise typer.Exit(guarded(lambda: command(*arguments, **options)))

    return run


def guarded(work: Callable[[], int]) -> int:
    """Return the exit status of `work`: 1 with one line for what the user can put right."""
    from trecjudge.errors import TrecJudgeError

    try:
        return work()
    except TrecJudgeError as error:
        typer.echo(f"error: {error}", err=True)
        return 1
    except KeyboardInterrupt:
        typer.echo("interrupted; run the same command again to go on", err=True)
        return INTERRUPTED


def output() -> Console:
    """Return the console of standard output; wide where that is no terminal."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else WIDE)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines as they are."""
    console = output()
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def print_listing(rows: list[tuple[str, str]]) -> int:
    """Print names with one line each; return 0."""
    from trecjudge.console import listing

    output().print(listing(rows))
    return 0


def print_json(records: list[dict[str, Any]]) -> None:
    """Print one JSON object: the only record, or all of them under `jobs`."""
    import orjson

    record = records[0] if len(records) == 1 else {"jobs": records}
    sys.stdout.write(orjson.dumps(record).decode() + "\n")
