"""Mistakes in a command line: one line, exit status 2, and what to give instead."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import trecjudge
from tests.commandline import ROOT, SAMPLES, command, sample

CACHE = "there are: export, import, info, prune, verify"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(
            "",
            "--rag-responses is missing: give run files or folders, or a command (--help)",
            id="nothing",
        ),
        pytest.param(
            "--judge citation support --topic 12 13 check",
            "--rag-responses is missing: give run files or folders, or a command (--help); the"
            " command 'check' must come first",
            id="a command last",
        ),
        pytest.param("-q check x", "the command 'check' must come first, before -q", id="flag"),
        pytest.param("cache", "cache: give one of its commands: info, export,", id="group"),
        pytest.param(
            "cache expo", f"cache: unknown command 'expo'; did you mean 'export'? {CACHE}"
        ),
        pytest.param("cache export", "cache export: DIR is missing: give a folder with", id="DIR"),
        pytest.param("cache prune --older-than x", "cache prune: --older-than: x is not a number"),
        pytest.param("nuggets creat", "nuggets: unknown command 'creat'; did you mean 'create'?"),
        pytest.param("nuggets create", "nuggets create: TARGET is missing: give the new file"),
        pytest.param("compare", "compare: LEADERBOARD is missing: give jobs (by folder"),
        pytest.param("compare a --against", "compare: --against: a value is missing: give NAME"),
        pytest.param("compare a --mesure B", "compare: unknown flag '--mesure'; did you mean '--m"),
        pytest.param(
            "job convert a b --to x", "job convert: --to: unknown value 'x'; there are: au"
        ),
        pytest.param("job convert a", "job convert: TARGET is missing: give the new file"),
        pytest.param("labels next a --top 0", "labels next: --top: 0 is too small; give a whole"),
        pytest.param("judges list x", "judges list: 'x' is a word too many: it takes no words"),
        pytest.param("job rescore a b", "job rescore: 'b' is a word too many: it takes JOB"),
        pytest.param("help comprae", "unknown command 'comprae'; did you mean 'compare'? `--"),
    ],
)
def test_a_mistake_is_one_line(words: str, message: str) -> None:
    done = command(*words.split())
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"error: {message}")


@pytest.mark.parametrize("words", ["--judge citation length", "--judge citation,length"])
@pytest.mark.parametrize("topics", ["--topic 11 12", "--topic 11 --topic 12"])
def test_several_judges_and_topics(words: str, topics: str, tmp_path: Path) -> None:
    given = [*words.split(), *topics.split(), "--run", "careful", "careless"]
    done = sample("rag", tmp_path, "-q", *given)
    rows = [line.split() for line in (tmp_path / "x.leaderboard.txt").read_text().splitlines()]
    assert done.status == 0, done.err
    assert {row[0] for row in rows} == {"careful", "careless"}
    assert {row[1] for row in rows} == {"11", "12", "all"}
    assert {"LENGTH", "AVG_CITATIONS"} <= {row[2] for row in rows}


@pytest.mark.parametrize(
    "words", [["help", "compare"], ["compare", "-h"], ["compare", "x", "--nosuch", "--help"]]
)
def test_help_of_a_command(words: list[str]) -> None:
    assert command(*words).out == command("compare", "--help").out


@pytest.mark.parametrize(
    ("words", "same"),
    [
        ("help", "--help"),
        ("help cache export", "cache export --help"),
        ("cache help export", "cache export --help"),
        ("help cache", "cache --help"),
    ],
)
def test_help_as_a_word(words: str, same: str) -> None:
    done = command(*words.split())
    assert (done.status, done.out) == (0, command(*same.split()).out)
    assert "Usage: " in done.out


def test_the_package_runs_as_the_script_does(tmp_path: Path) -> None:
    told = [
        subprocess.run(
            [sys.executable, *program, "--version"],
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=True,
        ).stdout
        for program in (["-m", "trecjudge"], ["run_judge.py"])
    ]
    assert told == [f"trecjudge {trecjudge.__version__}\n"] * 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["--rag-responses", ""], "--rag-responses: a value is missing: give FILE:"),
        pytest.param(["--rag-responses="], "--rag-responses: a value is missing: give FILE: run"),
        pytest.param(["--max-topics", ""], "--max-topics: a value is missing: give a whole number"),
        pytest.param(["report", ""], "report: JOB is missing: give the --out-dir of a job"),
        pytest.param(["compare", "a", ""], "compare: LEADERBOARD is missing: give jobs"),
        pytest.param(
            ["job", "judgments", "x", "--text="], "job judgments: --text: a value is missing: give"
        ),
        pytest.param(["--run", "\udcff"], "--run: '\\udcff' is not UTF-8; give NAME: only these"),
        pytest.param(
            ["judges", "list", "--version"],
            "judges list: unknown flag '--version'; there are: --he",
        ),
        pytest.param(["cache", "--hlp"], "cache: unknown flag '--hlp'; did you mean '--help'? th"),
        pytest.param(["--JUDGE", "x"], "unknown flag '--JUDGE'; did you mean '--judge'? `help jud"),
        pytest.param(
            ["job", "judgments", "x", "--", "--help"], "job judgments: '--help' is a word too many:"
        ),
        pytest.param(["--show-completion"], "--show-completion: a shell completes an installed"),
        pytest.param(["--install-completion"], "--install-completion: a shell completes an insta"),
    ],
)
def test_a_word_that_is_empty_or_strange(words: list[str], message: str) -> None:
    done = command(*words)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"error: {message}")


@pytest.mark.parametrize("words", ["help help", "-h"])
def test_help_of_help_is_that_of_the_program(words: str) -> None:
    assert command(*words.split()).out == command("--help").out


def written_as(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file of JSON lines, or of Parquet, without what has no value."""
    if path.suffix == ".parquet":
        rows = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    else:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def test_json_lines_are_parquet_by_the_name_of_the_file(tmp_path: Path) -> None:
    assert sample("rag", tmp_path, "-q").status == 0
    pairs = tmp_path / "p.jsonl"
    lines = ({"sentence": "A cat meows.", "document": text} for text in ("A cat meows.", "A dog."))
    pairs.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for words in (
        ("job", "judgments", tmp_path),
        ("labels", "next", tmp_path, "--top", "5"),
        ("judges", "pairs", pairs),
    ):
        for ending in ("jsonl", "parquet"):
            done = command(*words, "-o", tmp_path / f"new.{ending}", "-q")
            assert (done.status, done.out, done.err) == (0, "", ""), words
        assert written_as(tmp_path / "new.parquet") == written_as(tmp_path / "new.jsonl"), words


def test_every_new_file_has_the_same_flag(tmp_path: Path) -> None:
    assert sample("rag", tmp_path, "-q").status == 0
    new = tmp_path / "new"
    for words in (
        ("table", tmp_path),
        ("job", "convert", tmp_path, "--to", "jsonl"),
        ("init", SAMPLES / "rag"),
        ("job", "documents", "pack", tmp_path),
    ):
        for flag in ("--output", "-o"):
            path = new / f"{words[0]}{len(words)}{flag}.jsonl"
            new.mkdir(exist_ok=True)
            done = command(*words, flag, path, "-q")
            assert (done.status, done.out, done.err, path.exists()) == (0, "", "", True), words
