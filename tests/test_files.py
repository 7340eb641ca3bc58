"""Files are created, never through a link; a pipe is written to, a folder refused."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commandline import ROOT, SAMPLES, command, sample
from trecjudge.errors import OutputError
from trecjudge.files import open_regular, open_target, remove_left_parts, whole, whole_path
from trecjudge.results.outputs import Outputs

SUFFIXES = ("leaderboard.txt", "leaderboard.jsonl", "qrels", "judgments.jsonl", "log", "config.yml")
ROWS = "r\tt1\tM\t0.5\nr\tall\tM\t0.5\n"
GONE = 4_194_305
"""A process id that no system has."""


def link(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def second_name(path: Path, victim: Path) -> None:
    path.hardlink_to(victim)


def to_nothing(path: Path, victim: Path) -> None:
    path.symlink_to(victim.with_name("nothing"))


LINKS = pytest.mark.parametrize("linked", [link, second_name, to_nothing])
Linked = Callable[[Path, Path], None]


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.write_text("theirs")
    return path


@LINKS
def test_a_link_is_replaced_and_not_followed(linked: Linked, victim: Path, tmp_path: Path) -> None:
    linked(tmp_path / "x", victim)
    with whole(tmp_path / "x") as file:
        file.write(b"ours")
    assert ((tmp_path / "x").read_text(), (tmp_path / "x").is_symlink()) == ("ours", False)
    assert victim.read_text() == "theirs"
    assert not (tmp_path / "nothing").exists()


@LINKS
def test_no_file_of_a_job_is_written_through_a_link(
    linked: Linked, victim: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for suffix in SUFFIXES:
        linked(out / f"x.{suffix}", victim)
    assert sample("rag", out, "-q").status == 0
    assert victim.read_text() == "theirs"
    assert all((out / f"x.{suffix}").lstat().st_nlink == 1 for suffix in SUFFIXES)
    assert not [path for path in out.iterdir() if path.is_symlink()]


def test_a_probe_that_can_be_guessed_is_not_used(victim: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    probe = out / f".x.probe-{os.getpid()}"
    probe.symlink_to(victim)
    Outputs(out, "x").prepare()
    assert (victim.read_text(), probe.is_symlink()) == ("theirs", True)


@pytest.mark.parametrize("linked", [link, second_name])
def test_a_lock_that_is_a_link_is_refused(linked: Linked, victim: Path, tmp_path: Path) -> None:
    linked(tmp_path / ".x.lock", victim)
    with (
        pytest.raises(OutputError, match=r"cannot be locked: it is a link"),
        Outputs(tmp_path, "x").lock(),
    ):
        pass
    assert victim.read_text() == "theirs"


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("make", "what"), [(Path.mkdir, "a folder"), (os.mkfifo, "a pipe, socket or device")]
)
def test_what_no_file_can_replace_shows_before_the_judging(
    make: Callable[[Path], None], what: str, suffix: str, tmp_path: Path
) -> None:
    make(tmp_path / f"x.{suffix}")
    done = sample("rag", tmp_path, "-q")
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert f"x.{suffix}: cannot be written: {what} is in its way" in done.err


def test_a_folder_that_is_a_link_is_used(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    assert sample("rag", tmp_path / "out", "-q").status == 0
    assert (tmp_path / "real" / "x.qrels").is_file()


def test_a_folder_that_is_a_link_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("real")
    with pytest.raises(OutputError, match="it is a link to nothing; give another --out-dir"):
        Outputs(tmp_path / "out", "x").prepare()


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_the_mode_of_a_file_is_by_the_umask(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        with whole(tmp_path / "x") as file:
            file.write(b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o666 & ~mask


def test_a_new_file_is_there_and_empty_before_it_is_opened_by_name(tmp_path: Path) -> None:
    with whole_path(tmp_path / "x") as partial:
        assert partial.read_bytes() == b""
        partial.write_bytes(b"made by a library")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize(
    ("name", "stays"),
    [
        pytest.param(f".x.qrels.{GONE}-0a.part", False, id="of a process that is gone"),
        pytest.param(f".x.qrels.{GONE}-0a.part-journal", False, id="what SQLite had beside it"),
        pytest.param(f".x.qrels.{os.getppid()}-0a.part", True, id="of one that runs"),
        pytest.param(f".x.qrels.{os.getpid()}-0a.part", False, id="of one of the same number"),
        pytest.param(f".y.qrels.{GONE}-0a.part", True, id="of another name"),
        pytest.param(".x.mine.part", True, id="a name that is not ours"),
    ],
)
def test_what_killed_processes_left(name: str, stays: bool, tmp_path: Path) -> None:
    (tmp_path / name).write_text("")
    remove_left_parts(tmp_path, "x.")
    assert (tmp_path / name).exists() is stays


def test_a_folder_named_like_a_part_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / f".x.qrels.{GONE}-0a.part").mkdir()
    Outputs(tmp_path, "x").prepare()


def convert(folder: Path, target: Path | str, **how: int) -> subprocess.CompletedProcess[bytes]:
    (folder / "board.txt").write_text(ROWS)
    words = ["convert", str(folder / "board.txt"), str(target), "--to", "tot"]
    return subprocess.run(
        [sys.executable, str(ROOT / "run_judge.py"), *words],
        check=True,
        **how,  # type: ignore[call-overload]
    )


@pytest.mark.parametrize(
    "name",
    ["/dev/stdout", pytest.param("/dev/fd/1", marks=pytest.mark.slow("trecjudge/files.py"))],
)
def test_an_output_of_this_process(name: str, tmp_path: Path) -> None:
    done = convert(tmp_path, name, stdout=subprocess.PIPE)
    assert done.stdout.startswith(b"r\tM\tt1\t0.5\n")


def test_an_output_that_is_a_file_is_not_written_from_its_start_again(tmp_path: Path) -> None:
    (tmp_path / "all").write_text("before\n")
    with (tmp_path / "all").open("ab") as file:
        convert(tmp_path, "/dev/stdout", stdout=file.fileno())
    assert (tmp_path / "all").read_text().startswith("before\nr\tM\tt1\t0.5\n")


def test_a_device_stays_a_device(tmp_path: Path) -> None:
    before = os.stat(os.devnull).st_ino
    with open_target(Path(os.devnull)) as file:
        file.write(b"x")
    assert (os.stat(os.devnull).st_ino, list(tmp_path.iterdir())) == (before, [])


def test_a_pipe_is_written_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    with open_target(pipe) as file:
        file.write(b"rows")
    reader.join(20)
    assert (found, pipe.is_fifo()) == ([b"rows"], True)


def test_a_file_that_was_named_takes_the_place_of_a_link(victim: Path, tmp_path: Path) -> None:
    (tmp_path / "board.txt").write_text(ROWS)
    (tmp_path / "new.csv").symlink_to(victim)
    done = command("job", "convert", tmp_path / "board.txt", tmp_path / "new.csv", "--to", "csv")
    assert (done.status, (tmp_path / "new.csv").is_symlink()) == (0, False)
    assert victim.read_text() == "theirs"


def test_a_report_removes_nothing_where_a_link_leads(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "topic-1.js").write_text("theirs")
    assert sample("rag", tmp_path, "-q").status == 0
    (tmp_path / "x.report").symlink_to(theirs)
    assert command("report", tmp_path / "x").status == 0
    assert (theirs / "topic-1.js").read_text() == "theirs"


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (os.mkfifo, "a pipe"),
        (lambda path: socket.socket(socket.AF_UNIX).bind(str(path)), "a socket"),
        (lambda path: path.symlink_to("/dev/zero"), "a device"),
        (Path.mkdir, "directory"),
        (lambda path: path.symlink_to(path), "Too many levels"),
    ],
    ids=["pipe", "socket", "device", "folder", "loop"],
)
def test_only_ordinary_files_are_opened(
    make: Callable[[Path], None], kind: str, tmp_path: Path
) -> None:
    make(tmp_path / "x")
    with pytest.raises(OSError, match=kind):
        open_regular(tmp_path / "x")


def test_an_ordinary_file_may_say_that_it_is_empty() -> None:
    with open_regular(Path("/proc/self/status")) as file:
        assert file.read(5) == b"Name:"


@pytest.mark.parametrize(
    "line",
    [
        ("--rag-responses", "LOOP"),
        ("--rag-responses", "RUNS", "--documents", "LOOP"),
        ("check", "LOOP"),
        ("job", "merge", "LOOP"),
        ("gate", "LOOP", "--baseline", "LOOP"),
    ],
)
def test_a_link_to_itself_is_a_file_that_is_not_there(
    line: tuple[str, ...], tmp_path: Path
) -> None:
    loop = tmp_path / "loop.jsonl"
    loop.symlink_to(loop)
    places: dict[str, str | Path] = {"LOOP": loop, "RUNS": SAMPLES / "rag" / "runs"}
    done = command(*(places.get(word, word) for word in line))
    assert done.status == 1
    assert done.err.startswith(f"error: {loop}: ")
