"""The gate's rules: bounds, drops that are more than noise, unjudged items, JUnit."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.stats.texts import by_run, by_topic, figure, known, scores
from trecjudge.errors import InputError, WorkflowError
from trecjudge.results.statistics import RunScore
from trecjudge.show.failing import junit
from trecjudge.stats.release_gate import (
    NOTHING,
    GateRule,
    RuleCheck,
    RunScores,
    bounds,
    drops,
    rule_of,
    without_repeats,
)
from trecjudge.stats.scores import Scores

JUDGED = figure(0.8, 0.8, 0.8, 40, 40)
OPEN = figure(0.8, 0.7, 0.9, 36, 40)


BOUNDS = {
    "kept": (JUDGED, "min 0.8", ""),
    "too low": (JUDGED, "min 0.81", "is 0.8, must be at least 0.81"),
    "kept, high": (JUDGED, "max 0.8", ""),
    "too high": (JUDGED, "max 0.5", "is 0.8, must be at most 0.5"),
    "unjudged items cannot change it": (OPEN, "min 0.6", ""),
    "unjudged items could make it too low": (
        OPEN,
        "min 0.75",
        "is 0.8, but 4 of 40 items are unjudged: it could be 0.7, must be at least 0.75",
    ),
    "unjudged items could make it too high": (
        OPEN,
        "max 0.85",
        "is 0.8, but 4 of 40 items are unjudged: it could be 0.9, must be at most 0.85",
    ),
    "nothing judged": (
        figure(None, 0.0, 1.0, 0, 40),
        "min 0.1",
        "has no value: nothing of it was judged",
    ),
    "there was nothing to judge": (
        figure(0.0, 0.0, 0.0, 0, 0),
        "min 0",
        "is 0, but nothing was judged: 0 of 0 items",
    ),
    "no bounds known": (
        figure(0.8, None, None, 3, 4),
        "min 0.1",
        "is 0.8, but 1 of 4 items are unjudged: it could be anything, must be at least 0.1",
    ),
}


@pytest.mark.parametrize(("own", "text", "broken"), BOUNDS.values(), ids=BOUNDS)
def test_bounds(own: RunScore, text: str, broken: str) -> None:
    kind, limit = text.split()
    rule = GateRule(kind, "M", float(limit))  # type: ignore[arg-type]
    (check,) = bounds([rule], scores(by_run(r=0.8)), {("r", "M"): own})
    assert check.broken == broken


def test_every_run_is_held_against_every_rule() -> None:
    table = scores(by_run(a=1, b=1) + by_run("N", a=1, b=1))
    figures = {(run, m): figure(1, 1, 1, 1, 1) for run in "ab" for m in "MN"}
    checks = bounds([GateRule("min", "M", 0), GateRule("min", "N", 2)], table, figures)
    assert [(c.run_id, c.rule.measure, bool(c.broken)) for c in checks] == [
        ("a", "M", False),
        ("a", "N", True),
        ("b", "M", False),
        ("b", "N", True),
    ]
    assert str(checks[1]) == "a: N is 1, must be at least 2"


def test_a_measure_that_is_not_there() -> None:
    with pytest.raises(InputError, match="lb: unknown measure 'X'; there are: M"):
        bounds([GateRule("min", "X", 0)], scores(by_run(a=1)), {})


NOISE = np.random.default_rng(7).normal(0, 0.1, 30)
NOISE -= NOISE.mean()
OLD = scores(by_topic("r", (0.8 + NOISE).tolist()), "old")
DROP = GateRule("drop", "M", 0.02)


def now(values: object, run: str = "r") -> tuple[Scores, RunScores]:
    """Return a leaderboard of one run, and its figures with everything judged."""
    numbers = np.asarray(values, dtype=float)
    mean = float(numbers.mean())
    return scores(by_topic(run, numbers.tolist()), "new"), {
        (run, "M"): figure(mean, mean, mean, 9, 9)
    }


def test_a_clear_drop_breaks_the_rule() -> None:
    (check,) = drops([DROP], now(0.7 + NOISE)[0], OLD, now(0.7 + NOISE)[1])
    assert check.broken.startswith("fell by 0.1 from 0.8")
    assert check.broken.endswith("over 30 topics; may fall by 0.02")


WOBBLE = np.random.default_rng(3).normal(0, 0.3, 30)
WOBBLE -= WOBBLE.mean() + 0.03


def test_a_drop_that_may_be_noise_does_not_unless_strict() -> None:
    table, figures = now(0.8 + NOISE + WOBBLE)
    assert OLD.means("M")[0] - table.means("M")[0] > 0.02
    assert [c.broken for c in drops([DROP], table, OLD, figures)] == [""]
    assert drops([DROP], table, OLD, figures, strict=True)[0].broken


def test_a_rise_and_a_small_drop_keep_the_rule() -> None:
    for values in (0.9 + NOISE, 0.79 + NOISE):
        table, figures = now(values)
        assert drops([DROP], table, OLD, figures, strict=True)[0].broken == ""


def test_with_too_few_topics_for_the_test_a_drop_counts_as_it_is() -> None:
    old = scores(by_topic("r", [0.9, 0.8, 0.9]), "old")
    table, figures = now([0.8, 0.7, 0.8])
    assert "fell by 0.1" in drops([DROP], table, old, figures)[0].broken


@pytest.mark.parametrize(("changed", "falls"), [(1, True), (5, True), (6, True), (0, False)])
def test_a_topic_without_a_change_speaks_for_nothing(changed: int, falls: bool) -> None:
    """Of 20 topics 5 fall from 1 to 0: the smallest p there could be is 2/32."""
    old = scores(by_topic("r", [1] * 20), "old")
    table, figures = now([0] * changed + [1] * (20 - changed))
    (check,) = drops([DROP], table, old, figures)
    assert bool(check.broken) == falls
    assert ("too few changes to test" in check.broken) == (0 < changed < 6)


def test_a_drop_that_hangs_on_no_name_of_a_topic() -> None:
    rng = np.random.default_rng(3)
    before, after = np.array([1] * 13 + [0] * 4 + [1] * 3), np.array([0] * 13 + [1] * 7)
    outcomes = set()
    for _ in range(10):
        order = rng.permutation(20)
        old = scores(by_topic("r", before[order].tolist()), "old")
        table, figures = now(after[order])
        outcomes.add(drops([DROP], table, old, figures)[0].broken)
    assert len(outcomes) == 1


def test_where_lower_is_better_a_rise_is_the_drop() -> None:
    table, figures = now(0.9 + NOISE)
    lower = {key: replace(figure, lower_is_better=True) for key, figure in figures.items()}
    (check,) = drops([DROP], table, OLD, lower)
    assert check.broken.startswith("rose by 0.1")
    assert check.broken.endswith("; may rise by 0.02")
    assert str(check.rule) == "M rises by at most 0.02"


def test_unjudged_items_could_make_it_a_drop() -> None:
    table, figures = now(0.8 + NOISE)
    some = {key: replace(figure, lowest=0.7, judged=8) for key, figure in figures.items()}
    (check,) = drops([DROP], table, OLD, some)
    assert "but 1 of 9 items are unjudged: it could be" in check.broken


def test_where_lower_is_better_unjudged_items_could_make_it_a_rise() -> None:
    table, before = now(0.8 + NOISE)
    open_to = {"lowest": 0.7, "highest": 0.9, "judged": 8, "lower_is_better": True}
    some = {key: replace(figure, **open_to) for key, figure in before.items()}
    (check,) = drops([DROP], table, OLD, some, before)
    assert "unjudged: it could be 0.1; may rise by 0.02" in check.broken


def test_unjudged_items_of_the_baseline_could_too() -> None:
    table, figures = now(0.8 + NOISE)
    some = {key: replace(figure, highest=0.9, judged=8) for key, figure in figures.items()}
    (check,) = drops([DROP], table, OLD, figures, some)
    assert "but of the baseline 1 of 9 items are unjudged: it could be 0.1;" in check.broken
    nothing = {key: replace(figure, highest=None, judged=8) for key, figure in figures.items()}
    assert "it could be anything" in drops([DROP], table, OLD, figures, nothing)[0].broken


def test_a_topic_of_only_the_baseline_breaks_the_rule() -> None:
    table, figures = now((0.8 + NOISE)[:-2])
    unknown = {key: replace(figure, judged=0, expected=0) for key, figure in figures.items()}
    for those in (figures, unknown):
        (check,) = drops([DROP], table, OLD, those)
        assert check.broken == "has no value on 2 of 30 topics of the baseline: 't028', 't029'"


ONE = figure(1, 1, 1, 9, 9)
VALUELESS = figure(None, None, None, 9, 9)
FAILED = figure(None, 0, 1, 0, 9)


MISSING_MEANS = {
    "not defined": (VALUELESS, VALUELESS, "", "has no value here or in the baseline"),
    "it had one and lost it": (ONE, VALUELESS, "has no value: in the baseline it was 1", ""),
    "it is new": (VALUELESS, ONE, "", "has no value in the baseline"),
    "nothing of the baseline was judged": (FAILED, VALUELESS, NOTHING, ""),
    "nothing of the run was judged": (VALUELESS, FAILED, NOTHING, ""),
}


@pytest.mark.parametrize(
    ("before", "after", "broken", "no_rule"), MISSING_MEANS.values(), ids=MISSING_MEANS
)
def test_a_mean_that_is_not_there(
    before: RunScore, after: RunScore, broken: str, no_rule: str
) -> None:
    sides = [
        scores(by_run(r=1.0 if side.mean else np.nan) + by_run("N", r=1))
        for side in (before, after)
    ]
    (check,) = drops([DROP], sides[1], sides[0], {("r", "M"): after}, {("r", "M"): before})
    assert (check.broken, check.no_rule) == (broken, no_rule)


ONE_SIDED = {
    "answers that say nothing now": ([1.0] * 20, [1.0] * 12 + [None] * 8, False, True),
    "in place of wrong ones": ([0.0] * 20, [0.0] * 12 + [None] * 8, False, False),
    "new wrong ones": ([1.0] * 12 + [None] * 8, [1.0] * 12 + [0.0] * 8, False, True),
    "new right ones": ([1.0] * 12 + [None] * 8, [1.0] * 20, False, False),
    "nothing now, in place of no error": ([0.0] * 20, [0.0] * 12 + [None] * 8, True, True),
    "nothing now, in place of errors": ([1.0] * 20, [1.0] * 12 + [None] * 8, True, False),
}


@pytest.mark.parametrize(("before", "after", "lower", "breaks"), ONE_SIDED.values(), ids=ONE_SIDED)
def test_values_that_only_one_side_has_count(
    before: list[float | None], after: list[float | None], lower: bool, breaks: bool
) -> None:
    sides = []
    for values in (before, after):
        own = [value for value in values if value is not None]
        by = {f"t{i:03d}": value for i, value in enumerate(values)}
        mean = sum(own) / len(own)
        sides.append(scores(by_run(r=mean), known={("r", "M"): known(mean, by)}))
    figures = {("r", "M"): replace(ONE, lower_is_better=lower)}
    (check,) = drops([DROP], sides[1], sides[0], figures, figures)
    assert bool(check.broken) == breaks
    assert ("counting 8 topics on which only one side has a value" in check.broken) == breaks


def test_a_sum_falls_as_a_sum() -> None:
    old = scores(by_topic("r", [5] * 20) + "r all M 100\n", "old")
    table = scores(by_topic("r", [3] * 20) + "r all M 60\n", "new")
    figures = {("r", "M"): figure(60, 60, 60, 9, 9)}
    (check,) = drops([GateRule("drop", "M", 39)], table, old, figures)
    assert check.broken.startswith("fell by 40 from 100 to 60, p 1.91e-06")
    assert not drops([GateRule("drop", "M", 40)], table, old, figures)[0].broken


def test_a_minimum_is_compared_as_it_is() -> None:
    old = scores("r t1 M 0.9\nr t2 M 0.5\nr all M 0.5\n", "old")
    table = scores("r t1 M 1\nr t2 M 0.4\nr all M 0.4\n", "new")
    (check,) = drops([DROP], table, old, {})
    assert check.broken == "fell by 0.1 from 0.5 to 0.4 in the `all` rows; may fall by 0.02"


def test_two_single_runs_are_the_same_run() -> None:
    table, figures = now(0.5 + NOISE, run="v2")
    (check,) = drops([DROP], table, OLD, figures)
    assert (check.run_id, bool(check.broken)) == ("v2", True)


def test_a_run_that_is_gone_breaks_the_rule() -> None:
    old = scores(by_run(r=0.8, gone=0.8), "old")
    found = drops([DROP], scores(by_run(r=0.8), "new"), old, {("r", "M"): JUDGED})
    assert [str(check) for check in found] == [
        "gone: M is gone: the baseline has this run",
        "r: M keeps the rule",
    ]


def test_no_run_of_the_baseline() -> None:
    with pytest.raises(InputError, match="new has no run of the baseline old: here c, d; there"):
        drops([DROP], scores(by_run(c=1, d=1), "new"), scores(by_run(a=1, b=1), "old"), {})


@pytest.mark.parametrize("text", ["M", "=1", "M=x", "M=", "M=nan", "M=inf", ""])
def test_a_rule_that_is_none(text: str) -> None:
    with pytest.raises(WorkflowError, match="give MEASURE=NUMBER"):
        rule_of("min", text)


def test_a_rule() -> None:
    assert rule_of("max", "A.M=0.5") == GateRule("max", "A.M", 0.5)
    assert str(rule_of("drop", "M=0.02")) == "M falls by at most 0.02"


def test_junit_is_xml_whatever_a_run_is_called() -> None:
    hostile = 'r"><failure/>&\x1b[2J\x00\ud800'
    checks = [
        RuleCheck(hostile, GateRule("min", "M", 1), "is 0 <b>"),
        RuleCheck("fine", GateRule("min", "M", 0)),
    ]
    suite = ElementTree.fromstring(junit("gate", checks))
    assert suite.attrib == {"name": "gate", "tests": "2", "failures": "1", "errors": "0"}
    bad, good = suite
    assert bad.attrib["classname"] == 'r"><failure/>&\\x1b[2J\\x00\ufffd'
    assert [child.tag for child in bad] == ["failure"]
    assert bad[0].attrib["message"] == "is 0 <b>"
    assert (good.attrib["name"], list(good)) == ("M at least 0", [])


A, B, ALL_JUDGED = [1.0, 0.5, 0.25], [0.0, 0.5, 0.75], figure(1, 1, 1, 9, 9)
RULES = [GateRule("drop", "A", 0.05), GateRule("drop", "B", 0.02)]


@pytest.mark.parametrize(
    ("second", "lower", "judged", "kept"),
    [
        pytest.param(B, True, 9, ["A 0.02"], id="the complement, of the other direction"),
        pytest.param(B, False, 9, ["A 0.05", "B 0.02"], id="the complement of one direction"),
        pytest.param(A, False, 9, ["A 0.02"], id="equal"),
        pytest.param(A, True, 9, ["A 0.05", "B 0.02"], id="equal, of the other direction"),
        pytest.param([1.0, 0.5, 0.2], False, 9, ["A 0.05", "B 0.02"], id="equal but on one topic"),
        pytest.param([7.0, 6.5, 6.25], False, 9, ["A 0.05", "B 0.02"], id="parallel by chance"),
        pytest.param(A, False, 8, ["A 0.05", "B 0.02"], id="equal but for what is unjudged"),
    ],
)
def test_a_second_measure(second: list[float], lower: bool, judged: int, kept: list[str]) -> None:
    table = scores(by_topic("r", A, "A") + by_topic("r", second, "B"))
    figures = {
        ("r", "A"): ALL_JUDGED,
        ("r", "B"): replace(figure(1, 1, 1, judged, 9), lower_is_better=lower),
    }
    rules, stands = without_repeats(RULES, [table, table], [figures, figures])
    assert [f"{rule.measure} {rule.limit:g}" for rule in rules] == kept
    assert stands == ({} if len(kept) > 1 else {"B": "A"})


def test_of_two_limits_for_a_measure_the_lower_one_counts() -> None:
    table = scores(by_topic("r", A, "A"))
    rules, stands = without_repeats([RULES[0], GateRule("drop", "A", 0.01)], [table], [{}])
    assert ([rule.limit for rule in rules], stands) == ([0.01], {})
