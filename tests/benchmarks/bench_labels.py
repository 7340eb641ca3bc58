"""Measure what labels of people make of a ranking: with so many, at random and by `label-next`.

    python tests/benchmarks/bench_labels.py --labels FOLDER [--draws 20] [--numbers 25 50 ...]
    python tests/benchmarks/bench_labels.py --labels FOLDER --pages

FOLDER holds `runs/`, `topics.jsonl` and `labels.jsonl`, labels of all items, such as those of the
TREC RAG 2025 support evaluation. The job is judged once, offline. Each draw takes some labels for
known, and compares the means that come of it with those by all labels: Kendall's tau-b, mean
absolute error, share of runs whose 95 % interval holds it, and the mean width of the intervals.
By `label-next`, the first 25 labels (half, of fewer than 50) are drawn at random, and the rest is
what it lists after them. `unpooled` is each run corrected by its own labels only: the
prediction-powered mean over responses (Angelopoulos et al., 2023), without any prior.
`forecast` is what `label-next` expects of as many labels again, beside what came.

`--pages` goes the way of people instead, once and by the commands: `labels next --page` draws items
beside the labels so far, they are labelled as the assessors did, and `job rescore --labels` takes
the file. It shows tau-b with the board by all labels, and the mean width of the intervals.
"""

from __future__ import annotations

import argparse
import base64
import random
import re
import statistics
import subprocess
import sys
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import orjson
from table import Row, lines_of, versions

from trecjudge.evaluation.candidates import label_next
from trecjudge.evaluation.comparing import judgments_at
from trecjudge.findings import Finding
from trecjudge.inputs.labels import ItemKey, key_of, read_labels, support_label, takes_labels
from trecjudge.judging.panel import panel_spec
from trecjudge.records import Judgment, Response
from trecjudge.results.outputs import Outputs
from trecjudge.results.statistics import RunScore, read_statistics
from trecjudge.scores.corrections import HumanLabels
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.scores.scoring import panel_of
from trecjudge.scores.statistics import corrections_of
from trecjudge.stats.correlation import RankedScores, kendall
from trecjudge.stats.labelling import LabelCandidate

ROOT = Path(__file__).parent.parent.parent
NUMBERS = (25, 50, 100, 200, 400, 700, 1000, 2000)
FIRST = 25
STEPS = (20, 50, 100, 200, 400)
"""Labels that have come through pages when the board is looked at."""
WEIGHTS = {"full_support": 1.0, "partial_support": 0.5, "no_support": 0.0}
Labels = Mapping[ItemKey, str]
Means = Mapping[str, float]


