"""Rows as arrays: what enters a mean, duplicates, contradicting `all` rows."""

from __future__ import annotations

import numpy as np
import pytest

from tests.stats.texts import known, scores
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.results.statistics import Unjudged
from trecjudge.settings.limits import apply_limits
from trecjudge.stats.scores import Duplicates, aggregate_topics


def messages(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.kind, finding.message) for finding in findings]


def test_runs_and_topics_are_sorted_and_measures_as_they_come() -> None:
    found = scores("b t2 N 1\na t1 M 2\na all M 3\n")
    assert (found.runs, found.topics, found.measures) == (["a", "b"], ["t1", "t2"], ["N", "M"])


def test_a_run_without_a_value_on_a_topic_has_0_there() -> None:
    found = scores("a t1 M 1\na t2 M 1\nb t1 M 1\n")
    assert found.means("M").tolist() == [1.0, 0.5]


def test_unless_the_all_rows_leave_such_topics_out() -> None:
    found = scores("a t1 M 1\na t2 M 0.5\na all M 0.75\nb t1 M 0.8\nb all M 0.8\n")
    assert found.means("M").tolist() == [0.75, 0.8]
    assert np.isnan(found.values["M"][1, 1])


def test_each_run_is_taken_by_its_own_all_row() -> None:
    unjudged = "b t1 M 0.8\nb all M 0.8\n"
    silent = "c t1 M 0.8\nc all M 0.4\n"
    found = scores("a t1 M 1\na t2 M 0.5\na all M 0.75\n" + unjudged + silent)
    assert found.means("M").tolist() == [0.75, 0.8, 0.4]


@pytest.mark.parametrize(
    ("others", "mean"),
    [
        pytest.param("b t1 M 0.8\nb all M 0.8\n", 0.6, id="left out in the others"),
        pytest.param("b t1 M 0.8\nb all M 0.4\n", 0.3, id="0 in the others"),
        pytest.param("b t1 M 0.8\n", 0.3, id="none has an `all` row"),
        pytest.param(
            "b t1 M 0.8\nb all M 0.8\nd t1 M 0.8\nd all M 0.4\n", 0.3, id="as many as not"
        ),
    ],
)
def test_a_run_without_an_all_row_is_taken_as_most_others(others: str, mean: float) -> None:
    found = scores("a t1 M 1\na t2 M 0.5\nc t1 M 0.6\n" + others)
    assert found.means("M")[found.runs.index("c")] == pytest.approx(mean)


def test_what_enters_a_mean_is_taken_as_it_is_known() -> None:
    findings: list[Finding] = []
    entering = {
        ("a", "M"): known(0.75, {"t1": 0.5, "t2": None, "t3": 1.0}),
        ("b", "M"): known(None, {"t1": None}),
    }
    found = scores("a t1 M 0.5\na all M 0.75\n", findings=findings, known=entering)
    assert (found.runs, found.topics) == (["a", "b"], ["t1", "t2", "t3"])
    assert found.means("M")[0] == 0.75
    assert np.isnan(found.values["M"][0, 1])
    assert np.isnan(found.overall("M")[1])
    assert findings == []


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        pytest.param("a t1 M 0.6\na all M 0.5\n", "has other topics, or values", id="value"),
        pytest.param("a t2 M 0.5\na all M 0.5\n", "has other topics, or values", id="topic"),
        pytest.param("a all M 0.6\n", "has mean 0.5, the leaderboard 0.6", id="mean"),
        pytest.param("b all M 0.5\n", "has mean 0.5, the leaderboard None", id="run"),
    ],
)
def test_statistics_of_another_job_are_reported_and_not_used(text: str, messages: str) -> None:
    findings: list[Finding] = []
    other = {("a", "M"): known(0.5, {"t1": 0.5, "t9": None}, items=3)}
    found = scores(text, findings=findings, known=other)
    assert (found.known, found.unjudged, "t9" in found.topics) == ({}, {}, False)
    assert findings[0].kind == "statistics_differ"
    assert messages in findings[0].message


TWO = "a t1 M 1\nb t1 M 0.5\na t2 M 1\nb t2 M 1\n"


@pytest.mark.parametrize(
    ("rows", "kinds"),
    [
        pytest.param("a all M 0.666667\nb all M 0.5\n", ["topics_unseen"], id="one of three"),
        pytest.param("a all M 0.666667\nb all M 0.75\n", ["all_row_differs"], id="of only one"),
        pytest.param("a all M 0.5\nb all M 0.5\n", ["all_row_differs"] * 2, id="no one number"),
        pytest.param("a all M 1\nb all M 0.75\n", [], id="all answered"),
        pytest.param("a all M 0.5\n", ["all_row_differs"], id="one row"),
    ],
)
def test_topics_that_nobody_answered_are_no_contradiction(rows: str, kinds: list[str]) -> None:
    findings: list[Finding] = []
    scores(TWO + rows, findings=findings)
    assert [finding.kind for finding in findings] == kinds


def test_a_run_without_any_topic_has_only_its_all_row() -> None:
    findings: list[Finding] = []
    found = scores("a t1 M 1\nb all M 0.5\n", findings=findings)
    assert found.overall("M").tolist() == [1.0, 0.5]
    assert findings == []


def test_the_all_row_counts_where_it_is_given() -> None:
    text = "a t1 M 1\na all M 0.4\nb t1 M 0.2\n"
    assert scores(text).overall("M").tolist() == [0.4, 0.2]


