"""What a comparison leaves out is named, whatever side it is on."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from tests.stats.texts import by_run, by_topic, scores
from trecjudge.findings import Finding
from trecjudge.stats.comparison import compare, pairs_of, report_unmatched
from trecjudge.stats.scores import Scores


def named(
    *tables: Scores, against: str = "", only: Collection[str] = (), measures: Collection[str] = ()
) -> list[str]:
    findings: list[Finding] = []
    pairs = pairs_of(tables, against, only)
    found = compare(pairs, measures)
    report_unmatched(tables, pairs, found, findings.append, only, measures)
    return [str(finding) for finding in findings]


OLD = scores(by_topic("a", [1, 1]) + by_topic("b", [1, 1]), "old")


def test_nothing_is_left_out() -> None:
    assert named(OLD) == []
    assert named(OLD, scores(by_topic("a", [1, 0]) + by_topic("b", [0, 1]), "new")) == []


def test_runs_of_one_side() -> None:
    new = scores(by_topic("a", [1, 1]) + by_topic("c", [1, 1]), "new")
    message = "has 1 runs that are not in every leaderboard and are not compared"
    assert named(OLD, new) == [
        f"old: {message}: 'b'; --against RUN compares all runs with one",
        f"new: {message}: 'c'; --against RUN compares all runs with one",
    ]
    assert named(OLD, new, against="a") == []
    assert named(OLD, new, only=["a"]) == []


def test_topics_of_one_side() -> None:
    runs = (by_topic("a", [1, 1, 1]) + by_topic("b", [1, 1, 1])).replace("t000", "q")
    assert named(OLD, scores(runs, "new")) == [
        "new: has no scores on 1 topics of old: 't000'",
        "old: has no scores on 2 topics of new: 'q', 't002'",
    ]


def test_measures_of_one_side() -> None:
    more = scores(by_topic("a", [1, 1]) + by_topic("a", [1, 1], "N"), "new")
    one = scores(by_topic("a", [1, 1]), "old")
    assert named(one, more) == ["old: has no 'N', which new has: not compared"]
    assert named(one, more, measures=["M"]) == []


@pytest.mark.parametrize(("turned", "side"), [(False, "new"), (True, "old")])
def test_topics_without_a_value(turned: bool, side: str) -> None:
    texts = ["r t1 M 1\nr t2 M 1\nr all M 1\n", "r t1 M 0.5\ns t2 M 1\nr all M 0.5\ns all M 1\n"]
    old, new = (
        scores(t, n) for t, n in zip(texts[:: -1 if turned else 1], ("old", "new"), strict=True)
    )
    message = (
        f"{side}: r: M has no value on 1 topics, unjudged or not defined, which are in neither"
    )
    assert named(old, new, only=["r"]) == [f"{message} mean: 't2'"]


def test_runs_without_a_value_at_all() -> None:
    texts = by_run(a=1, b=1) + by_run("N", a=1), by_run(a=1, b=1) + by_run("N", a=1, b=1)
    message = named(*(scores(t, n) for t, n in zip(texts, ("old", "new"), strict=True)))
    assert message == ["old: b: N has no value there or in new: b: not compared"]
