"""Texts that decline to answer, and statements about the world."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.reading import reading
from trecjudge.judging.claims.declining import declines
from trecjudge.judging.claims.statements import abstains, statements

LISTED = [
    json.loads(line)
    for line in Path(__file__).with_name("declining.jsonl").read_text(encoding="utf-8").splitlines()
]
"""Abstentions that were written before the rules, half of them held out, and statements."""


def texts(part: str) -> list[str]:
    return [entry["text"] for entry in LISTED if entry["part"] == part]


@pytest.mark.parametrize(("part", "rate"), [("seen", 1.0), ("held_out", 0.9)])
def test_abstentions_are_known(part: str, rate: float) -> None:
    missed = [text for text in texts(part) if not abstains(text)]
    assert 1 - len(missed) / len(texts(part)) >= rate, missed


def test_statements_on_the_world_are_none() -> None:
    assert [text for text in texts("innocent") if abstains(text)] == []
    assert [text for text in texts("innocent") if not statements(text)] == []


def test_sentences_of_real_runs(shared: Path) -> None:
    files = sorted((shared / "data/rag25_support/runs").iterdir())
    sentences = {s.text for response in reading(*files).responses for s in response.sentences}
    found = [text for text in sentences if declines(text)]
    # Each was looked at: all of them say that what the run was given lacks something.
    assert (len(sentences) > 4000, len(found)) == (True, 14)
