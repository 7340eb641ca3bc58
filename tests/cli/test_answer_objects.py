"""Answers as objects: printed by `generate --json`, read as records, judged like the run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import ROOT, command

SAMPLE = ROOT / "sample_data" / "rag"
FIELDS = (
    *("run_id", "topic_id", "question", "answer", "sources", "confidence", "confidence_from"),
    *("grounded", "abstained"),
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("objects") / "docs.index"
    assert command("rag", "index", SAMPLE / "documents.jsonl", "--to", made, "-q").status == 0
    return made


def answers(index: Path, folder: Path, *more: str) -> list[dict[str, Any]]:
    """Return the objects of a run, which is written too; one topic more has no answer."""
    topics = folder / "topics.jsonl"
    asked = (SAMPLE / "topics.jsonl").read_text(encoding="utf-8")
    topics.write_text(f'{asked}{{"id": "99", "title": "Zyzzyva quokka"}}\n', encoding="utf-8")
    paths = ("--index", index, "--rag-topics", topics, "--out-dir", folder / "run")
    done = command("rag", "generate", *paths, "--format", "rag25", "--json", *more)
    assert done.status == 0, done.err
    found: list[dict[str, Any]] = json.loads(done.out)["answers"]
    return found


def board(runs: Path, folder: Path, name: str, *more: str | Path) -> str:
    """Return the leaderboard of a run by judges of citations, claims and origin."""
    named = ("--rag-topics", folder / "topics.jsonl", "--judge", "support,attribution,grounding")
    out = ("--out-dir", folder / "out", "--name", name, "-q")
    done = command("--rag-responses", runs, *named, *more, *out)
    assert done.status == 0, done.err
    return (folder / "out" / f"{name}.leaderboard.txt").read_text()


@pytest.mark.parametrize("carries", [False, True], ids=["documents beside", "documents carried"])
def test_objects_are_judged_to_the_figures_of_the_run(
    index: Path, tmp_path: Path, carries: bool
) -> None:
    found = answers(index, tmp_path, *["--carry-documents"][: int(carries)])
    folder = tmp_path / "objects"
    folder.mkdir()
    name = "extractive-bm25"
    (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in found))
    # The origin of quotes is in a file of its own, beside either.
    trail = f"{name}.provenance.jsonl"
    shutil.copy(tmp_path / "run" / trail, folder / trail)
    more = [] if carries else ["--documents", index]
    run = board(tmp_path / "run" / f"{name}.jsonl", tmp_path, "run", *more)
    assert board(folder / f"{name}.jsonl", tmp_path, "objects", *more) == run
    assert "\tQUOTES_FOUND\t1.000000" in run
    assert f"{name}\t99\tABSTAINED\t1" in run


def test_an_object_says_what_its_confidence_is_of(index: Path, tmp_path: Path) -> None:
    *said, silent = answers(index, tmp_path)
    assert all(tuple(one) == FIELDS for one in (*said, silent))
    assert silent["answer"] == "" and silent["abstained"] is True and silent["sources"] == []
    assert silent["confidence"] is silent["confidence_from"] is silent["grounded"] is None
    for one in said:
        assert 0.8 < one["confidence"] < 1 and "offline attester" in one["confidence_from"]
        assert one["grounded"] is True and one["abstained"] is False
        cited = list(dict.fromkeys(c for sentence in one["answer"] for c in sentence["citations"]))
        assert [source["id"] for source in one["sources"]] == cited
        assert all(source["truncated"] and source["score"] > 0 for source in one["sources"])
        assert one["answer"][0]["text"] in one["sources"][0]["excerpt"]


def test_masked_answers_have_masked_excerpts(tmp_path: Path) -> None:
    text = "The tram of Ostermere opened in 2021. Write to office@ostermere.org about the tram."
    (tmp_path / "d.jsonl").write_text(json.dumps({"docid": "d", "text": text}))
    made = tmp_path / "d.index"
    assert command("rag", "index", tmp_path / "d.jsonl", "--to", made, "-q").status == 0
    found = answers(made, tmp_path, "--mask-pii")
    assert "[EMAIL]" in json.dumps(found) and "office@" not in json.dumps(found)
