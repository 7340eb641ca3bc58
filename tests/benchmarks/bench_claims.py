"""Measure the claim judges offline: seconds, memory, and agreement with people, beside citation.

    python tests/benchmarks/bench_claims.py --labels FOLDER [--rounds N]

FOLDER has `runs/`, `topics.jsonl`, `labels.jsonl` and `human.leaderboard.txt`. Each judge runs as a
whole job in a process of its own, in turn; medians count. Kendall tau-b compares the `all` rows of
runs with 20 labels or more with the assessors' weighted precision.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections import Counter
from pathlib import Path

from processes import ROOT, Ran, ran
from scipy.stats import kendalltau

from trecjudge.results.leaderboards.reading import read_rows

LEAST_LABELS = 20
TRUTH = "WEIGHTED_PRECISION"
JUDGES = {
    "citation": ("CITATION_SUPPORT", ("--set", "partial=0.5")),
    "attribution": ("ATTRIBUTION_RATE", ()),
    "attribution, no facts": ("ATTRIBUTION_RATE", ("--set", "facts=false")),
    "attribution, semantic": ("ATTRIBUTION_RATE", ("--set", "detector=semantic")),
    "faithfulness": ("FAITHFULNESS", ()),
    "grounding": ("FACTUALITY_RATE", ()),
}


def job(labels: Path, judge: str, settings: tuple[str, ...], out: Path) -> Ran:
    """Run a job."""
    words = ["--judge", judge, *settings, "--rag-topics", labels / "topics.jsonl"]
    words += ["--rag-responses", labels / "runs", "--out-dir", out, "--name", "x"]
    words += ["--no-check", "--no-debug-log", "-q"]
    return ran(sys.executable, ROOT / "run_judge.py", *words, statuses=(0, 3))


def means(board: Path, measure: str) -> dict[str, float]:
    """Return the `all` values of a measure by run."""
    rows = (row for _, row in read_rows(board, lambda finding: None))
    return {row.run_id: row.value for row in rows if (row.topic_id, row.measure) == (None, measure)}


def agreement(labels: Path, board: Path, measure: str) -> tuple[float, int]:
    """Return (tau-b with the assessors, runs compared)."""
    truth, ours = means(labels / "human.leaderboard.txt", TRUTH), means(board, measure)
    lines = (labels / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    count = Counter(json.loads(line)["run_id"] for line in lines)
    runs = sorted(run for run in truth if run in ours and count[run] >= LEAST_LABELS)
    tau = kendalltau([truth[run] for run in runs], [ours[run] for run in runs]).statistic
    return float(tau), len(runs)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    figures: dict[str, list[Ran]] = {name: [] for name in JUDGES}
    told: dict[str, tuple[float, int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):  # in turn, so that noise of the machine hits all
            for name, (measure, settings) in JUDGES.items():
                judge = name.partition(",")[0]
                figures[name].append(job(options.labels, judge, settings, Path(folder)))
                board = Path(folder) / "x.leaderboard.txt"
                told[name] = agreement(options.labels, board, measure)
    base = statistics.median(done.seconds for done in figures["citation"])
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, medians of {options.rounds}")
    for name, values in figures.items():
        seconds = statistics.median(done.seconds for done in values)
        peak = statistics.median(done.peak for done in values)
        tau, runs = told[name]
        ratio = f"{seconds / base:4.1f} x citation"
        print(f"{name:24} {seconds:6.1f} s {ratio} {peak:6.0f} MB  tau-b {tau:.3f} ({runs} runs)")


if __name__ == "__main__":
    main()
