"""Several workers: the bytes of one process, whatever dies; no process and no file is left."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import ROOT, command
from tests.job.shards.parts import (
    FILES,
    children,
    flags,
    pool_of,
    process,
    same_files,
    until,
    write_runs,
)
from trecjudge.errors import WorkflowError
from trecjudge.job.shards import dask
from trecjudge.job.shards import workers as pool
from trecjudge.job.shards.workers import LocalWorkers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of runs, judged by one process into `one`."""
    found = tmp_path_factory.mktemp("runs")
    write_runs(found)
    # A broken line is a finding by which something was not judged.
    assert command(*flags(found, "one", "-q")).status == 3
    return found


def shards_done(folder: Path, out: str) -> int:
    """Return how many shards of a job that runs are judged."""
    return len(list((folder / out).glob(".x.*.part/*.judgments")))


def parts_left(folder: Path, out: str) -> list[str]:
    """Return what a job left behind of its parts."""
    return [path.name for path in (folder / out).glob(".x.*.part*")]


def test_two_workers_write_the_bytes_of_one_process(folder: Path) -> None:
    done = process(*flags(folder, "two", "--workers", "2", "--json"))
    out, err = done.communicate(timeout=120)
    assert done.returncode == 3, err
    assert same_files(folder / "one", folder / "two") == list(FILES)
    assert json.loads(out)["findings"]["line_not_json"] == 1
    assert parts_left(folder, "two") == []
    logs = ((folder / name / "x.log").read_text() for name in ("one", "two"))
    outputs = [log.count('"event":"SUPPORT_OUTPUT"') for log in logs]
    assert outputs[0] == outputs[1] > 0


@pytest.mark.slow("trecjudge/job/shards", "trecjudge/inputs")
def test_paths_may_be_relative(folder: Path, tmp_path: Path) -> None:
    in_folder(folder, tmp_path / "two", "runs", "2")
    assert same_files(folder / "one", tmp_path / "two") == list(FILES)


@pytest.mark.slow("trecjudge/job/shards", "trecjudge/inputs")
def test_a_run_may_come_by_standard_input(folder: Path, tmp_path: Path) -> None:
    for workers in ("1", "2"):
        in_folder(folder, tmp_path / workers, "-", workers)
    assert same_files(tmp_path / "1", tmp_path / "2") == list(FILES)


def in_folder(folder: Path, out: Path, runs: str, workers: str) -> None:
    """Judge from inside a folder, with one of its runs on standard input."""
    given = [sys.executable, str(ROOT / "run_judge.py"), "--judge", "support", "--name", "x", "-q"]
    given += ["--documents", "documents.jsonl", "--rag-responses", runs]
    done = subprocess.run(
        [*given, "--out-dir", str(out), "--workers", workers],
        input=(folder / "runs" / "0.jsonl").read_bytes(),
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 3), done.stderr


@pytest.mark.slow("trecjudge/job/shards")
def test_a_killed_worker_changes_nothing(folder: Path) -> None:
    job = process(*flags(folder, "killed", "--workers", "2"))
    until(lambda: shards_done(folder, "killed") or job.poll() is not None)
    os.kill(pool_of(job.pid)[0], signal.SIGKILL)
    _, err = job.communicate(timeout=120)
    assert job.returncode == 3, err
    assert "a worker died" in err
    assert same_files(folder / "one", folder / "killed") == list(FILES)
    assert parts_left(folder, "killed") == []


@pytest.mark.slow("trecjudge/job/shards", "trecjudge/job/process.py")
def test_after_an_interrupt_nothing_is_left(folder: Path) -> None:
    job = process(*flags(folder, "stopped", "--workers", "2"))
    until(lambda: len(children(job.pid)) >= 2)
    workers = children(job.pid)
    job.send_signal(signal.SIGINT)
    _, err = job.communicate(timeout=60)
    assert job.returncode == 130, err
    assert "Traceback" not in err
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    assert parts_left(folder, "stopped") == []
    assert not (folder / "stopped" / "x.judgments.jsonl").exists()


