"""The scripts of docs/cluster do what they say: by `bash` and `sh`, as those systems call them.

The systems themselves are not there. Twenty parts become three; the rest is as they stand there.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.commandline import ROOT, SAMPLES, command
from tests.job.shards.parts import FILES, same_files

SCRIPTS = ROOT / "docs" / "cluster"
PARTS = 3


def script(name: str) -> str:
    """Return a script as it is shipped, for fewer parts."""
    return (SCRIPTS / name).read_text(encoding="utf-8").replace("/20", f"/{PARTS}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the files that the page names, one line of them broken."""
    for path in (ROOT / "run_judge.py", *(SAMPLES / "rag").glob("*.jsonl")):
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "runs").mkdir()
    for path in (SAMPLES / "rag" / "runs").iterdir():
        (tmp_path / "runs" / path.name).write_bytes(path.read_bytes())
    with (tmp_path / "runs" / "careful.jsonl").open("a") as file:
        file.write("{broken\n")
    return tmp_path


def ran(folder: Path, words: list[str], **more: str) -> int:
    """Run a script in the folder, with our command on the path; return its exit status."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)} | more
    return subprocess.run(words, cwd=folder, env=environment, check=False).returncode


def slurm(folder: Path, number: int) -> int:
    """Run a task of the array, as `sbatch` would."""
    part = folder / "part.sh"
    part.write_text(script("part.sh"))
    tasks = {"SLURM_ARRAY_TASK_ID": str(number), "SLURM_ARRAY_TASK_COUNT": str(PARTS)}
    return ran(folder, ["bash", str(part)], SLURM_SUBMIT_DIR=str(folder), **tasks)


def parallel(folder: Path, number: int) -> int:
    """Run what `parallel` hands to a shell, for one number."""
    quoted = re.search(r"'(python .*?)'", script("parallel.sh"), re.DOTALL)
    assert quoted is not None
    return ran(folder, ["sh", "-c", quoted[1].replace("{}", str(number))])


def kubernetes(folder: Path, number: int) -> int:
    """Run the command of a pod's container, in the folder that its volume would be."""
    (pod,) = yaml.safe_load(script("kubernetes.yml"))["spec"]["template"]["spec"]["containers"]
    words = [*pod["command"], *pod["args"]]
    return ran(folder, words, JOB_COMPLETION_INDEX=str(number - 1))


SLOW = pytest.mark.slow("trecjudge/job/shards", "docs/cluster")


@pytest.mark.parametrize(
    "task", [slurm, pytest.param(parallel, marks=SLOW), pytest.param(kubernetes, marks=SLOW)]
)
def test_its_parts_are_merged_to_what_one_process_writes(
    task: Callable[[Path, int], int], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    inputs = ("--rag-topics", "topics.jsonl", "--documents", "documents.jsonl")
    judged = ("--judge", "support", "--rag-responses", "runs/", *inputs, "--name", "big", "-q")
    assert command(*judged, "--out-dir", "one").status == 3
    assert [task(folder, number) for number in range(1, PARTS + 1)] == [0] * PARTS
    assert command("job", "merge", "parts", "--out-dir", "out", "--name", "big", "-q").status == 3
    assert same_files(folder / "one", folder / "out", "big") == list(FILES)
