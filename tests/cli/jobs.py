"""Jobs and leaderboards in a folder, for the tests of the statistics commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.commandline import Done, command

RECORD = (
    '{{"metadata": {{"team_id": "t", "run_id": "{run}", "topic_id": "{topic}"}},'
    ' "responses": [{sentences}], "documents": {{"k": {{"text": "Steam forced through a narrow gap'
    ' in the spout makes a kettle whistle."}}}}}}'
)
GOOD = '{"text": "Steam forced through a narrow gap makes a kettle whistle.", "citations": ["k"]}'
BAD = '{"text": "The kettle was invented in Lyon in 1894.", "citations": ["k"]}'


def written(folder: Path, runs: dict[str, list[str]], name: str = "runs") -> Path:
    """Write runs, each a list of sentences by topic, into a folder; return it."""
    source = folder / name
    source.mkdir(parents=True)
    for run, topics in runs.items():
        lines = (
            RECORD.format(run=run, topic=i + 1, sentences=sentences)
            for i, sentences in enumerate(topics)
        )
        (source / f"{run}.jsonl").write_text("\n".join(lines))
    return source


def job(
    folder: Path, name: str, runs: dict[str, list[str]], *options: str | Path, status: int = 0
) -> Path:
    """Judge runs, each a list of sentences by topic, into `folder`; return `folder/name`."""
    source = written(folder, runs, f"{name}.runs")
    paths = ("--rag-responses", source, "--out-dir", folder / "out", "--name", name, "-q")
    judge = () if "--judge" in options else ("--judge", "citation")
    done = command(*paths, *judge, *options)
    assert done.status == status, done.err
    return folder / "out" / name


def as_json(*arguments: str | Path) -> tuple[int, Any]:
    """Run a command with --json; return its status and what it printed."""
    done: Done = command(*arguments, "--json")
    return done.status, json.loads(done.out)


def partly_judged(folder: Path, name: str = "x") -> Path:
    """Judge five runs by labels: of b four of six items are unjudged, of e all; return its path."""
    labels = folder / f"{name}.labels.jsonl"
    line = '{"topic_id": "%d", "run_id": "%s", "sentence_index": 0, "doc_id": "k", "label": "%s"}\n'
    labels.write_text(
        "".join(
            line % (topic, run, "full" if topic > place else "none")
            for place, run in enumerate("abcd")
            for topic in range(1, 7)
            if run != "b" or topic > 4
        )
    )
    runs = {run: [GOOD] * 6 for run in "abcde"}
    return job(folder, name, runs, "--judgments-from", labels, status=3)


def moved(path: Path) -> Path:
    """Return a copy of a job's leaderboard without its statistics beside it."""
    target = path.parent.parent / "moved.txt"
    target.write_bytes(Path(f"{path}.leaderboard.txt").read_bytes())
    return target
