"""An input large enough for several shards, and what one process makes of it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.commandline import ROOT

FILES = ("judgments.jsonl", "leaderboard.txt", "leaderboard.jsonl", "qrels")
"""What must be the same byte for byte, however a job is judged."""
WORDS = [
    "bridge",
    "river",
    "harbour",
    "opened",
    "closed",
    "engineer",
    "festival",
    "museum",
    "lighthouse",
    "storm",
]


def write_runs(folder: Path, runs: int = 3, topics: int = 8) -> None:
    """Write runs of about 1,000 citations each, two of them called alike by different teams."""
    rng = random.Random(7)
    (folder / "runs").mkdir(parents=True)
    documents = [
        {"docid": f"d{n}", "text": " ".join(rng.choices(WORDS, k=400)) + "."} for n in range(20)
    ]
    (folder / "documents.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents))
    for run in range(runs):
        lines = []
        for topic in range(topics):
            named = {
                "team_id": f"team{run}",
                "run_id": f"r{min(run, 1)}",
                "narrative_id": str(topic),
            }
            record = {
                "metadata": named
                | {"narrative_id": str(topic), "narrative": "n", "type": "automatic"},
                "references": [f"d{n}" for n in rng.sample(range(20), 10)],
                "answer": [_sentence(rng) for _ in range(32)],
            }
            lines.append(json.dumps(record) + "\n")
        if run == 1:
            lines.insert(3, "{broken\n")
        (folder / "runs" / f"{run}.jsonl").write_text("".join(lines))


def _sentence(rng: random.Random) -> dict[str, Any]:
    return {"text": " ".join(rng.choices(WORDS, k=20)) + ".", "citations": rng.sample(range(10), 4)}


def flags(folder: Path, out: str, *more: str) -> list[str]:
    """Return the words of a command that judges these runs into a folder `out`."""
    return [
        *("--judge", "support", "--rag-responses", str(folder / "runs")),
        *("--documents", str(folder / "documents.jsonl"), "--out-dir", str(folder / out)),
        *("--name", "x", *more),
    ]


def process(*words: str, **more: str) -> subprocess.Popen[str]:
    """Start the command line in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | more
    return subprocess.Popen(
        [sys.executable, str(ROOT / "run_judge.py"), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def same_files(one: Path, other: Path, job: str = "x") -> list[str]:
    """Return the files of two jobs that are the same."""
    return [
        name
        for name in FILES
        if (one / f"{job}.{name}").read_bytes() == (other / f"{job}.{name}").read_bytes()
    ]


def children(pid: int) -> list[int]:
    """Return the processes that a process has started and that run, by their numbers."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def pool_of(pid: int) -> list[int]:
    """Return the worker processes of a job; what else it started must live."""
    kinds = ((child, Path(f"/proc/{child}/cmdline")) for child in children(pid))
    return [child for child, line in kinds if b"spawn_main" in line.read_bytes()]


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait until a condition holds. Raises AssertionError when that takes too long."""
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "it never came true"
        time.sleep(0.02)
