"""A pipe in place of a file is refused by every command; what a shell's pipe gives is read."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.commandline import ROOT, SAMPLES, command, judge
from trecjudge import files
from trecjudge.errors import OutputError
from trecjudge.files import open_target

RAG = SAMPLES / "rag"


def test_no_command_waits_for_a_pipe() -> None:
    """All arguments of all commands are tried by `python -m tests.cli.pipes`."""
    words = [sys.executable, "-m", "tests.cli.pipes", "12", "3"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_a_pipe_among_documents_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "d.jsonl").write_bytes((RAG / "documents.jsonl").read_bytes())
    os.mkfifo(folder / "p.jsonl")
    done = judge(RAG / "runs", tmp_path / "out", "--documents", folder)
    assert done.status == 3
    assert f"{folder / 'p.jsonl'}: is a pipe or a device, not a file; passed over" in done.err


def test_a_pipe_among_runs_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "careful.jsonl").write_bytes((RAG / "runs" / "careful.jsonl").read_bytes())
    os.mkfifo(folder / "p.jsonl")
    done = judge(folder, tmp_path / "out", "--documents", RAG / "documents.jsonl")
    assert done.status == 3
    assert f"{folder / 'p.jsonl'}: cannot be read: it is a pipe, not a file" in done.err


def test_what_a_shell_gives_is_read(tmp_path: Path) -> None:
    there, here = os.pipe()
    content = (RAG / "runs" / "careful.jsonl").read_bytes()
    writer = threading.Thread(target=lambda: (os.write(here, content), os.close(here)))
    writer.start()
    done = judge(Path(f"/dev/fd/{there}"), tmp_path, "--documents", RAG / "documents.jsonl")
    writer.join()
    os.close(there)
    assert (done.status, "careful" in done.out) == (0, True)


def test_topics_come_by_a_pipe_and_a_report_does_not_wait_for_it(tmp_path: Path) -> None:
    program = [sys.executable, str(ROOT / "run_judge.py")]
    given = ["--rag-responses", RAG / "runs", "--documents", RAG / "documents.jsonl"]
    words = [*given, "--rag-topics", "-", "--judge", "length", "--out-dir", tmp_path]
    with (RAG / "topics.jsonl").open("rb") as file:
        job = subprocess.Popen([*program, *words], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        told = job.communicate(file.read())[1]
    assert job.returncode == 0, told
    there, here = os.pipe()  # nothing comes, and no end
    report = [*program, "report", tmp_path]
    done = subprocess.run(report, stdin=there, capture_output=True, text=True, timeout=60)
    os.close(there)
    os.close(here)
    assert done.returncode == 0
    assert "-: the job read it from a pipe; give --rag-topics" in done.stderr + done.stdout


def test_a_pipe_that_nobody_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PATIENCE", 0.1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OutputError, match="it is a pipe that nobody reads"), open_target(pipe):
        pass


def test_an_index_is_not_made_in_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "x.index"
    os.mkfifo(pipe)
    done = command("rag", "index", RAG / "documents.jsonl", "--to", pipe)
    assert (done.status, "is no ordinary file; give another path" in done.err) == (1, True)
