"""Standard output that cannot be written: exit status 1 and one line, for every command."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commandline import ROOT

EVERY = """
import io, json, os, sys
from typer.main import get_command
from trecjudge.cli import main
program = get_command(main.app)
words = [["--help"], ["--version"], ["judges", "list"], ["job", "formats"]]
words += [["job", "schema"], ["judges", "prompts"]]
for name in program.commands:
    command = program.load(name)
    subs = getattr(command, "commands", {})
    words += [[name, *sub, "--help"] for sub in [[], *([one] for one in subs)]]
found, out, kept = [], sys.stdout, []
for given in words:
    sys.stdout, sys.stderr = open("/dev/full", "w"), io.StringIO()
    kept.append(sys.stdout)  # as sys.__stdout__ is
    main.app = lambda: program(args=given)
    try:
        main.cli()
    except SystemExit as end:
        found.append([" ".join(given), end.code, sys.stderr.getvalue()])
print(json.dumps(found), file=out)
out.flush()
os._exit(0)
"""
LINE = "error: standard output cannot be written: {}; only that is lost: the command has done and"


def program(*words: str) -> list[str]:
    return [sys.executable, str(ROOT / "run_judge.py"), *words]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_every_command_says_so_in_one_line() -> None:
    command = [sys.executable, "-c", EVERY]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert len(found) > 40
    line = LINE.format("the disk is full")
    wrong = [one for one in found if one[1] != 1 or one[2].count("\n") != 1 or line not in one[2]]
    assert wrong == []


def test_one_that_was_closed(tmp_path: Path) -> None:
    closed = " ".join([*program("--version"), ">&-"])
    done = subprocess.run(["sh", "-c", closed], capture_output=True, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert LINE.format("it is closed").encode() in done.stderr
    quiet = subprocess.run(["sh", "-c", f"{closed} 2>&- <&-"], check=False)
    assert quiet.returncode == 1


def a_terminal() -> tuple[int, int]:
    return pty.openpty()


def a_pipe() -> tuple[int, int]:
    return os.pipe()


@pytest.mark.parametrize(("make", "status"), [(a_terminal, 1), (a_pipe, 0)])
def test_who_reads_is_gone(make: Callable[[], tuple[int, int]], status: int) -> None:
    reads, writes = make()
    os.close(reads)
    done = subprocess.run(
        program("job", "schema"), stdout=writes, stderr=subprocess.PIPE, check=False
    )
    os.close(writes)
    assert (done.returncode, done.stderr.count(b"\n")) == (status, status)


def test_a_pipe_that_does_not_block_is_waited_for() -> None:
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    process = subprocess.Popen(program("job", "schema"), stdout=writes, stderr=subprocess.PIPE)
    os.close(writes)
    text = b""
    while piece := os.read(reads, 1000):  # a slow reader: the pipe is full most of the time
        text += piece
    os.close(reads)
    said = process.communicate()[1]
    assert (process.returncode, said) == (0, b"")
    assert len(text) > 1 << 16
    json.loads(text)
