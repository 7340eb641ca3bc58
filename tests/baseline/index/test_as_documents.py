"""An index in a database, given as --documents to the commands that take documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.baseline.index.indexed import refreshed
from tests.commandline import SAMPLES, command
from trecjudge.baseline.index.index import make_index, open_index
from trecjudge.baseline.index.records import IndexSource
from trecjudge.findings import ignore
from trecjudge.inputs.documents.index_file import index_address
from trecjudge.inputs.documents.store import documents_in

RAG = SAMPLES / "rag"
RUNS = ("--rag-responses", RAG / "runs" / "careful.jsonl", "--rag-topics", RAG / "topics.jsonl")


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("postgresql://host/db", "postgresql://host/db"),
        ("postgres://u:p%2F@h:5/db?index=x", "postgres://u:p%2F@h:5/db?index=x"),
        ("postgresql://u@h", "postgresql://u@h"),
        ("postgresql:///db?host=/tmp/x", "postgresql:///db?host=/tmp/x"),
        ("postgresql://u:@/db?host=/tmp/x", "postgresql://u:@/db?host=/tmp/x"),
        ("https://host/{docid}", ""),
        ("postgres.index", ""),
    ],
)
def test_an_address_stays_itself_as_a_path(given: str, address: str) -> None:
    assert (index_address(given), index_address(Path(given))) == (address, address)


@pytest.fixture
def filled(address: str) -> str:
    """Return the address of an index that holds the sample's documents."""
    made = make_index(address)
    refreshed(made, [IndexSource(d, {}) for d in documents_in([RAG / "documents.jsonl"], ignore)])
    made.close()
    return address.replace("postgres:@/", "postgres@localhost/")  # as a server elsewhere has it


def test_commands_judge_by_what_is_there_now(filled: str, tmp_path: Path) -> None:
    options = (*RUNS, "--judge", "citation", "-q")
    by_file = ("--documents", RAG / "documents.jsonl", "--out-dir", tmp_path / "file")
    by_index = ("--documents", filled, "--out-dir", tmp_path / "index")
    for given in (by_file, by_index):
        done = command(*options, *given)
        assert done.status == 0, done.err
    rows = [
        (tmp_path / name / "default.leaderboard.txt").read_bytes() for name in ("file", "index")
    ]
    assert rows[0] == rows[1]
    job = tmp_path / "index" / "default"
    written = b"".join(path.read_bytes() for path in job.parent.iterdir())
    assert b"//postgres@" not in written and b"//***@localhost/postgres" in written
    # Without the address, what was found is kept; no command asks a database that a job names.
    done = command("report", job, "-q")
    assert (done.status, done.err) == (0, "")
    done = command("job", "documents", "pack", job, "--output", tmp_path / "pack.jsonl", "-q")
    assert done.status == 0, done.err
    done = command("job", "documents", "check", RUNS[1], "--documents", filled, "--json")
    assert (done.status, json.loads(done.out)["sources"][0]["documents"] > 0) == (0, True)
    page = tmp_path / "label.html"
    done = command("labels", "next", job, "--page", page, "--documents", filled, "-q")
    assert (done.status, done.err, page.exists()) == (0, "", True)


def test_a_document_that_is_gone_is_not_there(filled: str, tmp_path: Path) -> None:
    options = (*RUNS, "--judge", "citation", "--documents", filled, "-q", "--out-dir", tmp_path)
    assert command(*options).status == 0
    with_one = open_index(filled)
    refreshed(
        with_one,
        [next(IndexSource(d, {}) for d in documents_in([RAG / "documents.jsonl"], ignore))],
    )
    with_one.close()
    assert command(*options).status == 0
    accuracy = [
        line.split()[-1]
        for line in (tmp_path / "default.leaderboard.txt").read_text().splitlines()
        if "all\tCITATION_ACCURACY" in line
    ]
    assert float(accuracy[0]) < 0.5


def test_generate_and_provenance_take_one(filled: str, tmp_path: Path) -> None:
    topics = ("--rag-topics", RAG / "topics.jsonl", "--format", "rag25")
    out = ("--name", "x", "--out-dir", tmp_path)
    done = command("rag", "generate", "--documents", filled, *topics, *out)
    assert done.status == 0, done.err
    assert " --documents 'postgresql://" in done.out and "postgres@" not in done.out
    run = tmp_path / "x.jsonl"
    done = command("rag", "provenance", run, "--documents", filled, "--json")
    counts = json.loads(done.out)["counts"]
    assert (counts["current"] > 0, counts["gone"], counts["unknown"]) == (True, 0, 0)
    done = command(
        "rag", "provenance", run, "--documents", filled, RAG / "documents.jsonl", "--json"
    )
    assert json.loads(done.out)["counts"] == counts


def test_nothing_there_is_said(address: str, tmp_path: Path) -> None:
    done = command(*RUNS, "--documents", address, "--out-dir", tmp_path, "-q")
    assert (done.status, "there is no such index; make one" in done.err) == (1, True)
    for where, wrong in (
        ("postgresql://me@127.0.0.1:9/db", "cannot be reached"),
        ("postgresql://u:secret1@127.0.0.1:9/db", "holds a secret: set PGPASSWORD"),
        ("postgresql://127.0.0.1:9/db?password=secret1", "holds a secret: set PGPASSWORD"),
    ):
        done = command(*RUNS, "--documents", where, "--out-dir", tmp_path, "-q")
        assert (done.status > 0, wrong in done.err, "secret1" in done.err) == (True, True, False)
