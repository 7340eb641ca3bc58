"""DeepEval: goldens, the file of a test run, results with scores."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from deepeval import evaluate
from deepeval.dataset import EvaluationDataset
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import BaseConversationalMetric, BaseMetric
from deepeval.test_case import ConversationalTestCase, LLMTestCase, Turn

Records = list[dict[str, Any]]


class Known(BaseMetric):
    """A metric that gives the scores that answers have."""

    __name__ = "Faithfulness"
    threshold, async_mode, evaluation_cost = 0.5, False, None

    def __init__(self, scores: dict[str, float]) -> None:
        self.scores = scores

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        """Return the score of an answer."""
        self.score = self.scores[test_case.actual_output]
        self.success, self.reason = self.score >= self.threshold, "As is known."
        return self.score

    def is_successful(self) -> bool:
        """Return whether the score is high enough."""
        return self.success


class KnownTurns(BaseConversationalMetric):
    """As `Known`, of conversations."""

    __name__ = "Faithfulness"
    threshold, async_mode, evaluation_cost = 0.5, False, None

    def __init__(self, scores: dict[str, float]) -> None:
        self.scores = scores

    def measure(self, test_case: ConversationalTestCase, *_: Any, **__: Any) -> float:
        """Return the score of the last turn."""
        self.score = self.scores[test_case.turns[-1].content]
        self.success, self.reason = self.score >= self.threshold, "As is known."
        return self.score

    def is_successful(self) -> bool:
        """Return whether the score is high enough."""
        return self.success


def _cases(records: Records) -> list[LLMTestCase]:
    return [
        LLMTestCase(
            input=r["question"],
            actual_output=r["answer"],
            expected_output=r["gold"],
            retrieval_context=r["contexts"],
        )
        for r in records
    ]


def _saved(records: Records, folder: Path, kind: Any) -> Path:
    dataset = EvaluationDataset()
    for case in _cases(records):
        dataset.add_test_case(case)
    return Path(dataset.save_as(kind, str(folder), f"goldens-{kind}", include_test_cases=True))


def run_json(records: Records, folder: Path) -> Path:
    """EvaluationDataset.save_as('json')"""
    return _saved(records, folder, "json")


def run_jsonl(records: Records, folder: Path) -> Path:
    """EvaluationDataset.save_as('jsonl')"""
    return _saved(records, folder, "jsonl")


def run_csv(records: Records, folder: Path) -> Path:
    """EvaluationDataset.save_as('csv')"""
    return _saved(records, folder, "csv")


def run_dumped(records: Records, folder: Path) -> Path:
    """LLMTestCase.model_dump()"""
    path = folder / "cases.jsonl"
    path.write_text("".join(json.dumps(c.model_dump()) + "\n" for c in _cases(records)))
    return path


def _evaluated(records: Records, cases: list[Any], metric: type[Any], folder: Path) -> Any:
    return evaluate(
        cases,
        [metric({r["answer"]: r["score"] for r in records})],
        async_config=AsyncConfig(run_async=False),
        cache_config=CacheConfig(write_cache=False),
        display_config=DisplayConfig(
            show_indicator=False, print_results=False, results_folder=str(folder)
        ),
    )


def _of_test_run(records: Records, folder: Path) -> Path:
    _evaluated(records, _cases(records), Known, folder / "cases")
    return next((folder / "cases").glob("**/test_run_*.json"))


def run_test_run(records: Records, folder: Path) -> Path:
    """evaluate(), test_run_*.json"""
    return _of_test_run(records, folder)


def run_test_run_of_turns(records: Records, folder: Path) -> Path:
    """evaluate() of conversations, test_run_*.json"""
    cases = [
        ConversationalTestCase(
            turns=[
                Turn(role="user", content=r["question"]),
                Turn(role="assistant", content=r["answer"], retrieval_context=r["contexts"]),
            ]
        )
        for r in records
    ]
    _evaluated(records, cases, KnownTurns, folder / "turns")
    return next((folder / "turns").glob("**/test_run_*.json"))


def scores_test_run(records: Records, folder: Path) -> Path:
    """evaluate(), test_run_*.json"""
    return _of_test_run(records, folder)


def scores_json(records: Records, folder: Path) -> Path:
    """EvaluationResult.model_dump_json()"""
    path = folder / "result.json"
    path.write_text(_evaluated(records, _cases(records), Known, folder).model_dump_json())
    return path


def scores_results(records: Records, folder: Path) -> Path:
    """dataclasses.asdict(TestResult) on lines"""
    path = folder / "results.jsonl"
    found = _evaluated(records, _cases(records), Known, folder).test_results
    path.write_text("".join(json.dumps(dataclasses.asdict(r), default=vars) + "\n" for r in found))
    return path
