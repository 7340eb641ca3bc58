"""A process that is killed: what was paid for is not paid for again, and the files are the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.commandline import ROOT
from tests.endpoint import Endpoint, attesting, serving

FILES = ("leaderboard.txt", "qrels", "judgments.jsonl")
SENTENCES, TOPICS, IN_FLIGHT = 20, 10, 4


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


def start(folder: Path, name: str, endpoint: Endpoint, cache: str) -> subprocess.Popen[bytes]:
    """Start judging in a process of its own."""
    return subprocess.Popen(
        [
            sys.executable, str(ROOT / "run_judge.py"), "--rag-responses", str(folder / "runs"),
            "--use-env-llm", "--cache-dir", str(folder / cache), "--out-dir", str(folder),
            "--name", name, "--set", f"llm.in_flight={IN_FLIGHT}", "-q",
        ],
        env=os.environ | endpoint.environment(),
    )  # fmt: skip


def wait_for(endpoint: Endpoint, count: int) -> None:
    """Wait until the endpoint has got `count` requests."""
    until = time.monotonic() + 20
    while len(endpoint.requests) < count and time.monotonic() < until:
        time.sleep(0.005)


def test_killed_and_started_again(tmp_path: Path) -> None:
    runs(tmp_path / "runs")
    with serving(attesting("partial_support", delay=0.005)) as endpoint:
        assert start(tmp_path, "whole", endpoint, "cache1").wait(60) == 0
        whole = len(endpoint.requests)
        assert whole == SENTENCES * TOPICS
        endpoint.requests.clear()
        for share in (40, 120):
            process = start(tmp_path, "x", endpoint, "cache2")
            wait_for(endpoint, share)
            process.send_signal(signal.SIGKILL)
            process.wait(10)
            assert not (tmp_path / "x.leaderboard.txt").exists()
        assert start(tmp_path, "x", endpoint, "cache2").wait(60) == 0
    assert whole <= len(endpoint.requests) <= whole + 2 * IN_FLIGHT
    for kind in FILES:
        assert (tmp_path / f"x.{kind}").read_bytes() == (tmp_path / f"whole.{kind}").read_bytes()


def test_interrupted_by_the_user(tmp_path: Path) -> None:
    runs(tmp_path / "runs")
    with serving(attesting(delay=0.02)) as endpoint:
        process = start(tmp_path, "x", endpoint, "cache")
        wait_for(endpoint, 20)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    left = {path.name for path in tmp_path.iterdir()} - {"runs", "cache"}
    assert left == {"x.log.part"}
