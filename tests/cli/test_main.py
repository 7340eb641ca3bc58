"""The command line's door: commands by name, imported when called; flags in a typed object."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from tests.cli_page import commands
from tests.commandline import ROOT, command
from trecjudge.cli import flags as groups
from trecjudge.cli.audit import AuditFlags
from trecjudge.cli.commands import Listed
from trecjudge.cli.flags import JobFlags, MainFlags
from trecjudge.cli.jobs import TO_JOB, request_job
from trecjudge.cli.judge import jobs_asked_for
from trecjudge.cli.main import Commands, app
from trecjudge.cli.parameters import Flags, declared_in, options_of
from trecjudge.job.request import Job


def every_command(listed: Listed = Commands.lazy, family: str = "") -> Iterator[tuple[str, str]]:
    """Yield each command that is listed in families too: how it is called, and its module."""
    for name, (place, _) in listed.items():
        if isinstance(place, str):
            yield f"{family} {name}".strip(), place
        else:
            yield from every_command(place, f"{family} {name}".strip())


@pytest.mark.parametrize(("name", "reference"), list(every_command()))
def test_a_command_is_listed_as_it_describes_itself(name: str, reference: str) -> None:
    module, _, attribute = reference.partition(":")
    found = getattr(importlib.import_module(f"trecjudge.cli.{module}"), attribute)
    described = found.info.help if isinstance(found, typer.Typer) else inspect.getdoc(found)
    assert described is not None
    line = described.split("\n\n")[0].replace("\n", " ")
    assert line in " ".join(command(*name.split()[:-1], "--help").out.split())


@pytest.mark.parametrize(
    ("arguments", "imported"),
    [
        (["--help"], set()),
        (["job", "formats", "--help"], {"listings"}),
        (["help", "model"], set()),
        (["labels", "--help"], set()),
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
    commands = {reference.split(":")[0] for _, reference in every_command()}
    assert {m.removeprefix("cli.") for m in modules if m.startswith("cli.")} & commands == imported
    assert imported or not modules & {"pipeline", "judge", "records.panel"}


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, run_judge\n"
        "for name in ['compare', 'labels agree', 'report', 'cache info']:\n"
        "    try: run_judge.app([*name.split(), '--help'])\n"
        "    except SystemExit: pass\n"
        "    heavy = {'numpy', 'pydantic', 'rich', 'jinja2'} & set(sys.modules)\n"
        "    print(name, *heavy, file=sys.stderr)"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stderr == "compare\nlabels agree\nreport\ncache info\n"
    assert done.stdout.count("Usage: ") == 4


def test_a_command_of_no_name_is_told_with_the_nearest() -> None:
    done = command("comprae")
    assert done.status == 2
    assert "unknown command 'comprae'; did you mean 'compare'? `--help` shows all" in done.err


def test_every_flag_of_the_main_job_is_a_typed_field() -> None:
    read = {p.name for p in get_command(app).params} - {"install_completion", "show_completion"}
    fields = declared_in(MainFlags)
    whole = {name for name, one in fields.items() if one.part is None}
    assert {name for name in read if not name.startswith("values_of_")} == whole
    (_, context), *_ = commands()
    parts = [name for option in options_of(get_command(app), context) for name in option.parts]
    assert len(parts) == len(fields) - len(whole)


def test_a_command_has_the_flags_of_its_groups_but_those_it_names() -> None:
    kinds = [kind for kind in vars(groups).values() if isinstance(kind, type)]
    for kind in (kind for kind in kinds if issubclass(kind, Flags)):
        assert set(declared_in(kind)) >= kind.WITHOUT, kind
    cache = groups.CacheFlags()
    assert (cache.cache_dir, cache.use_env_llm, list(cache.cache_from)) == (None, False, [])


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


def test_flags_of_a_job_are_fields_of_it() -> None:
    assert set(TO_JOB) <= set(declared_in(JobFlags))
    assert set(TO_JOB.values()) <= {field.name for field in fields(Job)}


def test_what_an_audit_compares_with_is_not_what_its_job_judges_by(tmp_path: Path) -> None:
    flags = AuditFlags(labels=tmp_path / "labels.jsonl", judge=["length"])
    job = request_job(flags, "audit")
    assert (job.labels, list(job.runs), list(job.judges)) == (None, [], ["length"])
