"""One writer at a time: processes that write the same files, and one that is killed."""

from __future__ import annotations

import errno
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.commandline import ROOT, SAMPLES, Done, command, sample
from trecjudge.errors import OutputError
from trecjudge.results.outputs import flock, hold_lock

HOLD = """
import sys, pathlib
from trecjudge.results.outputs import Outputs
with Outputs(pathlib.Path(sys.argv[1]), sys.argv[2]).held():
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(folder: Path, name: str = "x") -> Iterator[subprocess.Popen[str]]:
    """Yield a process that holds the files of a name."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder), name],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    ) as process:  # fmt: skip
        assert process.stdout and process.stdout.readline() == "held\n"
        yield process


def runs(folder: Path, *options: str) -> subprocess.Popen[str]:
    """Start a job on the sample data."""
    data = SAMPLES / "rag"
    return subprocess.Popen(
        [sys.executable, "run_judge.py", "--rag-responses", data / "runs", "--documents",
         data / "documents.jsonl", "--out-dir", folder, "--name", "x", "-q", *options],
        stderr=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip


def refused(done: Done, folder: Path, process: int, name: str = "x") -> bool:
    """Return whether a command was refused by one line that names the process."""
    messages = f"error: {folder / name}.*: process {process} is writing there"
    return done.status == 1 and done.err.startswith(messages) and done.err.count("\n") == 1


def test_two_jobs_of_one_name_do_not_mix(tmp_path: Path) -> None:
    ended = [(job.wait(), job) for job in [runs(tmp_path), runs(tmp_path, "--judge", "length")]]
    messages = [job.stderr.read() for _, job in ended if job.stderr]
    files = sorted(path.name for path in tmp_path.iterdir())
    assert sorted(status for status, _ in ended) in ([0, 0], [0, 1])  # one after the other, or one
    assert all(line == "" or "is writing there" in line for line in messages)
    assert not [name for name in files if name.startswith(".") or name.endswith(".part")]
    assert command("rescore", tmp_path / "x.judgments.jsonl", "-q").status == 0


def test_a_second_job_names_the_process_that_has_the_files(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        assert refused(sample("rag", tmp_path, "-q"), tmp_path, process.pid)
        second = runs(tmp_path)
        assert (second.wait(), second.stderr and second.stderr.read().count("\n")) == (1, 1)
        assert sorted(path.name for path in tmp_path.iterdir()) == [".x.lock"]


def test_what_a_killed_job_held_is_free(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (tmp_path / ".x.lock").exists()
    assert sample("rag", tmp_path, "-q").status == 0
    assert not (tmp_path / ".x.lock").exists()


def test_other_names_and_folders_are_free(tmp_path: Path) -> None:
    with holder(tmp_path, "y"), holder(tmp_path, "x.hard"), holder(tmp_path / "other", "x"):
        assert sample("rag", tmp_path, "-q").status == 0
        assert (
            sample("rag", tmp_path, "-q", "--workflow", "citation", "--variant", "half").status == 0
        )


def test_a_point_that_another_writes_stops_all_points_first(tmp_path: Path) -> None:
    with holder(tmp_path, "x.half") as process:
        done = sample("rag", tmp_path, "-q", "--workflow", "citation", "--all-variants")
        assert refused(done, tmp_path, process.pid, "x.half")
        assert sorted(path.name for path in tmp_path.iterdir()) == [".x.half.lock"]


def test_commands_that_write_the_same_files_wait_too(tmp_path: Path) -> None:
    assert sample("rag", tmp_path, "-q").status == 0
    with holder(tmp_path) as process:
        for words in (["rescore", tmp_path / "x.judgments.jsonl"], ["report", tmp_path / "x"]):
            assert refused(command(*words), tmp_path, process.pid)
        assert command("rescore", tmp_path / "x.judgments.jsonl", "--name", "z", "-q").status == 0
    assert command("report", tmp_path / "x").status == 0
    assert sample("rag", tmp_path, "-q", "--report").status == 0  # a job holds its own report's


def test_a_lock_goes_with_its_job(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    for _ in range(2):
        with pytest.raises(KeyError), hold_lock(path, "x", print):
            assert path.read_text() == f"{os.getpid()} {platform.node()}\n"
            raise KeyError
        assert not path.exists()


def test_a_lock_is_no_way_into_another_file(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("mine")
    (tmp_path / "lock").symlink_to(tmp_path / "other")
    with (
        pytest.raises(OutputError, match="cannot be locked"),
        hold_lock(tmp_path / "lock", "x", print),
    ):
        pass
    assert (tmp_path / "other").read_text() == "mine"


def without_locks(descriptor: int) -> None:
    raise OSError(errno.ENOLCK, "No locks available")


@pytest.mark.parametrize(
    ("signed", "free"),
    [
        ("", True),
        ("nonsense", True),
        (f"4194305 {platform.node()}\n", True),  # more than any process has
        (f"{os.getppid()} {platform.node()}\n", False),
        ("1 another.host\n", False),
    ],
    ids=["nobody", "nonsense", "one that is gone", "one that runs", "one elsewhere"],
)
def test_where_a_file_system_has_no_locks(tmp_path: Path, signed: str, free: bool) -> None:
    path, messages = tmp_path / "lock", list[str]()
    path.write_text(signed)
    if free:
        with hold_lock(path, "x", messages.append, without_locks):
            assert path.read_text().startswith(f"{os.getpid()} ")
        assert "has no file locks" in messages[0]
    else:
        message = f"if it is gone, delete {path}"
        with pytest.raises(OutputError, match=message), hold_lock(path, "x", print, without_locks):
            pass


def test_a_lock_on_a_file_that_was_removed_is_taken_again(tmp_path: Path) -> None:
    path, taken = tmp_path / "lock", list[int]()

    def take(descriptor: int) -> None:
        flock(descriptor)
        if not taken:
            path.unlink()  # as its holder does at its end
        taken.append(descriptor)

    with hold_lock(path, "x", print, take):
        assert path.exists()
    assert len(taken) == 2
