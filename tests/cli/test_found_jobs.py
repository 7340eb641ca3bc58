"""Every command finds a job in every way that a job can be named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.jobs import BAD, GOOD, as_json, job
from tests.commandline import command

SPELLINGS = {
    "folder": "",
    "name": "/x",
    "leaderboard": "/x.leaderboard.txt",
    "statistics": "/x.leaderboard.jsonl",
    "judgments": "/x.judgments.jsonl",
    "qrels": "/x.qrels",
    "log": "/x.log",
    "config": "/x.config.yml",
    "review": "/x.review.jsonl",
    "report": "/x.report.html",
}
COMMANDS = {
    "show": "show {job} --run a --topic 1",
    "report": "report {job}",
    "report --compare": "report {one} --compare {job}",
    "report --truth": "report {one} --truth {job}",
    "rescore": "rescore {job} --out-dir {new}",
    "gate": "gate {job} --min CITATION_SUPPORT=0",
    "gate --baseline": "gate {one} --baseline {job} --max-drop 0.1",
    "compare": "compare {job}",
    "compare two": "compare {one} {job}",
    "agree": "agree --truth {one} --predicted {job}",
    "agree --truth": "agree --truth {job} --predicted {one}",
    "label-next": "label-next {job}",
    "meta-evaluate": "meta-evaluate {job} --truth {one}",
    "meta-evaluate --truth": "meta-evaluate {one} --truth {job}",
    "convert": "convert {job} {new}/x.csv --to csv",
}
OF_JUDGMENTS = ("show", "report", "report --compare", "rescore", "agree", "label-next")
"""Commands that read the judgments of a job, or its texts; the others read its leaderboard."""
OF_SEVERAL = ("compare", "compare two", "meta-evaluate", "report")
"""Commands to which a folder stands for all its jobs."""
WORKFLOW = "judge: citation\ngate: {review_unless: CITATION_SUPPORT >= 0.5}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of one job with all the files that a job can have."""
    path = tmp_path_factory.mktemp("job")
    (path / "w.yml").write_text(WORKFLOW)
    runs = {"a": [GOOD, GOOD], "b": [GOOD, BAD], "c": [BAD, BAD]}
    found = job(path, "x", runs, "--workflow", path / "w.yml", "--report").parent
    files = [spelling.strip("/") for spelling in SPELLINGS.values() if "." in spelling]
    assert [name for name in files if not (found / name).is_file()] == []
    return found


def words(name: str, job: str | Path, one: Path, new: Path) -> list[str]:
    return [word.format(job=job, one=one, new=new) for word in COMMANDS[name].split()]


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_job_is_found(name: str, spelling: str, folder: Path, tmp_path: Path) -> None:
    done = command(*words(name, f"{folder}{spelling}", folder / "x", tmp_path))
    assert (done.status, "error" in done.err) == (0, False), done.err


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in OF_SEVERAL])
def test_of_several_jobs_one_must_be_named(name: str, folder: Path, tmp_path: Path) -> None:
    for file in folder.glob("x.*"):
        for job_name in ("v1", "v2"):
            copied = tmp_path / file.name.replace("x.", f"{job_name}.", 1)
            copied.write_bytes(file.read_bytes())
    done = command(*words(name, tmp_path, folder / "x", tmp_path / "new"))
    assert done.status == 1
    assert f"error: {tmp_path}: there are 2 " in done.err
    assert f"in it; give one of {tmp_path / 'v1'}, {tmp_path / 'v2'}\n" in done.err


@pytest.mark.parametrize("name", COMMANDS)
def test_a_job_that_is_not_there_is_told_with_those_that_are(
    name: str, folder: Path, tmp_path: Path
) -> None:
    done = command(*words(name, folder / "y", folder / "x", tmp_path))
    assert done.status == 1
    assert f"{folder / 'y'}: no such " in done.err and f"jobs there: {folder / 'x'}" in done.err


@pytest.mark.parametrize("name", [name for name in COMMANDS if name.startswith(OF_JUDGMENTS)])
def test_judgments_under_any_name(name: str, folder: Path, tmp_path: Path) -> None:
    copied = tmp_path / "kept.jsonl"
    copied.write_bytes((folder / "x.judgments.jsonl").read_bytes())
    done = command(*words(name, copied, folder / "x", tmp_path))
    if name in ("report", "report --compare"):  # what they write, and read beside, needs the name
        assert (done.status, "is packed or renamed; it must be" in done.err) == (1, True)
    elif name != "report --truth":
        assert done.status == 0, done.err


def test_rescore_writes_beside_the_judgments(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "y.judgments.jsonl").write_bytes((folder / "x.judgments.jsonl").read_bytes())
    assert command("job", "rescore", tmp_path, "-q").status == 0
    for kind in ("leaderboard.txt", "leaderboard.jsonl", "qrels", "review.jsonl"):
        assert (tmp_path / f"y.{kind}").read_bytes() == (folder / f"x.{kind}").read_bytes()


def test_the_qrels_of_a_job_are_qrels_to_agree(folder: Path) -> None:
    qrels = folder / "x.qrels"
    status, found = as_json("agree", "--truth", qrels, "--predicted", folder / "x.log")
    sides = str(qrels), str(folder / "x.judgments.jsonl")
    assert (status, found["truth"], found["predicted"]) == (0, *sides)
