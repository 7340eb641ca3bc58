"""What wrong files and values are answered with: what is wrong, and what to give instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commandline import SAMPLES, command

RUNS = SAMPLES / "rag" / "runs"
PROSE = (
    "# A page\n\nIt shows a leaderboard of some runs, with rows as they are:\n\n"
    "careful all SUPPORT 1.0\ncareless all SUPPORT 0.5\n\n"
    + "Then it goes on with words, and it has more lines of prose than rows.\n"
    * 4
)
CALIBRATION = "give the file that `judges calibrate --output FILE` wrote"
PARTIAL = "--set partial={}: settings of judge citation: partial: {}; give a number from 0 to 1"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").touch()
    (tmp_path / "README.md").write_text(PROSE)
    (tmp_path / "bytes").write_bytes(bytes(range(128, 256)) * 4)
    (tmp_path / "other.json").write_text('{"a": 1}\n')
    (tmp_path / "board.txt").write_text(
        "a\tall\tSUPPORT\t1.0\nb\tall\tSUPPORT\t0.5\nc\tall\tSUPPORT\t0\n"
    )
    for name, address in (("BASE_URL", "http://127.0.0.1:9/v1"), ("MODEL", "m"), ("API_KEY", "k")):
        monkeypatch.setenv(f"OPENAI_{name}", address)
    return tmp_path


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param(
            "--set partial=half", PARTIAL.format("half", "half is not a number"), id="number: word"
        ),
        pytest.param(
            "--set partial=", PARTIAL.format("", "nothing is not a number"), id="number: nothing"
        ),
        pytest.param(
            "--set partial=true", PARTIAL.format("true", "true is not a number"), id="number: truth"
        ),
        pytest.param(
            "--set partial=[1]", PARTIAL.format("[1]", "[1] is not a number"), id="number: list"
        ),
        pytest.param("--set partial=2", PARTIAL.format("2", "2 is too large"), id="number: range"),
        pytest.param(
            "--set group=1.5",
            "--set group=1.5: settings of judge citation: group: 1.5 is not a whole number; give a"
            " whole number of at least 1",
            id="whole number: fraction",
        ),
        pytest.param(
            "--set attester=lexcal",
            "--set attester=lexcal: settings of judge citation: attester: unknown value 'lexcal';"
            " did you mean 'lexical'? there are: auto, encoder, lexical, llm, strict",
            id="choice: unknown",
        ),
        pytest.param(
            "--set calibration=3",
            "--set calibration=3: settings of judge citation: calibration: 3 is not text; put text"
            " in quotes",
            id="text: number",
        ),
        pytest.param(
            "--set llm.batch=1",
            "--set llm.batch=1: batch: 1 is not true or false; give true or false",
            id="truth: number",
        ),
        pytest.param("--calibration gone", f"gone: cannot be read: {{none}}; {CALIBRATION}"),
        pytest.param(
            "--calibration folder",
            f"folder: cannot be read: it is a folder, not a file; {CALIBRATION}",
        ),
        pytest.param("--calibration README.md", f"README.md: is no calibration; {CALIBRATION}"),
        pytest.param("--calibration bytes", f"bytes: is no calibration; {CALIBRATION}"),
        pytest.param("--rag-topics folder", "folder: is a folder; give a topic file"),
        pytest.param("--qrels folder", "folder: is a folder; give a qrels file"),
        pytest.param("--workflow bytes", "bytes: is no workflow: not text in UTF-8"),
        pytest.param("--cache-from folder", "--cache-from: only with --use-env-llm"),
        pytest.param(
            "--cache-from nope --use-env-llm",
            "nope: there is no such folder; give a folder with a cache",
        ),
        pytest.param(
            "--cache-from folder --use-env-llm",
            "folder: no replies.sqlite in it; give a folder with a cache",
        ),
        pytest.param(
            "--cache-from README.md --use-env-llm",
            "README.md: is a file, not a folder; give a folder with a cache",
        ),
        pytest.param(
            "--cache-dir README.md --use-env-llm",
            "README.md: cannot keep the cache there: a file of this name is in its way; give a"
            " folder with --cache-dir",
        ),
        pytest.param(
            "--use-env-llm --cache-dir new",
            "http://127.0.0.1:9/v1/chat/completions: nothing listens at 127.0.0.1:9 (connection"
            " refused); check OPENAI_BASE_URL",
            id="no endpoint",
        ),
    ],
)
def test_a_job_refuses(here: Path, flags: str, message: str) -> None:
    documents = ("--documents", SAMPLES / "rag" / "documents.jsonl", "--out-dir", here / "out")
    done = command("--rag-responses", RUNS, *documents, "-q", *flags.split())
    wanted = message.replace("{none}", "there is no such file or folder")
    assert (done.status, done.err.splitlines()[-1]) == (1, f"error: {wanted}")


BOARD = "README.md: is no leaderboard: only 2 of its 8 lines can be rows of one; give a job or a"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param("meta-evaluate board.txt --truth README.md", BOARD, id="truth of prose"),
        pytest.param("compare README.md", BOARD, id="compare prose"),
        pytest.param("gate README.md --min SUPPORT=0", BOARD, id="gate prose"),
        pytest.param("convert README.md x.csv --to csv", BOARD, id="convert prose"),
        pytest.param("convert empty x.jsonl --to autoargue", "empty: no bank of nuggets in it"),
        pytest.param("agree --truth empty --predicted empty", "empty: no labels in it; give qrels"),
        pytest.param(
            "gate board.txt --baseline board.txt --max-drop x",
            "--max-drop 'x': give MEASURE=NUMBER",
        ),
        pytest.param(
            "gate board.txt --min SUPPORT=0 --junit folder",
            "folder: cannot be written: it is a folder, not a file; give another",
        ),
        pytest.param(
            "meta-evaluate board.txt --truth board.txt --svg README.md",
            "README.md: cannot be made: a file of this name is in its way; give another folder",
        ),
        pytest.param("pairs gone", "gone: cannot be read: there is no such file or folder"),
        pytest.param("pairs folder", "folder: cannot be read: it is a folder, not a file"),
        pytest.param("calibrate --labels gone", "gone: cannot be read: there is no such file"),
        pytest.param("cache info --cache-dir nope", "nope: there is no such folder: no cache the"),
        pytest.param("cache verify folder", "folder: no replies.sqlite in it; give a folder with"),
        pytest.param("cache import README.md --cache-dir new", "README.md: is a file, not a folde"),
        pytest.param("cache export README.md --cache-dir nope", "nope: there is no such folder"),
    ],
)
def test_a_command_refuses(here: Path, words: str, message: str) -> None:
    done = command(*words.split())
    assert (done.status, done.err.splitlines()[-1][: len(message) + 7]) == (1, f"error: {message}")
    assert "Errno" not in done.err
