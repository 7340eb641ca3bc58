"""Optimising that is killed, interrupted, or loses its endpoint."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commandline import ROOT, command
from tests.endpoint import Answer, Endpoint, Script, serving
from tests.models.processes import wait_until
from tests.teachable import either, teachable, write_pairs

STOPS = 70
"""The endpoint answers so many requests, then it only takes them."""


def words(folder: Path, optimizer: str) -> list[str]:
    """Return the words of a command that optimizes."""
    given = ["--labels", str(folder / "pairs.jsonl"), "--with", optimizer, "--use-env-llm"]
    places = ["--cache-dir", str(folder / "cache"), "--out", str(folder / "a.json")]
    few = ["--hold-out", "6", "--candidates", "2", "--set", "llm.in_flight=4"]
    return ["judges", "optimize", *given, *places, *few]


def start(endpoint: Endpoint, folder: Path, optimizer: str) -> subprocess.Popen[str]:
    """Start `optimize` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / "run_judge.py"), *words(folder, optimizer)],
        env=os.environ | endpoint.environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Return status and output of a process that ends by itself."""
    out, err = process.communicate(timeout=200)
    return process.returncode, out, err


@pytest.mark.slow(
    "trecjudge/evaluation/optimize", "trecjudge/job/optimizing.py", "trecjudge/models"
)
def test_one_that_was_killed_goes_on_and_pays_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pairs(tmp_path, topics=12)
    with serving(teachable(either)) as endpoint:
        endpoint.answers = STOPS
        killed = start(endpoint, tmp_path, "mipro")
        wait_until(lambda: len(endpoint.requests) > STOPS)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        lost = len(endpoint.requests) - STOPS
        endpoint.answers = float("inf")
        for name, value in endpoint.environment().items():
            monkeypatch.setenv(name, value)
        again = command(*words(tmp_path, "mipro"))
        assert (again.status, again.err) == (0, "")
        assert "better: accuracy by topic +0.500" in again.out
        asked = len(endpoint.requests)
        (tmp_path / "cache").rename(tmp_path / "elsewhere")
        undisturbed = command(*words(tmp_path, "mipro"))
        # Only what was on its way when it was killed is asked again: four at most, of which some
        # may have been answered and not kept yet.
        twice = asked - (len(endpoint.requests) - asked)
        assert 0 < lost <= twice <= 4
    assert again.out.splitlines()[:-3] == undisturbed.out.splitlines()[:-3]


def test_an_interrupt_ends_it_and_keeps_what_is_paid(tmp_path: Path) -> None:
    write_pairs(tmp_path, topics=12)
    with serving(teachable(either)) as endpoint:
        endpoint.answers = STOPS
        process = start(endpoint, tmp_path, "gepa")
        wait_until(lambda: len(endpoint.requests) > STOPS)
        process.send_signal(signal.SIGINT)
        endpoint.answers = float("inf")
        status, out, err = ended(process)
    assert (status, out) == (130, "")
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "interrupted; run the same command again to go on"
    assert "replies of the model" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "pairs.jsonl"]


@pytest.mark.parametrize("optimizer", ["gepa"])
def test_an_endpoint_that_refuses_the_key_ends_it_in_a_line(
    optimizer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pairs(tmp_path, topics=12)
    with serving(_refusing(teachable(either), after=40), monkeypatch):
        done = command(*words(tmp_path, optimizer))
    assert (done.status, done.out) == (1, "")
    assert [line.partition(":")[0] for line in done.err.splitlines()] == ["warning", "error"]
    assert "HTTP 401" in done.err and not (tmp_path / "a.optimize.json").exists()


def _refusing(script: Script, after: int) -> Script:
    def some(body: dict[str, object], number: int) -> Answer:
        return script(body, number) if number < after else Answer(status=401)

    return some
