"""Two systems side by side: which ones, by how much, and whether it is noise."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pytest
from scipy.stats import permutation_test

from tests.stats.texts import by_run, by_topic, known, scores
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.stats.comparison import Difference, TopicDelta, compare, pairs_of, report_unmatched
from trecjudge.stats.resampling import NO_INTERVAL
from trecjudge.stats.scores import Scores

OLD = scores(by_topic("a", [0.1, 0.5]) + by_topic("b", [0.2, 0.2]), "old")
NEW = scores(by_topic("a", [0.4, 0.5]) + by_topic("b", [0.2, 0.2]), "new")
OTHER = scores(by_topic("z", [0.9, 0.9]), "other")


def named(*tables: Scores, **options: object) -> list[tuple[str, str]]:
    pairs = pairs_of(tables, **options)  # type: ignore[arg-type]
    return [(before.name, after.name) for before, after in pairs]


def test_a_run_of_both_is_compared_with_itself() -> None:
    assert named(OLD, NEW) == [("old: a", "new: a"), ("old: b", "new: b")]
    assert named(OLD, NEW, only=["b"]) == [("old: b", "new: b")]


def test_else_all_are_compared_with_the_first() -> None:
    assert named(OLD) == [("old: a", "old: b")]
    assert named(OLD, OTHER) == [("old: a", "old: b"), ("old: a", "other: z")]
    assert named(OLD, OTHER, against="z") == [("other: z", "old: a"), ("other: z", "old: b")]


def test_a_run_may_be_named_against_which_to_compare() -> None:
    wanted = [("old: b", "old: a"), ("old: b", "new: a"), ("old: b", "new: b")]
    assert named(OLD, NEW, against="b") == wanted


def test_nothing_to_compare() -> None:
    with pytest.raises(InputError, match="other: one run; give a second leaderboard"):
        pairs_of([OTHER])
    with pytest.raises(InputError, match="unknown run 'q'; there are: a, b"):
        pairs_of([OLD, NEW], against="q")


def one(before: Scores, after: Scores, measure: str = "M") -> Difference:
    (found,) = compare(pairs_of([before, after], only=["a"]), [measure])
    return found


def test_a_difference_is_after_minus_before() -> None:
    found = one(OLD, NEW)
    assert (found.mean_before, found.mean_after, found.difference) == (0.3, 0.45, 0.15)
    assert (found.topics, found.p) == (2, 1.0)
    assert found.moved == [TopicDelta("t000", 0.1, 0.4)]


RNG = np.random.default_rng(12)
BEFORE = RNG.random(40)
AFTER = BEFORE + RNG.normal(0.1, 0.2, 40)


def test_it_is_tested_over_topics() -> None:
    found = one(scores(by_topic("a", BEFORE), "x"), scores(by_topic("a", AFTER), "y"))
    gaps = AFTER - BEFORE
    theirs = permutation_test((gaps,), np.mean, permutation_type="samples", rng=2).pvalue
    assert found.p == pytest.approx(theirs, abs=0.005)
    assert found.effect == pytest.approx(gaps.mean() / gaps.std(ddof=1))
    low, high = found.interval
    assert low is not None and high is not None
    assert low < found.difference < high


def test_topics_of_one_side_only_are_left_out() -> None:
    found = one(OLD, scores(by_topic("a", [0.2, 0.6, 1.0]), "new"))
    assert (found.topics, found.difference) == (2, 0.1)


def test_a_topic_that_is_unjudged_on_one_side_is_in_neither_mean() -> None:
    entering = {("a", "M"): known(0.5, {"t000": 0.5, "t001": None})}
    after = scores("a t000 M 0.5\na all M 0.5\n", "new", known=entering)
    found = one(OLD, after)
    assert (found.mean_before, found.mean_after, found.topics) == (0.1, 0.5, 1)
    assert (found.only_before, found.only_after) == (["t001"], [])


def test_how_many_topics_changed() -> None:
    assert (one(OLD, NEW).changed, one(OLD, OLD).changed) == (1, 0)


def test_without_topics_only_the_means_are_compared() -> None:
    found = one(scores(by_run(a=0.5), "x"), scores(by_run(a=0.7), "y"))
    assert (found.difference, found.topics, found.p) == (0.2, 0, None)
    assert found.interval == NO_INTERVAL


def test_p_is_corrected_for_all_comparisons_by_a_measure() -> None:
    runs = "".join(by_topic(f"r{i}", AFTER + i / 100) for i in range(3))
    table = scores(by_topic("a", BEFORE) + runs)
    found = compare(pairs_of([table]))
    assert [d.after for d in found] == ["lb: r0", "lb: r1", "lb: r2"]
    by_holm = compare(pairs_of([table]), correction="holm")
    assert {d.correction for d in by_holm} == {"holm"}
    for column in (found, by_holm):
        assert all(d.corrected is not None and d.p is not None for d in column)
        assert all((d.corrected or 0) >= (d.p or 0) for d in column)
        assert max(d.corrected or 0 for d in column) == max(d.p or 0 for d in column)
    assert all(
        (d.corrected or 0) <= (h.corrected or 0) for d, h in zip(found, by_holm, strict=True)
    )


def test_measures_of_both_are_compared_and_others_named() -> None:
    more = scores(by_topic("a", [0.1, 0.5]) + by_topic("a", [1, 1], "N"), "x")
    found = compare(pairs_of([more, NEW], only=["a"]))
    assert [d.measure for d in found] == ["M"]
    with pytest.raises(InputError, match="unknown measure 'Q'"):
        compare(pairs_of([more, NEW], only=["a"]), ["Q"])
    with pytest.raises(InputError, match="x and new have no measure in common"):
        compare(pairs_of([more, NEW], only=["a"]), ["N"])


def test_the_five_topics_that_moved_most() -> None:
    zeros, steps = scores(by_topic("a", [0] * 8), "x"), scores(by_topic("a", range(8)), "y")
    assert [move.topic_id for move in one(zeros, steps).moved] == [
        "t007", "t006", "t005", "t004", "t003",
    ]  # fmt: skip


def test_more_runs_than_are_compared_are_refused() -> None:
    with pytest.raises(InputError, match=r"2,001 runs are more than 2,000 to compare"):
        pairs_of([scores("".join(f"r{i} t1 M 1\n" for i in range(2001)))])


def names_in(
    *tables: Scores, against: str = "", only: Collection[str] = (), measures: Collection[str] = ()
) -> list[str]:
    findings: list[Finding] = []
    pairs = pairs_of(tables, against, only)
    found = compare(pairs, measures)
    report_unmatched(tables, pairs, found, findings.append, only, measures)
    return [str(finding) for finding in findings]


EARLIER = scores(by_topic("a", [1, 1]) + by_topic("b", [1, 1]), "old")


def test_nothing_is_left_out() -> None:
    assert names_in(EARLIER) == []
    assert names_in(EARLIER, scores(by_topic("a", [1, 0]) + by_topic("b", [0, 1]), "new")) == []


def test_runs_of_one_side() -> None:
    new = scores(by_topic("a", [1, 1]) + by_topic("c", [1, 1]), "new")
    message = "has 1 runs that are not in every leaderboard and are not compared"
    assert names_in(EARLIER, new) == [
        f"old: {message}: 'b'; --against RUN compares all runs with one",
        f"new: {message}: 'c'; --against RUN compares all runs with one",
    ]
    assert names_in(EARLIER, new, against="a") == []
    assert names_in(EARLIER, new, only=["a"]) == []


def test_topics_of_one_side() -> None:
    runs = (by_topic("a", [1, 1, 1]) + by_topic("b", [1, 1, 1])).replace("t000", "q")
    assert names_in(EARLIER, scores(runs, "new")) == [
        "new: has no scores on 1 topics of old: 't000'",
        "old: has no scores on 2 topics of new: 'q', 't002'",
    ]


def test_measures_of_one_side() -> None:
    more = scores(by_topic("a", [1, 1]) + by_topic("a", [1, 1], "N"), "new")
    one = scores(by_topic("a", [1, 1]), "old")
    assert names_in(one, more) == ["old: has no 'N', which new has: not compared"]
    assert names_in(one, more, measures=["M"]) == []


@pytest.mark.parametrize(("turned", "side"), [(False, "new"), (True, "old")])
def test_topics_without_a_value(turned: bool, side: str) -> None:
    texts = ["r t1 M 1\nr t2 M 1\nr all M 1\n", "r t1 M 0.5\ns t2 M 1\nr all M 0.5\ns all M 1\n"]
    old, new = (
        scores(t, n) for t, n in zip(texts[:: -1 if turned else 1], ("old", "new"), strict=True)
    )
    message = (
        f"{side}: r: M has no value on 1 topics, unjudged or not defined, which are in neither"
    )
    assert names_in(old, new, only=["r"]) == [f"{message} mean: 't2'"]


def test_runs_without_a_value_at_all() -> None:
    texts = by_run(a=1, b=1) + by_run("N", a=1), by_run(a=1, b=1) + by_run("N", a=1, b=1)
    message = names_in(*(scores(t, n) for t, n in zip(texts, ("old", "new"), strict=True)))
    assert message == ["old: b: N has no value there or in new: b: not compared"]
