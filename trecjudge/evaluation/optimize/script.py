"""Labelled items, metric and program as a script, for those who want DSPy's optimisers whole."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from string import Template
from typing import Any, get_args

import orjson

from trecjudge.errors import InputError
from trecjudge.evaluation.optimize.optimize import plain
from trecjudge.evaluation.optimize.questions import GoldLabels, Probe, TrainDevSplit, answer
from trecjudge.evaluation.optimize.search import Target
from trecjudge.files import open_target

SUFFIX = ".py"
SCRIPT = Template('''"""The labelled items of the judge's prompt `$program` as a task for DSPy.

`python $script` compiles it and measures before and after on topics that were held out. Give the
result to a workflow: `prompts: {$program: $program.json}`.
"""

import json
import os
from pathlib import Path

import dspy

from trecjudge.models.adapters import load_signature

ITEMS = Path(__file__).with_suffix(".items.jsonl")
INSTRUCTIONS = $instructions
SIGNATURE = load_signature($reference).with_instructions(INSTRUCTIONS)


def examples(part):
    """Return the items of a part: train, dev or test. No topic is in two of them."""
    rows = map(json.loads, ITEMS.read_text(encoding="utf-8").splitlines())
    return [
        dspy.Example(**row["inputs"], $field=row["label"]).with_inputs(*row["inputs"])
        for row in rows
        if row["part"] == part
    ]


def metric(example, prediction, trace=None, *more):
    """Return whether a prediction has the label of people."""
    return float(prediction.get("$field") == example.$field)


if __name__ == "__main__":
    model, base = os.environ["OPENAI_MODEL"], os.environ["OPENAI_BASE_URL"]
    key = os.environ["OPENAI_API_KEY"]
    dspy.configure(lm=dspy.LM(f"openai/{model}", api_base=base, api_key=key))
    program = dspy.Predict(SIGNATURE)
    measure = dspy.Evaluate(devset=examples("test"), metric=metric)
    print("before:", measure(program).score)
    # Any other optimiser of DSPy goes here, such as dspy.MIPROv2 or dspy.GEPA.
    optimizer = dspy.BootstrapFewShotWithRandomSearch(metric=metric, num_candidate_programs=4)
    best = optimizer.compile(program, trainset=examples("train"), valset=examples("dev"))
    print("after:", measure(best).score)
    best.save("$program.json")
''')


async def write_script(
    path: Path, target: Target, parts: TrainDevSplit, gold: GoldLabels, signature: Any
) -> Path:
    """Write the script and, beside it, the items as JSONL; return the path of these.

    Raises InputError where no field of the reply has the labels of people as its values.
    """
    rows = [row async for row in _rows(target, parts, gold)]
    field = _label_field(signature, [row["label"] for row in rows])
    items = path.with_suffix(".items.jsonl")
    with open_target(items) as file:
        file.writelines(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    text = SCRIPT.substitute(
        program=target.program.name,
        script=path.name,
        instructions=repr(signature.instructions),
        reference=repr(target.program.reference),
        field=field,
    )
    with open_target(path) as file:
        file.write(text.encode())
    return items


async def _rows(
    target: Target, parts: TrainDevSplit, gold: GoldLabels
) -> AsyncIterator[dict[str, Any]]:
    of_parts = {"train": parts.training, "dev": parts.validation, "test": parts.held_out}
    for part, questions in of_parts.items():
        for question in questions:
            probe = Probe()
            judgments = await answer(target.judge, question, probe)
            labels = [label for one in judgments if (label := gold.label(one)) is not None]
            asked = probe.asked.get(target.program.name, ())
            if len(asked) == 1 and labels:
                about = {"part": part, "topic_id": question.topic_id, "label": labels[0]}
                yield about | {"inputs": plain(asked[0])}


def _label_field(signature: Any, labels: Sequence[str]) -> str:
    """Return the field of a reply whose values the labels are. Raises InputError."""
    for name, values in _choices(signature):
        if labels and set(labels) <= set(values):
            return name
    choices = ", ".join("/".join(values) for _, values in _choices(signature)) or "none"
    given = ", ".join(sorted(set(labels))) or "none"
    raise InputError(f"no field of the prompt's reply has the labels {given}; there are: {choices}")


def _choices(signature: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, one in signature.output_fields.items():
        values = get_args(one.annotation)
        if values and all(isinstance(value, str) for value in values):
            yield name, values
