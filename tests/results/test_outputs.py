"""Files are written whole or not at all, under safe names, inside the output folder."""

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
from trecjudge.files import whole
from trecjudge.results.outputs import Outputs, flock, hold_lock


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a b", "a\n"])
def test_names_that_are_not_safe(name: str) -> None:
    with pytest.raises(OutputError, match="letters, digits"):
        Outputs(Path("out"), name)


def test_points_have_files_of_their_own() -> None:
    outputs = Outputs(Path("out"), "x").of("half")
    assert outputs.qrels == Path("out/x.half.qrels")


def test_qrels_of_several_judges_have_names_of_their_own() -> None:
    judges = ["a b", "a+b", "my.mod:Judge", "Support", "support"]
    found = Outputs(Path("out"), "x").qrels_of(judges)
    names = ["x.a+b", "x.a+b+", "x.my+mod+Judge", "x.Support", "x.support+"]
    assert list(found.values()) == [Path(f"out/{name}.qrels") for name in names]
    assert Outputs(Path("out"), "x").qrels_of(["support"]) == {"support": Path("out/x.qrels")}


@pytest.mark.parametrize("folder", ["file", "file/out"])
def test_a_folder_that_cannot_be_made(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="a file is in its way; give another --out-dir"):
        Outputs(tmp_path / folder, "x").prepare()


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), whole(path) as file:
        file.write(b"new")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_log_keeps_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    with pytest.raises(RuntimeError), whole(path, keep_partial=True) as file:
        file.write(b"so far")
        raise RuntimeError
    assert (tmp_path / "x.log.part").read_text() == "so far"
    assert not path.exists()


def test_two_that_write_one_file_do_not_mix(tmp_path: Path) -> None:
    with whole(tmp_path / "x") as one, whole(tmp_path / "x") as two:
        one.write(b"one, and longer")
        two.write(b"two")
    assert (tmp_path / "x").read_bytes() == b"one, and longer"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_folder_in_the_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises(OutputError, match="cannot be written"), whole(tmp_path / "x"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_an_error_of_another_file_keeps_its_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), whole(tmp_path / "x"):
        (tmp_path / "gone").read_bytes()


HOLD = """
import sys, pathlib
from trecjudge.results.outputs import Outputs
with Outputs(pathlib.Path(sys.argv[1]), sys.argv[2]).lock():
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
    assert command("job", "rescore", tmp_path / "x.judgments.jsonl", "-q").status == 0


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
        for words in (
            ["job", "rescore", tmp_path / "x.judgments.jsonl"],
            ["report", tmp_path / "x"],
        ):
            assert refused(command(*words), tmp_path, process.pid)
        assert (
            command("job", "rescore", tmp_path / "x.judgments.jsonl", "--name", "z", "-q").status
            == 0
        )
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
