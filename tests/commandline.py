"""Running the command line inside the test's process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

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


def command(*arguments: str | Path) -> Done:
    """Run `run_judge.py` with these arguments; return how it ended and what it printed."""
    result = CliRunner().invoke(run_judge.app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


def judge(runs: Path, out: Path, *arguments: str | Path, topics: Path | None = None) -> Done:
    """Judge `runs` into `out` under the name `x`."""
    given = ["--rag-topics", topics] if topics else []
    return command("--rag-responses", runs, *given, "--out-dir", out, "--name", "x", *arguments)


def sample(dataset: str, out: Path, *arguments: str | Path) -> Done:
    """Judge the sample data of a dataset into `out` under the name `x`."""
    folder = SAMPLES / dataset
    documents = ("--documents", folder / "documents.jsonl")
    return judge(folder / "runs", out, *documents, *arguments, topics=folder / "topics.jsonl")
