"""Several answers of a run to one question: samples of a pipeline, a mistake in a track's run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import command
from tests.reading import Read

TRACK = {"run_id": "r", "references": [], "answer": [{"text": "S.", "citations": []}]}


def record(answer: str, **more: Any) -> dict[str, Any]:
    """Return a record of a pipeline on topic 1."""
    return {"topic_id": "1", "question": "Q?", "answer": answer, "contexts": ["A."], **more}


def track(answer: str, **more: Any) -> dict[str, Any]:
    """Return a record of RAG 2024 on topic 1."""
    return {"topic_id": "1", **TRACK, "answer": [{"text": answer, "citations": []}], **more}


@pytest.mark.parametrize(
    ("records", "ids", "found"),
    [
        pytest.param([record("A.", sample=0), record("A.", sample=1)], "1 1~1", 0, id="by a key"),
        pytest.param(
            [record("A.", repeat="x"), record("B.", repeat="y")], "1 1~y", 0, id="by name"
        ),
        pytest.param(
            [record("A.", metadata={"epoch": 1}), record("B.", metadata={"epoch": 2})],
            "1 1~2",
            0,
            id="a key in the metadata",
        ),
        pytest.param(
            [record("A.", sample_id="q", epoch=1), record("B.", sample_id="q", epoch=2)],
            "1 1~2",
            0,
            id="a number beside an id",
        ),
        pytest.param([record("A."), record("B."), record("C.")], "1 1~2 1~3", 2, id="no key"),
        pytest.param([record("A."), record("A.")], "1", 1, id="the same to the letter"),
        pytest.param(
            [record("A.", sample=1), record("A.", sample=1)], "1", 1, id="one sample twice"
        ),
        pytest.param([record("A.", sample=1), record("B.", sample=1)], "1 1~2", 1, id="one name"),
        pytest.param([track("A."), track("B.")], "1", 1, id="a run of a track"),
        pytest.param(
            [track("A.", sample=1), track("B.", sample=2)], "1 1~2", 0, id="of one by a key"
        ),
        pytest.param([track("A."), track("B.", sample=2)], "1 1~2", 0, id="the second by a key"),
    ],
)
def test_what_is_a_sample(records: list[dict[str, Any]], ids: str, found: int, read: Read) -> None:
    seen = read("\n".join(map(json.dumps, records)), name="r")
    assert [response.topic_id for response in seen.responses] == ids.split()
    assert {response.topic_asked for response in seen.responses} == {"1"}
    assert [topic.topic_id for topic, _ in seen.pairs] == ids.split()
    assert seen.kinds.count("response_duplicate") == found


def test_what_a_record_says_was_retrieved(read: Read) -> None:
    cases = {
        "references of RAG 2024": ({"references": ["a", "b"]}, ("a", "b")),
        "said, by ids or objects": ({"retrieved": ["b", {"docid": "c"}]}, ("b", "c")),
    }
    wrong = {
        name: found
        for name, (more, retrieved) in cases.items()
        if (found := read(json.dumps(track("A.", **more))).response.retrieved) != retrieved
    }
    assert not wrong


ANSWERS = [
    "The Alder bridge opened in 1931.",
    "It fell into the sea in 1660.",
    "It opened in 1931.",
]


def test_samples_stay_apart_in_every_file_and_part(tmp_path: Path) -> None:
    """A whole job, workers and merged parts write the same, and a second job judges nothing."""
    run = tmp_path / "r.jsonl"
    lines = [
        record(text, epoch=n, topic_id=topic, contexts=["The Alder bridge opened in 1931."])
        for n, text in enumerate(ANSWERS)
        for topic in "12"
    ]
    run.write_text("\n".join(map(json.dumps, lines)))
    job = ("--rag-responses", run, "--judge", "grounding", "--no-check", "-q", "--out-dir")
    done = [command(*job, tmp_path / "one", "--name", "x")]
    done += [command(*job, tmp_path / "many", "--name", "x", "--workers", "2")]
    done += [
        command(*job, tmp_path / "parts", "--name", "x", "--shard", f"{n}/3") for n in (1, 2, 3)
    ]
    done += [command("merge", tmp_path / "parts", "--out-dir", tmp_path / "all", "--name", "x")]
    done += [command("report", tmp_path / "one")]
    assert [one.status for one in done] == [0] * 7, [one.err for one in done]
    assert "samples: run r has 6 samples of 2 topics: FACTUALITY_RATE spread" in done[5].out
    files = [tmp_path / folder / "x.leaderboard.jsonl" for folder in ("one", "many", "all")]
    first, *others = [file.read_bytes() for file in files]
    assert others == [first, first]
    assert json.loads(first.splitlines()[0])["samples"]["samples"] == 6
