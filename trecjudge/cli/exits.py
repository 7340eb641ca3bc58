"""What every command needs: its exit status, errors in one line, no secrets, and late imports."""

from __future__ import annotations

import functools
import importlib
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import typer

from trecjudge.errors import TrecJudgeError, why
from trecjudge.files import last_opened
from trecjudge.findings import PREFIX, Finding, telling, visible, visible_line
from trecjudge.inputs.collections.progress import CollectionProgress, progress_to
from trecjudge.job.process import INTERRUPTS, output_error
from trecjudge.text.credentials import learn, public, without_typed


@dataclass(frozen=True, slots=True)
class Later:
    """A module that is imported at the first use of a name in it, so that --help stays fast."""

    name: str

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self.name), attribute)


if TYPE_CHECKING:  # rich: most commands never need it
    from trecjudge.show import progress
else:
    progress = Later("trecjudge.show.progress")

_BEFORE_ERROR: list[Callable[[], None]] = []
"""What the running command prints before the line of an error that ends it."""
MISUSED = 2  # the command line cannot be understood
INTERRUPTED = 130  # 128 + SIGINT, as shells have it
BUG = 3  # as for items unjudged: what was written may be incomplete


def exit_status(work: Callable[[], int], quiet: bool = False) -> int:
    """Return the exit status of `work`: 1 with one line for what the user can put right."""
    _BEFORE_ERROR.clear()
    printed: set[Finding] = set()

    def note(finding: Finding) -> None:
        if finding not in printed and not quiet:  # a file may be read more than once
            print_errors([f"{PREFIX[finding.severity]}: {finding}"])
        printed.add(finding)

    try:
        with telling(note), _show_collections(quiet):
            return work()
    except TrecJudgeError as error:
        for tell in _BEFORE_ERROR:
            tell()
        typer.echo(f"error: {visible(str(error))}", err=True)
        return 1
    except BrokenPipeError:  # the reader of our output has gone; click then ends quietly
        raise
    except OSError as error:  # a full disk, a file that is gone, a name too long
        file = f"{error.filename}: " if error.filename else ""
        typer.echo(f"error: {visible(f'{file}{why(error)}')}", err=True)
        return 1
    except KeyboardInterrupt as stopped:
        INTERRUPTS.over()
        print_errors(str(stopped).splitlines())
        typer.echo("interrupted; run the same command again to go on", err=True)
        return INTERRUPTED
    except MemoryError:
        what = f"{last_opened()}: takes more memory than there is; --limit record=8MB reads less"
        typer.echo(f"error: {visible(what)}", err=True)
        return 1
    except Exception as error:  # a bug of ours
        # Bugs inside judges are caught and logged before; of any other the place is enough.
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        bug = visible(f"{type(error).__name__} at {where}: {error}")
        typer.echo(f"error: a bug: {bug}; please report it", err=True)
        return BUG


@contextmanager
def _show_collections(quiet: bool) -> Iterator[None]:
    """Show on standard error meanwhile how far the reading of a collection is, if it takes long."""
    watcher = functools.cache(lambda: progress.on_standard_error())

    def show(progress: CollectionProgress) -> None:
        if progress.takes_long and not quiet:
            watcher()(progress)

    try:
        with progress_to(show):
            yield
    finally:
        if watcher.cache_info().currsize:
            watcher().close()


def status_printed(status: str | int | None) -> str | int | None:
    """Return the exit status of a command that is over: 1, with a line, if its output is lost."""
    if status in (MISUSED, INTERRUPTED) or not (reason := output_error()):
        return status
    saved = "" if status == 1 else "; only that is lost: the command has done and saved all else"
    typer.echo(f"error: standard output cannot be written: {reason}{saved}", err=True)
    return 1


def before_error(tell: Callable[[], None]) -> None:
    """Let the command call `tell` before it prints the error that ends it, if one does."""
    _BEFORE_ERROR.append(tell)


def print_errors(lines: Iterable[str]) -> None:
    """Print lines on standard error."""
    for line in lines:
        typer.echo(visible_line(line), err=True)


def warning_printer(quiet: bool) -> Callable[[str], None]:
    """Return a callback that prints a warning on standard error; with `quiet` it does nothing."""
    return lambda message: None if quiet else print_errors([f"warning: {message}"])


class _Hiding:
    """A stream that gives its texts to another one, without secrets."""

    def __init__(self, stream: TextIO, hide: Callable[[str], str]) -> None:
        self._stream, self._hide = stream, hide

    def write(self, text: str) -> int:
        """Write a text without its secrets; return the length of the text."""
        self._stream.write(self._hide(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def hiding(words: Sequence[str], environment: Mapping[str, str]) -> Iterator[None]:
    """Print no secret meanwhile: on standard error none at all, on standard output none of these.

    They are the secrets in the words of a command line and in the environment. What runs and
    documents say is printed on standard output as it is.
    """
    learn(words, environment)
    out, err = sys.stdout, sys.stderr
    sys.stdout = cast(TextIO, out and _Hiding(out, without_typed))
    sys.stderr = cast(TextIO, err and _Hiding(err, public))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err
