"""What a path stands for: a job, all jobs of a folder, a leaderboard of another tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reading import Write
from trecjudge.errors import InputError
from trecjudge.results.jobs import (
    JobFiles,
    JudgedJob,
    judged_job,
    kind_of,
    outcome,
    outcomes,
)

HEADER = '{"record": "header", "format": 2, "judges": {"length": {}}}\n'
FILES = [
    "x", "x.leaderboard.txt", "x.leaderboard.jsonl", "x.judgments.jsonl", "x.qrels", "x.log",
    "x.config.yml", "x.review.jsonl", "x.report.html", "x.report", "x.log.part",
]  # fmt: skip
"""How a job can be spelled behind its folder, whether that file is there or not."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "x.leaderboard.txt",
        "x.leaderboard.jsonl",
        "x.judgments.jsonl",
        "x.qrels",
        "y.v2.judgments.jsonl",
        ".z.leaderboard.txt.part",
        ".w.judgments.jsonl",
        "lb.txt",
    ):
        (tmp_path / name).write_text("")
    return tmp_path


def x(folder: Path) -> JobFiles:
    return JobFiles(
        folder / "x",
        [folder / "x.leaderboard.txt"],
        folder / "x.leaderboard.jsonl",
        folder / "x.judgments.jsonl",
    )


def test_a_folder_stands_for_its_jobs(folder: Path) -> None:
    y = JobFiles(folder / "y.v2", [], None, folder / "y.v2.judgments.jsonl")
    assert outcomes(folder) == [x(folder), y]


@pytest.mark.parametrize("name", FILES)
def test_a_name_or_any_file_stands_for_its_job(folder: Path, name: str) -> None:
    assert outcome(folder / name) == x(folder)
    assert judged_job(folder / name) == JudgedJob(folder / "x", folder / "x.judgments.jsonl")
    assert judged_job(folder / name).outputs.report == folder / "x.report.html"


def test_any_other_file_is_a_leaderboard(folder: Path) -> None:
    assert outcome(folder / "lb.txt") == JobFiles(folder / "lb.txt", [folder / "lb.txt"])
    assert outcome(folder / "l*.txt") == JobFiles(folder / "l*.txt", [folder / "lb.txt"])


def test_a_folder_of_another_tool_is_one_leaderboard(tmp_path: Path) -> None:
    for run in ("b", "a", ".hidden"):
        (tmp_path / run).write_text("")
    assert outcome(tmp_path) == JobFiles(tmp_path, [tmp_path / "a", tmp_path / "b"])


def test_several_jobs_where_one_is_wanted(folder: Path) -> None:
    several = rf"{folder}: there are 2 \w+ in it; give one of {folder}/x, {folder}/y\.v2"
    with pytest.raises(InputError, match=several):
        outcome(folder)
    with pytest.raises(InputError, match=several):
        judged_job(folder)


def test_a_name_says_which_of_several(folder: Path) -> None:
    assert judged_job(folder, "y.v2").place == folder / "y.v2"
    with pytest.raises(InputError, match=r"unknown name 'z'; there are: x, y\.v2"):
        judged_job(folder, "z")


def test_a_leaderboard_beside_the_only_judgments_is_in_nobodys_way(write: Write) -> None:
    path = write("", "x.judgments.jsonl")
    write("", "human.leaderboard.txt")
    assert judged_job(path.parent).place == path.parent / "x"


def test_many_jobs_are_not_all_named(write: Write) -> None:
    for number in range(99):
        folder = write("", f"n{number}.judgments.jsonl").parent
    with pytest.raises(InputError, match=r"there are 99 jobs in it; give one of .*, …$"):
        judged_job(folder)


@pytest.mark.parametrize(
    ("files", "given", "place"),
    [
        pytest.param(["x.log.judgments.jsonl", "x.judgments.jsonl"], "x.log", "x.log",
                     id="a name that ends as a file does"),
        pytest.param(["x.log.judgments.jsonl", "x.judgments.jsonl", "x.log"], "x.log", "x",
                     id="the file is there"),
        pytest.param(["x.judgments.jsonl", "x/note.txt"], "x", "x", id="a folder of that name"),
        pytest.param(["x.judgments.jsonl", "x/y.judgments.jsonl"], "x", "x/y",
                     id="a folder with a job of its own"),
        pytest.param(["x.judgments.jsonl.gz"], "x", "x", id="packed"),
        pytest.param(["x.judgments.jsonl.gz"], "x.judgments.jsonl.gz", "x", id="the packed file"),
        pytest.param(["my run.judgments.jsonl"], "my run", "my run", id="a name with a space"),
    ],
)  # fmt: skip
def test_odd_names(files: list[str], given: str, place: str, tmp_path: Path) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert judged_job(tmp_path / given).place == tmp_path / place
    assert outcome(tmp_path / given).place == tmp_path / place


def test_judgments_under_another_name(write: Write) -> None:
    path = write(HEADER, "renamed.jsonl")
    job = judged_job(path)
    assert job == JudgedJob(path.parent / "renamed", path)
    with pytest.raises(InputError, match=r"is packed or renamed; it must be .*/renamed\.judgments"):
        job.outputs  # noqa: B018


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no leaderboard in it"):
        outcome(tmp_path)
    with pytest.raises(InputError, match=r"gone: no such file or folder$"):
        outcome(tmp_path / "gone")
    with pytest.raises(InputError, match=r"no NAME\.judgments\.jsonl in it; give the --out-dir"):
        judged_job(tmp_path)
    with pytest.raises(InputError, match=r"gone: no such judgments file, and no job of this name"):
        judged_job(tmp_path / "gone")


def test_what_is_no_job_names_those_beside_it(folder: Path) -> None:
    choices = rf"jobs there: {folder}/x, {folder}/y\.v2$"
    with pytest.raises(InputError, match=f"gone: no such file or folder; {choices}"):
        outcome(folder / "gone")
    with pytest.raises(InputError, match=f"gone: no such judgments file.*; {choices}"):
        judged_job(folder / "gone")
    with pytest.raises(InputError, match=r"lb\.txt: is not a judgments file, nor another file of"):
        judged_job(folder / "lb.txt")


def test_a_leaderboard_without_judgments(write: Write) -> None:
    path = write("", "x.leaderboard.txt")
    for given in (path, path.parent / "x", path.parent):
        with pytest.raises(InputError, match=r"no .*/x\.judgments\.jsonl beside the leaderboard"):
            judged_job(given)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("x.qrels", "qrels"), ("x.log", "log"), ("x", ""), ("lb.txt", ""), ("other.qrels", "")],
)
def test_which_file_of_a_job(folder: Path, name: str, kind: str) -> None:
    assert kind_of(folder / name) == kind
