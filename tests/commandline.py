"""Running the command line inside the test's process."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

import run_judge

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "sample_data"


@dataclass(frozen=True)
class Done:
    """What a command ended with."""

    status: int
    out: str
    err: str


@cache
def program() -> Any:
    """Return the command line, made once: to make it takes as long as a small job."""
    return get_command(run_judge.app)


def command(*arguments: str | Path) -> Done:
    """Run `run_judge.py` with these arguments; return how it ended and what it printed."""
    runner, status = CliRunner(), 0
    with runner.isolation() as streams:
        try:
            name = runner.get_default_prog_name(program())
            program().main(args=list(map(str, arguments)), prog_name=name)
        except SystemExit as end:
            status = int(end.code or 0)
        sys.stdout.flush()
        out, err = (stream.getvalue().decode(errors="replace") for stream in streams[:2])
    return Done(status, out, err)


def judge(runs: Path, out: Path, *arguments: str | Path, topics: Path | None = None) -> Done:
    """Judge `runs` into `out` under the name `x`."""
    given = ["--rag-topics", topics] if topics else []
    return command("--rag-responses", runs, *given, "--out-dir", out, "--name", "x", *arguments)


def sample(dataset: str, out: Path, *arguments: str | Path) -> Done:
    """Judge the sample data of a dataset into `out` under the name `x`."""
    folder = SAMPLES / dataset
    documents = ("--documents", folder / "documents.jsonl")
    return judge(folder / "runs", out, *documents, *arguments, topics=folder / "topics.jsonl")
