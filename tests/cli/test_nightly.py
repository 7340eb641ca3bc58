"""Jobs that are kept night by night: a history, a baseline that moves on, a trend; and CI pages."""

from __future__ import annotations

import json
import os
import re
import select
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.jobs import BAD, GOOD, as_json, job
from tests.commandline import ROOT, SAMPLES, Done, command
from tests.examples import BLOCK

PAGE = (ROOT / "docs" / "pipeline.md").read_text(encoding="utf-8")
FILES = {name: text for kind, name, text in BLOCK.findall(PAGE) if kind == "file"}
FIRST, SECOND = "x.0001-2026-11-30", "x.0002-2026-11-30"


@pytest.fixture(autouse=True)
def fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1796000000")


def night(folder: Path, kind: str, *sentences: str, status: int = 0) -> Path:
    """Judge a night of one run with these answers, kept in `folder/nights`; return the job."""
    made = folder / kind
    return job(made, "x", {"r": [*sentences]}, "--history", folder / "nights", status=status)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_each_night_is_kept_whole_and_never_replaced(tmp_path: Path) -> None:
    first, nights = night(tmp_path, "a", *[GOOD] * 8), tmp_path / "nights"
    kinds = ("config.yml", "judgments.jsonl", "leaderboard.jsonl", "leaderboard.txt")
    assert files(nights) == [f"{FIRST}.{kind}" for kind in kinds]
    for kind in kinds:
        assert (nights / f"{FIRST}.{kind}").read_bytes() == Path(f"{first}.{kind}").read_bytes()
    night(tmp_path, "b", *[BAD] * 8)
    assert files(nights)[4:] == [f"{SECOND}.{kind}" for kind in kinds]
    for kind in kinds:
        (nights / f"{FIRST}.{kind}").unlink()
    night(tmp_path, "c", *[GOOD] * 8)
    assert files(nights)[4].startswith("x.0003-")
    assert command("job", "judgments", nights / SECOND, "--label", "none").status == 0


def test_a_packed_job_is_kept_packed(tmp_path: Path) -> None:
    nights = tmp_path / "nights"
    job(tmp_path, "x", {"r": [GOOD]}, "--history", nights, "--compress")
    assert f"{FIRST}.judgments.jsonl.zst" in files(nights)
    assert command("gate", nights / FIRST, "--min", "CITATION_SUPPORT=1").status == 0


def test_a_folder_that_cannot_be_written_stops_before_judging(tmp_path: Path) -> None:
    (tmp_path / "nights").write_text("")
    given = ("--history", tmp_path / "nights", "--out-dir", tmp_path / "out")
    done = command("--rag-responses", SAMPLES / "rag" / "runs", *given)
    assert (done.status, "a file is in its way" in done.err) == (1, True)
    assert not (tmp_path / "out" / "default.leaderboard.txt").exists()


def test_a_part_of_a_job_is_not_kept(tmp_path: Path) -> None:
    given = ("--rag-responses", SAMPLES / "rag" / "runs", "--shard", "1/2")
    done = command(*given, "--history", tmp_path / "nights", "--out-dir", tmp_path)
    assert (done.status, "--shard: leave out --history" in done.err) == (1, True)


def test_the_baseline_moves_on_with_what_passes_only(tmp_path: Path) -> None:
    kept = tmp_path / "accepted"
    good, worse = (night(tmp_path, k, *[t] * 8) for k, t in (("good", GOOD), ("worse", BAD)))
    gate = ("--baseline", kept, "--max-drop", "0.05", "--move-baseline")
    assert command("gate", worse, "--min", "CITATION_SUPPORT=1", *gate).status == 1
    assert not kept.exists()
    done = command("gate", good, *gate)
    assert (done.status, done.out) == (0, f"gate: 0 of 0 rules kept\nbaseline: {kept / FIRST}\n")
    assert "warning: " in done.err and "accepted: has no entry yet, so that --max" in done.err
    assert (command("gate", worse, *gate).status, len(files(kept))) == (1, 4)
    assert as_json("gate", good, *gate)[1]["kept"] == str(kept / SECOND)
    assert command("gate", worse, *gate[:-1]).status == 1


def test_a_history_is_not_the_baseline_of_its_own_newest_entry(tmp_path: Path) -> None:
    night(tmp_path, "a", *[GOOD] * 8)
    worse = night(tmp_path, "b", *[BAD] * 8)
    done = command("gate", worse, "--baseline", tmp_path / "nights", "--max-drop", "0")
    assert (done.status, "from 1 to 0" in done.out) == (1, False)
    assert "fell by" in done.out


