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


def job(
    folder: Path, name: str, runs: dict[str, list[str]], *options: str | Path, status: int = 0
) -> Path:
    """Judge runs, each a list of sentences by topic, into `folder`; return `folder/name`."""
    source = folder / f"{name}.runs"
    source.mkdir(parents=True)
    for run, topics in runs.items():
        lines = (
            RECORD.format(run=run, topic=i + 1, sentences=sentences)
            for i, sentences in enumerate(topics)
        )
        (source / f"{run}.jsonl").write_text("\n".join(lines))
    paths = ("--rag-responses", source, "--out-dir", folder / "out", "--name", name, "-q")
    judge = () if "--judge" in options else ("--judge", "citation")
    done = command(*paths, *judge, *options)
    assert done.status == status, done.err
    return folder / "out" / name


def as_json(*arguments: str | Path) -> tuple[int, Any]:
    """Run a command with --json; return its status and what it printed."""
    done: Done = command(*arguments, "--json")
    return done.status, json.loads(done.out)
