"""What banks are made of: documents by topic, from runs, from grades and from candidates lists."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.reading import Write
from trecjudge.errors import InputError
from trecjudge.evaluation.banks.material import Material
from trecjudge.job.banks import read_material
from trecjudge.job.request import Job
from trecjudge.models.opening import ModelOptions
from trecjudge.results.outputs import Outputs

TOPICS = '{"id": "1", "title": "kettles"}\n{"id": "2", "title": "ferries"}\n'
DOCUMENTS = '{"docid": "K1", "text": "Kettles are old."}\n{"docid": "K2", "text": "Tin is soft."}\n'


def run(run_id: str, *cited: str) -> str:
    metadata = {"team_id": "tx", "run_id": run_id, "topic_id": "1"}
    sentences = [{"text": "Kettles are old.", "citations": [doc_id]} for doc_id in cited]
    return json.dumps({"metadata": metadata, "responses": sentences}) + "\n"


def read(folder: Path, runs: Sequence[Path] = (), **given: Any) -> list[Material]:
    model = ModelOptions(cache_folder=folder / "cache")
    job = Job(runs, Outputs(folder, "nuggets"), model=model, **given)
    return read_material(job, lambda finding: None, lambda message: None)


def test_documents_that_most_runs_cite_come_first(write: Write, tmp_path: Path) -> None:
    runs = [write(run("a", "K1", "K2"), "a.jsonl"), write(run("b", "K2", "K9"), "b.jsonl")]
    documents = write(DOCUMENTS, "documents.jsonl")
    (found,) = read(tmp_path, runs, documents=[documents])
    assert [d.doc_id for d in found.most_cited(5)] == ["K2", "K1"]
    assert list(found.citing["K2"]) == ["a", "b"]


def test_documents_with_a_grade_are_those_of_the_topic(write: Write, tmp_path: Path) -> None:
    qrels = write("1 0 K1 2\n1 0 K2 0\n", "qrels.txt")
    kettles, ferries = read(
        tmp_path,
        topics=write(TOPICS, "topics.jsonl"),
        documents=[write(DOCUMENTS, "documents.jsonl")],
        qrels=qrels,
    )
    assert (list(kettles.documents), list(ferries.documents)) == (["K1"], [])


def test_candidates_lists_name_their_topic(write: Write, tmp_path: Path) -> None:
    record = {
        "query": {"qid": "7", "text": "kettles"},
        "candidates": [{"docid": "K1", "doc": {"segment": "Kettles are old."}}, "Tin is soft."],
    }
    (found,) = read(tmp_path, documents=[write(json.dumps(record), "c.jsonl")])
    assert (found.topic.topic_id, found.topic.title) == ("7", "kettles")
    assert {d.doc_id: d.text for d in found.documents.values()} == {
        "K1": "Kettles are old.",
        "7#2": "Tin is soft.",
    }


def test_nothing_to_make_a_bank_of(write: Write, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give --rag-topics or --rag-responses"):
        read(tmp_path, documents=[write(DOCUMENTS, "documents.jsonl")])
