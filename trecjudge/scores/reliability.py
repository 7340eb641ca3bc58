"""The confidence that systems state, held against what a judge finds: calibration, by run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trecjudge.findings import plural
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.stats.agreement import BINS, DECIMALS, bins_of, calibration_error_figure


@dataclass(frozen=True, slots=True)
class Reliability:
    """The stated confidence of a run's responses beside their values of a measure, both 0 to 1.

    `stated` and `found` are means over `responses`, `error` is the expected calibration error over
    10 bins of equal width (Guo et al., 2017), `bins` have (least confidence, responses, mean
    confidence, mean value) of each that is not empty. `left_out` have a confidence, and no value
    that all of their items decide, or are samples of one topic; `unread` state what is no
    number from 0 to 1.
    """

    run_id: str
    measure: str
    responses: int
    left_out: int
    unread: int
    stated: float
    found: float
    error: float
    bins: tuple[tuple[float, int, float, float], ...]

    @property
    def line(self) -> str:
        """It on one line, its table of bins last."""
        table = ", ".join(f"{n} x {stated:.2f} -> {found:.2f}" for _, n, stated, found in self.bins)
        why = "left out: no value, unjudged items, or several samples"
        kinds = ((self.left_out, why), (self.unread, "not read: no number from 0 to 1"))
        apart = "".join(f"; {count} {what}" for count, what in kinds if count)
        return (
            f"confidence stated by {self.run_id}: {self.stated:.3f} on average of"
            f" {plural(self.responses, 'response')}, {self.measure} {self.found:.3f}; calibration"
            f" error {self.error:.3f} ({table}){apart}"
        )


def reliability(board: Leaderboard) -> Iterator[Reliability]:
    """Yield the reliability of each run that states confidence, the best run first.

    It is held against the measure of labels that ranks, or stands behind the one that does; there
    is none for a measure where less is better, or that goes beyond 0 to 1.
    """
    name = board.ranks_for or board.ranking_measure.name
    measure = next(m for m in board.spec.measures if m.name == name)
    for run_id in board.ranking():
        coverage = board.coverage[run_id]
        if not coverage.confidence or measure.lower_is_better:
            continue
        scores = board.scores[run_id]
        stated, found = [], []
        for topic_id, confidence in coverage.confidence.items():
            single = topic_id in scores and topic_id not in coverage.samples
            score = scores[topic_id][name] if single else None
            if confidence is None or score is None or score.value is None or not score.judged:
                continue
            stated.append(confidence)
            found.append(float(score.value))
        unread = sum(one is None for one in coverage.confidence.values())
        if found and min(found) >= 0 and max(found) <= 1:
            left_out = len(coverage.confidence) - unread - len(found)
            yield _held(run_id, name, (len(found), left_out, unread), stated, found)


def _held(
    run_id: str, name: str, counts: tuple[int, int, int], stated: list[float], found: list[float]
) -> Reliability:
    chances, values = np.array(stated), np.array(found)
    error = calibration_error_figure(chances, values)(np.ones((1, len(found))))[0]
    places = bins_of(chances)
    bins = tuple(
        (
            place / BINS,
            int(own.sum()),
            round(float(chances[own].mean()), DECIMALS),
            round(float(values[own].mean()), DECIMALS),
        )
        for place in range(BINS)
        if (own := places == place).any()
    )
    all_of_it = (float(one) for one in (chances.mean(), values.mean(), error))
    mean, value, apart = (round(one, DECIMALS) for one in all_of_it)
    return Reliability(run_id, name, *counts, mean, value, apart, bins)
