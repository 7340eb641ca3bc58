"""Workers that ask a model at two endpoints: the calls, the budget and the bytes of one process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commandline import command
from tests.endpoint import Answer, Endpoint, Script, attestation, attesting, serving
from tests.job.shards.parts import FILES, flags, pool_of, process, same_files, until, write_runs
from tests.job.shards.test_workers import cluster

ITEMS = 3 * 1 * 32
"""Citations that are judged: of each sentence the first one."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of small runs."""
    found = tmp_path_factory.mktemp("runs")
    write_runs(found, topics=1)
    return found


@contextmanager
def two(script: Script) -> Iterator[tuple[Endpoint, Endpoint]]:
    """Run two endpoints that answer alike."""
    with serving(script) as one, serving(script) as other:
        yield one, other


Both = tuple[Endpoint, Endpoint]
Judged = Callable[..., tuple[int, dict[str, Any], str]]


def words(folder: Path, out: str, *more: str) -> list[str]:
    """Return a command that asks a model, with a cache of its own."""
    cache = str(folder / out / "cache")
    return flags(folder, out, "--use-env-llm", "--cache-dir", cache, "--json", *more)


def environment(ends: Both) -> dict[str, str]:
    """Return the variables that lead to both endpoints."""
    return ends[0].environment() | {"OPENAI_BASE_URL": f"{ends[0].url} {ends[1].url}"}


@pytest.fixture
def judged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Judged:
    """Return a function that judges by two workers; it returns status, summary and messages."""

    def run(out: str, ends: Both, *more: str) -> tuple[int, dict[str, Any], str]:
        for name, value in environment(ends).items():
            monkeypatch.setenv(name, value)
        done = command(*words(folder, out, "--workers", "2", *more))
        return done.status, json.loads(done.out) if done.out else {}, done.err

    return run


def started(folder: Path, out: str, ends: Both, *more: str) -> subprocess.Popen[str]:
    """Start a job in a process of its own."""
    return process(*words(folder, out, *more), **environment(ends))


def bodies(ends: Both) -> list[str]:
    """Return all requests that were made."""
    return [json.dumps(body, sort_keys=True) for end in ends for body in end.requests]


def test_two_workers_ask_what_one_process_asks(folder: Path, judged: Judged) -> None:
    found = []
    for workers in ("1", "2"):
        with two(attesting()) as ends:
            more = ("--set", "group=5", "--workers", workers)
            status, summary, err = judged(f"by{workers}", ends, *more)
            assert status == 3, err  # a line was broken
            assert all(end.requests for end in ends)
            # Sentences are asked about together, which this endpoint does not answer well: what
            # fails is not asked again either.
            found.append((sorted(bodies(ends)), summary["calls"]))
            # From the cache, and to plan, no worker is wanted.
            calls = len(bodies(ends))
            judged(f"by{workers}", ends, *more, "--offline")
            judged("planned", ends, *more, "--plan")
            assert len(bodies(ends)) == calls
    assert found[0] == found[1]
    assert same_files(folder / "by1", folder / "by2") == list(FILES)
    assert not list((folder / "by2").glob(".x*"))


def test_a_budget_holds_for_all_and_the_next_job_pays_nothing_twice(judged: Judged) -> None:
    with two(attesting()) as ends:
        status, summary, err = judged("budget", ends, "--max-calls", "31")
        assert (status, summary["calls"]["calls"], len(bodies(ends))) == (3, 31, 31), err
        assert summary["failures"] == {"budget": ITEMS - 31}
        calls = len(bodies(ends))
        status, summary, err = judged("budget", ends)
        assert summary["calls"]["cached"] == calls
        assert len(bodies(ends)) == len(set(bodies(ends))) == ITEMS


@pytest.mark.slow("trecjudge/job/shards", "trecjudge/models")
def test_where_no_older_reply_is_wanted_all_is_asked_once_more(judged: Judged) -> None:
    with two(attesting()) as ends:
        for flags in ((), ("--refresh",)):
            judged("refreshed", ends, *flags)
        assert set(Counter(bodies(ends)).values()) == {2}


