"""Commands in families: how they are found, the names that they had before, the runs as words."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commandline import ROOT, SAMPLES, Done, command, sample
from trecjudge.cli.main import FAMILIES, old_names

RAG = SAMPLES / "rag"
OLD = (
    *("judges", "prompts", "formats", "schema", "rescore", "merge", "pairs", "calibrate"),
    *("stability", "judgments", "provenance", "meta-evaluate", "agree", "audit", "label-next"),
    *("optimize", "convert", "documents", "index", "search", "generate", "experiment"),
    *("anonymise", "season", "replay"),
)
"""The commands of 0.16 that stand in a family now."""


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    assert sample("rag", folder, "-q", "--judge", "citation").status == 0
    return folder / "x"


def test_runs_are_the_words_of_judge_and_give_the_same_files(tmp_path: Path) -> None:
    given = ["--rag-topics", RAG / "topics.jsonl", "--documents", RAG / "documents.jsonl", "-q"]
    runs = sorted((RAG / "runs").iterdir())
    ways = {
        "words": ["judge", *runs, *given],
        "flag": ["judge", "--rag-responses", *runs, *given],
        "no command": ["--rag-responses", *runs, *given],
    }
    for name, words in ways.items():
        done = command(*words, "--out-dir", tmp_path / name)
        assert (done.status, done.err) == (0, "")
    boards = {(tmp_path / name / "default.leaderboard.txt").read_bytes() for name in ways}
    assert len(boards) == 1


@pytest.mark.parametrize("name", OLD)
def test_an_old_name_shows_the_same_help_and_says_the_new_one(name: str) -> None:
    new = "judges list" if name == "judges" else old_names()[name]
    old = command("help", name) if name != "judges" else command(name, "--help")
    if name != "judges":
        assert old.err == f"note: `{name}` is now `{new}`\n"
        assert old.out == command(*new.split(), "--help").out
    assert old.status == 0


def test_an_old_name_is_remarked_on_once_and_only_where_people_read(job: Path) -> None:
    told = {
        words: command(*words.split(), job, "--labels", RAG / "labels.jsonl")
        for words in ("agree", "agree -q", "agree --json", "labels agree", "labels agree --json")
    }
    assert told["agree"].err == "note: `agree` is now `labels agree`\n"
    assert [done.err for words, done in told.items() if words != "agree"] == [""] * 4
    assert told["agree"].out == told["labels agree"].out
    assert told["agree --json"].out == told["labels agree --json"].out


def test_judges_without_a_verb_lists_them() -> None:
    bare, now = command("judges"), command("judges", "list")
    assert (bare.out, bare.err) == (now.out, "note: `judges` is now `judges list`\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "labels agree --truth {labels} --predicted {job}",
            "labels agree {job} --labels {labels}",
        ),
        (
            "labels next {job} --human {labels} --budget 3",
            "labels next {job} --labels {labels} --top 3",
        ),
        ("show {job} --unjudged", "show {job} --label unjudged"),
        ("job judgments {job} --doc d1 --limit 2", "job judgments {job} --document d1 --top 2"),
        (
            "compare {job} --power --topics 50 --runs 20",
            "compare {job} --power --for topics=50 runs=20",
        ),
        (
            "job rescore {job} --human {labels} --measures all",
            "job rescore {job} --labels {labels} --measure all",
        ),
        ("job convert {job} {new} --to markdown --all-measures", "table {job} {new} --measure all"),
    ],
)
def test_a_flag_of_before_does_what_its_new_name_does(
    old: str, new: str, job: Path, tmp_path: Path
) -> None:
    names = {"job": job, "labels": RAG / "labels.jsonl", "new": tmp_path / "t"}
    first, second = (command(*words.format(**names).split()) for words in (old, new))
    assert first == second
    assert first.status == 0, first.err


def test_a_table_is_printed_or_written(job: Path, tmp_path: Path) -> None:
    printed = command("table", job)
    assert printed.out.startswith("|  | run | ")
    written = command("table", job, tmp_path / "t.md")
    assert (written.out, written.err) == ("", f"table: {tmp_path / 't.md'}\n")
    assert (tmp_path / "t.md").read_text() == printed.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nxt", "unknown command 'nxt'; did you mean 'labels next'? `--help` shows all"),
        ("meta-evalute x", "unknown command 'meta-evalute'; did you mean 'judges meta'? `--"),
        (
            "labels nxt",
            "labels: unknown command 'nxt'; did you mean 'next'? there are: agree, next",
        ),
        ("labels", "labels: give one of its commands: next, agree"),
        ("--compare", "unknown flag '--compare'; did you mean the command 'compare'?"),
        (str(RAG), f"unknown command '{RAG}'; did you mean 'judge {RAG}'? `--help` shows all"),
        ("judge", "judge: RUN is missing: give run files, or folders of them at any depth"),
        (
            "rag generate --max-wrds 3",
            "rag generate: unknown flag '--max-wrds'; did you mean '--max words='? ",
        ),
        ("zzz", "unknown command 'zzz'; `--help` shows all"),
    ],
)
def test_a_mistake_is_told_with_what_is_near(words: str, message: str) -> None:
    done = command(*words.split())
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert done.err.startswith(f"error: {message}")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("words", "offered"),
    [("", ["judge", *FAMILIES]), ("labels ", ["next", "agree"]), ("labels next --bud", [])],
)
def test_a_shell_completes_families_and_their_commands(
    shell: str, words: str, offered: list[str]
) -> None:
    done = completed(shell, f"run-judge {words}")
    assert [name for name in offered if name not in done.out] == []
    assert ("label-next" in done.out, "--budget" in done.out) == (False, False)


def completed(shell: str, line: str) -> Done:
    """Return what the program answers a shell that completes a line."""
    asked = {
        "_RUN_JUDGE_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }
    code = "import sys, run_judge; sys.argv = ['run-judge']; run_judge.app(prog_name='run-judge')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | asked,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)
