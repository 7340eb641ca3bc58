"""Leaderboards and judgments from literal text, for the tests of statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trecjudge.findings import Finding
from trecjudge.records import Place
from trecjudge.results.statistics import MeanKey, RunScore
from trecjudge.results.trec import LeaderboardRow
from trecjudge.stats.scores import Duplicates, Scores, scores_of


def rows(text: str) -> list[tuple[Place, LeaderboardRow]]:
    """Return the rows of `run topic measure value` lines, each with its line."""
    found = []
    for number, line in enumerate(text.strip().splitlines(), 1):
        run, topic, measure, value = line.split()
        row = LeaderboardRow(run, None if topic == "all" else topic, measure, float(value))
        found.append((Place("lb", number), row))
    return found


def scores(
    text: str,
    name: str = "lb",
    findings: list[Finding] | None = None,
    duplicates: Duplicates = "first",
    known: Mapping[MeanKey, RunScore] | None = None,
) -> Scores:
    """Return the scores of such lines; what is odd goes into `findings`."""
    reported = [] if findings is None else findings
    return scores_of(name, rows(text), reported.append, duplicates, known)


def known(
    mean: float | None, by_topic: Mapping[str, float | None], aggregate: str = "", items: int = 0
) -> RunScore:
    """Return what statistics have of a run: its mean and what enters it, and unjudged items."""
    figures = figure(mean, 0.0, 1.0, 10 - items, 10)
    return replace(figures, by_topic=by_topic, aggregate=aggregate)


def figure(
    mean: float | None, lowest: float | None, highest: float | None, judged: int, expected: int
) -> RunScore:
    """Return a mean, its bounds, and how many items are judged, of the run `r` by `M`."""
    bounds = {"lowest": lowest, "highest": highest}
    return RunScore("r", "M", mean, judged=judged, expected=expected, **bounds)


def by_run(measure: str = "M", topic: str = "all", **values: float) -> str:
    """Return a line for each run: `by_run(a=0.5)` -> `a all M 0.5`."""
    return "".join(f"{run} {topic} {measure} {value}\n" for run, value in values.items())


def by_topic(run: str, values: Sequence[float], measure: str = "M") -> str:
    """Return a run's lines on topics t0, t1, ..."""
    return "".join(f"{run} t{i:03d} {measure} {value}\n" for i, value in enumerate(values))