def test_of_several_jobs_the_one_of_the_same_name_is_the_baseline(tmp_path: Path) -> None:
    nights = tmp_path / "nights"
    for name, answer in (("x", GOOD), ("y", BAD)):
        job(tmp_path, name, {"r": [answer] * 8}, "--history", nights)
    drop = ("--baseline", nights, "--max-drop", "0.05")
    assert command("gate", tmp_path / "out" / "y", *drop).status == 0
    other = job(tmp_path, "z", {"r": [BAD] * 8})
    done = command("gate", other, *drop)
    assert (done.status, "unknown job 'z'" in done.err, "x, y" in done.err) == (1, True, True)
    assert "change" in command("compare", nights, "--trend").out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--min", "M=0", "--move-baseline"), "--move-baseline: give a folder as --baseline"),
        (("--max-drop", "0", "--baseline", "{job}.leaderboard.txt", "--move-baseline"), "a folder"),
        (("--max-drop", "0", "--baseline", "{job}", "--move-baseline"), "a folder"),
        (("--max-drop", "0", "--baseline", "nowhere"), "nowhere"),
    ],
    ids=["no baseline", "a file", "a job by its name", "a folder that is not there"],
)
def test_what_cannot_move_on(flags: tuple[str, ...], message: str, tmp_path: Path) -> None:
    found = job(tmp_path, "x", {"r": [GOOD]})
    done = command("gate", found, *(flag.format(job=found) for flag in flags))
    assert (done.status, message in done.err) == (1, True)


def test_a_trend_shows_each_night_and_what_flipped(tmp_path: Path) -> None:
    for kind, good in (("a", 8), ("b", 8), ("c", 2)):
        night(tmp_path, kind, *[GOOD] * good, *[BAD] * (8 - good))
    done = command("compare", tmp_path / "nights", "--trend")
    rows = [line.split() for line in done.out.splitlines() if line.startswith("x.000")]
    assert [row[0] for row in rows] == [f"x.000{n}-2026-11-30" for n in (1, 2, 3)]
    assert [row[-1] for row in rows[1:]] == ["0", "6"]
    assert "6 x full_support -> no_support" in done.out
    status, found = as_json("compare", tmp_path / "nights", "--trend", "--measure", "AVG_CITATIONS")
    points = found["trend"]
    assert (status, [p["mean"] for p in points], points[0]["flipped"]) == (0, [1.0] * 3, None)
    done = command("compare", tmp_path / "nights", "--trend", "--to", "latex")
    assert (done.status, "--trend: leave out" in done.err) == (1, True)


RELEASES = {
    "better": f"{GOOD}",  # shorter, and cites less
    "equal": f"{GOOD}, {BAD}",
    "worse": f"{BAD}, {BAD}, {BAD}",  # longer, and cites more
}


@pytest.mark.parametrize("judges", ["citation", "citation,length", "length"])
@pytest.mark.parametrize("plain", [False, True], ids=["a job", "its rows only"])
def test_counts_are_held_only_by_name(judges: str, plain: bool, tmp_path: Path) -> None:
    def judged(name: str) -> Path:
        made = job(tmp_path, name, {"r": [RELEASES[name]] * 8}, "--judge", judges)
        if not plain:
            return made
        rows = tmp_path / f"{name}.txt"
        rows.write_bytes(Path(f"{made}.leaderboard.txt").read_bytes())
        return rows

    old = judged("equal")
    for name in RELEASES:
        drop = ("--baseline", old, "--max-drop")
        done = command("gate", judged(name) if name != "equal" else old, *drop, "0")
        worse = name == "worse" and judges != "length"
        assert (done.status, "AVG_CITATIONS" in done.out, "LENGTH" in done.out) == (
            *(int(worse), False, False),
        ), done.out
        if judges != "length":
            done = command(
                "gate", tmp_path / f"{name}.txt" if plain else old.parent / name, *drop, "all=0"
            )
            assert (done.status, "AVG_CITATIONS" in done.out) == (int(worse), False), done.out
    if "length" in judges:
        held = "better.txt" if plain else "out/better"
        assert command("gate", tmp_path / held, *drop, "LENGTH=0").status == 1


def test_nothing_but_counts_needs_a_name(tmp_path: Path) -> None:
    rows = tmp_path / "rows.txt"
    rows.write_text("r all LENGTH 80\n")
    done = command("gate", rows, "--baseline", rows, "--max-drop", "0", "-q")
    assert (
        done.status,
        "no side is known to be better of LENGTH; give --max-drop" in done.err,
    ) == (1, True)


@pytest.mark.parametrize(
    ("measure", "before", "after", "status"),
    [
        ("words", 120, 80, 0),
        ("HALLUCINATION_RATE", 0.3, 0.1, 0),
        ("HALLUCINATION_RATE", 0.1, 0.3, 1),
        ("faithful", 0.8, 0.6, 1),
        ("AVG_GRADE", 2.5, 2.0, 1),
    ],
    ids=["a count", "ours fell", "ours rose", "a share of another tool", "ours beyond 1"],
)
@pytest.mark.parametrize("rule", ["0.02", "all=0.02"])
def test_rows_of_which_only_the_names_are_known(
    measure: str, before: float, after: float, status: int, rule: str, tmp_path: Path
) -> None:
    for name, value in (("old", before), ("new", after)):
        rows = f"r all {measure} {value}\nr all share 0.5\n"
        (tmp_path / f"{name}.txt").write_text(rows)
    done = command(
        "gate", tmp_path / "new.txt", "--baseline", tmp_path / "old.txt", "--max-drop", rule
    )
    assert (done.status, f"{measure}: not from 0 to 1" in done.err) == (status, measure == "words")


