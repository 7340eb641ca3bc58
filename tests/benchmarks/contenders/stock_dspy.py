"""DSPy with its own client: `Predict.acall` under a semaphore, or `dspy.Parallel`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from clock import Clock
from invented import Pair, pairs

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"

import dspy

from trecjudge.judges.citation.program import Attest

INPUTS = ("document", "sentence")


async def all_by_acall(predict: Any, made: list[Pair], in_flight: int) -> int:
    """Await every prediction and return how many had a label."""
    gate = asyncio.Semaphore(in_flight)

    async def one(pair: Pair) -> bool:
        async with gate:
            found = await predict.acall(document=pair.document, sentence=pair.sentence)
        return bool(found.label)

    return sum(await asyncio.gather(*map(one, made)))


def all_in_parallel(predict: Any, made: list[Pair], in_flight: int) -> int:
    """Run every prediction in DSPy's threads and return how many had a label."""
    work = [
        (predict, dspy.Example(document=p.document, sentence=p.sentence).with_inputs(*INPUTS))
        for p in made
    ]
    parallel = dspy.Parallel(num_threads=in_flight, disable_progress_bar=True)
    return sum(bool(found.label) for found in parallel(work))


def main() -> None:
    """Ask what standard input describes and report."""
    spec: dict[str, Any] = json.loads(sys.stdin.read())
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    lm = dspy.LM(
        "openai/stub",
        api_base=spec["url"],
        api_key="none",
        cache=False,
        temperature=0.0,
        max_tokens=512,
    )
    dspy.configure(lm=lm)
    made = list(pairs(spec["items"], spec["seed"]))
    predict = dspy.Predict(Attest)
    clock = Clock()
    if spec["parallel"]:
        clock.report(all_in_parallel(predict, made, spec["in_flight"]))
    else:
        clock.report(asyncio.run(all_by_acall(predict, made, spec["in_flight"])))


if __name__ == "__main__":
    main()
