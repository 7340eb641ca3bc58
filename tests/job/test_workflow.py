"""Workflow files: checked whole, with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commandline import sample
from trecjudge.errors import WorkflowError
from trecjudge.job.request import load_workflow
from trecjudge.job.workflow import find_workflow, read_workflow, shipped_names
from trecjudge.judging.judge import make_judge


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "w.yml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("judge: citation\nsetings: {}\n", r"w.yml:2: unknown key 'setings'; did you mean 'sett"),
        ("settings: [1]\n", r"w.yml:1: settings is \[1\], must be a mapping"),
        ("judge: {a: 1}\n", "judge is .* must be a name"),
        ("judge: []\n", r"w.yml:1: judge is \[\], must name one judge or several"),
        ("judge: ' '\n", "must name one judge or several"),
        ("judge: [citation, 5]\n", "must name one judge or several"),
        ("judge: a: b\n", "w.yml:1: is not YAML"),
        ("- a\n", "must be a mapping"),
        ("sort_by: SUPPORT\n", r"w.yml:1: unknown key 'sort_by'; it belongs below 'leaderboard'"),
        ("temperature: 0\n", "w.yml:1: unknown key 'temperature'; it belongs below 'llm'"),
        ("\n\nleaderboard: {sortby: X}\n", "w.yml:3: leaderboard: unknown key 'sortby'"),
        ("variants: {hard: 1}\n", "variants.hard is 1, must be a mapping"),
        ("sweeps: {s: {partial: 1}}\n", "sweeps.s.partial is 1, must be a list"),
        ("prompts: {attest: 1}\n", "prompts.attest is 1, must be text"),
        ("judge: !!python/object/apply:os.system [ls]\n", "is not YAML"),
        ("judge: a\nsettings: {x: 1}\nsettings: {x: 2}\n", "w.yml:3: key 'settings' .* line 2"),
        ("settings:\n  x: 1\n  y: 2\n  x: 1\n", "w.yml:4: key 'x' is given twice, .* line 2"),
        ("sweeps: {s: {}}\n", "w.yml:1: sweeps.s is empty"),
        ("sweeps:\n  s:\n    a: []\n", r"w.yml:3: sweeps.s.a is \[\], must be a list of values"),
        ("sweeps: {s: {a: {b: {c: [1]}}}}\n", "sweeps.s.a.b is .* must be a list of values"),
        ("variants: {hard: {1: 2}}\n", "variants.hard has the key 1, must be a name"),
        ("variants: {'..': {}}\n", r"'\.\.' can be in no file name"),
        ("datasets: [rag]\n", r"w.yml:1: datasets is \['rag'\], must be a mapping"),
        ("datasets: {rag: 1}\n", "w.yml:1: datasets.rag is 1, must be a mapping"),
        ("datasets:\n  rag:\n    setings: {}\n", "datasets.rag: unknown key 'setings'; did you"),
        ("datasets:\n  rag: {judge: length}\n", "datasets.rag: unknown key 'judge'"),
        ("datasets:\n  rag:\n    llm: [1]\n", r"w.yml:3: llm is \[1\], must be a mapping"),
    ],
)
def test_faults_are_placed(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        read_workflow(written(tmp_path, text))


@pytest.mark.parametrize(
    "given", ["mine", "mine.yml", "workflows/mine.yml", "/elsewhere/workflows/mine"]
)
def test_a_shipped_workflow_by_name(tmp_path: Path, given: str) -> None:
    (tmp_path / "workflows").mkdir()
    shipped = tmp_path / "workflows" / "mine.yml"
    shipped.touch()
    assert find_workflow(Path(given), shipped.parent) == (shipped, "")
    with pytest.raises(
        WorkflowError, match=r"typo/mine2\.yml: no such file, and .* there are: mine"
    ):
        find_workflow(Path("typo/mine2.yml"), shipped.parent)


def test_the_workflow_of_a_judge_that_has_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "citation_judge" / "workflow.yml"
    assert find_workflow(path) == find_workflow(Path("citation"))
    path.parent.mkdir()
    path.write_text("judge: length\n")
    assert find_workflow(path) == (path, "")


@pytest.mark.parametrize("given", ["mine/citation.yml", "judges/citation/workflow.yml"])
def test_a_path_that_is_not_there_names_the_shipped_workflow_of_its_judge(given: str) -> None:
    with pytest.raises(WorkflowError, match=f"{given}: no such file; .* is --workflow citation$"):
        find_workflow(Path(given))


DATASETS = """
settings: {partial: 0.25}
llm: {tries: 5}
variants: {hard: {partial: 0}}
datasets:
  rag:
    settings: {attester: lexical}
    variants: {}
  my_own:
