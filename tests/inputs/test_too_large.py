"""What is beyond a limit in any input: a finding with its line, little memory, the rest judged."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commandline import ROOT, Done, command
from tests.reading import Write
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.topics.reading import read_topics
from trecjudge.settings.limits import apply_limits

ROOM = 2 << 30
SMALL = ["--limit", "record=200k", "--limit", "entries=2000", "--limit", "depth=50"]


def record(topic: str, sentences: int = 1, **more: object) -> str:
    answer = [{"text": f"Fact {n}.", "citations": [0]} for n in range(sentences)]
    metadata = {"team_id": "x", "run_id": "r", "narrative_id": topic, "type": "automatic"}
    rest: dict[str, object] = {"references": ["d"], "documents": {"d": {"text": "Fact 0."}}}
    return json.dumps({"metadata": metadata, "answer": answer} | rest | more)


def nested(depth: int) -> str:
    return record("2")[:-1] + ', "x": ' + "[" * depth + "]" * depth + "}"


def judged(text: str, folder: Path, *more: str) -> Done:
    runs = folder / "runs"
    runs.mkdir()
    (runs / "r.jsonl").write_text(text)
    given = ["--judge", "citation", "--rag-responses", str(runs), "--out-dir", str(folder)]
    return command(*given, "--name", "x", *more)


BAD = {
    "many sentences": record("2", 3000),
    "many references": record("2", references=["d"] * 3000),
    "many documents": record("2", documents={f"d{n}": {"text": "a"} for n in range(3000)}),
    "long text": record("2", documents={"d": {"text": "x" * 300_000}}),
    "a line of nothing": " " * 300_000 + "x",
    "deep": nested(60),
    "very deep": nested(100_000),
    "deep and not closed": record("2")[:-1] + ', "x": ' + "[" * 100_000,
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_record_of_a_run(bad: str, tmp_path: Path) -> None:
    done = judged("\n".join([record("1"), bad, record("3")]), tmp_path, *SMALL)
    assert done.status == 3
    assert "1 x record_too_large" in done.out + done.err
    log = (tmp_path / "x.log").read_text()
    assert "r.jsonl:2" in next(line for line in log.splitlines() if "record_too_large" in line)
    topics = [line.split()[1] for line in (tmp_path / "x.leaderboard.txt").open() if "all" in line]
    assert topics
    assert {'"topic_id":"1"', '"topic_id":"3"'} <= set(
        (tmp_path / "x.judgments.jsonl").read_text().replace("}", ",").split(",")
    )


def test_the_environment_sets_limits_of_every_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join([record("1"), record("2", 30)]))
    assert "record_too_large" not in command("check", path).out
    assert "record_too_large" in command("check", path, "--limit", "entries=20").out
    monkeypatch.setenv("TRECJUDGE_LIMITS", "entries=20")
    assert "record_too_large" in command("check", path).out


@pytest.mark.parametrize(
    ("limit", "message"),
    [("lines=3", "unknown limit 'lines'"), ("depth=x", "give a number"), ("depth=0", "a number")],
)
def test_a_limit_that_cannot_be(limit: str, message: str, tmp_path: Path) -> None:
    done = judged(record("1"), tmp_path, "--limit", limit)
    assert (done.status, message in done.err) == (1, True)


TOPICS = {
    "json, deep": ("t.jsonl", '{"id": "1", "title": "a"}\n{"id": "2", "x": %s}' % ("[" * 99_999)),
    "json, many": ("t.jsonl", '{"id": "1", "title": "a"}\n{"id": "2", "x": [%s1]}' % ("1," * 3000)),
    "tsv, many columns": ("t.tsv", "1\ta\n2" + "\tb" * 100_000),
}


@pytest.mark.parametrize(("name", "text"), TOPICS.values(), ids=TOPICS)
def test_a_topic(name: str, text: str, write: Write) -> None:
    found: list[Finding] = []
    with apply_limits(["entries=2000"]):
        assert list(read_topics(write(text, name), found.append)) == ["1"]
    assert [(f.kind, f.place.line) for f in found] == [("record_too_large", 2)]


TAGGED = {
    "begun and never closed": "<top>\n" * 300_000,
    "half a tag": "<top" * 300_000,
    "a long name": "<top " + "a" * 500_000 + ">",
    "white space in an end": "<top></top" + " " * 500_000,
    "white space before a label": "<top><title>" + " " * 500_000 + "x</top>",
    "a character of many digits": "<top><title>&#" + "9" * 5000 + ";</top>",
}


@pytest.mark.parametrize("text", TAGGED.values(), ids=TAGGED)
def test_tags_are_read_in_one_pass(text: str, write: Write) -> None:
    good = "<top><num>Number: 1<title>Right</top>\n"
    assert list(read_topics(write(good + text, "t.txt"), lambda finding: None)) == ["1"]


def test_a_topic_file_of_tags_that_is_too_long(write: Write) -> None:
    path = write("<top>\n" * 1000, "t.txt")
    with apply_limits(["record=2k"]), pytest.raises(InputError, match="is longer than 2 KB"):
        read_topics(path, lambda finding: None)


CELLS = {
    "a long field": '2,"' + "x" * 300_000 + '"\n',
    "many columns": "2" + ",b" * 100_000 + "\n",
    "a field that is not closed": '2,"' + "x\n" * 300_000,
}


@pytest.mark.parametrize("row", CELLS.values(), ids=CELLS)
def test_a_row(row: str, write: Write) -> None:
    found: list[Finding] = []
    with apply_limits(["record=200k", "entries=1000"]):
        assert "1" in read_topics(write(f"id,title\n1,a\n{row}", "t.csv"), found.append)
    assert {f.kind for f in found} <= {"record_too_large", "topic_unreadable"}
    assert found


def process(*given: str, stdin: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command that may take so much memory and no more."""
    return subprocess.run(
        [sys.executable, str(ROOT / "run_judge.py"), *given],
        stdin=stdin, capture_output=True, text=True, timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM)),
    )  # fmt: skip


def endless(into: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["yes", '{"a": 1}'], stdout=into, stderr=subprocess.DEVNULL)


def test_standard_input_without_end(tmp_path: Path) -> None:
    there, here = os.pipe()
    with endless(here) as source:
        os.close(here)
        done = process(
            "--judge", "citation", "--rag-responses", "-", "--out-dir", str(tmp_path),
            "--limit", "stdin=5MB", stdin=there,
        )  # fmt: skip
        os.close(there)
        source.kill()
    assert done.returncode == 1
    assert "standard input is longer than 5 MB (--limit stdin): give it as a file" in done.stderr


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.symlink("/dev/zero", path)])
def test_what_is_no_file_and_has_no_end(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "r.jsonl")
    given = ["--judge", "citation", "--rag-responses", str(tmp_path / "r.jsonl")]
    done = process(*given, "--out-dir", str(tmp_path / "out"))
    assert done.returncode in (1, 3)
    assert "Traceback" not in done.stderr
    assert "r.jsonl" in done.stderr


@pytest.mark.parametrize("flag", ["--workflow", "--rag-topics"])
def test_a_device_without_end(flag: str, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(record("1"))
    given = ["--judge", "citation", "--rag-responses", str(tmp_path / "r.jsonl")]
    done = process(*given, flag, "/dev/zero", "--out-dir", str(tmp_path / "out"))
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "/dev/zero" in done.stderr
