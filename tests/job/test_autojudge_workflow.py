"""Workflows of AutoJudge read as ours: settings merged as theirs does, faults placed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trecjudge.errors import WorkflowError
from trecjudge.job.workflow import Workflow, read_workflow

THEIRS = """
# a comment
judge_class: "kit.judge.Judge"
nugget_class: "kit.nuggets:Maker"
create_nuggets: yes
judge_uses_qrels: false
uses_llm: true
settings: {filebase: "{_name}", a: 1, b: 1, c: 1}
judge_settings: {b: 2, c: 2, d: off}
variants:
  strict: {c: 3, nugget_settings: {a: 4}}
sweeps:
  grid: {a: [7, 8], b: [9]}
  fixed: {a: [7], d: 5}
leaderboard: {measures: [A]}
"""


def read(folder: Path, text: str) -> Workflow:
    path = folder / "w.yml"
    path.write_text(text)
    return read_workflow(path)


def test_a_file_with_a_class_is_one_of_theirs(tmp_path: Path) -> None:
    found = read(tmp_path, THEIRS)
    assert (found.judge, found.names_judges) == ("autojudge", True)
    base = {"filebase": "{_name}", "a": 1, "b": 1, "c": 1}
    assert found.settings == {
        "judge_class": "kit.judge.Judge",
        "nugget_class": "kit.nuggets:Maker",
        "create_nuggets": True,
        "judge_uses_qrels": False,
        "settings": base,
        "nugget_settings": base,
        "qrels_settings": base,
        "judge_settings": base | {"b": 2, "c": 2, "d": False},
    }
    assert found.leaderboard == {"measures": ["A"]}


MERGED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "what all share beats what a call had": ("strict", "judge_settings", {"b": 2, "c": 3}),
    "a call of the variant beats all": ("strict", "nugget_settings", {"a": 4, "c": 3}),
    "what all share": ("strict", "settings", {"a": 1, "c": 3}),
}


@pytest.mark.parametrize(("name", "key", "values"), MERGED.values(), ids=MERGED)
def test_variants_are_merged_as_theirs_are(
    name: str, key: str, values: dict[str, Any], tmp_path: Path
) -> None:
    merged = read(tmp_path, THEIRS).variants[name][key]
    assert {k: merged[k] for k in values} == values


def test_sweeps_go_through_all_combinations(tmp_path: Path) -> None:
    sweeps = read(tmp_path, THEIRS).sweeps
    assert sweeps["grid"] == {
        "autojudge": [{"override": {"a": 7, "b": 9}}, {"override": {"a": 8, "b": 9}}]
    }
    (point,) = sweeps["fixed"]["autojudge"]
    assert (point["override"], point["judge_settings"]["d"]) == ({"a": 7}, 5)


FAULTS = {
    "no class that judges": ("\nnugget_class: a.B\n", "w.yml:2: has no judge_class"),
    "no leaderboard": ("qrels_class: a.B\njudge: false\n", "w.yml:1: judge is false"),
    "two judges": ("judge: citation\njudge_class: a.B\n", "w.yml:2: has judge and judge_class"),
    "our own": ("judge_class: trecjudge.interop.autojudge:Judge\n", "here give --judge"),
    "settings that are none": ("judge_class: a.B\nsettings: [1]\n", "settings is .1., must be"),
    "a variant that is none": ("judge_class: a.B\nvariants: {x: 1}\n", "variants.x is 1, must be"),
    "a sweep that is none": ("judge_class: a.B\nsweeps: {x: 1}\n", "sweeps.x is 1, must be"),
    "a class that is none": ("judge_class: [1]\n", "judge_class is .1., must be text"),
}


@pytest.mark.parametrize(("text", "message"), FAULTS.values(), ids=FAULTS)
def test_faults_are_placed(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(WorkflowError, match=message):
        read(tmp_path, text)
