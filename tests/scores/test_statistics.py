"""`NAME.leaderboard.jsonl`: what every run and measure of a job has beside its mean."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.cli.jobs import BAD, GOOD, job
from tests.commandline import command, sample
from tests.fakes import judgment, response
from trecjudge.evaluation.comparing import scores_at
from trecjudge.measures import Aggregate, LeaderboardSpec, MeasureSpec
from trecjudge.results.jobs import outcome
from trecjudge.results.statistics import RunScore
from trecjudge.scores.corrections import HumanLabels
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.scores.statistics import rank_by_measure, statistics_lines

KEYS = [
    "run_id", "measure", "mean", "topics", "judged", "expected", "low", "high", "lowest", "highest",
    "rank", "rank_low", "rank_high", "ties", "groups", "test", "lower_is_better", "human",
    "aggregate", "by_topic", "signs",
]  # fmt: skip
NOBODY = HumanLabels({}, {})


def records(path: Path, measure: str = "CITATION_SUPPORT") -> dict[str, dict[str, Any]]:
    """Return the records of one measure by run."""
    lines = Path(f"{path}.leaderboard.jsonl").read_text().splitlines()
    return {r["run_id"]: r for r in map(json.loads, lines) if r["measure"] == measure}


def test_one_object_for_each_run_and_measure(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    lines = (tmp_path / "x.leaderboard.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    assert len(found) == 3 * 6
    assert [list(record) for record in found[:15]] == [KEYS] * 15
    ranking = [*KEYS[:-2], "ranks_for", *KEYS[-2:]]
    assert [list(record) for record in found[15:]] == [ranking] * 3
    runs = [record["run_id"] for record in found if record["measure"] == "CITATION_SUPPORT"]
    assert runs == ["careful", "uncited", "careless"]  # the best first


def test_a_mean_is_that_of_the_plain_leaderboard(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    plain = {}
    for line in (tmp_path / "x.leaderboard.txt").read_text().splitlines():
        run, topic, measure, value = line.split("\t")
        if (topic, measure) == ("all", "CITATION_SUPPORT"):
            plain[run] = float(value)
    assert {run: r["mean"] for run, r in records(tmp_path / "x").items()} == plain


def labels(folder: Path, topics: int) -> Path:
    """Return labels of the first topics: full support; the others are unjudged."""
    path = folder / "labels.jsonl"
    line = (
        '{"topic_id": "%d", "run_id": "r", "sentence_index": 0, "doc_id": "k", "label": "full"}\n'
    )
    path.write_text("".join(line % topic for topic in range(1, topics + 1)))
    return path


def test_unjudged_items_leave_bounds(tmp_path: Path) -> None:
    given = ("--judgments-from", labels(tmp_path, 3))
    found = records(job(tmp_path, "x", {"r": [GOOD] * 4}, *given, status=3))["r"]
    assert (found["mean"], found["lowest"], found["highest"]) == (1.0, 0.75, 1.0)
    assert (found["judged"], found["expected"], found["topics"]) == (3, 4, 3)


def test_where_nothing_was_judged_all_is_null_but_the_bounds(tmp_path: Path) -> None:
    given = ("--judgments-from", labels(tmp_path, 1))
    runs = {"r": [GOOD], "other": [GOOD]}
    found = records(job(tmp_path, "x", runs, *given, status=3))["other"]
    nulls = ["mean", "low", "high", "rank", "human"]
    assert [found[key] for key in nulls] == [None] * 5
    assert (found["lowest"], found["highest"], found["groups"]) == (0.0, 1.0, [])


def test_ties_name_each_other(tmp_path: Path) -> None:
    runs = {"a": [BAD, GOOD], "b": [GOOD, BAD], "c": [GOOD, GOOD]}
    found = records(job(tmp_path, "x", runs))
    assert {run: (r["rank"], r["ties"]) for run, r in found.items()} == {
        "c": (1, []),
        "a": (2, ["b"]),
        "b": (2, ["a"]),
    }


def test_several_judges_have_counts_of_their_own(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--judge", "citation,length")
    own, other = records(tmp_path / "x"), records(tmp_path / "x", "LENGTH")
    assert sum(r["expected"] for r in own.values()) == 39
    assert sum(r["expected"] for r in other.values()) == 9


def test_names_of_runs_change_no_figure(tmp_path: Path) -> None:
    good, fair = [GOOD] * 9 + [BAD], [GOOD, BAD] * 5
    before = records(job(tmp_path, "x", {"a": good, "b": fair, "c": [BAD] * 10}))
    after = records(job(tmp_path, "y", {"z": good, "m": fair, "a": [BAD] * 10}))
    for old, new in (("a", "z"), ("b", "m"), ("c", "a")):
        for key in ("mean", "low", "high", "rank", "groups", "topics"):
            assert before[old][key] == after[new][key]


def test_a_hostile_run_id_is_one_line_of_json(tmp_path: Path) -> None:
    name = 'a\\"\\u2028\\n<b>'
    out = job(tmp_path, "x", {"r": [GOOD]})
    run = tmp_path / "x.runs" / "r.jsonl"
    run.write_text(run.read_text().replace('"run_id": "r"', f'"run_id": "{name}"'))
    paths = ("--rag-responses", tmp_path / "x.runs", "--out-dir", out.parent, "--name", "x")
    assert command(*paths, "-q", "--judge", "citation").status == 0
    lines = Path(f"{out}.leaderboard.jsonl").read_bytes().strip().split(b"\n")
    assert {json.loads(line)["run_id"] for line in lines} == {json.loads(f'"{name}"')}


def board(aggregate: Aggregate, lower_is_better: bool = False) -> Leaderboard:
    """Return a leaderboard of two runs with 1, 3 and 2, 2 sentences on six topics, in turn."""
    measure = MeasureSpec(
        "M",
        lambda response, judgments: float(len(response.sentences)),
        aggregate,
        lower_is_better=lower_is_better,
    )
    topics = [f"t{number}" for number in range(6)]
    found = Leaderboard(LeaderboardSpec((measure,)), topics)
    for run, counts in (("a", (1, 3)), ("b", (2, 2))):
        for topic, count in zip(topics, counts * 3, strict=True):
            sentences = [("S.", ["d"])] * count
            found.add(response(*sentences, run_id=run, topic_id=topic), [judgment("x")])
    found.finish()
    return found


def standing(aggregate: Aggregate, lower_is_better: bool = False) -> dict[str, RunScore]:
    """Return where the runs of `board` stand."""
    found = rank_by_measure(board(aggregate, lower_is_better), NOBODY)
    return {s.run_id: s for s in found["M"]}


@pytest.mark.parametrize(
    ("aggregate", "means", "has_interval"),
    [
        ("mean_of_floats", (2.0, 2.0), True),
        ("sum", (12.0, 12.0), True),
        ("min", (1.0, 2.0), False),
        ("max", (3.0, 2.0), False),
        ("first_value", (1.0, 2.0), False),
    ],
)
def test_only_means_have_intervals_and_groups(
    aggregate: Aggregate, means: tuple[float, float], has_interval: bool
) -> None:
    found = standing(aggregate)
    assert (found["a"].mean, found["b"].mean) == means
    assert all(bool(s.groups) == has_interval for s in found.values())
    assert (found["a"].low is not None) == has_interval


def test_the_interval_of_a_sum_is_that_of_the_sum() -> None:
    a = standing("sum")["a"]
    assert (a.low, a.mean, a.high) == (6.0, 12.0, 18.0)


def test_the_lowest_can_be_the_best() -> None:
    found = standing("min", lower_is_better=True)
    assert (found["a"].rank, found["b"].rank) == (1, 2)


def test_lines_are_json() -> None:
    found = board("sum")
    line, _ = statistics_lines(found, rank_by_measure(found, NOBODY))
    assert line.endswith(b"\n")
    assert list(json.loads(line)) == KEYS[:-1]


def test_they_have_the_value_of_each_topic_that_enters_the_mean(tmp_path: Path) -> None:
    """No response counts the default, what is unjudged nothing, as in `all`."""
    topics = tmp_path / "topics.jsonl"
    topics.write_text("".join(f'{{"id": "{t}", "title": "kettles"}}\n' for t in "1234"))
    given = ("--judgments-from", labels(tmp_path, 2), "--rag-topics", topics)
    out = job(tmp_path, "x", {"r": [GOOD, GOOD, GOOD]}, *given, status=3)
    found = records(out)["r"]
    assert found["by_topic"] == {"1": 1.0, "2": 1.0, "3": None, "4": 0.0}
    assert found["mean"] == pytest.approx(2 / 3, abs=1e-6)
    scores = scores_at(outcome(out), lambda finding: pytest.fail(str(finding)))
    assert scores.topics == ["1", "2", "3", "4"]
    row = scores.values["CITATION_SUPPORT"][0].tolist()
    assert (row[:2], math.isnan(row[2]), row[3]) == ([1.0, 1.0], True, 0.0)
