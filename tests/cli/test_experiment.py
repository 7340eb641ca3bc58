"""`experiment` from the command line: real indexes and runs, a model on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_generate import inputs
from tests.commandline import ROOT, Done, command
from tests.endpoint import Answer, Endpoint, attestation, in_a_thread, running

RAG = ROOT / "sample_data" / "rag"
DOCUMENTS = f"documents: [{RAG / 'documents.jsonl'}]\n"
HEAD = f"topics: {RAG / 'topics.jsonl'}\njudge: [support, direct_prompt]\n"
TWO = "variants:\n  usual: {}\n  one: {top: 1}\n"
NAMES = ("usual", "one")


def experiment(folder: Path, text: str, *more: str | Path, documents: str = DOCUMENTS) -> Done:
    path = folder / "e.yml"
    path.write_text(documents + HEAD + text, encoding="utf-8")
    return command("rag", "experiment", path, "--out-dir", folder / "o", *more)


def told(folder: Path, text: str, *more: str | Path, documents: str = DOCUMENTS) -> Any:
    return json.loads(experiment(folder, text, "--json", *more, documents=documents).out)


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the bytes and the time of each file of the runs."""
    paths = sorted((folder / "o" / "experiment.runs").iterdir())
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}


def test_variants_are_judged_together_and_compared(tmp_path: Path) -> None:
    done = experiment(tmp_path, f"format: rag25\n{TWO}", "--json", "--report")
    found = json.loads(done.out)
    assert done.status == found["exit_status"] == 0
    assert [(v["variant"], v["check"], v["answered"]) for v in found["variants"]] == [
        ("usual", "accepted", 3),
        ("one", "accepted", 3),
    ]
    assert {run["run_id"] for run in found["job"]["runs"]} == set(NAMES)
    (grade,) = [d for d in found["compared"]["differences"] if d["measure"] == "AVG_GRADE"]
    assert (grade["before"].endswith(": usual"), grade["after"].endswith(": one")) == (True, True)
    assert (grade["topics"], grade["difference"]) == (3, -1.333333)
    assert Path(found["job"]["files"]["report"]).stat().st_size > 10_000
    board = (tmp_path / "o" / "experiment.leaderboard.txt").read_text()
    assert "usual\tall\tWEIGHTED_PRECISION\t1.0" in board
    # The usual tools find the job by its name.
    assert command("compare", tmp_path / "o" / "experiment", "-q").status == 0


def test_nothing_unchanged_is_made_again(tmp_path: Path) -> None:
    text = f"format: rag25\n{TWO}"
    experiment(tmp_path, text, "-q")
    before = files(tmp_path)
    again = experiment(tmp_path, text)
    assert "not made again: usual, one" in again.out
    assert files(tmp_path) == before
    changed = told(tmp_path, text.replace("top: 1", "top: 2"))
    assert [v["reused"] for v in changed["variants"]] == [True, False]
    # A run that was touched by hand is no run of these inputs.
    run = tmp_path / "o" / "experiment.runs" / "usual.jsonl"
    run.write_text(run.read_text() + "\n")
    third = told(tmp_path, text.replace("top: 1", "top: 2"))
    assert [v["reused"] for v in third["variants"]] == [False, True]
    assert run.read_bytes() == before["usual.jsonl"][0]


def test_a_changed_document_reaches_every_run(tmp_path: Path) -> None:
    own = tmp_path / "docs.jsonl"
    own.write_text((RAG / "documents.jsonl").read_text())
    given = {"documents": "documents: [docs.jsonl]\n"}
    told(tmp_path, f"format: rag25\n{TWO}", **given)
    kept = own.read_text().splitlines()[1:]
    own.write_text("\n".join(kept))
    found = told(tmp_path, f"format: rag25\n{TWO}", **given)
    assert [v["reused"] for v in found["variants"]] == [False, False]


