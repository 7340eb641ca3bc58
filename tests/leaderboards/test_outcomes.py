"""What a path stands for: a job, all jobs of a folder, a leaderboard of another tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from trecjudge.errors import InputError
from trecjudge.leaderboards.outcomes import Outcome, outcome, outcomes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "x.leaderboard.txt",
        "x.leaderboard.jsonl",
        "x.judgments.jsonl",
        "x.qrels",
        "y.v2.judgments.jsonl",
        ".z.leaderboard.txt.part",
        "lb.txt",
    ):
        (tmp_path / name).write_text("")
    return tmp_path


def x(folder: Path) -> Outcome:
    return Outcome(
        folder / "x",
        [folder / "x.leaderboard.txt"],
        folder / "x.leaderboard.jsonl",
        folder / "x.judgments.jsonl",
    )


def test_a_folder_stands_for_its_jobs(folder: Path) -> None:
    y = Outcome(folder / "y.v2", [], None, folder / "y.v2.judgments.jsonl")
    assert outcomes(folder) == [x(folder), y]


@pytest.mark.parametrize(
    "name", ["x", "x.leaderboard.txt", "x.leaderboard.jsonl", "x.judgments.jsonl"]
)
def test_a_name_or_a_file_stands_for_its_job(folder: Path, name: str) -> None:
    assert outcome(folder / name) == x(folder)


def test_any_other_file_is_a_leaderboard(folder: Path) -> None:
    assert outcome(folder / "lb.txt") == Outcome(folder / "lb.txt", [folder / "lb.txt"])


def test_a_folder_of_another_tool_is_one_leaderboard(tmp_path: Path) -> None:
    for run in ("b", "a", ".hidden"):
        (tmp_path / run).write_text("")
    assert outcome(tmp_path) == Outcome(tmp_path, [tmp_path / "a", tmp_path / "b"])


def test_several_jobs_where_one_is_wanted(folder: Path) -> None:
    with pytest.raises(InputError, match=r"there are 2 leaderboards in it; give one of .*/x, .*v2"):
        outcome(folder)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no leaderboard in it"):
        outcome(tmp_path)
    with pytest.raises(InputError, match="gone: no such file or folder"):
        outcome(tmp_path / "gone")
