"""How good banks are that were made without a model: what a ranking by them agrees with.

    python tests/benchmarks/bench_banks.py --data DIR [--splits N]

`DIR` has `topics.jsonl`, `runs` and `human.leaderboard.txt` (WEIGHTED_PRECISION by people).
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from scipy.stats import kendalltau, spearmanr

from trecjudge.evaluation.banks.making import BankSettings, Kind, make_banks
from trecjudge.evaluation.banks.material import Material
from trecjudge.job.banks import read_material
from trecjudge.job.request import Job
from trecjudge.judges.nuggets import NuggetsJudge
from trecjudge.models.model import NoModel
from trecjudge.records import Nugget, Topic, WholeResponse
from trecjudge.results.outputs import Outputs

SEED = 17
KINDS: tuple[Kind, ...] = ("documents", "runs")
Means = Mapping[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=5)
    given = parser.parse_args()
    outputs = Outputs(given.data, "nuggets")
    job = Job([given.data / "runs"], outputs, topics=given.data / "topics.jsonl")
    materials = read_material(job, lambda finding: None, lambda message: None)
    people = human(given.data / "human.leaderboard.txt")
    lengths = mean_of(materials, lambda topic, response: float(len(response.text.split())))
    print("bank from | held against | tau | Spearman")
    show("length", "people", lengths, people)
    for kind in KINDS:
        whole = scores(materials, banks(materials, kind))
        show(kind, "people", whole, people)
        show(kind, "length", whole, lengths)
        halves(materials, kind, given.splits)


def human(path: Path) -> Means:
    """Return the mean of each run by people."""
    rows = (line.split("\t") for line in path.read_text().splitlines())
    return {
        run: float(value)
        for run, topic, measure, value in rows
        if (topic, measure) == ("all", "WEIGHTED_PRECISION")
    }


def mean_of(materials, compute) -> Means:  # type: ignore[no-untyped-def]
    values: dict[str, list[float]] = defaultdict(list)
    for material in materials:
        for response in material.responses:
            values[response.run_id].append(compute(material.topic, response))
    # A topic without a response counts 0, as in a job.
    return {run: sum(found) / len(materials) for run, found in values.items()}


def banks(materials: Sequence[Material], kind: Kind) -> dict[str, tuple[Nugget, ...]]:
    """Return a bank for each topic, made by words."""
    made = asyncio.run(make_banks(materials, BankSettings([kind]), NoModel(), lambda finding: None))
    return {one.topic.topic_id: one.bank.nuggets for one in made}


def scores(materials: Sequence[Material], by_topic: Mapping[str, tuple[Nugget, ...]]) -> Means:
    """Return ALL_SCORE of each run by the judge of nuggets, by words."""
    judge = NuggetsJudge()
    measure = next(m for m in judge.measures.measures if m.name == "ALL_SCORE")

    def score(topic: Topic, response) -> float:  # type: ignore[no-untyped-def]
        asked = replace(topic, nuggets=by_topic[topic.topic_id])
        judged = asyncio.run(judge.judge(WholeResponse.of(asked, response), NoModel()))
        return float(measure.compute(response, judged) or 0.0)

    return mean_of(materials, score)


def only(materials: Sequence[Material], runs: Collection[str]) -> list[Material]:
    """Return what there would be if only these runs were there."""
    found = []
    for material in materials:
        citing = {
            doc: kept
            for doc, by in material.citing.items()
            if (kept := {run: None for run in by if run in runs})
        }
        found.append(
            Material(
                material.topic,
                [r for r in material.responses if r.run_id in runs],
                {doc: d for doc, d in material.documents.items() if doc in citing},
                citing,
            )
        )
    return found


def halves(materials: Sequence[Material], kind: Kind, splits: int) -> None:
    """Show how rankings by banks of two halves of the runs agree, on all runs and on each half."""
    runs = sorted({r.run_id for m in materials for r in m.responses})
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for number in range(splits):
        drawn = random.Random(SEED + number).sample(runs, len(runs) // 2)
        parts = (set(drawn), set(runs) - set(drawn))
        one, other = (scores(materials, banks(only(materials, part), kind)) for part in parts)
        found["the bank of the other half, all runs"].append(agreement(one, other))
        for part in parts:  # which of the two banks is from these very runs must not matter
            inside = ({run: m[run] for run in part} for m in (one, other))
            found["the same, runs of one half"].append(agreement(*inside))
    for name, pairs in found.items():
        tau, rho = (fmean(values) for values in zip(*pairs, strict=True))
        print(f"{kind} | {name} | {tau:.3f} | {rho:.3f}")


def agreement(one: Means, other: Means) -> tuple[float, float]:
    runs = sorted(one.keys() & other.keys())
    values = [one[run] for run in runs], [other[run] for run in runs]
    return float(kendalltau(*values)[0]), float(spearmanr(*values)[0])


def show(kind: str, against: str, one: Means, other: Means) -> None:
    tau, rho = agreement(one, other)
    print(f"{kind} | {against} | {tau:.3f} | {rho:.3f}")


if __name__ == "__main__":
    main()
