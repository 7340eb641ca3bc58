"""`season` and `replay`: a shared task from submissions to archive, and the archive again."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import typer.main

from trecjudge.cli.exits import Later, print_errors
from trecjudge.cli.flags import OutputFlags, PrintFlags
from trecjudge.cli.parameters import argument, command_with, option
from trecjudge.cli.printing import print_json, print_lines
from trecjudge.findings import plural
from trecjudge.job.season.archive import Replayed, replay, write_archive
from trecjudge.job.season.results import results_of
from trecjudge.job.season.running import Done, SeasonRun
from trecjudge.job.season.settings import Season, read_season
from trecjudge.job.season.steps import UNJUDGED, StepFailed, Steps, shown

HINT = ["items are unjudged: run this again to ask again, or set accept_unjudged: true"]
main: Any = Later("trecjudge.cli.main")  # which names this module's commands


class SeasonFlags(OutputFlags, PrintFlags):
    """The season, and the folder of all that it makes."""

    WITHOUT: ClassVar = frozenset({"compress"})
    file: Path = argument("A workflow with a section `season`.", metavar="FILE")
    out_dir: Path = option("The folder of the season.", Path("season"), metavar="DIR")
    name: str = option("The name that output files start with.", "season")


class ReplayFlags(PrintFlags):
    """The archive that is done again."""

    archive: Path = argument("The archive of a season: NAME.season.zip.")


@command_with(SeasonFlags)
def season(flags: SeasonFlags) -> int:
    """Run a shared task: check, judge, ask people, publish, archive.

    It does what is due, stops where people are needed, and goes on where it was.
    """
    given = read_season(flags.file.absolute(), flags.out_dir.absolute(), flags.name)
    steps = Steps(given, given.settings.documents)
    done: list[Done] = []
    try:
        waiting = _runner(steps, done, flags).advance()
    except StepFailed as failed:
        return _stopped(failed)
    archive = None if waiting else shown(write_archive(given, steps.done_otherwise))
    if flags.as_json:
        record: dict[str, Any] = {"steps": [asdict(one) for one in done]}
        record |= {"waiting": waiting and waiting.what, "archive": archive and str(archive)}
        print_json([record | {"not_as_planned": steps.done_otherwise}])
    elif not flags.quiet:
        print_lines(results_of(given.folder))
        print_lines(f"not as planned: {line}" for line in steps.done_otherwise)
        print_lines(
            [f"next: {waiting.what}; then run this again" if waiting else f"archive: {archive}"]
        )
    return 0


@command_with(ReplayFlags)
def replay_archive(flags: ReplayFlags) -> int:
    """Do an archived season again, and compare every file.

    No model is asked. Exits with 1, and names the files, where one is not the same.
    """
    done: list[Done] = []
    with tempfile.TemporaryDirectory(prefix="trecjudge-") as folder:
        try:
            found = replay(flags.archive, Path(folder), lambda steps: _runner(steps, done, flags))
        except StepFailed as failed:
            return _stopped(failed)
    if flags.as_json:
        print_json([asdict(found)])
    elif not flags.quiet:
        print_lines(_verdict(found))
    return int(bool(found.faults))


def _stopped(failed: StepFailed) -> int:
    """Say at which command a season stops, which has said why; return its exit status."""
    print_errors([f"stopped at: {failed}", *(HINT if failed.status == UNJUDGED else ())])
    return failed.status


def _verdict(found: Replayed) -> Iterator[str]:
    yield from found.faults
    yield f"{plural(found.files, 'file')} equal, {len(found.faults)} not"


def _runner(steps: Steps, done: list[Done], flags: PrintFlags) -> SeasonRun:
    def told(one: Done) -> None:
        done.append(one)
        if not (flags.quiet or flags.as_json):
            when = "done before" if one.seconds is None else f"{one.seconds:.1f} s"
            print_lines([f"{one.step}: {one.does}: {when}"])

    def run(words: Sequence[str], good: Sequence[int]) -> str:
        with _inside(steps.season):
            return _run_command(words, good, flags.quiet)

    return SeasonRun(steps, run, told)


@contextmanager
def _inside(season: Season) -> Iterator[None]:
    """Work in the season's folder meanwhile; the user's own judges are still found."""
    before = Path.cwd()
    sys.path.insert(0, str(before))
    os.chdir(season.folder)
    try:
        yield
    finally:
        os.chdir(before)
        sys.path.remove(str(before))


def _run_command(words: Sequence[str], good: Sequence[int], quiet: bool) -> str:
    """Run a command line of this program; return what it prints. Raises StepFailed.

    If `quiet`, what it says on standard error is printed only where it fails.
    """
    status, printed, said = 0, io.BytesIO(), io.StringIO()
    stream = io.TextIOWrapper(printed, "utf-8", write_through=True)
    before, sys.argv = sys.argv, ["run_judge.py", *words]  # a job's config tells its command line
    with redirect_stdout(stream), redirect_stderr(said) if quiet else nullcontext():
        try:
            _program().main(args=list(words), prog_name="run_judge.py")
        except SystemExit as end:
            status = int(end.code or 0)
        finally:
            sys.argv = before
    if status not in good:
        print_errors(said.getvalue().splitlines())
        raise StepFailed(f"{' '.join(words[:2])}: ended with exit status {status}", status)
    return printed.getvalue().decode()


@cache
def _program() -> Any:
    return typer.main.get_command(main.app)
