"""Weights of claims from a file: which row weighs which claim, and rows that weigh none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trecjudge.errors import InputError
from trecjudge.judging.claims.importance import importance_at
from trecjudge.records import Claim, Judgment

CLAIMS = [Claim(0, "The Gita has 18 chapters.", 0), Claim(1, "It is old.", 0), Claim(2, "Of it", 1)]


def written(folder: Path, *rows: Any) -> str:
    path = folder / "weights.jsonl"
    path.write_text("\n\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(path)


def test_words_count_before_sentences_and_a_run_before_all_runs(tmp_path: Path) -> None:
    rows = (
        {"topic_id": 1, "sentence_index": 0, "weight": 0},
        {"topic_id": "1", "claim": "the gita  has 18 CHAPTERS", "weight": 7.5},
        {"topic_id": "1", "run_id": "b", "claim": "The Gita has 18 chapters.", "weight": 2},
    )
    weights = importance_at(written(tmp_path, *rows))
    assert [c.importance for c in weights.weigh("a", "1", CLAIMS)] == [7.5, 0.0, 1.0]
    assert [c.importance for c in weights.weigh("b", "1", CLAIMS)] == [2.0, 0.0, 1.0]
    assert weights.weigh("a", "2", CLAIMS) == CLAIMS


def test_a_row_that_weighs_no_claim_is_named_with_what_it_does_not_know(tmp_path: Path) -> None:
    rows = (
        {"topic_id": "1", "sentence_index": 0, "weight": 1},
        {"topic_id": "11", "claim": "It is old.", "weight": 1},
        {"topic_id": "1", "run_id": "rum", "claim": "It is old.", "weight": 1},
        {"topic_id": "1", "claim": "It is new.", "weight": 1},
        {"topic_id": "1", "run_id": "run", "sentence_index": 9, "weight": 1},
    )
    path = written(tmp_path, *rows)
    judged = [[Judgment("run", "1", claim=claim, label="ATTRIBUTED") for claim in CLAIMS]]
    found = list(importance_at(path).unused(judged))
    assert {finding.kind for finding in found} == {"claim_weight_unused"}
    assert [f"{finding.place.line}: {finding.message}" for finding in found] == [
        "3: unknown topic '11'; did you mean '1'? there are: 1",
        "5: no response on topic 1: unknown run 'rum'; did you mean 'run'? there are: run",
        "7: no claim on topic 1 reads 'it is new'",
        "9: no claim of sentence 9 of run run on topic 1 is left to it",
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"claim": "A", "weight": 1}, "give topic_id"),
        ({"topic_id": "1", "weight": 1}, "give one of claim"),
        ({"topic_id": "1", "claim": "A", "sentence_index": 0, "weight": 1}, "give one of claim"),
        ({"topic_id": "1", "sentence_index": "0", "weight": 1}, "give one of claim"),
        ({"topic_id": "1", "sentence_index": True, "weight": 1}, "give one of claim"),
        ({"topic_id": "1", "claim": " ", "weight": 1}, "give one of claim"),
        ({"topic_id": "1", "claim": "A"}, "weight is None, not a finite number >= 0"),
        ({"topic_id": "1", "claim": "A", "weight": -0.5}, "weight is -0.5"),
        ({"topic_id": "1", "claim": "A", "weight": 1e308}, "not a finite number"),
        ({"topic_id": "1", "claim": "A", "weight": True}, "weight is True"),
        ({"topic_id": "1", "claim": "A", "weigth": 1}, "did you mean 'weight'"),
        (["1"], "not a JSON object"),
    ],
)
def test_a_row_that_is_not_understood_stops_the_job(tmp_path: Path, row: Any, message: str) -> None:
    good = {"topic_id": "1", "claim": "A", "weight": 1}
    with pytest.raises(InputError, match=f":1: .*{message}"):
        importance_at(written(tmp_path, row, good))


def test_a_weight_given_twice_a_file_without_rows_and_no_file(tmp_path: Path) -> None:
    rows = ("1", "A"), (1, "a.")
    twice = [{"topic_id": topic_id, "claim": text, "weight": 1} for topic_id, text in rows]
    with pytest.raises(InputError, match=":3: line 1 weighs the same"):
        importance_at(written(tmp_path, *twice))
    (tmp_path / "empty.jsonl").write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="no line weighs a claim"):
        importance_at(str(tmp_path / "empty.jsonl"))
    with pytest.raises(InputError, match="cannot be read"):
        importance_at(str(tmp_path / "nowhere.jsonl"))
