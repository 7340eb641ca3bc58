"""Measure the statistics: a meta-evaluation beside a peer, the main job's share, how true they are.

    python tests/benchmarks/bench_statistics.py [PART ...] [--peers PATH/bin]

Invented leaderboards of 80 runs, 119 topics and 6 measures: 57,600 rows with their `all` rows.
`meta` correlates every measure of one with one or all of another, as does autojudge-evaluate
(without intervals), each as a command in a process of its own, taking turns; CPU seconds beside the
clock's, since the machine may be shared. `leaderboard` times intervals, those of ranks, tests and
groups of a job, and names the peak of memory: that of these where it is the only part.
`coverage` draws worlds in which the truth is known and counts how often an interval holds it.
Aims: 3 s; 0.5 s for 53 runs on 8 topics by 5 measures, 20 s and 300 MB for 83 on 119 by 10.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from processes import ran
from table import Row, lines_of, versions

from trecjudge.results.statistics import RunScore
from trecjudge.stats.correlation import RankedScores, kendall, rank_runs
from trecjudge.stats.resampling import draws, mean_intervals, resampled_means, tail

ROOT = Path(__file__).parent.parent.parent
RUNS, TOPICS, MEASURES = 80, 119, 6
WORLDS = 300
OURS = "trecjudge, with intervals"
AIM = 3.0


def leaderboard(path: Path, noise: float) -> None:
    """Write an invented leaderboard; the larger the noise the further from the one without."""
    lines = []
    for run in range(RUNS):
        values = np.random.default_rng(run).random((TOPICS, MEASURES)) * 0.6 + run / 400
        values += np.random.default_rng(run + 1000).normal(0, noise, values.shape)
        for measure in range(MEASURES):
            column = [*enumerate(values[:, measure]), ("all", values[:, measure].mean())]
            lines += [f"run{run}\t{topic}\tM{measure}\t{value:.6f}\n" for topic, value in column]
    path.write_text("".join(lines))


def meta(options: argparse.Namespace) -> list[Row]:
    """Time a meta-evaluation: of all measures with one of the truth, and with all."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        truth, judge = Path(name) / "truth.txt", Path(name) / "judge.txt"
        leaderboard(truth, 0.0)
        leaderboard(judge, 0.1)
        for what, chosen in (("1 x 6 measures", ["--truth-measure", "M0"]), ("6 x 6", [])):
            ours = [sys.executable, "run_judge.py", "judges", "meta", str(judge), "-q"]
            ours += ["--truth", str(truth), *chosen]
            rows += contest(what, ours, theirs(truth, judge, chosen, options.peers), options.rounds)
    return rows


def theirs(truth: Path, judge: Path, chosen: list[str], peers: str | None) -> list[str]:
    """Return the peer's command: means over the shared topics, as ours has them for intervals."""
    if peers is None:
        return []
    command = [f"{peers}/auto-judge-evaluate", "meta-evaluate", "-i", str(judge), *chosen]
    formats = ["--truth-format", "ir_measures", "--eval-format", "ir_measures"]
    rest = ["--only-shared-topics", "--on-missing", "error", "--silent"]
    return [*command, "--truth-leaderboard", str(truth), *formats, *rest]


def contest(what: str, ours: list[str], peer: list[str], rounds: int) -> list[Row]:
    """Run both in turns; return the medians."""
    contenders = {"trecjudge, with intervals": ours} | (
        {"autojudge-evaluate": peer} if peer else {}
    )
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, command in contenders.items():
            done = ran(*command)
            taken[name].append((done.seconds, done.cpu))
    found = {
        name: [statistics.median(column) for column in zip(*times, strict=True)]
        for name, times in taken.items()
    }
    first = found[OURS]
    rows = []
    for name, (seconds, cpu) in found.items():
        ratio = "" if name == OURS else f"{cpu / first[1]:.1f} x our CPU"
        met = seconds <= AIM if what.startswith("1 x") and name == OURS else None
        figure = f"{seconds:.1f} s, CPU {cpu:.1f} s"
        aim = "" if met is None else f"{AIM:g} s"
        rows.append(Row("meta", f"{what}: {name}", figure, ratio, aim, met))
    return rows


