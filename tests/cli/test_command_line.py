"""What a user gets for bad input: one line that says what to do, and the exit status."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.commandline import SAMPLES, command, judge, sample
from trecjudge.cli.exits import exit_status
from trecjudge.errors import InputError

RUNS = SAMPLES / "rag" / "runs"
TOPICS = SAMPLES / "rag" / "topics.jsonl"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "README.md").write_text("Notes, not JSON.\n")
    (tmp_path / "file").write_text("")
    (tmp_path / "typo.yml").write_text("judge: citation\nsetings:\n  attester: lexical\n")
    (tmp_path / "sort.yml").write_text("leaderboard: {sort_by: SUPORT}\n")
    (tmp_path / "prompt.yml").write_text("prompts: {atest: x}\n")
    (tmp_path / "notopics.jsonl").write_text("\n\n")
    (tmp_path / "other.jsonl").write_text('{"topic_id": "nine", "title": "x"}\n')
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param("--rag-responses {empty}", "no run files in it", id="empty folder"),
        pytest.param("--rag-responses {notes}", "no response could be read", id="no run"),
        pytest.param("--rag-responses {gone}", "no such file or folder", id="no such runs"),
        pytest.param("{runs} --rag-topics {notopics}", "no topics found", id="no topics"),
        pytest.param("{runs} --rag-topics {gone}", "no such topic file", id="no topic file"),
        pytest.param("{runs} --rag-topics {other}", "none of 9 responses answers", id="others"),
        pytest.param("{runs} --judge citations", "did you mean 'citation'? there are", id="judge"),
        pytest.param("{runs} --judge nowhere:X", "cannot be imported", id="judge module"),
        pytest.param("{runs} --judge ./a/b.py:X", "'./a/b.py' is no name of a module", id="file"),
        pytest.param("{runs} --judge b.py:X", "'b.py' is no name of a module: no f", id=".py"),
        pytest.param("{runs} --judge :X", "'' is no name of a module", id="no module"),
        pytest.param("{runs} --dataset ragtme", "did you mean 'ragtime'", id="dataset"),
        pytest.param("{runs} --workflow {typo}", "unknown key 'setings'; did you", id="key"),
        pytest.param("{runs} --workflow {gone}", "no such file, and unknown", id="workflow"),
        pytest.param("{runs} --workflow {sort}", "unknown measure 'SUPORT'", id="measure"),
        pytest.param("{runs} --workflow {prompt}", "unknown program 'atest'", id="prompt"),
        pytest.param(
            "{runs} --set partial=x",
            "partial: x is not a number; give a number from 0 to 1",
            id="setting",
        ),
        pytest.param("{runs} --set partil=1", "did you mean 'partial'", id="setting name"),
        pytest.param("{runs} --variant hard", "unknown variant 'hard'", id="variant"),
        pytest.param("{runs} --out-dir {file}/x", "give another --out-dir", id="out-dir"),
        pytest.param("{runs} --name a/b", "name 'a/b': letters", id="name"),
        pytest.param("{runs} --documents {notes}", "no documents found", id="documents"),
        pytest.param("{runs} --use-env-llm", "set OPENAI_BASE_URL", id="no model"),
        pytest.param("rescore {gone}", "no such judgments file", id="rescore"),
        pytest.param("rescore {runs0}", "is not a judgments file", id="rescore a run"),
    ],
)
def test_bad_input_is_one_line(files: Path, arguments: str, message: str) -> None:
    names = {"empty": "empty", "notes": "notes", "gone": "gone", "file": "file"}
    names |= {n: f"{n}.yml" for n in ("typo", "sort", "prompt")}
    names |= {n: f"{n}.jsonl" for n in ("notopics", "other")}
    places = {name: str(files / path) for name, path in names.items()}
    places |= {"runs": f"--rag-responses {RUNS}", "runs0": str(RUNS / "careful.jsonl")}
    words = arguments.format(**places).split()
    if words[0] != "rescore" and "--out-dir" not in words:
        words += ["--out-dir", str(files / "out")]
    done = command(*words)
    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert (done.status, len(errors)) == (1, 1), done.err
    assert message in errors[0]


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        ("OPENAI_BASE_URL", "no base_url: set OPENAI_BASE_URL"),
        ("OPENAI_MODEL", "no model: set OPENAI_MODEL"),
        ("OPENAI_API_KEY", "no key: set OPENAI_API_KEY"),
    ],
)
def test_each_missing_variable_is_named(
    variable: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in {"OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY"} - {variable}:
        monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    done = judge(RUNS, tmp_path, "--use-env-llm")
    assert (done.status, message in done.err) == (1, True)


@pytest.mark.parametrize(
    "given",
    [
        "llm.headers={X-Api-Key: hush-hush}",
        "llm.query={key: hush-hush}",
        "llm.base_url=http://a/v1?key=hush-hush",
    ],
)
def test_a_secret_in_the_settings_of_the_model_is_refused_even_without_one(
    given: str, tmp_path: Path
) -> None:
    done = judge(RUNS, tmp_path / "out", "--set", given)
    assert (done.status, "keys do not belong in a workflow" in done.err) == (1, True)
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and b"hush" in p.read_bytes()]


def test_one_flag_takes_several_files(tmp_path: Path) -> None:
    paths = sorted(RUNS.iterdir())
    done = command("--rag-responses", *paths, "--out-dir", tmp_path)
    assert "3 runs, 9 of 9 responses" in done.out


def test_quiet_prints_nothing(tmp_path: Path) -> None:
    documents = RUNS.parent / "documents.jsonl"
    done = judge(RUNS, tmp_path, "-q", "--documents", documents, topics=TOPICS)
    assert (done.out, done.err) == ("", "")


def test_lists() -> None:
    assert "citation  " in command("judges").out
    assert "ragtime      (ragtime) " in command("job", "formats").out


def test_judges_may_be_named_by_commas_or_one_by_one(tmp_path: Path) -> None:
    by_commas = sample("rag", tmp_path / "1", "-q", "--judge", "citation,length")
    repeated = sample("rag", tmp_path / "2", "-q", "--judge", "citation", "--judge", "length")
    assert (by_commas.status, repeated.status) == (0, 0)
    boards = [(tmp_path / n / "x.leaderboard.txt").read_bytes() for n in "12"]
    assert boards[0] == boards[1]
    assert b"LENGTH" in boards[0]


def test_what_a_packed_file_holds_before_it_breaks_off_is_judged(tmp_path: Path) -> None:
    packed = gzip.compress((RUNS / "careful.jsonl").read_bytes())
    (tmp_path / "careful.gz").write_bytes(packed[:-40])
    done = judge(tmp_path / "careful.gz", tmp_path / "out", "--judge", "length")
    assert done.status == 3
    assert "careful.gz: cannot be read beyond line 2: the data break off" in done.err
    board = (tmp_path / "out" / "x.leaderboard.txt").read_text()
    assert [line.split()[1] for line in board.splitlines() if "LENGTH" in line] == [
        "11",
        "12",
        "all",
    ]


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (InputError("a.jsonl: no such file"), 1, "error: a.jsonl: no such file"),
        (OSError(28, "No space left on device"), 1, "error: the disk is full"),
        (KeyboardInterrupt(), 130, "interrupted; run the same command again to go on"),
        (ValueError("x"), 3, "error: a bug: ValueError at test_command_line.py"),
    ],
    ids=["what the user can put right", "a full disk", "Ctrl-C", "a bug"],
)
def test_how_a_command_ends(
    error: BaseException, status: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def work() -> int:
        raise error

    assert exit_status(work) == status
    printed = capsys.readouterr().err
    assert (printed.startswith(line), printed.count("\n")) == (True, 1)
