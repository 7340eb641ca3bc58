"""inspect_ai: logs of evaluations, in both of its formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageTool, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Target, accuracy, mean, scorer
from inspect_ai.solver import Generate, TaskState, generate, solver

Records = list[dict[str, Any]]
VERDICTS = {1.0: "C", 0.5: "P", 0.0: "I"}


def _logged(records: Records, folder: Path, ending: Any, solvers: list[Any]) -> Path:
    """Return the log of an evaluation whose model says the answers."""
    said = {r["question"]: r["answer"] for r in records}
    scores = {r["answer"]: r["score"] for r in records}

    @scorer(metrics=[mean()], name="faithfulness")
    def number() -> Any:
        async def score(state: TaskState, target: Target) -> Score:
            return Score(value=scores[state.output.completion], explanation="As is known.")

        return score

    @scorer(metrics=[accuracy()], name="verdict")
    def verdict() -> Any:
        async def score(state: TaskState, target: Target) -> Score:
            return Score(value=VERDICTS[scores[state.output.completion]])

        return score

    def answer(messages: list[Any], *_: Any) -> ModelOutput:
        found = next(said[q] for q in said for m in messages if q in m.text)
        output = ModelOutput.from_content("mockllm/model", found)
        output.usage = ModelUsage(total_tokens=1)  # to count them takes the network
        return output

    key = "contexts" if len(solvers) == 1 else "found"
    samples = [
        Sample(input=r["question"], target=r["gold"], metadata={key: r["contexts"]})
        for r in records
    ]
    task = Task(dataset=samples, solver=solvers, scorer=[number(), verdict()], name="ferry")
    place = folder / f"{ending}-{len(solvers)}"
    evaluate(
        task,
        model=get_model("mockllm/model", custom_outputs=answer),
        log_dir=str(place),
        log_format=ending,
        display="none",
    )
    return next(place.glob(f"*.{ending}"))


@solver
def search() -> Any:
    """Put what was found before the answer, as a tool does."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.messages += [
            ChatMessageTool(content=text, function="search") for text in state.metadata["found"]
        ]
        return state

    return solve


def run_json(records: Records, folder: Path) -> Path:
    """eval(log_format='json')"""
    return _logged(records, folder, "json", [generate()])


def run_eval(records: Records, folder: Path) -> Path:
    """eval(log_format='eval')"""
    return _logged(records, folder, "eval", [generate()])


def run_json_of_tools(records: Records, folder: Path) -> Path:
    """eval(log_format='json') with a tool"""
    return _logged(records, folder, "json", [search(), generate()])


def run_eval_of_tools(records: Records, folder: Path) -> Path:
    """eval(log_format='eval') with a tool"""
    return _logged(records, folder, "eval", [search(), generate()])


def scores_json(records: Records, folder: Path) -> Path:
    """eval(log_format='json')"""
    return _logged(records, folder, "json", [search(), generate(), generate()])


def scores_eval(records: Records, folder: Path) -> Path:
    """eval(log_format='eval')"""
    return _logged(records, folder, "eval", [search(), generate(), generate()])
