"""The command `search`: what it shows, writes and refuses."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures import RR, nDCG

from tests.commandline import Done, command
from tests.endpoint import Answer, Script, serving
from trecjudge.baseline.index.index import make_index
from trecjudge.baseline.index.records import IndexSource
from trecjudge.records import Document

DOCUMENTS = [
    Document(
        "dam 1", "The dam was paid by the state.\x1b[31m It holds.", "Dams", date="2024-05-03"
    ),
    Document("tax", "A tax on water was paid by farmers.", "Taxes", date="2020-01-01"),
    Document("zoo", "Lions live in the zoo."),
]
TOPICS = [{"id": "1", "title": "who paid the dam"}, {"id": "2", "title": "lions in the zoo"}]
OTHERS = [{"id": "9", "title": "rockets that fly to distant planets"}]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "docs.index"
    held = make_index(str(path))
    asyncio.run(held.refresh([IndexSource(document) for document in DOCUMENTS]))
    held.close()
    return path


def topics(folder: Path, name: str, records: list[dict[str, str]]) -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_passages_come_with_scores_and_confidence(index: Path) -> None:
    done = command("rag", "search", index, "who paid for the dam", "--top", "1")
    assert done.status == 0
    lines = [line.strip() for line in done.out.splitlines()]
    assert lines[0] == "1 dam 1  2024-05-03  Dams"
    assert " = bm25 " in lines[1] and ", window " in lines[1] and ", pairs " in lines[1]
    assert "1 passage of 1 document by bm25" in lines
    assert any("(top BM25 over idf, a weak sign)" in line for line in lines)
    assert lines[-1].startswith("no threshold is known")


def test_control_characters_of_a_document_are_escaped(index: Path) -> None:
    out = command("rag", "search", index, "dam").out
    assert "\x1b" not in out
    assert "\\x1b[31m" in out


def test_words_of_the_question_are_marked_on_a_terminal(index: Path) -> None:
    from io import StringIO

    from rich.console import Console

    from trecjudge.show.retrieval import mark_terms

    console = Console(file=StringIO(), force_terminal=True, color_system="standard")
    with console.capture() as capture:
        console.print(mark_terms("The dams\n were big", {"dam"}))
    assert capture.get() == "The \x1b[1;32mdams\x1b[0m were big\n"


def test_json_has_all_that_is_shown(index: Path) -> None:
    record = json.loads(command("rag", "search", index, "dam", "--json").out)
    (passage,) = record["passages"]
    assert passage["doc_id"] == "dam 1"
    assert passage["text"] == DOCUMENTS[0].full_text[passage["start"] : passage["end"]]
    assert passage["score"] == pytest.approx(sum(passage["parts"].values()))
    assert (record["method"], record["answers"], record["threshold"]) == ("bm25", None, None)


def test_filters_and_recency(index: Path) -> None:
    found = command("rag", "search", index, "paid", "--only", "since=2023-01-01", "--json")
    assert [p["doc_id"] for p in json.loads(found.out)["passages"]] == ["dam 1"]
    newer = json.loads(command("rag", "search", index, "paid", "--recency", "30", "--json").out)
    assert newer["passages"][0]["parts"]["recency"] == 2.0


def test_nothing_found_is_no_fault(index: Path) -> None:
    done = command("rag", "search", index, "quarks")
    assert done.status == 0
    assert done.out.startswith("nothing was found")


def test_a_run_of_topics_is_judged_by_ir_measures(index: Path, tmp_path: Path) -> None:
    run = tmp_path / "bm25.run"
    given = ("--rag-topics", topics(tmp_path, "t.jsonl", TOPICS))
    done = command("rag", "search", index, *given, "--trec", run, "--tag", "mine")
    assert (done.status, done.out) == (0, "")
    lines = [line.split() for line in run.read_text().splitlines()]
    assert all(len(line) == 6 and line[1] == "Q0" and line[5] == "mine" for line in lines)
    assert [line[3] for line in lines if line[0] == "1"] == ["1", "2"]
    qrels = list(ir_measures.read_trec_qrels("1 0 dam%201 2\n1 0 tax 0\n2 0 zoo 1\n"))
    found = ir_measures.calc_aggregate([nDCG @ 10, RR], qrels, ir_measures.read_trec_run(str(run)))
    assert found == {nDCG @ 10: 1.0, RR: 1.0}


def test_topics_that_find_nothing_are_named(index: Path, tmp_path: Path) -> None:
    given = ("--rag-topics", topics(tmp_path, "t.jsonl", OTHERS), "--json")
    done = command("rag", "search", index, *given, "--trec", tmp_path / "x.run")
    record = json.loads(done.out)
    assert (record["topics"], record["lines"], record["nothing"]) == (1, 0, ["9"])
    assert "1 topic found nothing: '9'" in done.err


def test_a_calibrated_threshold_decides_from_then_on(index: Path, tmp_path: Path) -> None:
    known = topics(tmp_path, "known.jsonl", TOPICS)
    others = topics(tmp_path, "others.jsonl", OTHERS)
    done = command("rag", "search", index, "--calibrate", known, "--against", others)
    assert done.status == 0
    assert "2 answerable topics: 100% are answered" in done.out
    assert "1 other topic: 100% are refused, AUC 1.000" in done.out
    line = json.loads((tmp_path / "docs.index.threshold.json").read_text())
    assert (line["index"], line["questions"], line["others"]) == ("docs.index", 2, 1)
    assert (
        json.loads(command("rag", "search", index, "who paid the dam", "--json").out)["answers"]
        is True
    )
    refused = command("rag", "search", index, "lions and rockets that fly to distant planets")
    assert "the documents do not answer it: the threshold is" in refused.out


def test_a_threshold_of_another_index_is_refused_or_passed_over(
    index: Path, tmp_path: Path
) -> None:
    command("rag", "search", index, "--calibrate", topics(tmp_path, "t.jsonl", TOPICS))
    line = tmp_path / "docs.index.threshold.json"
    line.write_text(line.read_text().replace("docs.index", "other.index"))
    named = command("rag", "search", index, "dam", "--threshold", line)
    assert (named.status, named.out) == (1, "")
    assert "of the index 'other.index', not of 'docs.index'; calibrate it again" in named.err
    found = command("rag", "search", index, "dam", "--json")
    assert found.status == 0
    assert json.loads(found.out)["answers"] is None
    assert "does not hold here" in found.err


def test_topics_in_both_files_are_refused(index: Path, tmp_path: Path) -> None:
    known = topics(tmp_path, "t.jsonl", TOPICS)
    done = command("rag", "search", index, "--calibrate", known, "--against", known)
    assert done.status == 1
    assert "2 topics in both files" in done.err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "give a question, --rag-topics with --output, or --calibrate TOPICS"),
        (["dam", "--trec", "x"], "--rag-topics and --output go together"),
        (["dam", "--against", "x"], "--against goes with --calibrate"),
        (["dam", "--rerank", "5"], "--rerank needs a model: add --use-env-llm"),
        (["dam", "--rerank", "5", "--rerank-by", "endpoint"], "add --use-env-llm"),
        (["dam", "--retriever", "hybrid"], "the index has no vectors; there is: bm25"),
        (["dam", "--only", "colour=red"], "unknown field 'colour'"),
        (["--calibrate", "nowhere.jsonl"], "nowhere.jsonl"),
    ],
    ids=["nothing", "no topics", "against", "rerank", "endpoint", "vectors", "field", "no file"],
)
def test_what_cannot_be_done_is_told_in_one_line(
    index: Path, given: list[str], message: str
) -> None:
    done = command("rag", "search", index, *given)
    assert (done.status, done.out) == (1, "")
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_an_index_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = command("rag", "search", tmp_path / "no.index", "dam")
    assert (done.status, done.out) == (1, "")
    assert not (tmp_path / "no.index").exists()


def test_without_the_package_a_search_by_words_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trecjudge.baseline.index.vectors import word_vectors
    from trecjudge.text.embeddings import embedder

    path = tmp_path / "v.index"
    held = make_index(str(path))
    asyncio.run(held.refresh([IndexSource(d) for d in DOCUMENTS], word_vectors()))
    held.close()
    assert "mean cosine of 20, wordllama" in command("rag", "search", path, "dam").out
    embedder.cache_clear()
    monkeypatch.setitem(sys.modules, "wordllama", None)
    try:
        done = command("rag", "search", path, "dam")
        dense = command("rag", "search", path, "dam", "--retriever", "dense")
    finally:
        monkeypatch.undo()
        embedder.cache_clear()
    assert done.status == 0
    assert "the confidence is by words" in done.err
    assert dense.status == 1
    assert "pip install 'trecjudge[semantic]'" in dense.err


def grading(grades: list[int]) -> Script:
    """Return a model that gives passages these grades, in the order in which it sees them."""

    def script(body: dict[str, Any], number: int) -> Answer:
        listed = [{"number": n, "grade": grade} for n, grade in enumerate(grades, 1)]
        return Answer(json.dumps({"grades": listed}))

    return script


def reranked(script: Script, folder: Path, *given: str | Path, times: int = 1) -> tuple[Done, int]:
    """Run `search` with this model; return how it ended last and how often the model was asked."""
    with serving(script) as endpoint, pytest.MonkeyPatch.context() as patch:
        for name, value in endpoint.environment().items():
            patch.setenv(name, value)
        model = ("--use-env-llm", "--cache-dir", folder / "cache")
        for _ in range(times):
            done = command("rag", "search", *given, "--rerank", "2", *model)
        return done, len(endpoint.requests)


def test_a_model_reranks_and_is_paid_once(index: Path, tmp_path: Path) -> None:
    before = json.loads(command("rag", "search", index, "who paid", "--json").out)["passages"]
    script = grading([0, 3])
    done, asked = reranked(script, tmp_path, index, "who paid", "--json", times=2)
    after = json.loads(done.out)["passages"]
    assert [p["doc_id"] for p in after] == [p["doc_id"] for p in reversed(before)]
    assert [p["parts"]["rerank"] for p in after] == [3.0, 0.0]
    assert asked == 1


def test_a_topic_that_cannot_be_reranked_is_left_out_and_told(index: Path, tmp_path: Path) -> None:
    run = tmp_path / "x.run"
    records = [{"id": "1", "title": "who paid"}, {"id": "2", "title": "quarks"}]
    given = ("--rag-topics", topics(tmp_path, "t.jsonl", records), "--trec", run)
    done, _ = reranked(grading([1]), tmp_path, index, *given)
    assert done.status == 3
    assert "topic '1': not reranked, so it is not in the run" in done.err
    assert run.read_text() == ""
