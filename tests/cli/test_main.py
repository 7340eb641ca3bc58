"""The command line's door: commands by name, imported when called; flags in a typed object."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest
import typer
from typer.main import get_command

from tests.commandline import ROOT, command
from trecjudge.cli import model_options, options
from trecjudge.cli.flags import JobFlags
from trecjudge.cli.judge import jobs_asked_for
from trecjudge.cli.main import Commands, app


@pytest.mark.parametrize("name", Commands.lazy)
def test_a_command_is_listed_as_it_describes_itself(name: str) -> None:
    reference, line = Commands.lazy[name]
    module, _, attribute = reference.partition(":")
    found = getattr(importlib.import_module(module), attribute)
    described = found.info.help if isinstance(found, typer.Typer) else inspect.getdoc(found)
    assert described is not None
    assert described.split("\n\n")[0].replace("\n", " ") == line
    assert line in " ".join(command("--help").out.split())


@pytest.mark.parametrize(
    ("arguments", "imported"),
    [
        (["--help"], set()),
        (["formats", "--help"], {"listings"}),
        (["cache", "info", "--help"], {"cache"}),
    ],
)
def test_only_the_command_that_is_called_is_imported(
    arguments: list[str], imported: set[str]
) -> None:
    code = (
        "import sys, run_judge\n"
        "try: run_judge.app(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print(*[m for m in sys.modules if m.startswith('trecjudge.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    modules = {name.removeprefix("trecjudge.") for name in done.stdout.splitlines()[-1].split()}
    commands = {reference.split(":")[0].split(".")[-1] for reference, _ in Commands.lazy.values()}
    assert {m.removeprefix("cli.") for m in modules if m.startswith("cli.")} & commands == imported
    assert imported or not modules & {"pipeline", "judge", "records.panel"}


@pytest.mark.parametrize("name", ["compare", "agree", "report", "cache info"])
def test_help_imports_nothing_heavy(name: str) -> None:
    code = (
        "import sys, run_judge\n"
        "try: run_judge.app([*sys.argv[1:], '--help'])\n"
        "except SystemExit: pass\n"
        "print(*({'numpy', 'pydantic', 'rich', 'jinja2'} & set(sys.modules)), file=sys.stderr)"
    )
    words = [sys.executable, "-c", code, *name.split()]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=True)
    assert (done.stderr, "Usage: " in done.stdout) == ("\n", True)


def test_a_command_of_no_name_is_told_with_the_nearest() -> None:
    done = command("comprae")
    assert done.status == 2
    assert "unknown command 'comprae'; did you mean 'compare'? there are: agree" in done.err


def test_every_flag_of_the_main_job_is_a_typed_field() -> None:
    hints = get_type_hints(JobFlags, include_extras=True)
    stated = (*vars(options).values(), *vars(model_options).values())
    known = [value for value in stated if hasattr(value, "__metadata__")]
    assert all(hints[field.name] in known for field in fields(JobFlags))
    read = {part.name for part in get_command(app).params} - {
        "install_completion",
        "show_completion",
    }
    assert read == {field.name for field in fields(JobFlags)}


def test_flags_make_jobs(tmp_path: Path) -> None:
    flags = JobFlags(
        responses=[tmp_path],
        judge=["length"],
        settings=["limit=3"],
        max_runs=2,
        out_dir=tmp_path,
        name="x",
        qrels_pool=True,
    )
    (job,) = jobs_asked_for(flags)
    assert (list(job.judges), dict(job.settings)) == (["length"], {"limit": 3})
    assert (job.runs, job.max_runs, job.qrels_pool) == ([tmp_path], 2, True)
    assert job.outputs.leaderboard == tmp_path / "x.leaderboard.txt"
