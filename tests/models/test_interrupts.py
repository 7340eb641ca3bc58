"""Processes that are really signalled and killed: what is kept and lost, and how to go on."""

from __future__ import annotations

import json
import math
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commandline import ROOT, SAMPLES
from tests.endpoint import attesting, serving
from tests.models.processes import (
    FILES,
    IN_FLIGHT,
    SENTENCES,
    TOPICS,
    Here,
    answer_until,
    runs,
    start,
    wait_until,
)

SLOW = pytest.mark.slow("trecjudge/job/process.py", "trecjudge/models", "trecjudge/cli/exits.py")
SIGNALS = [
    signal.SIGINT,
    pytest.param(signal.SIGTERM, marks=SLOW),
    pytest.param(signal.SIGHUP, marks=SLOW),
]
OTHERS = [pytest.param(number, marks=SLOW) for number in (signal.SIGUSR1, signal.SIGQUIT)]
GO_ON = "interrupted; run the same command again to go on\n"


def names(signals: object) -> str:
    return getattr(signals, "name", "")


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Return how a process ended, and what it said."""
    _, said = process.communicate(timeout=60)
    return process.returncode, said.decode()


def reading(process: subprocess.Popen[bytes], words: bytes) -> bytes:
    """Return what a process says, once it has said these words."""
    said = b""
    assert process.stderr is not None
    while words not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    return said


@pytest.mark.parametrize("number", [*SIGNALS, *OTHERS], ids=names)
def test_what_is_on_its_way_is_kept(number: signal.Signals, tmp_path: Path, here: Here) -> None:
    runs(tmp_path / "runs")
    with serving(attesting()) as endpoint:
        process = start(tmp_path, endpoint, "cache")
        answer_until(endpoint, 20)
        process.send_signal(number)
        said = reading(process, b"replies on their way").decode()
        endpoint.answers = math.inf
        status, more = ended(process)
        assert status == 130
        assert f"interrupted ({number.name}): ending; a second Ctrl-C ends at once\n" in said
        assert f"waiting up to 15 s for {IN_FLIGHT} replies on their way\n" in said
        part = tmp_path / "x.log.part"
        kept = f"kept: {20 + IN_FLIGHT} replies of the model, in {tmp_path / 'cache'}"
        lost = "lost: 0 requests that were on their way; they are asked again"
        assert more.endswith(f"{kept}; the log so far, {part}\n{lost}\n{GO_ON}")
        left = {path.name for path in tmp_path.iterdir()} - {"runs", "cache"}
        assert left == {"x.log.part"}
        last = json.loads(part.read_text().splitlines()[-1])
        assert (last["event"], last["signal"]) == ("session_interrupted", number.name)
        assert here(endpoint, "cache", "x").status == 0
        assert len(endpoint.requests) == 200
        assert not part.exists()


@pytest.mark.parametrize("first", [SIGNALS[0], SIGNALS[2]], ids=names)
def test_a_second_one_loses_what_is_in_flight_and_nothing_else(
    first: signal.Signals, tmp_path: Path, here: Here
) -> None:
    runs(tmp_path / "runs")
    with serving(attesting()) as endpoint:
        process = start(tmp_path, endpoint, "cache")
        answer_until(endpoint, 20)
        process.send_signal(first)
        reading(process, b"replies on their way")
        process.send_signal(signal.SIGHUP)  # a terminal that is closed sends two: no second one
        process.send_signal(signal.SIGINT)
        status, said = ended(process)
        assert status == 130
        assert f"kept: 20 replies of the model, in {tmp_path / 'cache'}" in said
        assert f"lost: {IN_FLIGHT} requests that were on their way; they are asked again\n" in said
        assert said.endswith(GO_ON)
        assert "Traceback" not in said
        endpoint.answers = math.inf
        assert here(endpoint, "cache", "x").status == 0
        assert len(endpoint.requests) == 200 + IN_FLIGHT


@pytest.mark.parametrize(
    ("count", "number"),
    [
        pytest.param(0, signal.SIGINT, marks=SLOW),
        pytest.param(1, signal.SIGTERM, marks=SLOW),
        pytest.param(90, signal.SIGHUP, marks=SLOW),
    ],
    ids=names,
)
def test_at_any_moment_only_what_is_in_flight_is_asked_again(
    count: int, number: signal.Signals, tmp_path: Path, here: Here
) -> None:
    runs(tmp_path / "runs")
    with serving(attesting()) as endpoint:
        endpoint.answers = count
        process = start(tmp_path, endpoint, "cache", "-q", "--set", "llm.timeout=1")
        wait_until(lambda: len(endpoint.requests) > count)
        for _ in range(2):
            process.send_signal(number)
        status, said = ended(process)
        assert (status, "Traceback" in said) == (130, False)
        assert said.endswith(GO_ON)
        endpoint.answers = math.inf
        assert here(endpoint, "cache", "x").status == 0
        assert 200 <= len(endpoint.requests) <= 200 + IN_FLIGHT


@pytest.mark.parametrize(
    ("ignored", "sent", "status"),
    [
        (signal.SIGHUP, signal.SIGHUP, 0),
        pytest.param(signal.SIGINT, signal.SIGTERM, 130, marks=SLOW, id="background"),
    ],
)
def test_ignored_signals_stay_ignored(
    ignored: signal.Signals, sent: signal.Signals, status: int, tmp_path: Path
) -> None:
    runs(tmp_path / "runs")
    with serving(attesting()) as endpoint:
        before = signal.signal(ignored, signal.SIG_IGN)  # as `nohup` does, and a shell for `&`
        try:
            process = start(tmp_path, endpoint, "cache")
        finally:
            signal.signal(ignored, before)
        answer_until(endpoint, 20)
        process.send_signal(sent)
        endpoint.answers = math.inf
        assert ended(process)[0] == status


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, str(ROOT / "run_judge.py"), *map(str, arguments)]


def job(folder: Path) -> list[str]:
    """Return the command of a job on the sample data, without a model."""
    data = SAMPLES / "rag"
    given = ("--rag-responses", data / "runs", "--documents", data / "documents.jsonl")
    return command(*given, "--out-dir", folder, "--name", "x")


INTERRUPTING = """
import os
from trecjudge.judges.length import LengthJudge
class Judge(LengthJudge):
    def pool(self, topic, response):
        if topic.topic_id == "3":
            os.kill(os.getpid(), int(os.environ["NUMBER"]))
        return LengthJudge.pool(self, topic, response)
