"""A job of 200 questions in a process of its own, to be killed, and the same in this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from tests.commandline import ROOT, Done
from tests.endpoint import Endpoint

FILES = ("leaderboard.txt", "qrels", "judgments.jsonl")
SENTENCES, TOPICS, IN_FLIGHT = 20, 10, 4
Here = Callable[..., Done]
"""`here(endpoint, cache, name, *flags)`: the job done in this process"""


class Serving(Protocol):
    """An endpoint that is running."""

    def environment(self) -> dict[str, str]:
        """Return the variables that lead there."""


def runs(folder: Path) -> Path:
    """Write a run of 200 distinct pairs."""
    folder.mkdir()
    lines = []
    for t in range(TOPICS):
        said = [{"text": f"Fact {t} {s}.", "citations": [f"d{t}"]} for s in range(SENTENCES)]
        record = {
            "metadata": {"team_id": "x", "run_id": "r", "topic_id": str(t)},
            "responses": said,
            "documents": {f"d{t}": {"text": f"Fact number {t}."}},
        }
        lines.append(json.dumps(record))
    (folder / "r.jsonl").write_text("\n".join(lines))
    return folder


def arguments(cache: Path, name: str) -> list[str]:
    """Return the flags of a job beside its runs and its folder."""
    given = ["--use-env-llm", "--cache-dir", str(cache), "--name", name]
    return [*given, "--set", f"llm.in_flight={IN_FLIGHT}"]


def start(folder: Path, endpoint: Serving, cache: str, *more: str) -> subprocess.Popen[bytes]:
    """Start judging in a process of its own, under the name `x`; its output is kept."""
    given = ["--rag-responses", str(folder / "runs"), "--out-dir", str(folder)]
    return subprocess.Popen(
        [
            sys.executable, str(ROOT / "run_judge.py"), *given,
            *arguments(folder / cache, "x"), *more,
        ],
        env=os.environ | endpoint.environment(), stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_until(true: Callable[[], bool]) -> None:
    """Wait until something is true; fail where it never is."""
    until = time.monotonic() + 60
    while not true() and time.monotonic() < until:
        time.sleep(0.005)
    assert true()


def answer_until(endpoint: Endpoint, count: int) -> None:
    """Wait until `count` requests are answered; the next ones are under way, and stay so."""
    endpoint.answers = count
    wait_until(lambda: len(endpoint.requests) == count + IN_FLIGHT)
