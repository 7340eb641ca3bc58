"""MLflow: traces, and what its evaluations give."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import mlflow
from mlflow.entities import AssessmentSource, Document, SpanType
from mlflow.genai.scorers import scorer

Records = list[dict[str, Any]]


@cache
def _traced(text: str, folder: Path) -> list[Any]:
    """Return the traces of a search and an answer for each record, with assessments."""
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    mlflow.set_experiment("ferry")
    for record in json.loads(text):
        with mlflow.start_span("qa", span_type=SpanType.CHAIN) as root:
            root.set_inputs({"question": record["question"]})
            with mlflow.start_span("search", span_type=SpanType.RETRIEVER) as child:
                child.set_inputs({"query": "it"})
                child.set_outputs([Document(text) for text in record["contexts"]])
            root.set_outputs({"answer": record["answer"]})
        mlflow.flush_trace_async_logging()
        mlflow.log_feedback(
            trace_id=root.trace_id,
            name="faithfulness",
            value=record["score"],
            source=AssessmentSource(source_type="CODE"),
        )
        mlflow.log_expectation(trace_id=root.trace_id, name="expected", value=record["gold"])
    return list(mlflow.search_traces(return_type="list"))


def _frame(records: Records, folder: Path) -> Any:
    _traced(json.dumps(records), folder)
    return mlflow.search_traces()


def _lines(records: Records, folder: Path) -> Path:
    path = folder / "traces.jsonl"
    found = _traced(json.dumps(records), folder)
    path.write_text("".join(trace.to_json() + "\n" for trace in found))
    return path


def run_traces(records: Records, folder: Path) -> Path:
    """Trace.to_json()"""
    return _lines(records, folder)


def run_csv(records: Records, folder: Path) -> Path:
    """search_traces().to_csv"""
    _frame(records, folder).to_csv(path := folder / "traces.csv")
    return path


def run_json(records: Records, folder: Path) -> Path:
    """search_traces().to_json(orient='records')"""
    path = folder / "traces.json"
    _frame(records, folder).to_json(path, orient="records", default_handler=str)
    return path


def run_json_lines(records: Records, folder: Path) -> Path:
    """search_traces().to_json(lines=True)"""
    path = folder / "traces-frame.jsonl"
    _frame(records, folder).to_json(path, orient="records", lines=True, default_handler=str)
    return path


def scores_traces(records: Records, folder: Path) -> Path:
    """Trace.to_json()"""
    return _lines(records, folder)


def scores_csv(records: Records, folder: Path) -> Path:
    """search_traces().to_csv"""
    return run_csv(records, folder)


def scores_json(records: Records, folder: Path) -> Path:
    """search_traces().to_json(orient='records')"""
    return run_json(records, folder)


@cache
def _evaluated(text: str, folder: Path) -> Any:
    """Return the results of an evaluation that asks, searches and scores."""
    known = {r["question"]: r for r in json.loads(text)}
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    mlflow.set_experiment("evaluated")

    @mlflow.trace(span_type=SpanType.RETRIEVER)
    def search(question: str) -> list[Document]:
        return [Document(found) for found in known[question]["contexts"]]

    @mlflow.trace
    def answer(question: str) -> str:
        search(question)
        return known[question]["answer"]

    @scorer
    def faithfulness(inputs: Any) -> float:
        return known[inputs["question"]]["score"]

    data = [
        {"inputs": {"question": q}, "expectations": {"expected_response": known[q]["gold"]}}
        for q in known
    ]
    return mlflow.genai.evaluate(data=data, predict_fn=answer, scorers=[faithfulness]).result_df


def _evaluated_csv(records: Records, folder: Path) -> Path:
    _evaluated(json.dumps(records), folder).to_csv(path := folder / "evaluated.csv")
    return path


def _evaluated_json(records: Records, folder: Path) -> Path:
    path = folder / "evaluated.jsonl"
    frame = _evaluated(json.dumps(records), folder)
    frame.to_json(path, orient="records", lines=True, default_handler=str)
    return path


def run_evaluated(records: Records, folder: Path) -> Path:
    """genai.evaluate().result_df.to_csv"""
    return _evaluated_csv(records, folder)


def run_evaluated_json(records: Records, folder: Path) -> Path:
    """genai.evaluate().result_df.to_json(lines=True)"""
    return _evaluated_json(records, folder)


def scores_evaluated(records: Records, folder: Path) -> Path:
    """genai.evaluate().result_df.to_csv"""
    return _evaluated_csv(records, folder)


def scores_evaluated_json(records: Records, folder: Path) -> Path:
    """genai.evaluate().result_df.to_json(lines=True)"""
    return _evaluated_json(records, folder)