"""


@pytest.mark.parametrize("name", ["w_rag.yml", "w_rag"])
def test_a_dataset_replaces_sections_of_its_file(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, DATASETS)
    found = load_workflow(tmp_path / name)
    assert (found.path, found.dataset) == (path, "rag")
    assert (found.settings, found.variants) == ({"attester": "lexical"}, {})
    assert (found.llm, found.judge) == ({"tries": 5}, "citation")
    assert found.where("settings", inside=("attester",)) == f"{path}:7: settings"
    assert found.where("llm", inside=("tries",)) == f"{path}:3: llm"
    assert read_workflow(path).settings == {"partial": 0.25}
    assert load_workflow(tmp_path / "w_my_own").settings == {"partial": 0.25}
    with pytest.raises(WorkflowError, match=r"w_ragtime: no such file"):
        load_workflow(tmp_path / "w_ragtime")


def test_a_workflow_of_its_own_comes_before_a_dataset(tmp_path: Path) -> None:
    written(tmp_path, DATASETS)
    (tmp_path / "w_rag.yml").write_text("judge: length\n")
    assert load_workflow(tmp_path / "w_rag.yml").judge == "length"


def test_the_config_names_the_dataset_and_has_what_ran(tmp_path: Path) -> None:
    done = sample("rag", tmp_path, "--workflow", "citation_rag")
    config = next(tmp_path.rglob("*.config.yml"))
    assert (done.status, "  dataset: rag\n" in config.read_text()) == (0, True)
    ran, asked = read_workflow(config), load_workflow(Path("citation_rag"))
    assert ran.settings["partial"] == 0.5
    assert ran.leaderboard == asked.leaderboard
    assert not (ran.variants or ran.sweeps or ran.datasets)


NAMES = (
    "argue argue_ragtime attribution attribution_dragun attribution_medical attribution_rag"
    " attribution_ragtime citation citation_dragun citation_rag citation_ragtime citation_score"
    " citation_score_dragun citation_score_rag citation_score_ragtime direct_prompt"
    " direct_prompt_dragun direct_prompt_rag direct_prompt_ragtime faithfulness faithfulness_dragun"
    " faithfulness_rag faithfulness_ragtime grounding grounding_dragun grounding_rag"
    " grounding_ragtime length length_dragun length_rag length_ragtime rubric rubric_dragun support"
    " support_dragun support_rag support_ragtime"
)


def test_every_workflow_keeps_its_name() -> None:
    assert shipped_names() == NAMES.split()
    for name in NAMES.split():
        path, dataset = find_workflow(Path(f"workflows/{name}.yml"))
        judge = name.removesuffix(f"_{dataset}") if dataset else name
        assert read_workflow(path, dataset).judge == judge == path.stem


def test_an_empty_file_is_the_default(tmp_path: Path) -> None:
    assert read_workflow(written(tmp_path, "# nothing\n")).judge == "citation"


def test_settings_are_typed() -> None:
    with pytest.raises(WorkflowError, match="settings of judge citation: partial: much"):
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


@pytest.mark.parametrize("partial", [float("nan"), float("inf"), -1, 7, 10**30])
def test_numbers_that_would_be_wrong(partial: float) -> None:
    with pytest.raises(WorkflowError, match=r"partial(:| is inf: too| is nan: too)"):
        make_judge("citation", {"partial": partial})
