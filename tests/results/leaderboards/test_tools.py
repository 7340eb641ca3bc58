"""Scores in the results of evaluation tools, read as leaderboards."""

from __future__ import annotations

import json

import pytest

from tests.commandline import command
from tests.reading import Write
from trecjudge.findings import Finding
from trecjudge.results.leaderboards.reading import read_rows

Q, TOPIC = "Is it?", "is-it-0e139a2c"
DEEPEVAL = {
    "test_results": [
        {"name": "t", "input": Q, "actual_output": "Yes.", "retrieval_context": ["C."],
         "metrics_data": [{"name": "Faith", "score": 0.5}, {"name": "Bias", "score": None}]},
        {"input": "Was it?", "actual_output": "No.", "retrieval_context": ["C."],
         "metrics_data": [{"name": "Faith", "score": 1}, {"name": "Bias", "score": 0}]},
    ]
}  # fmt: skip
PROMPTFOO = {
    "vars": {"question": Q, "context": "C."}, "provider": {"id": "p"}, "latencyMs": 7,
    "response": {"output": "Yes."}, "score": 0.5, "success": True, "namedScores": {"tone": 0.1},
}  # fmt: skip
MLFLOW = {
    "info": {"assessments": [{"assessment_name": "safe", "feedback": {"value": "yes"}},
                             {"assessment_name": "length", "feedback": {"value": 4}}]},
    "data": {"spans": [{"trace_id": "t", "span_id": "1", "parent_span_id": None, "attributes":
             {"mlflow.spanInputs": json.dumps({"q": Q}), "mlflow.spanOutputs": '"Yes."'}}]},
}  # fmt: skip
INSPECT = {"samples": [{"id": 1, "input": Q, "output": {"completion": "Yes."}, "scores":
           {"match": {"value": "C"}, "parts": {"value": {"a": 0.2, "b": "I"}}}}]}  # fmt: skip


@pytest.mark.parametrize(
    ("results", "run", "scores"),
    [
        (PROMPTFOO, "p", {"score": 0.5, "success": 1.0, "tone": 0.1}),
        (MLFLOW, "mine", {"safe": 1.0, "length": 4.0}),
        (INSPECT, "mine", {"match": 1.0, "parts.a": 0.2, "parts.b": 0.0}),
    ],
    ids=["promptfoo", "MLflow", "inspect_ai"],
)
def test_scores_of(
    results: dict[str, object], run: str, scores: dict[str, float], write: Write
) -> None:
    findings: list[Finding] = []
    other = {**results, "vars": {"question": "Was it?"}, "info": {}, "samples": []}
    text = f"{json.dumps(results)}\n{json.dumps(other if results is PROMPTFOO else results)}\n"
    rows = [row for _, row in read_rows(write(text, "mine.jsonl"), findings.append)]
    first = [(row.run_id, row.measure, row.value) for row in rows[: len(scores)]]
    assert first == [(run, name, value) for name, value in scores.items()]
    assert rows[0].topic_id == TOPIC
    assert findings == []


def test_a_score_that_a_tool_could_not_give_is_unjudged(write: Write) -> None:
    path = write(json.dumps(DEEPEVAL), "mine.json")
    rows = [row for _, row in read_rows(path, pytest.fail)]
    assert [(row.measure, row.value) for row in rows] == [
        ("Faith", 0.5),
        ("Bias.unjudged", 1),
        ("Faith", 1.0),
        ("Bias", 0.0),
    ]


def test_traces_that_nobody_scored_are_no_rows(write: Write) -> None:
    text = f"{json.dumps({**MLFLOW, 'info': {}})}\n{json.dumps(MLFLOW)}\n"
    rows = [row.measure for _, row in read_rows(write(text, "mine.jsonl"), pytest.fail)]
    assert rows == ["safe", "length"]


def test_a_gate_holds_the_scores_of_a_tool(write: Write) -> None:
    done = command("gate", write(json.dumps(DEEPEVAL), "mine.json"), "--min", "Faith=0.8")
    assert done.status == 1
    assert "mine: Faith is 0.75, must be at least 0.8" in done.out + done.err
