"""What banks are made of: documents by topic, from runs, from grades and from candidates lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.reading import Write
from trecjudge.errors import InputError
from trecjudge.evaluation.banks.extracting import is_telling
from trecjudge.evaluation.banks.material import BankInputs, Material, read_material

TOPICS = '{"id": "1", "title": "kettles"}\n{"id": "2", "title": "ferries"}\n'
DOCUMENTS = '{"docid": "K1", "text": "Kettles are old."}\n{"docid": "K2", "text": "Tin is soft."}\n'


def run(run_id: str, *cited: str) -> str:
    metadata = {"team_id": "tx", "run_id": run_id, "topic_id": "1"}
    sentences = [{"text": "Kettles are old.", "citations": [doc_id]} for doc_id in cited]
    return json.dumps({"metadata": metadata, "responses": sentences}) + "\n"


def read(inputs: BankInputs, folder: Path) -> list[Material]:
    return read_material(inputs, folder / "index", lambda finding: None)


def test_documents_that_most_runs_cite_come_first(write: Write, tmp_path: Path) -> None:
    runs = [write(run("a", "K1", "K2"), "a.jsonl"), write(run("b", "K2", "K9"), "b.jsonl")]
    documents = write(DOCUMENTS, "documents.jsonl")
    (found,) = read(BankInputs(runs=runs, documents=[documents]), tmp_path)
    assert [d.doc_id for d in found.most_cited(5)] == ["K2", "K1"]
    assert list(found.citing["K2"]) == ["a", "b"]


def test_documents_with_a_grade_are_those_of_the_topic(write: Write, tmp_path: Path) -> None:
    qrels = write("1 0 K1 2\n1 0 K2 0\n", "qrels.txt")
    given = BankInputs(
        topics=write(TOPICS, "topics.jsonl"),
        documents=[write(DOCUMENTS, "documents.jsonl")],
        qrels=qrels,
    )
    kettles, ferries = read(given, tmp_path)
    assert (list(kettles.documents), list(ferries.documents)) == (["K1"], [])


def test_candidates_lists_name_their_topic(write: Write, tmp_path: Path) -> None:
    record = {
        "query": {"qid": "7", "text": "kettles"},
        "candidates": [{"docid": "K1", "doc": {"segment": "Kettles are old."}}, "Tin is soft."],
    }
    (found,) = read(BankInputs(documents=[write(json.dumps(record), "c.jsonl")]), tmp_path)
    assert (found.topic.topic_id, found.topic.title) == ("7", "kettles")
    assert {d.doc_id: d.text for d in found.documents.values()} == {
        "K1": "Kettles are old.",
        "7#2": "Tin is soft.",
    }


def test_nothing_to_make_a_bank_of(write: Write, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give --rag-topics or --rag-responses"):
        read(BankInputs(documents=[write(DOCUMENTS, "documents.jsonl")]), tmp_path)


def test_which_sentences_can_be_nuggets() -> None:
    cases = [
        ("The Dunmoor works opened in 1902.", True),
        ("It opened in the spring of 1902.", False),
        ("Opened in 1902.", False),
        ("When did the Dunmoor works open its doors?", False),
        ("Home | About | Kettles | Works | Contact us today.", False),
        ("The Dunmoor works opened in 1902", False),
        ("word " * 60 + "end.", False),
    ]
    wrong = [(text, found) for text, telling in cases if (found := is_telling(text)) is not telling]
    assert not wrong
