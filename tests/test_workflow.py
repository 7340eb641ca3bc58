"""Workflow files: checked whole, overridden in order, swept into points."""

from __future__ import annotations

from pathlib import Path

import pytest

from trecjudge.errors import WorkflowError
from trecjudge.judge import make_judge
from trecjudge.measures import leaderboard_spec
from trecjudge.workflow import Workflow, points, read_workflow, with_overrides

SHIPPED = sorted((Path(__file__).parent.parent / "workflows").glob("*.yml"))
WORKFLOW = Workflow(
    settings={"partial": 0.1, "attester": "lexical"},
    variants={"half": {"partial": 0.5}, "full": {"partial": 1.0}},
    sweeps={"grid": {"partial": [0, 1], "attester": ["lexical", "llm"]}},
)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "w.yml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_workflows_fit_their_judges(path: Path) -> None:
    workflow = read_workflow(path)
    for point in points(workflow, {}, all_variants=True) if workflow.variants else []:
        make_judge(workflow.judge, point.settings)
    for name in workflow.sweeps:
        for point in points(workflow, {}, sweep=name):
            make_judge(workflow.judge, point.settings)
    leaderboard_spec(make_judge(workflow.judge, workflow.settings).measures, workflow.leaderboard)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("judge: citation\nsetings: {}\n", r"w.yml:2: unknown key 'setings'; did you mean 'sett"),
        ("settings: [1]\n", r"w.yml:1: settings is \[1\], must be a mapping"),
        ("judge: {a: 1}\n", "judge is .* must be a name"),
        ("judge: a: b\n", "w.yml:1: is not YAML"),
        ("- a\n", "must be a mapping"),
        ("\n\nleaderboard: {sortby: X}\n", "w.yml:3: leaderboard: unknown key 'sortby'"),
        ("variants: {hard: 1}\n", "variants.hard is 1, must be a mapping"),
        ("sweeps: {s: {partial: 1}}\n", "sweeps.s.partial is 1, must be a list"),
        ("prompts: {attest: 1}\n", "prompts.attest is 1, must be text"),
        ("judge: !!python/object/apply:os.system [ls]\n", "is not YAML"),
    ],
)
def test_faults_are_placed(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        read_workflow(written(tmp_path, text))


def test_an_empty_file_is_the_default(tmp_path: Path) -> None:
    assert read_workflow(written(tmp_path, "# nothing\n")).judge == "citation"


def test_set_beats_variant_beats_settings() -> None:
    workflow, overrides = with_overrides(WORKFLOW, ["attester=llm", "llm.tries=5"])
    (point,) = points(workflow, overrides, variant="half")
    assert point.settings == {"partial": 0.5, "attester": "llm"}
    assert (point.suffix, workflow.llm) == ("half", {"tries": 5})


def test_a_sweep_names_its_points() -> None:
    found = points(WORKFLOW, {}, sweep="grid")
    assert [p.suffix for p in found] == [
        "partial-0.attester-lexical",
        "partial-0.attester-llm",
        "partial-1.attester-lexical",
        "partial-1.attester-llm",
    ]


def test_names_of_points_are_safe_in_file_names() -> None:
    (point,) = points(Workflow(sweeps={"s": {"a": ["../x y"]}}), {}, sweep="s")
    assert point.suffix == "a-.._x_y"


@pytest.mark.parametrize("override", ["partial", "=1", "citation.=1", "partial=[1"])
def test_overrides_that_cannot_be_read(override: str) -> None:
    with pytest.raises(WorkflowError, match="--set"):
        with_overrides(WORKFLOW, [override])


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"variant": "hafl"}, "unknown variant 'hafl'; did you mean 'half'"),
        ({"sweep": "grit"}, "unknown sweep 'grit'"),
        ({"variant": "half", "sweep": "grid"}, "give one of"),
    ],
)
def test_choices_that_are_not_there(chosen: dict[str, str], message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        points(WORKFLOW, {}, **chosen)


def test_settings_are_typed() -> None:
    with pytest.raises(WorkflowError, match="settings of judge citation: partial is 'much'"):
        make_judge("citation", {"partial": "much"})
    with pytest.raises(WorkflowError, match="unknown key 'patial'; did you mean 'partial'"):
        make_judge("citation", {"patial": 1})
    assert make_judge("citation", {"partial": 1}) == make_judge("citation", {"partial": 1.0})


@pytest.mark.parametrize(
    "text",
    [
        "variants: {1: {}}",
        "settings: {1: 2}",
        "prompts: {1: x}",
        f"settings: {'[' * 900}{']' * 900}",
    ],
    ids=["variant", "setting", "prompt", "deep"],
)
def test_keys_that_are_no_names_and_deep_nests(tmp_path: Path, text: str) -> None:
    with pytest.raises(WorkflowError):
        read_workflow(written(tmp_path, text))


def test_a_key_is_never_taken_from_a_workflow() -> None:
    with pytest.raises(WorkflowError, match="keys do not belong in a workflow"):
        with_overrides(WORKFLOW, ["llm.api_key=secret"])


def test_two_points_do_not_share_files() -> None:
    workflow = Workflow(variants={"a b": {}, "a/b": {}})
    with pytest.raises(WorkflowError, match="'a_b'"):
        points(workflow, {}, all_variants=True)


def test_a_sweep_has_an_end() -> None:
    workflow = Workflow(sweeps={"s": {name: list(range(100)) for name in "abcd"}})
    with pytest.raises(WorkflowError, match="100000000 points"):
        points(workflow, {}, sweep="s")


@pytest.mark.parametrize("partial", [float("nan"), float("inf"), -1, 7, 10**30])
def test_numbers_that_would_be_wrong(partial: float) -> None:
    with pytest.raises(WorkflowError, match="partial is"):
        make_judge("citation", {"partial": partial})
