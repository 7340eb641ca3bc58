"""`index` from the command line: what changed, runs, vectors, what is wrong with the input."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.baseline.index.indexed import found
from tests.commandline import Done, command
from tests.endpoint import Endpoint, in_a_thread, running
from tests.models.retrieval.services import embedded, environment
from tests.reading import lines_of
from trecjudge.baseline.index.index import open_index
from trecjudge.baseline.index.records import Filter
from trecjudge.errors import InputError

Write = Callable[..., Path]
RECORDS = [
    {"docid": "a", "title": "Animals", "text": "The fox jumps.", "lang": "en", "year": 2024},
    {"id": "b", "contents": "Dogs bark.", "date": "2024-05-03", "metadata": {"site": "x.org"}},
    {"docno": "c", "text": "Cats meow.", "url": "https://x.example", "ok": True, "tags": ["t"]},
]


def indexed(to: Path, *arguments: str | Path) -> tuple[Done, dict[str, Any]]:
    """Return what the command ended with, and its JSON."""
    done = command("rag", "index", *arguments, "--to", to, "--json")
    return done, json.loads(done.out) if done.out else {}


def test_what_changed_is_told(write: Write, tmp_path: Path) -> None:
    to = tmp_path / "x.index"
    done, first = indexed(to, write(lines_of(*RECORDS), "d.jsonl"))
    assert done.status == 0
    assert (first["added"], first["documents"], first["chunks"]) == (3, 3, 3)
    changed = [RECORDS[0], RECORDS[1] | {"contents": "Dogs sleep."}]
    _, second = indexed(to, write(lines_of(*changed), "d.jsonl"))
    counts = {name: second[name] for name in ("added", "changed", "removed", "kept")}
    assert counts == {"added": 0, "changed": 1, "removed": 1, "kept": 1}
    assert (second["chunks_written"], second["documents"]) == (1, 2)
    assert second["version"] != first["version"]
    _, third = indexed(to, write(lines_of(RECORDS[2]), "more.jsonl"), "--keep-others")
    assert (third["added"], third["documents"]) == (1, 3)


def test_an_index_that_was_never_filled_is_not_searched(write: Write, tmp_path: Path) -> None:
    good = write(lines_of(*RECORDS), "d.jsonl")
    cut = tmp_path / "e.jsonl.gz"
    cut.write_bytes(gzip.compress(lines_of(*RECORDS).encode())[:40])
    to = tmp_path / "x.index"
    assert indexed(to, good, cut)[0].status == 1
    done = command("rag", "search", to, "fox")
    message = "holds no document: what was to fill it did not end; run `rag index` again"
    assert (done.status, done.err) == (1, f"error: {to}: {message}\n")
    assert indexed(to, good)[0].status == 0
    assert command("rag", "search", to, "fox").status == 0


def test_what_is_printed(write: Write, tmp_path: Path) -> None:
    done = command("rag", "index", write(lines_of(*RECORDS), "d.jsonl"), "--to", tmp_path / "x")
    assert [" ".join(line.split()) for line in done.out.splitlines()][:1] == ["documents added 3"]
    assert "index 3 documents in 3 chunks" in " ".join(done.out.split())
    done = command("rag", "index", tmp_path / "d.jsonl", "--to", tmp_path / "x", "--quiet")
    assert (done.out, done.err, done.status) == ("", "", 0)


def test_further_fields_narrow_a_search(write: Write, tmp_path: Path) -> None:
    indexed(tmp_path / "x", write(lines_of(*RECORDS), "d.jsonl"))
    index = open_index(str(tmp_path / "x"))
    for name, value, doc_id, word in (
        ("lang", "en", "a", "fox"),
        ("year", "2024", "a", "fox"),
        ("site", "x.org", "b", "dog"),
        ("date", "2024-05", "b", "dog"),
        ("url", "https://x.example", "c", "cat"),
        ("ok", "true", "c", "cat"),
    ):
        assert found(index, word, only=Filter({name: [value]})) == [doc_id]
    assert [chunk.metadata for chunk in index.chunks([0])] == [{"lang": "en", "year": "2024"}]
    index.close()


def test_packed_files_and_folders(write: Write, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(lines_of(RECORDS[0]).encode()))
    (folder / "b.tsv").write_text("b\tDogs bark.\n")
    _, record = indexed(tmp_path / "x", folder)
    assert record["documents"] == 2


def test_documents_of_runs(write: Write, tmp_path: Path) -> None:
    run = {
        "metadata": {"team_id": "t", "run_id": "r", "narrative_id": "1", "narrative": "Foxes?"},
        "references": ["a", "b", "z"],
        "answer": [{"text": "It jumps.", "citations": [0, 2]}],
        "documents": {"a": RECORDS[0], "b": {"text": ""}, "c": RECORDS[2]},
    }
    path = write(lines_of(run), "r.jsonl")
    done, record = indexed(tmp_path / "x", "--from-runs", path)
    assert (done.status, record["documents"]) == (0, 2)
    index = open_index(str(tmp_path / "x"))
    assert (found(index, "fox"), found(index, "meow")) == (["a"], ["c"])
    index.close()
    _, record = indexed(
        tmp_path / "x", write(lines_of(*RECORDS), "d.jsonl"), "--from-runs", path, "--keep-others"
    )
    assert (record["documents"], record["repeated"]) == (3, 2)


def test_of_two_records_the_first_counts(write: Write, tmp_path: Path) -> None:
    twice = lines_of(RECORDS[0], {"docid": "a", "text": "Cats meow."}, RECORDS[0])
    done, record = indexed(tmp_path / "x", write(twice, "d.jsonl"))
    assert (done.status, record["documents"], record["repeated"]) == (0, 1, 2)
    assert [finding["kind"] for finding in record["findings"]] == ["document_duplicate"]
    assert "d.jsonl:2: repeats document 'a' with another text" in done.err


def test_what_cannot_be_read_is_reported_and_the_rest_indexed(write: Write, tmp_path: Path) -> None:
    text = lines_of(RECORDS[0]) + "{broken\n" + lines_of({"text": "No id."}, RECORDS[1])
    done, record = indexed(tmp_path / "x", write(text, "d.jsonl"))
    assert (done.status, record["documents"]) == (3, 2)
    assert sorted(finding["kind"] for finding in record["findings"]) == [
        *("documents_unusable", "line_not_json"),
    ]


@pytest.mark.parametrize("name", ["none", "semantic"])
def test_vectors_stay_of_one_model(name: str, write: Write, tmp_path: Path) -> None:
    path = write(lines_of(*RECORDS), "d.jsonl")
    _, record = indexed(tmp_path / "x", path, "--vectors", name)
    assert (record["vectors"] or {}).get("name") == {"semantic": "wordllama"}.get(name)
    done, again = indexed(tmp_path / "x", path)
    assert (done.status, again["kept"], again["vectors"]) == (0, 3, record["vectors"])


def test_what_is_wrong_is_one_line_and_makes_nothing(write: Write, tmp_path: Path) -> None:
    path, to = write(lines_of(*RECORDS), "d.jsonl"), tmp_path / "x"
    empty = write("", "empty.jsonl")
    for words, message in (
        ((), "no documents given; give files"),
        ((tmp_path / "none",), "none: "),
        ((empty,), "empty.jsonl: no document in it"),
        ((path, "--vectors", "semantics"), "did you mean 'semantic'?"),
        ((path, "--chunk-size", "5"), "chunks of 5 words are too short"),
        ((path, "--chunk-overlap", "400"), "an overlap of 400 words does not suit"),
        ((Path("irds:x"),), "a data set is not read through"),
        ((Path("https://x/{docid}"),), "a service is not read through"),
    ):
        done = command("rag", "index", *words, "--to", to)
        assert done.status == 1, words
        assert message in done.err
        assert len(done.err.splitlines()) == 1
        assert not to.exists()
    done = command("rag", "index", path, "--to", path)
    assert (done.status, "is no index, but another file" in done.err) == (1, True)
    assert path.read_text() == lines_of(*RECORDS)


def test_nothing_given_by_mistake_empties_no_index(write: Write, tmp_path: Path) -> None:
    _, before = indexed(tmp_path / "x", write(lines_of(*RECORDS), "d.jsonl"))
    done, _ = indexed(tmp_path / "x", write("\n", "empty.jsonl"))
    assert (done.status, "the index stays as it is" in done.err) == (1, True)
    index = open_index(str(tmp_path / "x"))
    assert index.facts.version == before["version"]
    index.close()


def with_vectors(to: Path, file: Path, endpoint: Endpoint, *flags: str) -> Done:
    """Index a file with vectors of an endpoint; its replies are kept beside the index."""
    with environment(endpoint.url, "OPENAI_EMBEDDING_MODEL"):
        cache = ("--use-env-llm", "--cache-dir", to.parent / "cache")
        return command("rag", "index", file, "--to", to, "--vectors", "endpoint", *cache, *flags)


def test_vectors_of_an_endpoint(write: Write, tmp_path: Path) -> None:
    file, to = write(lines_of(*RECORDS), "d.jsonl"), tmp_path / "x.index"
    with in_a_thread(running(embedded, path="/v1/embeddings")) as endpoint:
        assert with_vectors(to, file, endpoint).status == 0
        made = len(endpoint.requests)
        assert with_vectors(to, file, endpoint).status == 0
        assert len(endpoint.requests) == made
        index = open_index(str(to))
        assert index.facts.vectors is not None
        assert (index.facts.vectors.name, index.facts.vectors.dimensions) == ("stub", 3)
        index.close()
        done = command("rag", "index", file, "--to", to)
        assert (done.status, "add --use-env-llm" in done.err) == (1, True)


def test_vectors_that_cannot_be_had_leave_the_index_as_it_was(write: Write, tmp_path: Path) -> None:
    file, to = write(lines_of(*RECORDS), "d.jsonl"), tmp_path / "x.index"
    with in_a_thread(running(embedded, path="/v1/embeddings")) as endpoint:
        done = with_vectors(to, file, endpoint, "--max-calls", "1")
        assert done.status == 3
        assert "no vectors: budget: the budget of 1 calls is spent" in done.err
        with pytest.raises(InputError, match="holds no document"):
            open_index(str(to))
        assert with_vectors(to, file, endpoint).status == 0
        assert len(endpoint.requests) == 2
