"""Two leaderboards brought together: what both have, and what one lacks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.reading import fail
from tests.stats.texts import by_run, by_topic, scores
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.stats.alignment import (
    Rules,
    defined_measures,
    rows_of_both,
    same_runs,
    same_topics,
)

COMMON = Rules(on_missing="common")
ABC, BCD = by_run(a=1, b=2, c=3), by_run(b=4, c=5, d=6)


def test_the_same_runs_in_the_same_order() -> None:
    sides = scores(ABC, "x"), scores(by_run(c=7, b=8, a=9), "y")
    one, other = same_runs(*sides, Rules(), fail)
    assert list(one.runs) == list(other.runs) == ["a", "b", "c"]
    assert other.overall("M").tolist() == [9, 8, 7]


def test_the_runs_that_each_side_lacks_are_reported() -> None:
    findings: list[Finding] = []
    more = by_run(e=1, f=2)
    one, other = same_runs(
        scores(ABC + more, "x"), scores(BCD + more, "y"), COMMON, findings.append
    )
    assert list(one.runs) == list(other.runs) == ["b", "c", "e", "f"]
    assert [str(f) for f in findings] == [
        "y: has no scores of 1 run: 'a'",
        "x: has no scores of 1 run: 'd'",
    ]


def test_zero_is_only_for_runs_that_the_judge_lacks() -> None:
    findings: list[Finding] = []
    rules = replace(COMMON, on_missing="zero")
    one, other = same_runs(scores(ABC, "x"), scores(BCD, "y"), rules, findings.append)
    assert list(one.runs) == list(other.runs) == ["a", "b", "c"]
    assert other.overall("M").tolist() == [0, 4, 5]
    assert len(findings) == 2


def test_zero_is_so_on_every_topic() -> None:
    truth = scores("".join(by_topic(run, [1, 1]) for run in "abc"), "x")
    judge = scores("".join(by_topic(run, [1, 1]) for run in "bc"), "y")
    rules = replace(COMMON, on_missing="zero")
    _, other = same_runs(truth, judge, rules, lambda finding: None)
    assert other.values["M"].tolist() == [[0, 0], [1, 1], [1, 1]]


def test_many_names_are_cut() -> None:
    many = by_run(**{f"r{i:02d}": i for i in range(20)})
    with pytest.raises(InputError, match=r"of 20 runs: 'r00', .*'r07', …; --rows missing=common"):
        same_runs(scores(many, "x"), scores(ABC, "y"), Rules(), fail)


def test_topics_of_both() -> None:
    findings: list[Finding] = []
    one = scores("a t1 M 1\na t2 M 1\n", "x")
    other = scores("a t2 M 1\na t3 M 1\n", "y")
    assert same_topics(one, other, Rules(), findings.append) == ["t2"]
    assert [f.value for f in findings] == ["'t1'", "'t3'"]


def test_a_side_without_topics_lacks_none() -> None:
    assert same_topics(scores("a t1 M 1\n"), scores("a all M 1\n"), Rules(), fail) == []


def test_runs_that_have_both_measures() -> None:
    truth, judge = scores(ABC + by_run(d=4)), scores(ABC + by_run("N", a=1, b=1, c=1, d=1), "y")
    assert rows_of_both(truth, judge, "M", "N", fail) == (0, 1, 2, 3)
    findings: list[Finding] = []
    assert rows_of_both(truth, judge, "M", "M", findings.append) == (0, 1, 2)
    assert str(findings[0]) == "y: 1 runs have no M, or no M in lb: 'd'"


def test_too_few_runs_have_both_measures() -> None:
    judge = scores(by_run(a=1, b=1) + by_run("N", a=1, b=1, c=1), "y")
    findings: list[Finding] = []
    assert rows_of_both(scores(ABC), judge, "M", "M", findings.append) == ()
    assert [f.kind for f in findings] == ["measure_undefined"]
    assert str(findings[0]) == "y: 1 runs have no M, or no M in lb: 'c'"


def test_measures_that_runs_lack_are_left_out() -> None:
    both = scores(by_run(a=1, b=1, c=1, d=1) + by_run("N", a=1, b=1, c=1) + by_run("L", a=1), "y")
    findings: list[Finding] = []
    assert defined_measures(both, ["M", "N", "L"], Rules(), findings.append) == ["M"]
    assert defined_measures(both, ["M", "N", "L"], COMMON, findings.append) == ["M", "N"]
    lacking = "y: measures that runs lack (how many of 4):"
    other = "; --rows missing=common leaves out the runs instead"
    assert list(map(str, findings)) == [f"{lacking} N (1), L (3){other}", f"{lacking} L (3)"]
    with pytest.raises(InputError, match=r"y: no measure is left; .*: L \(3\)"):
        defined_measures(both, ["L"], Rules(), fail)


def test_without_all_rows_the_topics_decide() -> None:
    found = scores("a t1 M 0.5\na all M 0.9\na all N 0.2\n", findings=[]).without_all(["M", "N"])
    assert found.overall("M").tolist() == [0.5]
    assert np.isnan(found.given["M"]).all()
    assert found.overall("N").tolist() == [0.2]  # it has no topics
