"""What an audit demands: sections of workflows, flags, bounds, and drops from an earlier job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trecjudge.errors import InputError, WorkflowError
from trecjudge.job.audit.rules import FIGURES, AuditRules, parse_bounds, read_figures, read_rules
from trecjudge.stats.agreement import GRADE_FIGURES, LABEL_FIGURES, SET_FIGURES


def test_what_can_be_bounded_is_what_is_measured() -> None:
    assert set(FIGURES) == {"judged", "auc", *LABEL_FIGURES, *GRADE_FIGURES, *SET_FIGURES}


def test_a_path_is_taken_from_here_else_from_beside_the_workflow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "l.jsonl").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert read_rules("l.jsonl", "w", beside).labels == str(beside / "l.jsonl")
    Path("l.jsonl").write_text("{}")
    assert read_rules({"labels": "l.jsonl"}, "w", beside).labels == "l.jsonl"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param({}, "w: give labels: FILE", id="no labels"),
        pytest.param("gone.jsonl", "w: labels: gone.jsonl: there is no such file", id="not there"),
        pytest.param({"labels": "x", "min": {"kapa": 0.1}}, "did you mean 'kappa'", id="figure"),
        pytest.param({"labels": "x", "min": {"kappa": "high"}}, "w: min", id="no number"),
        pytest.param({"labels": "x", "least": {}}, "unknown key 'least'", id="key"),
        pytest.param({"labels": "x", "min": {"kappa": 40}}, "is 40, must be from -1 to 1", id="%"),
        pytest.param({"labels": "x", "max_drop": {"kappa": 0.1}}, "need each other", id="drop"),
    ],
)
def test_what_misfits_is_named(
    given: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x").write_text("")
    with pytest.raises(WorkflowError) as raised:
        read_rules(given, "w", None)
    assert message in str(raised.value)


def test_bounds_of_flags() -> None:
    assert parse_bounds(["kappa=0.4", " judged = 1"], "--min") == {"kappa": 0.4, "judged": 1.0}
    for text, message in (("kappa", "give FIGURE=NUMBER"), ("kappa=x", "'x' is no number")):
        with pytest.raises(WorkflowError, match=message):
            parse_bounds([text], "--min")


def test_bounds_are_broken_by_less_and_by_what_is_not_defined() -> None:
    rules = AuditRules("l", min={"kappa": 0.4, "auc": 0.5, "judged": 1.0})
    assert rules.broken_bounds({"kappa": 0.4, "auc": None, "judged": 0.99}) == [
        "auc is not defined, must be at least 0.5",
        "judged is 0.9900, must be at least 1",
    ]


def test_a_drop_is_from_the_figures_of_an_earlier_job(tmp_path: Path) -> None:
    config = tmp_path / "old.config.yml"
    config.write_text("audit: {figures: {kappa: 0.6, auc: null}}")
    rules = AuditRules("l", baseline=str(config), max_drop={"kappa": 0.05})
    assert rules.broken_bounds({"kappa": 0.56}) == []
    assert rules.broken_bounds({"kappa": 0.54}) == [
        "kappa is 0.5400, was 0.6000: it may fall by 0.05"
    ]
    with pytest.raises(InputError, match="unknown figure 'auc'; there are: kappa"):
        AuditRules("l", baseline=str(config), max_drop={"auc": 0.05}).check("w")


@pytest.mark.parametrize("text", ["", "audit: x", "audit: {items: 3}", "- 1", "a: [", "\x00"])
def test_a_file_without_figures_is_no_baseline(text: str, tmp_path: Path) -> None:
    (tmp_path / "c.yml").write_text(text)
    with pytest.raises((InputError, WorkflowError), match=r"c\.yml:"):
        read_figures(tmp_path / "c.yml")