def test_variants_that_cut_alike_share_an_index(tmp_path: Path) -> None:
    text = "format: rag25\nvariants: {a: {}, b: {top: 2}, c: {chunk_size: 40}}\n"
    assert experiment(tmp_path, text, "-q").status == 0
    indexes = {path.name for path in (tmp_path / "o" / "experiment.indexes").glob("*.index")}
    assert indexes == {"220-30-none.index", "40-20-none.index"}


@pytest.mark.parametrize("given", ["index: my.index\n", "documents: [my.index]\n"])
def test_an_index_that_is_there_is_enough(given: str, tmp_path: Path) -> None:
    command("rag", "index", RAG / "documents.jsonl", "--to", tmp_path / "my.index", "-q")
    found = told(tmp_path, f"format: rag25\n{TWO}", documents=given)
    assert found["exit_status"] == 0
    assert [v["answered"] for v in found["variants"]] == [3, 3]
    cited = (tmp_path / "o" / "experiment.documents.jsonl").read_text().splitlines()
    assert 3 <= len(cited) <= 12 and json.loads(cited[0])["text"]


def test_a_run_that_is_refused_is_judged_and_marked(tmp_path: Path) -> None:
    done = experiment(tmp_path, f"format: rag26\n{TWO}")
    assert done.status == 1
    assert "refused" in done.out and "id not of the form" in done.out
    assert (tmp_path / "o" / "experiment.judgments.jsonl").exists()


def test_names_of_variants_are_made_safe_for_files(tmp_path: Path) -> None:
    text = "format: rag25\nvariants:\n  '../../évil': {}\n  'b c': {top: 2}\n"
    found = told(tmp_path, text)
    assert [v["variant"] for v in found["variants"]] == ["../../évil", "b c"]
    assert {run["run_id"] for run in found["job"]["runs"]} == {"../../évil", "b c"}
    runs = {Path(v["run"]).resolve() for v in found["variants"]}
    assert {run.parent for run in runs} == {tmp_path / "o" / "experiment.runs"}


def test_what_is_wrong_is_one_line_and_nothing_is_made(tmp_path: Path) -> None:
    wrong = experiment(tmp_path, "format: rag25\nvariants:\n  a: {}\n  b: {tap: 1}\n")
    assert (wrong.status, len(wrong.err.splitlines())) == (1, 1)
    assert "e.yml:7: variants.b: unknown key 'tap'" in wrong.err
    judge = experiment(tmp_path, f"format: rag25\n{TWO}workflow: nowhere\n")
    assert judge.status == 1 and "nowhere" in judge.err
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    none = experiment(tmp_path, f"format: rag25\n{TWO}", documents="documents: [empty.jsonl]\n")
    assert none.status == 1 and "empty.jsonl" in none.err
    command("rag", "index", RAG / "documents.jsonl", "--to", tmp_path / "my.index", "-q")
    dense = "format: rag25\nvariants: {a: {}, b: {retriever: dense}}\n"
    lacking = experiment(tmp_path, dense, documents="index: my.index\n")
    assert lacking.status == 1
    assert lacking.err == "error: variant 'b': dense: the index has no vectors; there is: bm25\n"


def replying(body: dict[str, Any], number: int) -> Answer:
    """Write an answer, or judge that a document supports its sentence."""
    if body["response_format"]["json_schema"]["name"] != "write_answer":
        return Answer(attestation(body))
    quote = " ".join(inputs(body, "passages").split("\n\n[")[0].split()[-8:])
    said = {"text": f"It is known: {quote}", "passages": [1], "quote": quote}
    return Answer(json.dumps({"answerable": "yes", "sentences": [said]}))


def asked(endpoint: Endpoint, patch: pytest.MonkeyPatch) -> None:
    for variable, value in endpoint.environment().items():
        patch.setenv(variable, value)


