"""Settings told apart by judge, overridden in order, swept into points."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from trecjudge.errors import WorkflowError
from trecjudge.job.request import load_workflow
from trecjudge.job.sweep import (
    JudgeNames,
    SettingsPoint,
    check_settings,
    check_workflow,
    read_overrides,
    sweep_points,
)
from trecjudge.job.workflow import Workflow, read_workflow, shipped_names
from trecjudge.judging import judge
from trecjudge.judging.judge import judge_names, make_judge
from trecjudge.judging.panel import make_panel, panel_spec
from trecjudge.scores.review import check_gate, panel_rules, read_gate

WORKFLOW = Workflow(
    settings={"partial": 0.1, "attester": "lexical"},
    llm={"tries": 2},
    variants={"half": {"partial": 0.5}, "full": {"citation.partial": 1.0}},
    sweeps={"grid": {"partial": [0, 1], "attester": ["lexical", "llm"]}},
)


def chosen(workflow: Workflow, *sets: str, also: str = "", **which: Any) -> list[SettingsPoint]:
    """Return the points of a workflow with these `--set`."""
    names = JudgeNames.of(workflow, (), [also])
    return sweep_points(names, read_overrides(sets, names), **which)


def checked(tmp_path: Path, text: str, *judges: str) -> None:
    """Check a workflow as the main job does."""
    (tmp_path / "w.yml").write_text(text, encoding="utf-8")
    workflow = read_workflow(tmp_path / "w.yml")
    check_workflow(JudgeNames.of(workflow, judges, ()))


MEASURING = [name for name in judge_names() if make_judge(name, {}).measures.measures]
"""The judges whose measures are known without settings."""


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_workflows_take_any_judge_beside_their_own(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The folders are listed each time that a judge is named: here thousands of times.
    monkeypatch.setattr(judge, "judge_folders", cache(judge.judge_folders))
    workflow = load_workflow(Path(name))
    own = make_panel(workflow.judges, workflow.settings)[0]
    gate = read_gate(workflow.gate)
    whole = [
        {},
        *({"variant": v} for v in workflow.variants),
        *({"sweep": s} for s in workflow.sweeps),
    ]
    for also in ("", *MEASURING):
        names = JudgeNames.of(workflow, (), [also])
        check_workflow(names)
        for point in (point for which in whole for point in sweep_points(names, **which)):
            panel = make_panel(names.judges, point.settings)
            spec = panel_spec(panel, point.workflow.leaderboard)
            check_gate(panel_rules(panel, gate), [m.name for m in spec.measures])
            assert {m.judge for m in spec.measures} == set(names.judges), also
            ranked = next(m for m in spec.measures if m.name == spec.ranked_by)
            assert ranked.judge == own.name, also
        (point,) = sweep_points(names)
        assert make_panel(names.judges, point.settings)[0] == own, also


def test_set_beats_variant_beats_settings() -> None:
    sets = ("attester=llm", "llm.tries=5", "leaderboard.sort_by=X")
    (point,) = chosen(WORKFLOW, *sets, variant="half")
    assert point.settings == {"partial": 0.5, "attester": "llm"}
    assert (point.suffix, point.workflow.llm) == ("half", {"tries": 5})
    assert point.workflow.leaderboard == {"sort_by": "X"}


def test_the_settings_of_a_workflow_of_one_judge_stay_its_own() -> None:
    (point,) = chosen(WORKFLOW, "attester=llm", "length.limit=3", also="length", variant="full")
    assert point.settings == {
        "citation": {"partial": 1.0, "attester": "llm"},
        "length": {"limit": 3},
    }


@pytest.mark.parametrize(
    ("judges", "also", "owner"),
    [
        ([], [], "citation"),
        ([], ["length"], "citation"),
        (["length"], [], "length"),
        (["length"], ["support"], "length"),
        (["length,citation"], [], ""),
        (["length", "support"], [], ""),
    ],
)
def test_whose_flat_settings_are(judges: list[str], also: list[str], owner: str) -> None:
    assert JudgeNames.of(Workflow(), judges, also).owner == owner


def test_a_judge_that_is_no_name() -> None:
    with pytest.raises(WorkflowError, match="--judge names no judge"):
        JudgeNames.of(Workflow(), [" "], [])


def test_a_file_that_names_its_judge_says_whose_its_settings_are(tmp_path: Path) -> None:
    (tmp_path / "w.yml").write_text("judge: citation\n")
    names = JudgeNames.of(
        read_workflow(tmp_path / "w.yml"), ["length,citation"], ["citation, support"]
    )
    assert (names.judges, names.owner) == (["citation", "length", "support"], "citation")
    assert names.joined == ["length", "support"]


def test_what_a_workflow_shows_is_of_its_own_judges() -> None:
    workflow = Workflow(judge="faithfulness", leaderboard={"measures": ["FAITHFULNESS"]})
    (point,) = chosen(workflow, also="citation_score")
    panel = make_panel(["faithfulness", "citation_score"], point.settings)
    spec = panel_spec(panel, point.workflow.leaderboard)
    first, *joined = spec.measures
    assert first.name == "FAITHFULNESS.FAITHFULNESS"
    assert "CITATION_SCORE.FAITHFULNESS" in [m.name for m in joined]
    assert spec.ranked_by == "FAITHFULNESS.FAITHFULNESS"
    (only,) = chosen(workflow, "leaderboard.measures=[COVERAGE]", also="citation_score")
    assert only.workflow.leaderboard["measures"] == ["COVERAGE"]


def test_a_measure_of_a_workflow_sees_the_judge_of_its_workflow() -> None:
    (point,) = chosen(Workflow(measures=["m:f", "m:g@length"]), also="length")
    assert point.workflow.measures == ["m:f@citation", "m:g@length"]
    (point,) = chosen(Workflow(measures=["m:f"]))
    assert point.workflow.measures == ["m:f"]


def test_a_measure_of_a_judge_that_is_not_there() -> None:
    panel = make_panel(["citation"], {})
    with pytest.raises(WorkflowError, match="measure HARMONIC_MEAN: unknown judge 'lenght'"):
        panel_spec(panel, {}, ["statistics:harmonic_mean@lenght"])


def test_a_gate_holds_the_judge_of_its_workflow_to_it() -> None:
    panel = make_panel(["faithfulness", "citation_score"], {})
    (rule,) = panel_rules(panel, read_gate({"reject_unless": "FAITHFULNESS >= 0.5"}))
    assert rule.measure == "FAITHFULNESS.FAITHFULNESS"


def test_a_sweep_names_its_points() -> None:
    assert [p.suffix for p in chosen(WORKFLOW, sweep="grid")] == [
        "partial-0.attester-lexical",
        "partial-0.attester-llm",
        "partial-1.attester-lexical",
        "partial-1.attester-llm",
    ]


@pytest.mark.parametrize(
    "swept",
    [
        {"citation.partial": [0.0, 0.5]},
        {"citation": {"partial": [0.0, 0.5]}},
        {"citation": [{"partial": 0.0}, {"partial": 0.5}]},
    ],
    ids=["dotted", "nested", "list of mappings"],
)
@pytest.mark.parametrize("judges", [["citation", "length"], ["length", "citation"]])
def test_a_sweep_over_one_of_several_judges(judges: list[str], swept: dict[str, Any]) -> None:
    settings = {"citation": {"partial": 0.1, "group": 2}}
    found = chosen(Workflow(judges, settings, sweeps={"p": swept}), sweep="p")
    assert [(p.suffix, p.settings["citation"]) for p in found] == [
        ("citation.partial-0.0", {"partial": 0.0, "group": 2}),
        ("citation.partial-0.5", {"partial": 0.5, "group": 2}),
    ]


@pytest.mark.parametrize("given", [{"citation.partial": 1}, {"citation": {"partial": 1}}])
def test_a_variant_of_one_of_several_judges(given: dict[str, Any]) -> None:
    workflow = Workflow(["citation", "length"], variants={"v": given})
    (point,) = chosen(workflow, variant="v")
    assert point.settings == {"citation": {"partial": 1}}


def test_several_settings_are_swept_together() -> None:
    choices = [{"partial": 0, "attester": "lexical"}, {"partial": 1, "attester": "llm"}]
    found = chosen(Workflow(sweeps={"s": {"citation": choices}}), sweep="s")
    assert [p.settings for p in found] == choices
    assert found[1].suffix == "citation.partial-1.citation.attester-llm"


@pytest.mark.parametrize(
    "swept", [{"llm.temperature": [0, 0.7]}, {"llm": {"temperature": [0, 0.7]}}]
)
def test_a_model_is_swept_too(swept: dict[str, Any]) -> None:
    one, other = chosen(Workflow(llm={"tries": 2}, sweeps={"t": swept}), sweep="t")
    assert (one.suffix, other.suffix) == ("llm.temperature-0", "llm.temperature-0.7")
    assert other.workflow.llm == {"tries": 2, "temperature": 0.7}
    assert other.settings == {}


@pytest.mark.parametrize(
    ("sets", "which", "message"),
    [
        (["partial"], {}, "--set 'partial': give key=value"),
        (["=1"], {}, "--set '=1': give key=value"),
        (["citation.=1"], {}, "--set 'citation.=1': give key=value"),
        (["partial=[1"], {}, r"--set 'partial=\[1': the value is not YAML"),
        (["partial={a: 1, a: 2}"], {}, "key 'a' is given twice"),
        (["partial=0.3"], {"sweep": "grid"}, "--set partial=0.3 and --sweep grid .*partial"),
        (["citation.attester=llm"], {"sweep": "grid"}, "--set citation.attester=llm and --sweep"),
        (["partial=0.3", "partial=0.4"], {}, "--set partial=0.3 and --set partial=0.4: give one"),
        (["partial=1", "citation.partial=2"], {}, "partial=1 and --set citation.partial=2"),
        (["llm.tries=1", "llm.tries=2"], {}, "--set llm.tries=1 and --set llm.tries=2"),
        (["length.limit=3"], {}, "--set length.limit=3: unknown judge 'length'; there are: citat"),
        (["citatoin.partial=1"], {}, "unknown judge 'citatoin'; did you mean 'citation'"),
        (["llm=5"], {}, "--set llm=5: llm is 5, must be a mapping of settings"),
        (["llm.api_key=secret"], {}, "keys do not belong in a workflow"),
        ([], {"variant": "hafl"}, "unknown variant 'hafl'; did you mean 'half'"),
        ([], {"variant": ""}, "unknown variant ''"),
        ([], {"sweep": "grit"}, "unknown sweep 'grit'"),
        ([], {"variant": "half", "sweep": "grid"}, "give one of"),
    ],
)
def test_choices_that_cannot_be(sets: list[str], which: dict[str, Any], message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        chosen(WORKFLOW, *sets, **which)


def test_one_value_may_be_set_twice_and_beside_a_sweep() -> None:
    found = chosen(WORKFLOW, "group=2", "citation.group=2", sweep="grid")
    assert {p.settings["group"] for p in found} == {2}


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ("patial=1", "--set patial=1: settings of judge citation: unknown key 'patial'; did you"),
        ("partial=1:30", "--set partial=1:30: settings of judge citation: partial: 1:30"),
        ("llm.temprature=1", "--set llm.temprature=1: unknown key .* mean 'temperature'"),
        ("leaderboard.sortby=X", "unknown key 'sortby'; did you mean 'sort_by'"),
    ],
)
def test_what_is_set_is_known_and_typed(sets: str, message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        check_settings(read_overrides([sets], JudgeNames.of(Workflow(), (), ())).values())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "settings:\n  group: 2\n  patial: 1\n",
            "w.yml:3: settings of judge citation: unknown key",
        ),
        ("settings: {citation: {patial: 1}}", "w.yml:1: settings of judge citation: unknown key"),
        (
            "llm:\n  tries: 1\n  trees: 2\n",
            "w.yml:3: llm: unknown key 'trees'; did you mean 'tries'",
        ),
        ("llm: {extra_body: {think: no}}", "w.yml:1: llm: extra_body holds 'no'"),
        (
            "variants:\n  v:\n    partial: x\n",
            "w.yml:3: variants.v: settings of judge citation: pa",
        ),
        (
            "variants: {v: {partial: 7}}",
            "w.yml:1: variants.v: settings of judge citation: partial: 7 is too large",
        ),
        ("variants: {v: {llm.trees: 7}}", "w.yml:1: variants.v: unknown key 'trees'"),
        ("variants: {v: {leaderboard.x: 7}}", "w.yml:1: variants.v: unknown key 'x'"),
        ("sweeps:\n  s:\n    patial: [1]\n", "w.yml:3: sweeps.s: .* unknown key 'patial'; did you"),
        ("sweeps: {s: {partial: [0, 1:30]}}", "w.yml:1: sweeps.s: .* partial: 1:30"),
        ("sweeps: {s: {citation: {patial: [1]}}}", "sweeps.s: settings of judge citation: unknown"),
        ("sweeps: {s: {citation: [{patial: 1}]}}", "sweeps.s: settings of judge citation: unknown"),
        ("sweeps: {s: {lenght: {limit: [1]}}}", "w.yml:1: sweeps.s: unknown judge 'lenght'"),
        ("sweeps: {s: {llm.tries: [x]}}", "w.yml:1: sweeps.s: tries: x is not a whole number"),
        ("settings: {partial: 1, citation: {partial: 0}}", "partial of citation is given twice"),
        ("settings: {citation.partial: 1, partial: 0}", "partial of citation is given twice"),
    ],
)
def test_what_no_judge_takes_is_said_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        checked(tmp_path, text)


def test_flat_settings_of_several_judges(tmp_path: Path) -> None:
    text = "judge: [citation, length]\nsettings: {partial: 1}\n"
    with pytest.raises(
        WorkflowError, match=r"w\.yml:2: .*unknown judge 'partial'.* given by judge"
    ):
        checked(tmp_path, text)
    with pytest.raises(WorkflowError, match="citation is 5, must be a mapping of settings"):
        checked(tmp_path, "judge: [citation, length]\nsettings: {citation: 5}\n")


@pytest.mark.parametrize(
    ("swept", "message"),
    [
        ({"partial": [0.1, 1e-1]}, "the files of 'partial-0.1'"),
        ({"attester": ["a b", "a/b"]}, "'attester-a b' and 'attester-a/b'"),
        ({"partial": [0], "citation.partial": [1]}, "sweeps.s: partial of citation is swept twice"),
        ({name: list(range(100)) for name in "abcd"}, "100000000 points"),
    ],
)
def test_sweeps_whose_points_are_not_told_apart(swept: dict[str, Any], message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        chosen(Workflow(sweeps={"s": swept}), sweep="s")


def test_two_variants_do_not_share_files() -> None:
    with pytest.raises(WorkflowError, match="'a_b'"):
        chosen(Workflow(variants={"a b": {}, "a/b": {}}), all_variants=True)


@pytest.mark.parametrize(
    ("value", "suffix"),
    [
        ("../x y", "a-.._x_y"),
        (["lexical", "llm"], "a-_lexical_llm_"),
        ("é" * 200, f"a-{'é' * 59}-"),
    ],
    ids=["path", "list", "long"],
)
def test_names_of_points_are_safe_in_file_names(value: Any, suffix: str) -> None:
    (point,) = chosen(Workflow(sweeps={"s": {"a": [value]}}), sweep="s")
    assert point.suffix.startswith(suffix)
    assert len(point.suffix.encode()) < 150