@pytest.mark.slow("trecjudge/job/shards", "trecjudge/job/process.py")
def test_workers_end_with_the_process_that_they_work_for(folder: Path) -> None:
    job = process(*flags(folder, "orphaned", "--workers", "2"))
    until(lambda: len(children(job.pid)) >= 2)
    workers = children(job.pid)
    job.kill()
    job.communicate(timeout=60)
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    # The next job of this name removes what it left.
    command(*flags(folder, "orphaned", "-q"))
    assert parts_left(folder, "orphaned") == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("0", "give a number from 1 on"),
        ("two", "give a number from 1 on"),
        ("ray://h:1", "give a number, auto, or dask://HOST:PORT"),
        ("dask://here", "give a number, auto, or dask://HOST:PORT"),
    ],
)
def test_what_workers_may_be(given: str, message: str, folder: Path) -> None:
    done = command(*flags(folder, "none", "--workers", given))
    assert (done.status, message in done.err) == (1, True)


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a Dask scheduler and workers on loopback; yield its address and the workers."""
    address = folder / "scheduler.json"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    def start(module: str, *words: str) -> subprocess.Popen[bytes]:
        name = f"distributed.cli.{module}"
        given = [sys.executable, "-m", name, *words, "--no-dashboard"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(given, env=environment, **quiet)  # type: ignore[call-overload, no-any-return]

    here = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(address))
    started = [start("dask_scheduler", *here)]
    try:
        until(lambda: address.exists() and address.read_text().rstrip().endswith("}"))
        alone = ("--nthreads", "1", "--memory-limit", "0", "--no-nanny")
        for _ in range(workers):
            started.append(start("dask_worker", "--scheduler-file", str(address), *alone))
        yield json.loads(address.read_text())["address"].replace("tcp://", "dask://"), started[1:]
    finally:
        for one in reversed(started):
            one.kill()
            one.wait()


@pytest.mark.slow("trecjudge/job/shards", "trecjudge/results")
def test_a_cluster_writes_the_same_though_a_worker_dies(folder: Path, tmp_path: Path) -> None:
    with cluster(tmp_path, 2) as (address, workers):
        job = process(*flags(folder, "dask", "--workers", address))
        until(lambda: shards_done(folder, "dask") or job.poll() is not None)
        workers[0].kill()
        _, err = job.communicate(timeout=120)
    assert job.returncode == 3, err
    assert same_files(folder / "one", folder / "dask") == list(FILES)


@pytest.fixture
def silent() -> Iterator[str]:
    """Yield the address of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"dask://127.0.0.1:{server.getsockname()[1]}"


def test_a_scheduler_that_says_nothing_is_not_waited_for(
    silent: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(dask, "SECONDS_UNTIL_TOLD", 0.1)
    monkeypatch.setattr(dask, "SECONDS_TO_CONNECT", 0.3)
    done = command(*flags(folder, "none", "--workers", silent))
    assert done.status == 1
    assert f"{silent}: waiting for the scheduler to answer" in done.err
    assert done.err.splitlines()[-1] == (
        f"error: --workers {silent}: no scheduler answers there: the scheduler said nothing for"
        " 0.3 s"
    )


def test_the_only_worker_of_a_cluster_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(pool, "SECONDS_UNTIL_TOLD", 1.0)
    monkeypatch.setattr(pool, "SECONDS_OF_SILENCE", 2.0)
    told: list[str] = []
    with cluster(tmp_path, 1) as (address, workers):
        until(lambda: threads(address))
        asked = dask.DaskWorkers(address.removeprefix("dask://"), told.append)
        asked.submit(time.sleep, 60.0)
        until(lambda: bool(asked.look() or asked._seen))
        (worker,) = asked._seen
        assert re.fullmatch(rf"worker tcp://[\d.]+:\d+ of {address}", worker)
        workers[0].kill()
        with closing(asked), pytest.raises(WorkflowError, match="no worker gave a sign of life"):
            for _ in range(300):
                asked.look()
                time.sleep(0.1)
    # Once, though the scheduler lets it go in between.
    assert told == [f"waiting for {worker}: no sign of life for 1 s"]


def threads(address: str) -> int:
    """Return how many threads the workers of a cluster have."""
    module: Any = pytest.importorskip("distributed")
    with module.Client(address.replace("dask://", "tcp://"), set_as_default=False) as client:
        return sum(client.nthreads().values())


def test_a_local_worker_that_is_stopped_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "SECONDS_UNTIL_TOLD", 0.1)
    monkeypatch.setattr(pool, "SECONDS_OF_SILENCE", 0.3)
    told: list[str] = []
    with closing(LocalWorkers(1, told.append)) as workers:
        asked = workers.submit(time.sleep, 60.0)
        (stopped,) = workers._pool._processes
        os.kill(stopped, signal.SIGSTOP)
        while not asked.done():
            workers.look()
            time.sleep(0.05)
        assert isinstance(asked.exception(), BrokenExecutor)
    assert told == [f"waiting for process {stopped}: no sign of life for 0 s"]


def test_silence_is_told_once_and_a_sign_of_life_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "SECONDS_UNTIL_TOLD", 0.0)
    monkeypatch.setattr(pool, "SECONDS_OF_SILENCE", 0.02)
    told: list[str] = []
    watched = pool.SilenceTimer(told.append)
    for _ in range(3):
        watched.look(["a", "b"], ["b"])
        time.sleep(0.02)
    assert watched.look(["a", "b"], ["b"]) == ["a"]
    assert watched.look(["a", "b"], ["a", "b"]) == []
    assert len(told) == 1


def test_without_a_scheduler_there_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask, "SECONDS_TO_CONNECT", 0.2)
    done = command(*flags(folder, "none", "--workers", "dask://127.0.0.1:9"))
    assert done.status == 1
    assert done.err.splitlines()[-1].startswith("error: --workers dask://127.0.0.1:9: no scheduler")
