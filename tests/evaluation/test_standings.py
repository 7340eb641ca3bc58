"""Where runs stand, by statistics or only by rows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.jobs import GOOD, job, partly_judged
from tests.commandline import sample
from trecjudge.errors import InputError
from trecjudge.evaluation.standings import Standings, judges_of, ranking_of, standings_at
from trecjudge.results.jobs import outcome


def at(path: Path, lower: tuple[str, ...] = ()) -> Standings:
    """Return the standings of a path; what is found on the way is of no interest."""
    return standings_at(outcome(path), lambda finding: None, lower_is_better=lower)[0]


def test_statistics_are_taken_as_they_are(tmp_path: Path) -> None:
    path = partly_judged(tmp_path)
    lines = [json.loads(line) for line in path.with_suffix(".leaderboard.jsonl").open()]
    found = at(path)
    for line in lines:
        own = found.by_measure[line["measure"]][line["run_id"]].as_dict()
        assert bool(own.pop("ties")) == bool(line["ties"])
        assert own == {name: line[name] for name in own}


def test_without_statistics_the_topics_give_the_same(tmp_path: Path) -> None:
    assert sample("ragtime", tmp_path, "-q").status in (0, 3)
    (tmp_path / "moved").mkdir()
    rows = tmp_path / "x.leaderboard.txt"
    moved = rows.rename(tmp_path / "moved" / "lb.txt")
    there = at(moved)
    moved.rename(rows)
    for measure, stands in at(tmp_path / "x").by_measure.items():
        for run, stand in stands.items():
            other = there.by_measure[measure][run]
            names = ("mean", "rank", "ties", "low", "high", "groups")
            assert [getattr(other, n) for n in names] == [getattr(stand, n) for n in names]


def written(folder: Path, *rows: str) -> Path:
    """Return a leaderboard of rows `run topic value` by one measure."""
    path = folder / "lb.txt"
    path.write_text("".join(f"{r} {t} M {v}\n" for r, t, v in map(str.split, rows)))
    return path


@pytest.mark.parametrize(
    ("every", "has_interval"),
    [
        pytest.param(("0.5", "0.9"), True, id="means of their topics"),
        pytest.param(("3.0", "5.4"), True, id="sums"),
        pytest.param(("0.4", "0.9"), False, id="neither: no interval is that of such a row"),
        pytest.param((), True, id="no all rows"),
    ],
)
def test_an_interval_is_that_of_the_row(
    every: tuple[str, ...], has_interval: bool, tmp_path: Path
) -> None:
    topics = [
        *(f"a {i} {v}" for i, v in enumerate((0.2, 0.4, 0.4, 0.6, 0.6, 0.8))),
        *(f"b {i} {v}" for i, v in enumerate((0.8, 0.9, 0.9, 0.9, 0.9, 1.0))),
    ]
    rows = [f"{run} all {value}" for run, value in zip("ab", every, strict=False)]
    path = written(tmp_path, *topics, *rows)
    found = standings_at(outcome(path), lambda f: None, "ir_measures")[0].by_measure["M"]
    assert (found["a"].low is not None) is has_interval
    if has_interval:
        low, mean, high = found["a"].low, found["a"].mean, found["a"].high
        assert low is not None and mean is not None and high is not None and low < mean < high


def test_lower_is_better_where_it_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, "a all 0.2", "b all 0.4")
    assert at(path).runs("M") == ["b", "a"]
    assert at(path, ("M",)).runs("M") == ["a", "b"]
    with pytest.raises(InputError, match="unknown measure 'N'"):
        at(path, ("N",))


@pytest.mark.parametrize(
    ("judges", "ranking"),
    [
        ("citation", ["EXPECTED_CITATION_SUPPORT"]),
        ("length,citation", ["EXPECTED_CITATION_SUPPORT", "LENGTH"]),
        ("support,citation", None),
    ],
)
def test_each_judge_ranks_by_a_measure(
    judges: str, ranking: list[str] | None, tmp_path: Path
) -> None:
    found = at(job(tmp_path, "x", {"r": [GOOD]}, "--judge", judges))
    assert len(found.ranking) == len(judges.split(","))
    assert ranking in (None, found.ranking)
    assert set(found.ranking) <= set(found.by_measure)


def test_a_workflow_chooses_what_ranks(tmp_path: Path) -> None:
    workflow = tmp_path / "w.yml"
    workflow.write_text("judge: [citation, length]\nleaderboard: {sort_by: SENTENCE_SUPPORT}\n")
    found = at(
        job(tmp_path, "x", {"r": [GOOD]}, "--judge", "citation,length", "--workflow", workflow)
    )
    assert found.ranking == ["SENTENCE_SUPPORT", "LENGTH"]


def test_no_code_of_others_is_run_for_a_table(tmp_path: Path) -> None:
    path = job(tmp_path, "x", {"r": [GOOD]})
    judgments = path.with_suffix(".judgments.jsonl")
    judgments.write_text(judgments.read_text().replace('"citation"', '"nowhere.mod:Judge"'))
    assert at(path).ranking == list(at(path).by_measure)


def test_a_gate_asks_what_ranks_and_whose_a_measure_is(tmp_path: Path) -> None:
    found = outcome(job(tmp_path, "x", {"r": [GOOD]}, "--judge", "citation,length"))
    ranking = ["CITATION_SUPPORT", "LENGTH"]
    assert sorted(ranking_of(found, dict.fromkeys([*ranking, "AVG_CITATIONS"], 1), 1)) == ranking
    assert ranking_of(found, {"OTHER": 1}, 1) == []
    assert judges_of(found)["LENGTH"] == "length"
    without = replace(found, judgments=None)
    assert (ranking_of(without, {"LENGTH": 1}, 1), judges_of(without)) == ([], {})
