"""Leaderboards, statistics and judgments of jobs, as the statistics take them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.commandline import sample
from tests.reading import Write, fail
from tests.stats.texts import figure
from trecjudge.errors import InputError
from trecjudge.evaluation.comparing import bounded_means, judgments_at, scores_at
from trecjudge.results.jobs import outcome, outcomes

STATISTICS = (
    '{"run_id": "r", "measure": "M", "mean": %s, "lowest": 0.4, "highest": 0.9, "judged": 3,'
    ' "expected": 4, "lower_is_better": %s}\n'
)


def test_the_jobs_of_a_folder_are_leaderboards_of_their_own(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.leaderboard.txt").write_text(f"{name}\tall\tM\t1\n")
    found = [scores_at(found, fail) for found in outcomes(tmp_path)]
    assert [(s.name, s.runs) for s in found] == [
        (str(tmp_path / "a"), ["a"]),
        (str(tmp_path / "b"), ["b"]),
    ]


def test_files_of_trec_eval_are_one_leaderboard(write: Write) -> None:
    write("num_q all 2\nmap 1 0.5\nmap all 0.5\n", "runs/first")
    path = write("num_q all 2\nmap 1 0.7\nmap all 0.7\n", "runs/second")
    (found,) = [scores_at(one, fail) for one in outcomes(path.parent)]
    assert (found.runs, found.measures) == (["first", "second"], ["num_q", "map"])
    assert found.overall("map").tolist() == [0.5, 0.7]


def test_only_statistics_are_a_leaderboard_of_all_rows(write: Write) -> None:
    path = write(STATISTICS % ("0.5", "false"), "x.leaderboard.jsonl")
    found = scores_at(outcome(path), fail)
    assert (found.topics, found.overall("M").tolist()) == ([], [0.5])


def test_only_judgments_are_no_leaderboard(write: Write) -> None:
    path = write("", "x.judgments.jsonl")
    with pytest.raises(InputError, match="no leaderboard beside it; `job rescore` writes one"):
        scores_at(outcome(path), fail)


@pytest.mark.parametrize(
    ("own", "named", "wanted"),
    [("false", [], False), ("true", [], True), ("false", ["M"], True)],
)
def test_what_statistics_have(own: str, named: list[str], wanted: bool, write: Write) -> None:
    write("r all M 0.5\n", "x.leaderboard.txt")
    found = outcome(write(STATISTICS % ("0.5", own), "x.leaderboard.jsonl"))
    figures = bounded_means(scores_at(found, fail), named)
    assert figures == {("r", "M"): replace(figure(0.5, 0.4, 0.9, 3, 4), lower_is_better=wanted)}


def test_without_statistics_the_bounds_are_the_mean(write: Write) -> None:
    found = outcome(write("r all M 0.5\n", "lb"))
    assert bounded_means(scores_at(found, fail)) == {
        ("r", "M"): replace(figure(0.5, 0.5, 0.5, 0, 0), only_unjudged=True)
    }


def test_a_run_of_which_nothing_was_judged_is_only_in_the_statistics(write: Write) -> None:
    write("s all M 0.5\n", "x.leaderboard.txt")
    found = outcome(write(STATISTICS % ("null", "false"), "x.leaderboard.jsonl"))
    figures = bounded_means(scores_at(found, fail))
    assert figures["r", "M"].mean is None


def test_statistics_that_lack_something(write: Write) -> None:
    write("r all M 0.5\n", "x.leaderboard.txt")
    found = outcome(write('{"run_id": "r", "measure": "M"}\n', "x.leaderboard.jsonl"))
    with pytest.raises(InputError, match=r"x.leaderboard.jsonl:1: a record without 'mean'"):
        bounded_means(scores_at(found, fail))


def test_the_judgments_of_a_job(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    for path in (tmp_path, tmp_path / "x", tmp_path / "x.leaderboard.txt"):
        assert list(judgments_at(path).header.judges) == ["citation"]
