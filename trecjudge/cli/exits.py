"""How a command prints and ends: exit statuses, one line for what the user can put right."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from trecjudge.summary import Summary

P = ParamSpec("P")
INTERRUPTED = 130
BUG = 3
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
    from trecjudge.findings import visible

    try:
        return work()
    except TrecJudgeError as error:
        typer.echo(f"error: {visible(str(error))}", err=True)
        return 1
    except BrokenPipeError:
        raise
    except OSError as error:  # a full disk, a file that is gone, a name too long
        typer.echo(f"error: {visible(str(error))}", err=True)
        return 1
    except KeyboardInterrupt:
        typer.echo("interrupted; run the same command again to go on", err=True)
        return INTERRUPTED
    except Exception as error:  # a bug of ours
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        said = visible(f"{type(error).__name__} at {where}: {error}")
        typer.echo(f"error: a bug: {said}; please report it", err=True)
        return BUG


def output() -> Console:
    """Return the console of standard output; wide where that is no terminal."""
    from rich.console import Console

    if sys.stdout is None:  # it is closed
        return Console(file=open(os.devnull, "w"))
    return Console(width=None if sys.stdout.isatty() else WIDE)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines as they are."""
    from trecjudge.findings import visible

    console = output()
    for line in lines:
        console.print(visible(line), highlight=False, markup=False, soft_wrap=True)


def print_errors(lines: Iterable[str]) -> None:
    """Print lines on standard error."""
    from trecjudge.findings import visible

    for line in lines:
        typer.echo(visible(line), err=True)


def warned(quiet: bool) -> Callable[[str], None]:
    """Return what prints a warning on standard error, or nothing."""
    return lambda message: None if quiet else print_errors([f"warning: {message}"])


def print_listing(rows: list[tuple[str, str]]) -> int:
    """Print names with one line each; return 0."""
    from trecjudge.console import listing

    output().print(listing(rows))
    return 0


def print_json(records: list[dict[str, Any]]) -> None:
    """Print one JSON object: the only record, or all of them under `jobs`."""
    import orjson

    record = records[0] if len(records) == 1 else {"jobs": records}
    typer.echo(orjson.dumps(record))


def print_summaries(summaries: list[Summary], quiet: bool, as_json: bool) -> None:
    """Print the closing tables, or one JSON object (a list of them under `jobs` if several)."""
    if as_json:
        print_json([summary.as_dict() for summary in summaries])
        return
    if quiet:
        return
    from trecjudge.console import closing_lines, ranking

    for summary in summaries:
        output().print(ranking(summary))
        print_lines(closing_lines(summary))


def print_plans(plans: list[dict[str, Any]], as_json: bool) -> int:
    """Print what the jobs would ask."""
    from trecjudge.console import plan_lines

    if as_json:
        print_json(plans)
    else:
        print_lines(line for plan in plans for line in plan_lines(plan))
    return 0
