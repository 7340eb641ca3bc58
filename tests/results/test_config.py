"""The config file of a job, read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reading import Write
from trecjudge.errors import InputError
from trecjudge.results.config import Config, RecordedInputs, read_config


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("written: now\n", Config("now")),
        ("model: null\ninputs: null\n", Config()),
        ("model: {model: m, base_url: u}\n", Config(model="m")),
        (
            "inputs: {topics: t, runs: [a, b], documents: [d], dataset: rag, document_text: false}",
            Config(
                inputs=RecordedInputs(Path("t"), (Path("a"), Path("b")), (Path("d"),), "rag", False)
            ),
        ),
        ("inputs: {own_documents: true}", Config(inputs=RecordedInputs(own_documents=True))),
        ("counts: {findings: {bad_utf8: 2}}\n", Config(findings={"bad_utf8": 2})),
    ],
)
def test_a_config(text: str, expected: Config, write: Write) -> None:
    assert read_config(write(text, "x.config.yml")) == expected


@pytest.mark.parametrize(
    "text", ["[1]", "inputs: 5", "a: [", "a: 1\na: 2", "!!python/object:os.system {}"]
)
def test_what_is_no_config_is_said(text: str, write: Write) -> None:
    with pytest.raises(InputError, match=r"x\.config\.yml(:\d)?: is not the config of a job"):
        read_config(write(text, "x.config.yml"))


def test_no_config_is_an_empty_one(tmp_path: Path) -> None:
    assert read_config(tmp_path / "x.config.yml") == Config()
