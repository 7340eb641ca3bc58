"""RAGAS: datasets of answers, and results with scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragas import EvaluationDataset, MultiTurnSample, SingleTurnSample, evaluate
from ragas.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
from ragas.metrics.base import SingleTurnMetric

Records = list[dict[str, Any]]


def _single(records: Records) -> EvaluationDataset:
    return EvaluationDataset(
        [
            SingleTurnSample(
                user_input=r["question"],
                response=r["answer"],
                retrieved_contexts=r["contexts"],
                reference=r["gold"],
            )
            for r in records
        ]
    )


def run_jsonl(records: Records, folder: Path) -> Path:
    """EvaluationDataset.to_jsonl"""
    _single(records).to_jsonl(path := folder / "ragas.jsonl")
    return path


def run_csv(records: Records, folder: Path) -> Path:
    """EvaluationDataset.to_csv"""
    _single(records).to_csv(path := folder / "ragas.csv")
    return path


def run_frame(records: Records, folder: Path) -> Path:
    """EvaluationDataset.to_pandas().to_csv"""
    _single(records).to_pandas().to_csv(path := folder / "ragas-frame.csv")
    return path


def run_parquet(records: Records, folder: Path) -> Path:
    """EvaluationDataset.to_hf_dataset().to_parquet"""
    _single(records).to_hf_dataset().to_parquet(path := folder / "ragas.parquet")
    return path


def run_turns(records: Records, folder: Path) -> Path:
    """MultiTurnSample, EvaluationDataset.to_jsonl"""
    samples = [
        MultiTurnSample(
            user_input=[
                HumanMessage(content=r["question"]),
                AIMessage(content="", tool_calls=[ToolCall(name="search", args={})]),
                *(ToolMessage(content=text) for text in r["contexts"]),
                AIMessage(content=r["answer"]),
            ],
            reference=r["gold"],
        )
        for r in records
    ]
    EvaluationDataset(samples).to_jsonl(path := folder / "ragas-turns.jsonl")
    return path


@dataclass
class Known(SingleTurnMetric):
    """A metric that gives the scores that answers have."""

    name: str = "faithfulness"
    scores: dict[str, float] = field(default_factory=dict)

    def init(self, run_config: Any) -> None:
        """Do nothing: no model is asked."""

    async def _single_turn_ascore(self, sample: Any, callbacks: Any) -> float:
        return self.scores[sample.response]


def _scored(records: Records) -> Any:
    metric = Known(scores={r["answer"]: r["score"] for r in records})
    return evaluate(_single(records), metrics=[metric], show_progress=False)


def run_scored(records: Records, folder: Path) -> Path:
    """EvaluationResult.to_pandas().to_csv"""
    _scored(records).to_pandas().to_csv(path := folder / "ragas-scored.csv")
    return path


def scores_csv(records: Records, folder: Path) -> Path:
    """EvaluationResult.to_pandas().to_csv"""
    _scored(records).to_pandas().to_csv(path := folder / "ragas-scores.csv", index=False)
    return path


def scores_json(records: Records, folder: Path) -> Path:
    """EvaluationResult.to_pandas().to_json(orient='records')"""
    path = folder / "ragas-scores.json"
    _scored(records).to_pandas().to_json(path, orient="records")
    return path