def test_a_killed_worker_costs_what_was_on_its_way(folder: Path) -> None:
    with two(attesting(delay=0.15)) as ends:
        job = started(folder, "killed", ends, "--workers", "2", "--set", "llm.in_flight=8")
        until(lambda: len(bodies(ends)) > 40 or job.poll() is not None)
        os.kill(pool_of(job.pid)[0], signal.SIGKILL)
        text, err = job.communicate(timeout=120)
        times = Counter(bodies(ends))
    assert job.returncode == 3, err
    assert "a worker died: its share is asked about again" in err
    assert len(times) == ITEMS
    assert times.total() - ITEMS <= 8  # as many as were under way
    # What the dead ones paid for was not told: it is found in the cache.
    counts = json.loads(text)["calls"]
    assert counts["calls"] + counts["cached"] == ITEMS


def refusing(body: dict[str, Any], number: int) -> Answer:
    """Refuse the key."""
    return Answer(status=401, raw=b'{"error": {"message": "wrong key"}}')


def test_a_wrong_key_ends_all_with_few_calls(judged: Judged) -> None:
    with two(refusing) as ends:
        status, _, err = judged("key", ends)
        calls = len(bodies(ends))
    assert (status, "wrong key" in err, "Traceback" in err) == (1, True, False), err
    assert calls <= 4  # as by one process: no worker was started


def broke(body: dict[str, Any], number: int) -> Answer:
    """Answer until the money is spent."""
    if number < 30:
        return Answer(attestation(body))
    return Answer(status=402, raw=b'{"error": {"message": "no money", "code": "billing"}}')


@pytest.mark.slow("trecjudge/job/shards", "trecjudge/models")
def test_an_account_without_money_ends_all_and_what_is_paid_for_is_judged(judged: Judged) -> None:
    with two(broke) as ends:
        # Few in flight: without an end, each item that is left would be refused at both endpoints.
        status, summary, err = judged("money", ends, "--set", "llm.in_flight=2")
        calls = len(bodies(ends))
    assert status == 3, err
    assert summary["failures"] == {"account": ITEMS - 60}
    # How many are refused depends on how fast the machine is: while one endpoint still answers,
    # each of eight shares that is begun finds out for itself that the other one has no money.
    assert calls <= 60 + 8 + 2 * 2


@pytest.mark.slow("trecjudge/job/shards", "trecjudge/models")
def test_after_an_interrupt_what_is_paid_for_is_kept(folder: Path) -> None:
    with two(attesting(delay=0.2)) as ends:
        job = started(folder, "stopped", ends, "--workers", "2")
        until(lambda: len(bodies(ends)) > 40 or job.poll() is not None)
        workers = pool_of(job.pid)
        job.send_signal(signal.SIGINT)
        _, err = job.communicate(timeout=60)
        calls = len(bodies(ends))
        assert job.returncode == 130, err
        assert "Traceback" not in err
        assert f"kept: {calls} replies of the model" in err
        assert "lost: 0 requests" in err
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
        assert not list((folder / "stopped").glob(".x.*"))


def test_a_batch_is_sent_by_one_process(judged: Judged) -> None:
    with two(attesting()) as ends:
        one = (ends[0], ends[0])
        status, _, err = judged("b", one, "--set", "llm.batch=true")
    assert (status, "llm.batch: one process sends a batch" in err) == (1, True), err


@pytest.mark.slow("trecjudge/job/shards", "trecjudge/models")
def test_a_cluster_brings_its_replies_home_though_a_worker_dies(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with two(attesting(delay=0.1)) as ends:
        for name, value in environment(ends).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("TRECJUDGE_CACHE", str(tmp_path / "own"))
        with cluster(tmp_path, 2) as (address, workers):
            job = started(folder, "dask", ends, "--workers", address)
            until(lambda: len(bodies(ends)) > 40 or job.poll() is not None)
            workers[0].kill()
            text, err = job.communicate(timeout=120)
        times = Counter(bodies(ends))
    assert job.returncode == 3, err
    assert len(times) == ITEMS
    assert times.total() - ITEMS <= 16  # as many as were under way
    counts = json.loads(text)["calls"]
    assert counts["calls"] + counts["cached"] == ITEMS
    config = yaml.safe_load((folder / "dask" / "x.config.yml").read_text())
    assert "other_caches" not in config["model"]
