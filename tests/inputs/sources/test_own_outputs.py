"""What a job and the commands write is never read as runs, topics or documents."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest

from tests.commandline import SAMPLES, Done, command, judge
from trecjudge.inputs.sources.paths import files_below, own_output
from trecjudge.inputs.topics import read_topics

GATE = "judge: citation\ngate: {reject_unless: CITATION_SUPPORT >= 0.9}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working folder that holds runs, topics, documents and a workflow side by side."""
    fill(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fill(folder: Path) -> None:
    """Write what is judged."""
    for path in (*SAMPLES.glob("rag/runs/*"), *SAMPLES.glob("rag/*.jsonl")):
        shutil.copy(path, folder)
    (folder / "gate.yml").write_text(GATE)


@pytest.fixture(scope="module")
def judged_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return such a folder after a job, to be copied."""
    once = tmp_path_factory.mktemp("judged")
    fill(once)
    with chdir(once):
        here()
    return once


@pytest.fixture
def judged(tmp_path: Path, judged_once: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working folder of one's own after a job."""
    shutil.copytree(judged_once, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def here(*arguments: str) -> Done:
    """Judge the folder's runs into the folder; the names of its files come before the runs'."""
    options = ("--documents", "documents.jsonl", "--workflow", "gate.yml", "--report")
    done = command(
        *("--rag-responses", ".", "--rag-topics", "topics.jsonl", "--out-dir", ".", "--name", "a"),
        *(*options, *arguments),
    )
    assert done.status == 4, done.err  # the gate rejects a response
    return done


WRITTEN = {
    "judgments.jsonl": "a judgments file",
    "leaderboard.jsonl": "the statistics of a leaderboard",
    "leaderboard.txt": "a leaderboard",
    "qrels": "a qrels file",
    "log": "a debug log",
    "review.jsonl": "a review file",
    "config.yml": "the config of a job",
}


def test_a_job_on_the_folder_that_it_writes_to_gives_the_same_twice(folder: Path) -> None:
    here()
    first = {name: (folder / f"a.{name}").read_bytes() for name in WRITTEN}
    assert {name: own_output(folder / f"a.{name}") for name in WRITTEN} == WRITTEN
    done = here()
    changed = [name for name in WRITTEN if (folder / f"a.{name}").read_bytes() != first[name]]
    assert changed == ["log", "config.yml"]  # times
    assert "a.judgments.jsonl" not in (folder / "a.config.yml").read_text()
    assert "note: a.judgments.jsonl: is a judgments file, no run; passed over" in done.err


def test_a_file_is_known_whatever_it_is_called(judged: Path) -> None:
    judgments = judged / "a.judgments.jsonl"
    lines = judgments.read_bytes().splitlines(keepends=True)
    shutil.copy(judgments, judged / "careful2.jsonl")
    (judged / "packed").write_bytes(gzip.compress(judgments.read_bytes()))
    (judged / "picked.jsonl").write_bytes(lines[1])
    (judged / "events.json").write_bytes(
        b"[" + (judged / "a.log").read_bytes().splitlines()[5] + b"]"
    )
    (judged / "a.log.part").write_bytes((judged / "a.log").read_bytes()[:3000])
    before = (judged / "a.leaderboard.txt").read_bytes()
    here()
    assert (judged / "a.leaderboard.txt").read_bytes() == before


COMMANDS = {
    "label-next": "label-next . --budget 3 --output made.jsonl",
    "convert": "convert a.leaderboard.txt made.jsonl --to jsonl",
    "convert to csv": "convert a.leaderboard.txt made.csv --to csv",
    "meta-evaluate": "meta-evaluate a.leaderboard.txt --truth a.leaderboard.txt --output made",
    "rescore": "rescore a.judgments.jsonl --json",
    "check": "check careful.jsonl --json",
    "compare": "compare a.leaderboard.txt a.leaderboard.txt --json",
    "agree": "agree --truth a.qrels --predicted a.judgments.jsonl --json",
    "gate": "gate a.leaderboard.txt --min CITATION_SUPPORT=0.1 --json",
}


@pytest.mark.parametrize("line", COMMANDS.values(), ids=COMMANDS)
def test_what_a_command_writes_is_no_run(line: str, judged: Path) -> None:
    done = command(*line.split())
    if not [*judged.glob("made*")]:
        (judged / "made.json").write_text(done.out)
    before = (judged / "a.leaderboard.txt").read_bytes()
    (path,) = judged.glob("made*")
    assert line.endswith("csv") or own_output(path)
    here()
    assert (judged / "a.leaderboard.txt").read_bytes() == before


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("flag", ["--rag-topics", "--documents", "--rag-responses"])
def test_an_output_given_as_an_input_is_refused_by_name(flag: str, name: str, judged: Path) -> None:
    given = {"--rag-responses": "careful.jsonl"} | {flag: f"a.{name}"}
    done = command("--judge", "length", "--out-dir", "out", *(w for i in given.items() for w in i))
    assert done.status == 1
    assert f"a.{name}: is {WRITTEN[name]}, no " in done.err


def test_documents_of_a_folder_with_outputs(judged: Path) -> None:
    shutil.copytree(judged, judged / "docs", ignore=shutil.ignore_patterns("c*.jsonl", "u*", "t*"))
    done = judge(judged / "careful.jsonl", judged / "out", "--documents", judged / "docs")
    assert "a.judgments.jsonl: is a judgments file, no documents; passed over" in done.err


def test_the_files_of_the_field_are_none_of_ours(shared: Path) -> None:
    files = [*files_below(shared / "data" / "runs"), *files_below(shared / "data" / "topics")]
    assert [file for file in files if own_output(file)] == []


def test_what_only_looks_like_ours(write: Callable[..., Path]) -> None:
    cases = [
        '{"event": "concert", "timestamp": "2024", "id": "d", "text": "An event."}',
        '{"run_id": "r", "topic_id": "1", "sentences": [], "record": "response time"}',
        '{"run_id": "r", "topic_id": "1", "answer": [], "record": 7}',
        "1\thow old is the tower",
    ]
    wrong = [text for text in cases if own_output(write(text)) != ""]
    assert not wrong


def test_topics_are_read_where_a_name_is_like_ours(write: Callable[..., Path]) -> None:
    assert read_topics(write("1\tkettles", "a.leaderboard.txt"), lambda found: None)