def steps(name: str) -> list[str]:
    """Return the scripts of a workflow on the page, in order: what its shells run."""
    found: dict[str, Any] = yaml.safe_load(FILES[name])
    if name == ".gitlab-ci.yml":
        answers = found["answers"]
        scripts = answers["script"], answers["after_script"]
        exported = "".join(f"{k}={shlex.quote(v)}\n" for k, v in answers["variables"].items())
        return [exported + "\n".join(script) for script in scripts]
    runs = [step["run"] for step in found["jobs"]["gate"]["steps"] if "run" in step]
    return ["\n".join(runs[:-1]), runs[-1]]


TOOL = """#!/bin/sh
printf '%s\\n' "$@" > tools/words
echo > tools/asked
read status < tools/status
exit $status
"""
"""A program of a workflow, as the shell sees it: the test does the work, in its own process."""


def run_script(script: str, pip: list[str]) -> tuple[int, str]:
    """Run a script as CI does, in the working folder; return its status and what ours printed."""
    given = {**os.environ, "PATH": f"{Path('tools').absolute()}:{os.environ['PATH']}"}
    shell = subprocess.Popen(("bash", "-e", "-c", script), env=given)
    # Both ends are held open: a tool must never see the end of what an earlier one was told.
    asked, status = (os.open(f"tools/{pipe}", os.O_RDWR) for pipe in ("asked", "status"))
    printed = ""
    while shell.poll() is None:
        if select.select([asked], [], [], 0.02)[0]:
            os.read(asked, 1)
            words = Path("tools/words").read_text().splitlines()
            if words[0] == "install":
                pip[:], done = words, Done(0, "", "")
            else:
                done = command(*words)
            printed += done.out
            os.write(status, f"{done.status}\n".encode())
    os.close(asked)
    os.close(status)
    return shell.returncode, printed


def answers_of_pipeline(run: str) -> str:
    """Return a sample run as a pipeline writes it: question, answer, and what it retrieved."""
    rag = SAMPLES / "rag"
    texts = [document["text"] for document in read_lines(rag / "documents.jsonl")]
    records = [
        {
            "question": record["metadata"]["narrative"],
            "answer": " ".join(sentence["text"] for sentence in record["answer"]),
            "contexts": texts,
            "run_id": run,
        }
        for record in read_lines(rag / "runs" / f"{run}.jsonl")
    ]
    return "".join(f"{json.dumps(record)}\n" for record in records)


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", [".github/workflows/answers.yml", ".gitlab-ci.yml"])
def test_the_workflows_run_as_they_stand(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("tools", "wheels"):
        Path(folder).mkdir()
    Path("wheels/trecjudge-1.0-py3-none-any.whl").write_text("")
    for tool in ("run-judge", "pip"):
        Path("tools", tool).write_text(TOOL)
        Path("tools", tool).chmod(0o755)
    for pipe in ("asked", "status"):
        os.mkfifo(f"tools/{pipe}")
    pip: list[str] = []
    # The first, a better, an equal and a worse release.
    for run, worse in zip(
        ("careless", "careful", "careful", "careless"), (0, 0, 0, 1), strict=True
    ):
        Path("answers.jsonl").write_text(answers_of_pipeline(run))
        done = [run_script(script, pip) for script in steps(name)]
        assert tuple(status for status, _ in done) == (worse, 0), run
    printed = "".join(text for _, text in done)
    assert pip[0] == "install" and re.search(r"wheels/trecjudge-1.*whl$|@v\d|==\d", pip[1])
    assert (len(files(Path("accepted"))), len(files(Path("nights")))) == (12, 20)
    assert "careless: EXPECTED_FACTUALITY fell by" in printed
    assert "answers.0004-2026-11-30  careless" in printed
    assert "<failure" in Path("gate.xml").read_text()


def test_the_lines_for_pytest_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, answer in (("baseline", GOOD), ("out", GOOD), ("out", BAD)):
        made = job(tmp_path / f"{folder}{len(answer)}", "answers", {"r": [answer] * 8}).parent
        Path(folder).unlink(missing_ok=True)
        Path(folder).symlink_to(made)
        names: dict[str, Any] = {}
        exec(compile(FILES["test_answers.py"], "test_answers.py", "exec"), names)
        if folder == "out" and answer == BAD:
            with pytest.raises(AssertionError, match=r"fell by .*\ngate: 0 of 1 rules kept"):
                names["test_answers_are_no_worse"]()
        elif folder == "out":
            names["test_answers_are_no_worse"]()
