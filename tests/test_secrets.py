"""No secret that is typed comes out: a sample of `python -m tests.secret_matrix`, which has all."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commandline import ROOT
from tests.secret_matrix import FORMS, SECRET, Try, prepare, run, tries

SIZE = 80
SLOW = pytest.mark.slow("trecjudge/cli", "trecjudge/text/credentials.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for the commands to work in."""
    return tmp_path_factory.mktemp("secrets").resolve()


@pytest.fixture(scope="module")
def every(folder: Path) -> list[Try]:
    """Return all tries; the inputs of commands lie in the folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        return list(tries(prepare(folder)))
    finally:
        os.chdir(before)


def test_no_secret_comes_out(
    every: list[Try], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    chosen = random.Random(SIZE).sample([t for t in every if not t.workflow], SIZE)
    assert len({one.command for one in every}) == 54
    assert run(chosen, folder) == {}


@pytest.mark.parametrize(
    "words",
    [
        ["rag", "search", FORMS["postgres"], "kettle"],
        pytest.param(["--rag-responses", FORMS["query"], "--out-dir", FORMS["dsn"]], marks=SLOW),
        pytest.param([f"--{FORMS['variable']}"], marks=SLOW),
    ],
    ids=["address", "paths", "unknown"],
)
def test_no_secret_comes_out_of_a_process(words: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "run_judge.py"), *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PGPASSWORD": SECRET},
    )
    assert done.returncode in (1, 2)
    assert done.stderr.startswith("error: ")
    assert SECRET not in done.stdout + done.stderr