def main_job(options: argparse.Namespace) -> list[Row]:
    """Time what a main job adds for its statistics."""
    rows = []
    for runs, topics, measures, aim in ((6, 30, 5, 0.2), (53, 8, 5, 0.5), (83, 119, 10, 20.0)):
        values = np.random.default_rng(1).random((runs, topics)) + np.arange(runs)[:, None] / 400
        by_run = {f"r{i}": row.tolist() for i, row in enumerate(values)}
        entries = [RunScore(run, "M", float(np.mean(own))) for run, own in by_run.items()]
        taken = []
        for _ in range(options.rounds):
            started = time.perf_counter()
            for _ in range(measures):
                rank_runs(entries, by_run)
            taken.append(time.perf_counter() - started)
        seconds = statistics.median(taken)
        what = f"{runs} runs x {topics} topics x {measures} measures"
        peak = f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB"
        figure = f"{seconds:.2f} s, the first {taken[0]:.2f} s"
        rows.append(Row("leaderboard", what, figure, peak, f"{aim} s", taken[0] <= aim))
    return rows


def coverage(options: argparse.Namespace) -> list[Row]:
    """Count how often the intervals hold what they should: 95 of 100 times."""
    rows = []
    for topics in (8, 50, 119):
        rng = np.random.default_rng(topics)
        held = [_mean_held(rng, topics) for _ in range(WORLDS)]
        rows.append(_row(f"mean over {topics} topics", held))
        rows.append(_row(f"tau-b over {topics} topics, 50 runs", _tau_held(rng, topics)))
    return rows


def _row(what: str, held: list[bool]) -> Row:
    return Row("coverage", what, f"{100 * sum(held) / len(held):.0f} %", "", "95 %")


def _mean_held(rng: np.random.Generator, topics: int) -> bool:
    low, high = mean_intervals(rng.beta(2, 1, (1, topics)))[0]
    return low is not None and high is not None and low <= 2 / 3 <= high


def _tau_held(rng: np.random.Generator, topics: int) -> list[bool]:
    """Draw topics for 50 runs of fixed quality; the truth is the mean tau of many drawings."""
    quality, leaning = rng.normal(0, 0.12, 50), rng.normal(0, 0.05, 50)

    def world() -> tuple[np.ndarray, np.ndarray]:
        truth = quality[:, None] + rng.normal(0, 0.1, topics) + rng.normal(0, 0.25, (50, topics))
        return truth, 0.8 * truth + leaning[:, None] + rng.normal(0, 0.2, truth.shape)

    def tau(truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        return kendall(RankedScores(np.atleast_2d(truth)), RankedScores(np.atleast_2d(predicted)))

    wanted = np.mean([tau(*(s.mean(axis=1) for s in world()))[0] for _ in range(WORLDS)])
    held, weights = [], draws(topics, 400)
    for _ in range(WORLDS):
        sides = world()
        value = tau(*(s.mean(axis=1) for s in sides))[0]
        found = tau(*(resampled_means(s, weights).T for s in sides))
        moved = value - np.median(found)  # as trecjudge.stats.meta does
        low, high = np.quantile(found, [tail(topics), 1 - tail(topics)]) + moved
        held.append(bool(low <= wanted <= high))
    return held


PARTS: dict[str, Callable[[argparse.Namespace], list[Row]]] = {
    "meta": meta,
    "leaderboard": main_job,
    "coverage": coverage,
}


def main() -> None:
    """Print the figures of the wanted parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--peers", help="the bin folder of a Python with autojudge-evaluate")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rows = [row for part in options.parts or PARTS for row in PARTS[part](options)]
    print(versions(None))
    print("\n".join(lines_of(rows)))


if __name__ == "__main__":
    main()
