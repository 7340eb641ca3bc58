"""The command `provenance`, and what a job makes of a run that says where it is from."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.jobs import as_json
from tests.commandline import command, judge
from tests.provenance import KETTLE, line, written
from trecjudge.baseline.index.index import make_index
from trecjudge.baseline.index.records import IndexSource
from trecjudge.inputs.documents.index_file import digests_of
from trecjudge.records import Document

BEFORE = Document("k", KETTLE.partition("\n")[2], "Kettles", version="v1")
NOW = Document("k", "Once. " + BEFORE.text, "Kettles", version="v2")
COPY = "It was invented in Lyon by a man who loved tea and silence."


def digest(document: Document) -> str:
    return digests_of(document, {})[0]


def run(folder: Path, text: str = "Kettles whistle by steam.") -> Path:
    """Return the folder of a run whose two sentences say where they are from."""
    folder.mkdir()
    record: dict[str, Any] = {
        "metadata": {"team_id": "t", "run_id": "r", "topic_id": "1"},
        "responses": [{"text": text, "citations": ["k"]}, {"text": "So.", "citations": ["m"]}],
        "documents": {
            "k": {"title": "Kettles", "text": f"{BEFORE.text} {COPY}"},
            "m": {"text": "The moon."},
        },
    }
    (folder / "r.jsonl").write_text(json.dumps(record))
    found = line(document_digest=digest(BEFORE))
    written(
        folder / "r.provenance.jsonl",
        found,
        line(sentence_index=1, doc_id="m", quote="\x1b[31mred", document_version=""),
    )
    return folder


def documents(path: Path, *found: Document) -> Path:
    records = ({"docid": d.doc_id, "title": d.title, "text": d.text} for d in found)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def test_each_citation_is_a_line(tmp_path: Path) -> None:
    done = command("rag", "provenance", run(tmp_path / "runs"))
    assert done.status == 0
    assert done.out.splitlines() == [
        "run  topic  #  document  version  state",
        f"r  1  1  k  v1/{digest(BEFORE)[:8]}  unknown",
        "r  1  2  m  -  unknown",
    ]
    assert done.err == ("2 citations of 1 run; give --documents to see which are stale\n")


def test_what_is_stale_by_an_index(tmp_path: Path) -> None:
    index = tmp_path / "docs.index"
    made = make_index(str(index))
    asyncio.run(made.refresh([IndexSource(NOW)]))
    made.close()
    runs = run(tmp_path / "runs")
    done = command("rag", "provenance", runs, "--index", index, "--stale", "--fail-stale")
    assert done.status == 1
    assert done.out.splitlines()[1:] == [
        f"r  1  1  k  v1/{digest(BEFORE)[:8]} -> v2/{digest(NOW)[:8]}  changed, quote still there",
        "r  1  2  m  -  gone",
    ]
    assert done.err == (
        "2 citations of 1 run: 0 current, 1 changed (1 with the quote still there), 1 gone\n"
    )
    assert command("rag", "provenance", runs, "--index", index, "--stale").status == 0


def test_what_is_current_by_documents(tmp_path: Path) -> None:
    given = documents(tmp_path / "d.jsonl", BEFORE, Document("m", "The moon."))
    flags = ("--documents", given, "--fail-stale", "--document", "k")
    status, found = as_json("provenance", run(tmp_path / "runs"), *flags)
    assert status == 0
    [citation] = found["citations"]
    assert (citation["doc_id"], citation["state"], citation["quoted"]) == ("k", "current", True)
    assert found["counts"]["current"] == 1


SHOWN = digest(BEFORE)[:8]
"""The digest of document k as a table shows it."""


@pytest.mark.parametrize(
    ("version", "ids"),
    [
        ("v1", ["k"]),
        (f"v1/{SHOWN}", ["k"]),
        (digest(BEFORE), ["k"]),
        (SHOWN, ["k"]),
        (SHOWN[:7], []),
        (f"v2/{SHOWN}", []),
        ("v2", []),
    ],
)
def test_only_what_rests_on_a_version(tmp_path: Path, version: str, ids: list[str]) -> None:
    done = command("rag", "provenance", run(tmp_path / "runs"), "--document-version", version)
    assert [text.split()[3] for text in done.out.splitlines()[1:]] == ids


def test_one_thing_is_compared_with(tmp_path: Path) -> None:
    given = documents(tmp_path / "d.jsonl", NOW)
    both = ("--documents", given, "--index", tmp_path / "x.index")
    done = command("rag", "provenance", run(tmp_path / "runs"), *both)
    message = "error: give one of --index and --documents to compare with\n"
    assert (done.status, done.err) == (1, message)


def test_a_quiet_check_prints_nothing(tmp_path: Path) -> None:
    given = documents(tmp_path / "d.jsonl", NOW)
    done = command(
        "rag", "provenance", run(tmp_path / "runs"), "--documents", given, "-q", "--fail-stale"
    )
    assert (done.status, done.out, done.err) == (1, "", "")


def test_a_line_that_cannot_be_read_passes_no_check(tmp_path: Path) -> None:
    runs, given = run(tmp_path / "runs"), documents(tmp_path / "d.jsonl", BEFORE)
    with (runs / "r.provenance.jsonl").open("a") as file:
        file.write('{"run_id": "r"\n')
    flags = ("--documents", given, "--document", "k", "-q", "--fail-stale")
    done = command("rag", "provenance", runs, *flags)
    assert (done.status, done.out) == (3, "")
    assert "r.provenance.jsonl:3: " in done.err


def test_stale_needs_what_to_compare_with(tmp_path: Path) -> None:
    for flag in ("--stale", "--fail-stale"):
        done = command("rag", "provenance", run(tmp_path / f"runs{flag}"), flag)
        assert done.status == 1
        assert done.err == ("error: --stale needs what to compare with: give --documents\n")


def test_a_job_keeps_it_and_shows_it(tmp_path: Path) -> None:
    done = judge(run(tmp_path / "runs"), tmp_path / "out", "--judge", "citation", "--report")
    assert "warning: 1 x quote_missing" in done.out
    shown = command("show", tmp_path / "out" / "x", "--run", "r", "--topic", "1").out
    version = f"version v1/{digest(BEFORE)[:8]}"
    line = f"from k; bm25, rank 3, score 12.5; {version}; [8-37]; 2026-11-28T20:00:00Z"
    assert line in " ".join(shown.split())
    assert "\x1b" not in shown


def test_without_document_text_no_quote_is_kept(tmp_path: Path) -> None:
    flags = ("--judge", "citation", "grounding", "--no-document-text")
    judge(run(tmp_path / "runs"), tmp_path / "out", *flags)
    for path in (tmp_path / "out").iterdir():
        assert "whistle. It was" not in path.read_text()
        assert "Steam makes a kettle whistle." not in path.read_text(), path
    written = (tmp_path / "out" / "x.judgments.jsonl").read_text()
    records = map(json.loads, written.splitlines())
    [own] = [record["provenance"] for record in records if record["record"] == "response"]
    assert [(found["quote"], found["start"], found["end"]) for found in own] == [("", 8, 37)] * 2


def test_copies_are_shown_and_a_run_of_them_is_named(tmp_path: Path) -> None:
    runs = run(tmp_path / "runs", COPY)
    done = judge(runs, tmp_path / "out", "--judge", "citation")
    assert "judged  copied" in done.out
    assert "1/1     2/2   100 %" in done.out
    note = "copied word for word from documents"
    assert f"{note}, which offline judges always label full_support (runs: r 100 %)" in done.out
    again = command("job", "rescore", tmp_path / "out" / "x").out
    assert note in again and "100 %" in again
    leaderboard = (tmp_path / "out" / "x.leaderboard.jsonl").read_text()
    [first, *_] = map(json.loads, leaderboard.splitlines())
    assert first["signs"]["copied"] == {"sentences": 1, "of": 1}
    assert "copied word for word" in command("show", tmp_path / "out" / "x", "--run", "r").out


def test_nothing_is_said_of_copies_where_there_are_none(tmp_path: Path) -> None:
    done = judge(run(tmp_path / "runs"), tmp_path / "out", "--judge", "citation")
    assert "copied" not in done.out