@pytest.mark.parametrize(("duplicates", "value"), [("first", 0.25), ("last", 0.75), ("mean", 0.5)])
def test_a_second_value(duplicates: Duplicates, value: float) -> None:
    findings: list[Finding] = []
    found = scores("a t1 M 0.25\na t1 M 0.75\n", findings=findings, duplicates=duplicates)
    assert found.means("M").tolist() == [value]
    message = "gives run 'a', topic 't1', M a second time: 0.75, before 0.25"
    assert messages(findings) == [("row_duplicate", message)]
    assert str(findings[0].place) == "lb:2"


def test_a_second_value_can_be_an_error() -> None:
    with pytest.raises(InputError, match="lb:2: gives run 'a', topic 'all', M a second time"):
        scores("a all M 1\na all M 1\n", duplicates="error")


def test_the_same_row_twice_is_a_note() -> None:
    findings: list[Finding] = []
    scores("a t1 M 1\na t1 M 1\n", findings=findings)
    assert [f.kind for f in findings] == ["row_repeated"]


@pytest.mark.parametrize(
    ("text", "contradicts"),
    [
        pytest.param("a t1 M 1\na t2 M 0\na all M 0.5\n", False, id="mean"),
        pytest.param("a t1 M 1\na t2 M 1\na all M 2\n", False, id="sum"),
        pytest.param("a t1 M 0.33333\na t2 M 0.33333\na all M 0.333\n", False, id="rounded"),
        pytest.param("a t1 M 1\na t2 M 0\na all M 0.7\n", True, id="neither"),
        pytest.param("a t1 M 100\na t2 M 100\na all M 100.05\n", False, id="rounded, large"),
        pytest.param("a t1 M 1\na t2 M 0\na all M 0.5009\n", False, id="nearly"),
        pytest.param("a t1 M 1\na t2 M 0\na all M 0.5011\n", True, id="not nearly"),
        pytest.param("a t1 M 100\na t2 M 100\na all M 100.2\n", True, id="not nearly, large"),
    ],
)
def test_all_rows_that_contradict_their_topics(text: str, contradicts: bool) -> None:
    findings: list[Finding] = []
    scores(text, findings=findings)
    assert [f.kind for f in findings] == (["all_row_differs"] if contradicts else [])


def test_a_contradiction_is_named() -> None:
    findings: list[Finding] = []
    scores("a t1 M 1\na t2 M 0\na all M 0.7\n", findings=findings)
    message = "lb: run 'a', M: the `all` row is 0.7, its topics give 0.5"
    assert [str(finding) for finding in findings] == [message]


def test_choosing_measures() -> None:
    found = scores("a t1 M 1\na t1 N 1\n")
    assert (found.choose_measures(()), found.choose_measures(["N"])) == (["M", "N"], ["N"])
    with pytest.raises(
        InputError, match=r"lb: unknown measure 'm'; did you mean 'M'\? there are: M, N"
    ):
        found.choose_measures(["m"])


def test_only_some_runs_and_topics() -> None:
    found = scores("a t1 M 1\na t2 M 2\nb t1 M 3\nb t2 M 4\n").only(["b", "a"], ["t2"])
    assert (found.runs, found.topics) == (["b", "a"], ["t2"])
    assert found.values["M"].tolist() == [[4.0], [2.0]]


def test_no_rows_at_all() -> None:
    with pytest.raises(InputError, match="lb: no scores in it"):
        scores("")


def test_a_table_of_more_cells_than_are_held_is_refused() -> None:
    rows = "".join(f"r{i} t{i} M 1\n" for i in range(11))
    with (
        apply_limits(["rows=24"]),
        pytest.raises(InputError, match="11 runs by 11 topics by 1 measures"),
    ):
        scores(rows)
    with apply_limits(["rows=25"]):
        assert len(scores(rows).runs) == 11


VALUES = np.array([[np.nan, 0.5, 0.1], [np.nan, np.nan, np.nan], [0.2, 0.2, 0.8]])


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        ("", [0.3, np.nan, 0.4]),
        ("mean_of_bools", [0.3, np.nan, 0.4]),
        ("sum", [0.6, np.nan, 1.2]),
        ("min", [0.1, np.nan, 0.2]),
        ("max", [0.5, np.nan, 0.8]),
        ("first_value", [0.5, np.nan, 0.2]),
    ],
)
def test_topics_make_a_mean_as_its_measure_says(how: str, wanted: list[float]) -> None:
    np.testing.assert_array_equal(aggregate_topics(VALUES, how), wanted)


@pytest.mark.parametrize("how", ["", "sum", "min", "max", "first_value"])
def test_no_topics_make_none(how: str) -> None:
    assert np.isnan(aggregate_topics(np.empty((2, 0)), how)).all()


@pytest.mark.parametrize(
    ("gaps", "sentence", "with_bounds"),
    [
        (Unjudged(3, 12, 0.25, 1.0), "3 of 12 items are unjudged", "3 of 12 (0.25 to 1)"),
        (Unjudged(3), "3 items are unjudged", "3"),
        (Unjudged(1), "1 item is unjudged", "1"),
        (Unjudged(0, 12, 0.5, 0.5), "0 of 12 items are unjudged", "0 of 12"),
    ],
)
def test_unjudged_items_in_words(gaps: Unjudged, sentence: str, with_bounds: str) -> None:
    assert (str(gaps), gaps.with_bounds) == (sentence, with_bounds)
