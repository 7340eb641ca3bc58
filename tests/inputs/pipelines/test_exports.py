"""promptfoo's YAML, and the logs of inspect_ai."""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from tests.reading import Read, Write, reading
from trecjudge.inputs.run_records import not_a_run
from trecjudge.settings.limits import apply_limits

YAML = """evalId: eval-1
results:
  version: 3
  results:
    - provider: {id: echo, label: mine}
      response: {output: 'Yes.'}
      vars: {question: 'Is it?', context: 'It is.'}
    - provider: {id: echo, label: mine}
      error: Request timed out
      vars: {question: 'Was it?', context: 'It was.'}
"""


def log(path: Path, *samples: str) -> Path:
    """Write a log with these samples, and with what else a log has."""
    with ZipFile(path, "w", ZIP_DEFLATED) as file:
        file.writestr("header.json", "{}")
        for number, sample in enumerate(samples):
            file.writestr(f"samples/{number}_epoch_1.json", sample)
    return path


def sample(question: str) -> str:
    """Return a sample of a log."""
    messages = [{"role": "tool", "content": "It is."}, {"role": "assistant", "content": "Yes."}]
    return json.dumps({"input": question, "messages": [{"role": "user"}, *messages]})


def test_yaml_of_promptfoo(read: Read) -> None:
    found = read(YAML, "eval.yaml")
    assert [(t.title, r.run_id, r.text) for t, r in found.pairs] == [
        ("Is it?", "mine", "Yes."),
        ("Was it?", "mine", ""),
    ]
    assert [d.text for d in found.responses[0].documents.values()] == ["It is."]


def test_other_yaml_is_no_run(write: Write) -> None:
    finding = not_a_run(write("judge: grounding\n", "job.yml"))
    assert finding is not None and finding.message == "is not a run; passed over"


def test_yaml_that_is_too_large_says_what_to_write(read: Read) -> None:
    found = read(YAML + f"more: [{'1,' * 30_000}]\n", "eval.yaml")
    assert found.kinds == ["file_unreadable"]
    assert found.findings[0].message.endswith("which has no such limit")


def test_the_samples_of_a_log(tmp_path: Path) -> None:
    found = reading(log(tmp_path / "mine.eval", sample("Is it?"), sample("Was it?")))
    assert [(t.title, r.run_id, r.text) for t, r in found.pairs] == [
        ("Is it?", "mine", "Yes."),
        ("Was it?", "mine", "Yes."),
    ]
    assert [d.text for d in found.responses[0].documents.values()] == ["It is."]


def test_samples_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    path = log(tmp_path / "mine.eval", "{", sample("x" * 2_000_000), sample("Is it?"))
    with apply_limits(["record=1m"]):
        found = reading(path)
    assert [topic.title for topic, _ in found.pairs] == ["Is it?"]
    assert found.kinds == ["line_not_json", "record_too_large"]


@pytest.mark.parametrize("content", [b"PK\x03\x04", b"PK\x03\x04" + bytes(200)])
def test_a_log_that_is_broken_is_said(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "mine.eval").write_bytes(content)
    (finding,) = reading(tmp_path / "mine.eval").findings
    assert finding.kind == "file_unreadable"
    assert finding.message.startswith("cannot be read as a log of inspect_ai")