"""


@pytest.mark.parametrize("number", SIGNALS, ids=names)
def test_without_a_model_it_ends_at_once(number: signal.Signals, tmp_path: Path) -> None:
    runs(tmp_path / "runs")
    (tmp_path / "interrupting.py").write_text(INTERRUPTING)
    process = subprocess.Popen(
        command("--rag-responses", "runs", "--judge", "interrupting:Judge", "--out-dir", "out"),
        cwd=tmp_path, env=os.environ | {"NUMBER": str(int(number))}, stderr=subprocess.PIPE,
    )  # fmt: skip
    status, said = ended(process)
    assert status == 130
    assert "kept: the log so far, out/" in said
    assert "lost: what this job judged so far; no model was asked, so it costs time only\n" in said
    assert said.endswith(GO_ON)
    assert "Traceback" not in said
    assert [path.name.endswith(".log.part") for path in (tmp_path / "out").iterdir()] == [True]


def test_a_terminal_that_is_closed(tmp_path: Path, here: Here) -> None:
    runs(tmp_path / "runs")
    with serving(attesting()) as endpoint:
        ours, theirs = pty.openpty()
        given = ("--rag-responses", tmp_path / "runs", "--out-dir", tmp_path, "--name", "x")
        more = ("--use-env-llm", "--cache-dir", tmp_path / "cache", "--set")
        process = subprocess.Popen(
            command(*given, *more, f"llm.in_flight={IN_FLIGHT}"),
            env=os.environ | endpoint.environment(),
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        answer_until(endpoint, 20)
        os.close(ours)  # writing to it is an error from now on
        process.send_signal(signal.SIGHUP)
        endpoint.answers = math.inf
        assert process.wait(60) == 130
        last = json.loads((tmp_path / "x.log.part").read_text().splitlines()[-1])
        assert last["event"] == "session_interrupted"
        assert here(endpoint, "cache", "x").status == 0
        assert len(endpoint.requests) == 200


@pytest.mark.parametrize(
    "gone",
    [pytest.param("stdout", marks=SLOW), pytest.param("stderr", marks=SLOW), "both"],
)
def test_whoever_reads_may_go_and_the_files_are_there(gone: str, tmp_path: Path) -> None:
    pipes = {}
    for name in ("stdout", "stderr"):
        reads, pipes[name] = os.pipe()
        if gone in (name, "both"):
            os.close(reads)
    done = subprocess.run(job(tmp_path), check=False, **pipes)  # type: ignore[call-overload]
    assert done.returncode == 0
    assert (tmp_path / "x.config.yml").exists()


@SLOW
def test_a_pipe_to_head(tmp_path: Path) -> None:
    words = " ".join(job(tmp_path))
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {words} | head -n 1"], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 1)
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_an_error_of_standard_output_only(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        assert subprocess.run(job(tmp_path), stderr=full, check=False).returncode == 0
        done = subprocess.run(job(tmp_path), stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(b"error: standard output cannot be written: the disk is full; only")
    assert b"Traceback" not in done.stderr
    assert (tmp_path / "x.config.yml").exists()


@pytest.mark.parametrize(
    "counts", [(80,), pytest.param((40, 120), marks=SLOW)], ids=["once", "twice"]
)
def test_killed_what_was_paid_for_is_not_paid_for_again(
    counts: tuple[int, ...], tmp_path: Path, here: Here
) -> None:
    runs(tmp_path / "runs")
    with serving(attesting("partial_support")) as endpoint:
        assert here(endpoint, "cache1", "whole").status == 0
        whole = len(endpoint.requests)
        assert whole == SENTENCES * TOPICS
        endpoint.requests.clear()
        for count in counts:
            process = start(tmp_path, endpoint, "cache2")
            answer_until(endpoint, count)
            process.kill()
            process.communicate(timeout=20)
            assert not (tmp_path / "x.leaderboard.txt").exists()
        endpoint.answers = math.inf
        assert here(endpoint, "cache2", "x").status == 0
    assert whole <= len(endpoint.requests) <= whole + len(counts) * IN_FLIGHT
    for kind in FILES:
        assert (tmp_path / f"x.{kind}").read_bytes() == (tmp_path / f"whole.{kind}").read_bytes()
