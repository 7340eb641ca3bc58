"""What DSPy saves of a program is read as it was, by JSON only."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import dspy
import orjson
import pytest

from trecjudge.errors import WorkflowError
from trecjudge.judges.argue.program import JudgeUncited
from trecjudge.judges.citation import ATTEST
from trecjudge.judges.citation.program import Attest
from trecjudge.models.compiled import read_compiled
from trecjudge.models.prompt import Prompts

FIELDS = ["document", "sentence", "evidence", "label"]
DEMO = {"document": "D", "sentence": "S", "evidence": "", "label": "no_support"}


def saved(module: Any, path: Path) -> Path:
    """Save a module as DSPy does; return the file."""
    module.save(str(path / "program.json"))
    return path / "program.json"


def test_a_predictor_with_demonstrations(tmp_path: Path) -> None:
    module = dspy.Predict(Attest.with_instructions("Is it so?"))
    module.demos = [dspy.Example(**DEMO, augmented=True)]
    found = read_compiled(saved(module, tmp_path), FIELDS)
    assert found.instructions == "Is it so?"
    assert found.demos == ({**DEMO, "augmented": True},)
    assert found.added_fields(FIELDS) == []
    assert found.fields[0].description == "the cited document"
    assert found.fields[3].description == ""


def test_a_chain_of_thought_has_reasoning(tmp_path: Path) -> None:
    found = read_compiled(saved(dspy.ChainOfThought(Attest), tmp_path), FIELDS)
    assert found.name == "predict"
    assert found.added_fields(FIELDS) == ["reasoning"]


class Nested(dspy.Module):  # type: ignore[misc]
    """A module of two predictors, of which one fits."""

    def __init__(self) -> None:
        super().__init__()
        self.one = dspy.ChainOfThought(Attest)
        self.other = dspy.Predict(JudgeUncited)


def test_of_several_predictors_the_one_that_fits(tmp_path: Path) -> None:
    path = saved(Nested(), tmp_path)
    assert read_compiled(path, FIELDS).name == "one.predict"
    fields = ["earlier", "sentence", "reason", "negative", "needs_citation", "first"]
    assert read_compiled(path, fields).name == "other"


def test_several_that_fit(tmp_path: Path) -> None:
    content = orjson.loads(saved(dspy.Predict(Attest), tmp_path).read_bytes())
    path = tmp_path / "two.json"
    path.write_bytes(orjson.dumps({"a": content, "b": content}))
    with pytest.raises(WorkflowError, match="several of its predictors fit: a, b"):
        read_compiled(path, FIELDS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no JSON"),
        (b"[]", "is no program that DSPy saved"),
        (b"{}", "is no program that DSPy saved"),
        (b'{"predict": {"demos": []}}', "is no program that DSPy saved"),
        (b'{"signature": {"instructions": "x", "fields": []}}', "must be document, sentence"),
        (b'{"signature": {"instructions": "x", "fields": [1]}}', "has no prefix"),
        (b'{"demos": 3, "signature": {"instructions": "x", "fields": []}}', "a list of objects"),
    ],
)
def test_what_is_no_program(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(WorkflowError, match=message):
        read_compiled(path, FIELDS)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(WorkflowError, match="there is no such file"):
        read_compiled(tmp_path / "none.json", FIELDS)


class Trap:
    """Writes a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


def test_a_pickle_is_never_loaded(tmp_path: Path) -> None:
    path, mark = tmp_path / "x.pkl", tmp_path / "mark"
    path.write_bytes(pickle.dumps(Trap(mark)))
    for given in (path, tmp_path):
        with pytest.raises(WorkflowError, match="runs code where it is loaded"):
            read_compiled(given, FIELDS)
    assert not mark.exists()


def compiled_file(path: Path, demos: list[Any], instructions: str = "Is it so?") -> Path:
    """Write a program with these demonstrations; return the file."""
    fields = [{"prefix": f"{name.title()}:", "description": "${x}"} for name in FIELDS]
    signature = {"instructions": instructions, "fields": fields}
    path.write_bytes(orjson.dumps({"signature": signature, "demos": demos}))
    return path


@pytest.mark.parametrize(
    ("demos", "instructions", "message"),
    [
        ([DEMO] * 20_000, "x", "has 20,000 demonstrations, must have at most 1,000"),
        ([DEMO | {"document": "x" * 10_000_000}], "x", "have 10,000,0.. characters, must have"),
        ([DEMO | {"document": "x" * 9000}] * 500, "x", "have 4,50.,... characters, must have"),
        ([], "x" * 5_000_000, "have 5,000,0.. characters, must have at most 4,000,000"),
        ([DEMO] * 900, "x" * 17_000_000, "is larger than 16 MB"),
        ([{"document": [[0] * 200_000]}], "x", "has more than 100,000 entries"),
        ([DEMO | {"document": "a b " * 40_000}], "x", "have 40,0.. tokens, the model takes 8,000"),
    ],
    ids=["demonstrations", "a long one", "long together", "instructions", "file", "list", "model"],
)
def test_more_than_a_model_takes_is_one_line_at_once(
    demos: list[Any], instructions: str, message: str, tmp_path: Path
) -> None:
    path = compiled_file(tmp_path / "x.json", demos, instructions)
    with pytest.raises(WorkflowError, match=message) as raised:
        Prompts({"attest": str(path)}, room=8000).prepare(ATTEST)
    assert str(raised.value).startswith("prompts.attest: ") and len(str(raised.value)) < 400


def test_a_program_of_very_many_fields_is_named_in_short(tmp_path: Path) -> None:
    fields = [{"prefix": f"F{n}:", "description": ""} for n in range(101)]
    state = {"signature": {"instructions": "x", "fields": fields}}
    (tmp_path / "x.json").write_bytes(orjson.dumps(state))
    with pytest.raises(WorkflowError, match="has 101 fields, must have at most 100"):
        read_compiled(tmp_path / "x.json", FIELDS)
    state["signature"]["fields"] = fields[:50]
    (tmp_path / "x.json").write_bytes(orjson.dumps({str(n): state for n in range(999)}))
    with pytest.raises(WorkflowError, match="its fields are f0, f1") as raised:
        read_compiled(tmp_path / "x.json", FIELDS)
    assert len(str(raised.value)) < 700