class Job:
    """A scored job, held in memory, and labels of all its items."""

    def __init__(self, path: Path, labels: Labels) -> None:
        self.path = path
        reader = judgments_at(path)
        panel = panel_of(reader)
        spec = panel_spec(panel, reader.header.leaderboard, reader.header.measures)
        self.measure = spec.measures[0]
        self.spec = type(spec)((self.measure,), fill=spec.fill)
        self.takers = {one.name: one.judge for one in panel if takes_labels(one.judge)}
        self.responses: list[tuple[Response, Sequence[Judgment]]] = list(reader)
        self.board = Leaderboard(self.spec, reader.header.topics)
        for one in self.responses:
            self.board.add(*one)
        self.board.finish()
        found = [key_of(j) for _, own in self.responses for j in own if j.exists is not False]
        self.labels = {key: labels[key] for key in found if key in labels}
        self.runs = sorted(self.board.scores)
        everything = self.corrected(dict(labels))
        self.truth = {run: everything[run][0] for run in self.runs}
        self.alone = {run: self.board.mean(run, self.measure).mean or 0.0 for run in self.runs}

    def corrected(self, labels: Labels) -> dict[str, tuple[float, float | None, float | None]]:
        """Return the mean of each run with labels, and its interval."""
        people = HumanLabels(labels, self.takers)
        for response, judgments in self.responses:
            people.add(self.spec, response, judgments)
        found = corrections_of(self.board, people, self.measure)
        return {run: (one.mean, one.low, one.high) for run, one in found.items()}

    def unpooled(self, labels: Labels) -> Means:
        """Return the mean of each run, corrected by its own labelled responses as if by chance."""
        change: dict[str, list[float]] = defaultdict(list)
        for response, judgments in self.responses:
            differ = [
                WEIGHTS[support_label(labels[key]) or ""] - WEIGHTS.get(j.label or "", 0.0)
                for j in judgments
                if (key := key_of(j)) in labels
            ]
            if differ:
                change[response.run_id].append(statistics.fmean(differ))
        topics = len(self.board.expected)
        share = {run: len(self.board.scores[run]) / topics for run in self.runs}
        return {
            run: self.alone[run]
            + (share[run] * statistics.fmean(own) if (own := change[run]) else 0)
            for run in self.runs
        }

    def random(self, number: int, draw: int) -> Labels:
        """Return so many labels, drawn at random."""
        keys = random.Random(1000 * number + draw).sample(sorted(self.labels, key=repr), number)
        return {key: self.labels[key] for key in keys}

    def by_label_next(self, number: int, draw: int) -> Labels:
        """Return so many labels: some drawn at random, then those that `label-next` lists."""
        first = dict(self.random(min(FIRST, number // 2), draw))
        listed = label_next(self.path, number - len(first), first).items
        return first | self.labelled(listed)

    def labelled(self, listed: Sequence[tuple[float, LabelCandidate]]) -> Labels:
        """Return the labels of what `label-next` lists; people are divided on some items."""
        keys = [(c.topic_id, c.run_id, c.sentence_index, c.doc_id) for _, c in listed]
        return {key: self.labels[key] for key in keys if key in self.labels}

    def tau(self, means: Means) -> float:
        """Return tau-b of the order by some means with that by all labels."""
        truth, own = (np.array([[side[run] for run in self.runs]]) for side in (self.truth, means))
        return float(kendall(RankedScores(truth), RankedScores(own))[0])

    def error(self, means: Means) -> float:
        """Return the mean absolute error."""
        return statistics.fmean(abs(means[run] - self.truth[run]) for run in self.runs)


def figures(job: Job, labels: Labels) -> dict[str, float]:
    """Return the figures of a draw."""
    found = job.corrected(labels)
    means = {run: found[run][0] for run in job.runs}
    bounds = [(low or 0.0, high or 0.0, job.truth[run]) for run, (_, low, high) in found.items()]
    unpooled = job.unpooled(labels)
    return {
        "tau": job.tau(means),
        "error": job.error(means),
        "held": statistics.fmean(low - 1e-6 <= true <= high + 1e-6 for low, high, true in bounds),
        "width": statistics.fmean(high - low for low, high, _ in bounds),
        "tau unpooled": job.tau(unpooled),
        "error unpooled": job.error(unpooled),
    }


def mean_of(draws: Sequence[Mapping[str, float]], name: str) -> tuple[float, float]:
    """Return the mean of a figure over draws, and its standard error."""
    values = [one[name] for one in draws]
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return statistics.fmean(values), spread / len(values) ** 0.5


def curve(job: Job, numbers: Sequence[int], draws: int) -> list[Row]:
    """Return the curve by number of labels; each row is met where labels make nothing worse."""
    rows = []
    ways: dict[str, Callable[[int, int], Labels]] = {
        "random": job.random,
        "label-next": job.by_label_next,
    }
    for way, choose in ways.items():
        for number in numbers:
            found = [figures(job, choose(number, draw)) for draw in range(draws)]
            (tau, tau_error), (error, error_error) = (mean_of(found, n) for n in ("tau", "error"))
            held, width = mean_of(found, "held")[0], mean_of(found, "width")[0]
            before = [mean_of(found, f"{name} unpooled")[0] for name in ("tau", "error")]
            shown = f"tau {tau:.3f}, error {error:.4f}, held {held:.1%}, width {width:.3f}"
            met = tau >= job.tau(job.alone) - 2 * tau_error
            met &= error <= job.error(job.alone) + 2 * error_error and 0.93 <= held <= 0.97
            met &= number < 2000 or tau >= 0.9
            against = f"unpooled {before[0]:.3f}, {before[1]:.4f}"
            rows.append(Row(way, f"{number} labels", shown, against, "93 to 97 %", met))
            print(rows[-1].cells, flush=True)
    return rows


def forecasts(job: Job, numbers: Sequence[int], draws: int) -> list[Row]:
    """Return what `label-next` expects of as many labels again, beside what comes of them."""
    rows = []
    for number in numbers:
        told: dict[str, list[float]] = defaultdict(list)
        for draw in range(draws):
            labels = job.random(number, draw)
            chosen = label_next(job.path, number, labels)
            if chosen.forecast is None:
                continue
            then = figures(job, {**labels, **job.labelled(chosen.items)})
            told["tau"].append(chosen.forecast.tau_then or 0.0)
            told["width"].append(chosen.forecast.width_then)
            told["tau came"].append(then["tau"])
            told["width came"].append(then["width"])
        mean = {name: statistics.fmean(values) for name, values in told.items()}
        if mean:
            shown = f"tau {mean['tau']:.3f}, width {mean['width']:.3f}"
            came = f"came {mean['tau came']:.3f}, {mean['width came']:.3f}"
            rows.append(Row("forecast", f"{number} labels and as many", shown, came))
    return rows


def pages(job: Job) -> list[Row]:
    """Return the curve of labels that come through pages, ranked as a page is and at random."""
    board = rescored(job, None)
    alone = job.tau({run: one.mean or 0.0 for run, one in board.items()})
    rows = [Row("judge", "no labels", f"tau {alone:.3f}, width {width_over_topics(board):.3f}")]
    for way, flags in (("page", ()), ("page --by random", ("--by", "random"))):
        file = job.path / f"{way}.jsonl"
        file.touch()
        for number in STEPS:
            label_page(job, file, number, flags)
            found = {run: one.human for run, one in rescored(job, file).items() if one.human}
            tau = job.tau({run: one.mean for run, one in found.items()})
            width = statistics.fmean((one.high or 0) - (one.low or 0) for one in found.values())
            given = len(file.read_bytes().splitlines())
            rows.append(Row(way, f"{given} labels", f"tau {tau:.3f}, width {width:.3f}"))
            print(rows[-1].cells, flush=True)
    return rows


def label_page(job: Job, file: Path, number: int, flags: Sequence[str]) -> None:
    """Fill up a file of labels to a number of them, by a page that has the assessors' labels."""
    page, before = job.path / "page.html", file.read_bytes()
    so_far = ["--labels", str(file)] if before else []
    more = str(number - len(before.splitlines()))
    run("labels", "next", job.path, "--page", page, "--top", more, *so_far, *flags, "-q")
    block = re.search(rb'id="items">([^<]*)<', page.read_bytes())
    assert block is not None
    items = orjson.loads(zlib.decompress(base64.b64decode(block[1]), -zlib.MAX_WBITS))
    with file.open("ab") as out:
        for key in (item["key"] for item in items):
            own = key["topic_id"], key["run_id"], key.get("sentence_index"), key.get("doc_id")
            if own in job.labels:
                row = key | {"label": support_label(job.labels[own]), "labeller": "assessors"}
                out.write(orjson.dumps(row) + b"\n")


def rescored(job: Job, file: Path | None) -> dict[str, RunScore]:
    """Return the scores of the runs by the measure that ranks, with a file of labels or without."""
    outputs = Outputs(job.path, "x")
    if file is not None:
        outputs = Outputs(job.path / "rescored", "x")
        run("job", "rescore", job.path, "--labels", file, "--out-dir", outputs.folder, "-q")
    found = read_statistics(outputs.statistics, ignore)
    return {one.run_id: one for one in found if one.measure == job.measure.name}


def width_over_topics(board: Mapping[str, RunScore]) -> float:
    """Return the mean width of intervals over topics, which no labels are needed for."""
    return statistics.fmean((one.high or 0.0) - (one.low or 0.0) for one in board.values())


def run(*arguments: str | Path) -> None:
    """Run a command."""
    command = [sys.executable, "run_judge.py", *map(str, arguments)]
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True)


def ignore(finding: Finding) -> None:
    """Report nothing."""


def main() -> None:
    """Print the curves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--numbers", type=int, nargs="+", default=NUMBERS)
    parser.add_argument("--pages", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        given = ["--rag-responses", options.labels / "runs"]
        given += ["--rag-topics", options.labels / "topics.jsonl", "--out-dir", name, "-q"]
        run("--judge", "support", "--name", "x", *given)
        job = Job(Path(name), read_labels(options.labels / "labels.jsonl", ignore))
        if options.pages:
            rows = pages(job)
        else:
            alone = f"tau {job.tau(job.alone):.3f}, error {job.error(job.alone):.4f}"
            rows = [Row("judge alone", "no labels", alone)]
            rows += curve(job, options.numbers, options.draws)
            rows += forecasts(job, [n for n in options.numbers if n <= 1000], min(5, options.draws))
    print(versions(None))
    print("\n".join(lines_of(rows)))


if __name__ == "__main__":
    main()
