"""The words of a command line: flags that take several values, and what no flag may eat."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from trecjudge.cli.commands import WordReader
from trecjudge.cli.parameters import Option

JOB = (
    Option(("--rag-responses",), "FILE", "Run files.", kind=Path, is_several=True),
    Option(("--judge",), "NAME", "Judges by name.", is_several=True),
    Option(("--topic",), "NAME", "Judge only these topics.", is_several=True),
    Option(("--out-dir",), "DIR", "The folder.", kind=Path),
    Option(("--max-topics",), "N", "The first N.", kind=int, least=1),
    Option(("--strict",), "", "Stop."),
    Option(("--quiet", "-q"), "", "Print only errors."),
    Option(("--help",), "", "Show this."),
)
REPORT = (
    Option((), "JOB", "A job.", kind=Path, is_required=True),
    Option(("--rag-responses",), "FILE", "Run files.", kind=Path, is_several=True),
    Option(("--measure",), "NAME", "Measures.", is_several=True),
)
COMPARE = (
    Option((), "LEADERBOARD", "Jobs.", kind=Path, is_several=True, is_required=True),
    Option(("--measure",), "NAME", "Measures.", is_several=True),
)


@pytest.mark.parametrize(
    ("words", "read"),
    [
        pytest.param("--judge a b", "--judge a --judge b", id="two words"),
        pytest.param("--judge a --judge b", "--judge a --judge b", id="repeated"),
        pytest.param("--judge a,b c", "--judge a --judge b --judge c", id="commas"),
        pytest.param("--judge=a b", "--judge a --judge b", id="an equals sign"),
        pytest.param("--topic 1,2", "--topic 1,2", id="a comma in a topic's name"),
        pytest.param("--rag-responses a,b.jsonl", "--rag-responses a,b.jsonl", id="in a path"),
        pytest.param("--rag-responses - b", "--rag-responses - --rag-responses b", id="stdin"),
        pytest.param("--judge nuggets pairs", "--judge nuggets --judge pairs", id="command's name"),
        pytest.param("--topic -5 12", "--topic=-5 --topic 12", id="starts with a dash"),
        pytest.param("--judge a b -q", "--judge a --judge b -q", id="a switch ends them"),
        pytest.param("--judge a --out-dir o", "--judge a --out-dir o", id="a flag ends them"),
        pytest.param("check --judge a b", "check --judge a b", id="a command reads its own"),
    ],
)
def test_several_words_after_a_flag(words: str, read: str) -> None:
    assert WordReader(JOB, ("check", "pairs", "nuggets")).read(words.split()) == read.split()


@pytest.mark.parametrize(
    ("options", "words", "free"),
    [
        pytest.param(COMPARE, "out/a out/b --measure A B", "out/a out/b", id="arguments first"),
        pytest.param(COMPARE, "--measure A B out/a out/b", "out/a out/b", id="arguments last"),
        pytest.param(COMPARE, "out/a --measure A out/b", "out/a out/b", id="on both sides"),
        pytest.param(COMPARE, "--measure A B gone", "gone", id="the last one it must have"),
        pytest.param(REPORT, "--rag-responses out/a out/b job", "job", id="files, then a job"),
        pytest.param(REPORT, "job --rag-responses out/a out/b", "job", id="a job, then files"),
        pytest.param(REPORT, "--rag-responses a --measure A job", "job", id="two flags first"),
        pytest.param(REPORT, "--measure A B -- job", "job", id="two dashes"),
    ],
)
def test_arguments_are_not_eaten(
    options: tuple[Option, ...],
    words: str,
    free: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "out").mkdir()
    for name in "ab":
        (tmp_path / "out" / f"{name}.leaderboard.txt").touch()
    monkeypatch.chdir(tmp_path)
    reading = WordReader(options)
    reading.read(words.split())
    assert reading.free == free.split()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--judge", "--judge: a value is missing: give NAME: judges by name"),
        ("--judge --topic 1", "--judge: a value is missing: give NAME: judges by name"),
        ("--judge ,", "--judge: a value is missing: give NAME: judges by name"),
        ("--out-dir --judge=a", "--out-dir: a value is missing: give DIR: the folder"),
        ("--strict=no", "--strict: takes no value"),
        ("--strict check", "the command 'check' must come first, before --strict"),
        ("--strict x", "'x' is a word too many: --strict takes no value"),
        ("--out-dir a b", "'b' is a word too many: --out-dir takes one value"),
        ("--max-topics x", "--max-topics: x is not a whole number; give a whole number of at"),
        ("--max-topics 0", "--max-topics: 0 is too small; give a whole number of at least 1"),
        ("--judgs a", "unknown flag '--judgs'; did you mean '--judge'? --help shows all"),
        ("-qx", "unknown flag '-qx'; did you mean '-q'? --help shows all"),
    ],
)
def test_what_cannot_be_is_told(words: str, message: str) -> None:
    with pytest.raises(typer.BadParameter) as told:
        WordReader(JOB, ("check",)).read(words.split())
    assert told.value.message.startswith(message)


def test_beside_help_nothing_else_counts() -> None:
    assert WordReader(JOB).read(["--judge", "a", "b", "--nosuch", "--help"]) == ["--help"]
