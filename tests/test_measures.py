"""Aggregates, the user's own measures, and how a workflow changes a leaderboard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from trecjudge.errors import PluginError, WorkflowError
from trecjudge.measures import (
    Aggregate,
    LeaderboardSpec,
    MeasureSpec,
    aggregate,
    leaderboard_spec,
    load_measure,
    ranks,
)

ONE = MeasureSpec("ONE", lambda response, judgments: 1.0)
TWO = MeasureSpec("TWO", lambda response, judgments: 2.0)
SPEC = LeaderboardSpec((ONE, TWO), sort_by="TWO")


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("mean_of_floats", 0.5),
        ("mean_of_bools", 0.5),
        ("sum", 1.5),
        ("min", 0.0),
        ("max", 1.0),
        ("first_value", 0.5),
    ],
)
def test_aggregate(how: Aggregate, expected: float) -> None:
    assert aggregate(how, [0.5, 0.0, 1.0]) == pytest.approx(expected)


def test_aggregate_and_cast_may_be_functions() -> None:
    points = {"good": 1.0, "bad": 0.0}
    spec = MeasureSpec("M", lambda response, judgments: "good", median, cast=points.get)
    assert spec.aggregated(iter([1.0, 0.0, 0.25])) == 0.25
    assert (spec.as_number("bad"), spec.as_number("?"), spec.as_number(None)) == (0.0, None, None)
    assert (spec.aggregated([]), spec.aggregate_name) == (None, "function")
    assert replace(ONE, cast="bool").as_number(3) == 1.0
    assert replace(ONE, cast="int").as_number(3.7) == 3.0


@pytest.mark.parametrize(
    ("aggregate", "message"),
    [
        (lambda values: values[5], "ONE: its aggregate: IndexError.*test_measures.py"),
        (lambda values: float("nan"), "ONE: its aggregate is nan, not a number"),
        (lambda values: "high", "ONE: its aggregate: ValueError"),
    ],
)
def test_an_aggregate_that_fails_says_where(aggregate: Any, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        replace(ONE, aggregate=aggregate).aggregated([1.0])


@pytest.mark.parametrize("wrong", [{"aggregate": "median"}, {"cast": "text"}])
def test_an_unknown_name_is_refused(wrong: Any) -> None:
    with pytest.raises(PluginError, match=r"measure ONE: unknown (aggregate|cast)"):
        LeaderboardSpec((replace(ONE, **wrong),))


def test_nothing_has_no_aggregate() -> None:
    assert aggregate("mean_of_floats", []) is None


@pytest.mark.parametrize(
    ("means", "lower_is_better", "expected"),
    [
        pytest.param({"a": 0.1, "b": 0.9}, False, {"b": 1, "a": 2}, id="the highest first"),
        pytest.param({"b": 0.9, "a": 0.1}, True, {"a": 1, "b": 2}, id="the lowest first"),
        pytest.param(
            {"b": 0.5, "d": 0.1, "a": 0.5, "c": 0.9},
            False,
            {"c": 1, "a": 2, "b": 2, "d": 4},
            id="tied runs share the first rank, and come by id",
        ),
        pytest.param(
            {"a": 0.5, "b": 0.50000049}, False, {"a": 1, "b": 1}, id="tied to six decimals"
        ),
        pytest.param({"a": 0.5, "b": 0.5000006}, False, {"b": 1, "a": 2}, id="apart in the sixth"),
        pytest.param({"a": -1e-9, "b": 0.0}, False, {"a": 1, "b": 1}, id="minus nothing"),
        pytest.param(
            {"b": None, "z": -1.0, "a": None},
            False,
            {"z": 1, "a": None, "b": None},
            id="no mean is last, and has no rank",
        ),
        pytest.param({}, False, {}, id="no runs"),
    ],
)
def test_ranks(
    means: dict[str, float | None], lower_is_better: bool, expected: dict[str, int | None]
) -> None:
    assert list(ranks(means, lower_is_better).items()) == list(expected.items())


def test_workflow_chooses_and_sorts_measures() -> None:
    spec = leaderboard_spec(SPEC, {"measures": ["ONE"], "on_missing": "default"})
    assert [m.name for m in spec.measures] == ["ONE"]
    assert (spec.ranked_by, spec.on_missing) == ("ONE", "default")


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"sort_by": "TOW"}, "unknown measure 'TOW'; did you mean 'TWO'"),
        ({"measures": ["THREE"]}, "unknown measure 'THREE'"),
        ({"on_missing": "zero"}, "unknown on_missing 'zero'"),
    ],
)
def test_unknown_names_are_reported(wanted: dict[str, object], message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        leaderboard_spec(SPEC, wanted)


def test_own_measures_are_functions_or_specs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        "from trecjudge.measures import MeasureSpec\n"
        "def sentences(response, judgments):\n    '''Count\n    them.\n\n    More.'''\n"
        "    return len(response.sentences)\n"
        "spec = MeasureSpec('MY_SPEC', sentences, 'sum')\n"
    )
    (tmp_path / "own_measures.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    spec = leaderboard_spec(SPEC, {}, ["own_measures:sentences", "own_measures:spec"])
    assert [m.name for m in spec.measures] == ["ONE", "TWO", "SENTENCES", "MY_SPEC"]
    assert spec.measures[2].default is None
    assert [m.description for m in spec.measures[2:]] == ["Count them.", ""]
    assert load_measure("own_measures:spec@mod:Judge").judge == "mod:Judge"


@pytest.mark.parametrize("reference", ["nowhere:x", "trecjudge.results.trec:nothing", "no_colon"])
def test_a_measure_that_is_not_there(reference: str) -> None:
    with pytest.raises(PluginError, match=r"give package\.module:name"):
        load_measure(reference)


@pytest.mark.parametrize(
    "columns",
    [
        (ONE, ONE),
        (MeasureSpec("A B", ONE.compute),),
        (MeasureSpec("A", ONE.compute, "median"),),  # type: ignore[arg-type]
        (MeasureSpec("A", ONE.compute, default=float("nan")),),
        (MeasureSpec("A.unjudged", ONE.compute),),
    ],
    ids=["two of a name", "white space", "aggregate", "default", "the name of a companion"],
)
def test_measures_that_cannot_be_columns(columns: tuple[MeasureSpec, ...]) -> None:
    with pytest.raises(PluginError):
        LeaderboardSpec(columns)


@pytest.mark.parametrize(
    "wanted",
    [{"measures": 5}, {"measures": []}, {"measures": [[1]]}, {"sort_by": 5}, {"on_missing": 5}],
    ids=str,
)
def test_a_leaderboard_of_wrong_types_is_reported(wanted: dict[str, object]) -> None:
    with pytest.raises(WorkflowError):
        leaderboard_spec(SPEC, wanted)


def test_a_module_that_breaks_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "breaks.py").write_text("raise RuntimeError('x')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PluginError, match="cannot be imported"):
        load_measure("breaks:x")
