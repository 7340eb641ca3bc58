"""The JSON Schema of workflows: shipped as it is made, and it refuses what the reader refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.commandline import command
from trecjudge.errors import TrecJudgeError
from trecjudge.job.judges import check_jobs
from trecjudge.job.request import Job, JudgeSelection, build_jobs
from trecjudge.job.schema import SCHEMA_FILE, schema_text, shipped_judges, workflow_schema
from trecjudge.job.workflow import KEYS, WORKFLOWS, read_workflow
from trecjudge.results.outputs import Outputs
from trecjudge.settings.strict_yaml import read_yaml

FIRST_LINE = "# yaml-language-server: $schema=workflow.schema.json\n"
SHIPPED = sorted(WORKFLOWS.glob("*.yml"))


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft7Validator:
    """Return the schema of the judges that are shipped."""
    made = workflow_schema(shipped_judges())
    jsonschema.Draft7Validator.check_schema(made)
    return jsonschema.Draft7Validator(made)


def test_the_shipped_schema_is_the_one_that_is_made() -> None:
    """Where it is not: `python run_judge.py job schema > workflows/workflow.schema.json`."""
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(shipped_judges())


def test_the_command_prints_it() -> None:
    made = json.loads(command("job", "schema").out)
    assert set(made["properties"]) == set(KEYS)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_workflow_names_it_and_is_valid(
    path: Path, schema: jsonschema.Draft7Validator
) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith(FIRST_LINE)
    assert [error.message for error in schema.iter_errors(read_yaml(text).value)] == []


def is_read(path: Path) -> bool:
    """Return whether the program takes a workflow, with all its variants and datasets."""
    template = Job((), Outputs(path.parent, "x"))
    try:
        for dataset in ("", *read_workflow(path).datasets):
            workflow = read_workflow(path, dataset)
            check_jobs(build_jobs(template, JudgeSelection(workflow=workflow)))
    except TrecJudgeError:
        return False
    return True


GOOD = {
    "nothing": "",
    "a judge": "judge: citation",
    "two judges by commas": "judge: citation, length",
    "two judges": "judge: [citation, length]\nsettings: {citation: {partial: 1}, length.limit: 9}",
    "a whole number for a decimal one": "judge: citation\nsettings: {partial: 1}",
    "a decimal number for a whole one": "judge: length\nsettings: {limit: 4e2}",
    "a judge's name before its key": "judge: citation\nsettings: {citation.partial: 0.5}",
    "a setting called as a judge": "judge: citation_score\nvariants: {v: {faithfulness: 0.4}}",
    "truth as a word": "judge: attribution\nsettings: {facts: no}",
    "null for a section": "judge: citation\nsettings:\nllm:\n",
    "null for a setting": "judge: grounding\nsettings: {overlap: null}",
    "llm": "judge: citation\nllm: {temperature: 0, base_url: [http://a/v1, http://b/v1]}",
    "a variant of llm": "judge: citation\nvariants: {warm: {llm.temperature: 1, partial: 0.5}}",
    "a variant of sections": "judge: citation\nvariants: {v: {llm: {seed: 1}}}",
    "a sweep": "judge: citation\nsweeps: {s: {partial: [0, 0.5], llm.seed: [1, 2]}}",
    "a sweep by judge": "judge: citation\nsweeps: {s: {citation: {partial: [0, 1]}}}",
    "a sweep of points": "judge: citation\nsweeps: {s: {citation: [{partial: 0}, {partial: 1}]}}",
    "a prompt": "judge: citation\nprompts: {attest: 'Is the {sentence} so?'}",
    "a gate": "judge: citation\ngate: {reject_unless: CITATION_SUPPORT >= .5, review_unless: []}",
    "rules": "judge: citation\ngate: {review_unless: [CITATION_SUPPORT>=1e-1, AVG_CITATIONS < 9]}",
    "datasets": "judge: citation\ndatasets: {rag: {settings: {partial: 1}, llm: {}}, own: }",
    "a dataset of two": "judge: [citation, length]\ndatasets: {a: {settings: {length.limit: 9}}}",
    "a leaderboard": "judge: citation\nleaderboard: {measures: [AVG_CITATIONS], on_missing: warn}",
}
BAD = {
    "no mapping": "- citation",
    "an unknown section": "judge: citation\nsetings: {}",
    "no judge": "judge: ''",
    "an empty list of judges": "judge: []",
    "a judge that is a number": "judge: [citation, 5]",
    "a mapping for a judge": "judge: {citation: {}}",
    "settings that are a list": "judge: citation\nsettings: [partial]",
    "an unknown setting": "judge: citation\nsettings: {patial: 0.5}",
    "a setting of another judge": "judge: citation\nsettings: {limit: 5}",
    "text for a number": "judge: citation\nsettings: {partial: half}",
    "a number for text": "judge: citation\nsettings: {attester: 3}",
    "an unknown choice": "judge: citation\nsettings: {attester: lexcial}",
    "a fraction for a whole number": "judge: nuggets\nsettings: {window: 1.5}",
    "truth for a number": "judge: nuggets\nsettings: {window: true}",
    "an unknown entry of a list": "judge: grounding\nsettings: {cascade: [lexical, lm]}",
    "by name, unknown": "judge: citation\nsettings: {citation.patial: 0.5}",
    "by judge, unknown": "judge: [citation, length]\nsettings: {length: {limt: 5}}",
    "by judge, no mapping": "judge: [citation, length]\nsettings: {length: 5}",
    "of no judge": "judge: [citation, length]\nsettings: {partial: 0.5}",
    "an unknown key of llm": "judge: citation\nllm: {temprature: 0}",
    "llm of a wrong type": "judge: citation\nllm: {tries: many}",
    "a key in a workflow": "judge: citation\nllm: {api_key: sk-1}",
    "an unknown key of the leaderboard": "judge: citation\nleaderboard: {sortby: X}",
    "an unknown on_missing": "judge: citation\nleaderboard: {on_missing: ignore}",
    "measures that are no list": "judge: citation\nleaderboard: {measures: AVG_CITATIONS}",
    "no measures at all": "judge: citation\nleaderboard: {measures: []}",
    "a variant that is no mapping": "judge: citation\nvariants: {hard: 1}",
    "a variant without a letter": "judge: citation\nvariants: {'..': {partial: 0.5}}",
    "a variant of nothing known": "judge: citation\nvariants: {hard: {patial: 0.5}}",
    "a variant of a wrong type": "judge: citation\nvariants: {hard: {partial: much}}",
    "a variant, llm": "judge: citation\nvariants: {hard: {llm.temprature: 0}}",
    "a variant, leaderboard": "judge: citation\nvariants: {hard: {leaderboard: {sortby: X}}}",
    "a sweep of nothing": "judge: citation\nsweeps: {s: {}}",
    "a sweep of no values": "judge: citation\nsweeps: {s: {partial: []}}",
    "a sweep of one bare value": "judge: citation\nsweeps: {s: {partial: 0.5}}",
    "a sweep of a wrong value": "judge: citation\nsweeps: {s: {partial: [0, much]}}",
    "a sweep of an unknown key": "judge: citation\nsweeps: {s: {patial: [0, 1]}}",
    "a sweep by judge, unknown": "judge: citation\nsweeps: {s: {citation: {patial: [0]}}}",
    "a sweep of llm, unknown": "judge: citation\nsweeps: {s: {llm.sed: [0, 1]}}",
    "datasets that are a list": "judge: citation\ndatasets: [rag]",
    "a dataset that is no mapping": "judge: citation\ndatasets: {rag: 1}",
    "a judge of a dataset": "judge: citation\ndatasets: {rag: {judge: length}}",
    "an unknown section of a dataset": "judge: citation\ndatasets: {rag: {setings: {}}}",
    "an unknown setting of a dataset": "judge: citation\ndatasets: {rag: {settings: {patial: 1}}}",
    "a prompt that is no text": "judge: citation\nprompts: {attest: 1}",
    "an unknown prompt": "judge: citation\nprompts: {atest: 'Is {sentence} so?'}",
    "an unknown gate": "judge: citation\ngate: {reject: CITATION_SUPPORT >= 1}",
    "a rule that is none": "judge: citation\ngate: {reject_unless: CITATION_SUPPORT}",
    "a rule with a word": "judge: citation\ngate: {reject_unless: CITATION_SUPPORT >= high}",
    "a rule that is a number": "judge: citation\ngate: {review_unless: [0.8]}",
    "measures that are a mapping": "judge: citation\nmeasures: {a: b}",
    "a measure without a module": "judge: citation\nmeasures: [uncited]",
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_what_is_read_is_valid(
    text: str, schema: jsonschema.Draft7Validator, tmp_path: Path
) -> None:
    (tmp_path / "w.yml").write_text(text)
    assert is_read(tmp_path / "w.yml")
    assert [error.message for error in schema.iter_errors(read_yaml(text).value)] == []


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_what_is_refused_is_invalid(
    text: str, schema: jsonschema.Draft7Validator, tmp_path: Path
) -> None:
    (tmp_path / "w.yml").write_text(text)
    assert not is_read(tmp_path / "w.yml")
    value: Any = read_yaml(text).value
    assert not schema.is_valid(value)


def test_a_judge_of_others_may_have_any_setting(schema: jsonschema.Draft7Validator) -> None:
    text = "judge: mine:Judge\nsettings: {any: 1}\nsweeps: {s: {any: [1]}}\nprompts: {own: text}"
    assert schema.is_valid(read_yaml(text).value)


def test_a_judge_of_ones_own_is_in_the_printed_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "judges" / "own_length"
    own.mkdir(parents=True)
    code = (WORKFLOWS.parent / "judges" / "length" / "__init__.py").read_text()
    (own / "__init__.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    made = json.loads(command("job", "schema").out)
    assert set(made["definitions"]["settings"]) == {*shipped_judges(), "own_length"}