def test_one_variant_has_a_model_and_the_budget_holds_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "format: rag25\nvariants:\n  copied: {extractive: true, top: 1}\n  written: {}\n"
    used = ("--use-env-llm", "--cache-dir", tmp_path / "cache")
    head = DOCUMENTS + "judge: [citation]\n"
    text = text.replace("format", f"topics: {RAG / 'topics.jsonl'}\nformat")
    path = tmp_path / "e.yml"
    path.write_text(head + text)
    words = ("experiment", path, "--out-dir", tmp_path / "o", "--json", *used)
    with in_a_thread(running(replying)) as endpoint:
        asked(endpoint, monkeypatch)
        planned = json.loads(command(*words, "--plan").out)
        assert (planned["name"], planned["calls"], len(endpoint.requests)) == ("written", 3, 0)
        assert not (tmp_path / "o").exists()
        short = command(*words, "--max-calls", "4")
        assert (short.status, len(endpoint.requests)) == (3, 4)
        found = json.loads(short.out)
        assert [v["answered"] for v in found["variants"]] == [3, 3]
        assert found["job"]["unjudged"] > 0
        whole = json.loads(command(*words).out)
        calls = len(endpoint.requests)
        assert whole["exit_status"] == 0 and whole["job"]["unjudged"] == 0
        assert [v["calls"].get("calls", 0) for v in whole["variants"]] == [0, 0]
        assert json.loads(command(*words).out)["exit_status"] == 0
        assert len(endpoint.requests) == calls


def test_a_variant_without_a_run_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = "a: {extractive: true}, c: {extractive: true, top: 2}"
    text = f"format: rag25\nvariants: {{written: {{}}, {copied}}}\n"
    with in_a_thread(running(lambda body, number: Answer(status=400))) as endpoint:
        asked(endpoint, monkeypatch)
        done = experiment(tmp_path, text, "--use-env-llm", "--max-calls", "3", "--json")
    found = json.loads(done.out)
    assert done.status == 3
    written, copied, other = found["variants"]
    assert written["failure"] and not copied["failure"] and other["answered"] == 3
    assert {run["run_id"] for run in found["job"]["runs"]} == {"a", "c"}


def test_retrieval_is_compared_with_its_times(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("11 0 msmarco_v2.1_doc_99_110004#0_210044 2\n")
    given = DOCUMENTS + "qrels: qrels.txt\n"
    text = f"format: rag25\n{TWO}".replace("variants:", "judge: [retrieval]\nvariants:")
    path = tmp_path / "e.yml"
    path.write_text(given + f"topics: {RAG / 'topics.jsonl'}\n" + text)
    done = command("rag", "experiment", path, "--out-dir", tmp_path / "o")
    assert done.status == 0, done.err
    assert "NDCG@10\n" in done.out
    for name in NAMES:
        assert f"retrieval: {name}: p50 " in done.out
    found = json.loads(
        command("rag", "experiment", path, "--out-dir", tmp_path / "o", "--json").out
    )
    assert all(v["reused"] and v["retrieval_ms"]["p95"] > 0 for v in found["variants"])
    recall = [d for d in found["compared"]["differences"] if d["measure"] == "RECALL@10"]
    assert [d["topics"] for d in recall] == [1]  # the others have no grades, so no value


def test_variants_that_answer_alike_are_named(tmp_path: Path) -> None:
    same = "format: rag25\nvariants: {a: {top: 12}, b: {top: 13}, c: {top: 1}}\n"
    done = experiment(tmp_path, same)
    said = "note: a, b: the same passages, and the same answers: only measures of retrieval can"
    assert said in done.out


def test_an_index_with_vectors_is_searched_by_both(tmp_path: Path) -> None:
    pytest.importorskip("wordllama")
    text = "format: rag25\nbase: {vectors: semantic}\nvariants: {a: {}, b: {retriever: bm25}}\n"
    assert experiment(tmp_path, text, "-q").status == 0
    runs = tmp_path / "o" / "experiment.runs"
    by = [json.loads((runs / f"{n}.retrieved.jsonl").read_text().splitlines()[0]) for n in "ab"]
    assert [one["retriever"] for one in by] == ["hybrid", "bm25"]
    done = experiment(tmp_path, text)
    assert "a, b: " not in done.out  # the writer sees which passages each found the best
