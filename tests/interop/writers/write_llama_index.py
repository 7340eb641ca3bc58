"""LlamaIndex: responses of a query engine and results of evaluators."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import EvaluationResult
from llama_index.core.schema import NodeWithScore, TextNode

Records = list[dict[str, Any]]


def _responses(records: Records) -> Iterator[tuple[str, Response]]:
    for r in records:
        nodes = [
            NodeWithScore(node=TextNode(text=t, metadata={"file_name": "a.md"}), score=1 / n)
            for n, t in enumerate(r["contexts"], 1)
        ]
        yield r["question"], Response(r["answer"], source_nodes=nodes)


def _results(records: Records) -> Iterator[EvaluationResult]:
    for r in records:
        yield EvaluationResult(
            query=r["question"],
            response=r["answer"],
            contexts=r["contexts"],
            score=r["score"],
            passing=r["score"] > 0.5,
            feedback="YES",
        )


def _lines(path: Path, lines: Iterator[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def run_response(records: Records, folder: Path) -> Path:
    """asdict(Response), with the query"""
    found = ({"query": q, **asdict(response)} for q, response in _responses(records))
    dumped = (json.dumps(x, default=lambda node: node.model_dump()) for x in found)
    return _lines(folder / "responses.jsonl", dumped)


def run_node_dicts(records: Records, folder: Path) -> Path:
    """NodeWithScore.to_dict(), with the query"""
    return _lines(
        folder / "nodes.jsonl",
        (
            json.dumps(
                {
                    "query": query,
                    "response": response.response,
                    "source_nodes": [node.to_dict() for node in response.source_nodes],
                }
            )
            for query, response in _responses(records)
        ),
    )


def run_evaluated(records: Records, folder: Path) -> Path:
    """EvaluationResult.model_dump_json()"""
    return _lines(folder / "evaluated.jsonl", (r.model_dump_json() for r in _results(records)))


def scores_evaluated(records: Records, folder: Path) -> Path:
    """EvaluationResult.model_dump_json()"""
    return _lines(folder / "scores.jsonl", (r.model_dump_json() for r in _results(records)))
