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
from trecjudge.judges.citation.program import Attest
from trecjudge.models.compiled import read_compiled

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
    assert found.added(FIELDS) == []
    assert found.fields[0].description == "the cited document"
    assert found.fields[3].description == ""


def test_a_chain_of_thought_has_reasoning(tmp_path: Path) -> None:
    found = read_compiled(saved(dspy.ChainOfThought(Attest), tmp_path), FIELDS)
    assert found.name == "predict"
    assert found.added(FIELDS) == ["reasoning"]


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
