"""Statistics of a finished leaderboard: the standing of each run by each measure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import orjson

from trecjudge.measures import DIGITS, MeasureSpec
from trecjudge.scores.corrections import HumanLabels
from trecjudge.scores.leaderboard import Leaderboard

if TYPE_CHECKING:
    from trecjudge.stats.ppi import Corrected
    from trecjudge.stats.standing import Entry, Standing

MEANS = ("mean_of_floats", "mean_of_bools")
"""Aggregates that labels of people can correct."""


def standings_of(board: Leaderboard, people: HumanLabels) -> dict[str, list[Standing]]:
    """Return where the runs stand, by measure; `people` correct the means where they can."""
    from trecjudge.stats.standing import standings  # numpy: not at start

    found = {}
    for measure in board.spec.measures:
        entries = [_entry(board, people, measure, run_id) for run_id in sorted(board.scores)]
        kind = _kind(measure)
        found[measure.name] = standings(measure.name, entries, measure.lower_is_better, kind)
    return found


def _kind(measure: MeasureSpec) -> Literal["mean", "sum", "of_sums", "other"]:
    if measure.aggregate in MEANS:
        return "mean"
    if measure.aggregate == "sum" or measure.aggregate == "of_sums":
        return measure.aggregate
    return "other"


def standing_lines(board: Leaderboard, found: Mapping[str, Sequence[Standing]]) -> Iterator[bytes]:
    """Yield the lines of `NAME.leaderboard.jsonl`: an object for each measure and run.

    `by_topic` has what a leaderboard lacks: a topic that the run did not answer, and
    whether a value that is not there stands as the measure's default or is in no mean.
    `copies` counts the run's long sentences and those copied, where documents had text.
    `samples` counts topics with several samples, and these, and says how far they differ.
    """
    for measure in board.spec.measures:
        for standing in found[measure.name]:
            values = board.values(standing.run_id, measure)
            record = {name: getattr(standing, name) for name in standing.__slots__}
            record["aggregate"] = measure.aggregate
            record["by_topic"] = {
                topic_id: None if value is None else round(value, DIGITS)
                for topic_id, value in zip(board.expected, values, strict=True)
            }
            coverage = board.coverage[standing.run_id]
            if coverage.copied_of is not None:
                record["copies"] = {"copied": coverage.copied, "of": coverage.copied_of}
            if coverage.samples:
                spread = board.spreads.get((standing.run_id, measure.name))
                shown = None if spread is None else round(spread, DIGITS)
                record["samples"] = coverage.sample_counts | {"spread": shown}
            yield orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def _entry(board: Leaderboard, people: HumanLabels, measure: MeasureSpec, run_id: str) -> Entry:
    from trecjudge.stats.standing import Entry

    mean = board.mean(run_id, measure)
    human = _corrected(board, people, measure, run_id) if people.labels else None
    counts = board.counts(run_id, measure)
    values = board.values(run_id, measure)
    entry = Entry(run_id, values, mean.value, mean.lowest, mean.highest, *counts, human)
    if measure.sums is None:
        return entry
    sums = [found for found, _, _ in board.sums(run_id, measure)]
    return replace(entry, sums=sums, of=measure.sums.of)


def _corrected(
    board: Leaderboard, people: HumanLabels, measure: MeasureSpec, run_id: str
) -> Corrected | None:
    """Return a run's mean as labels of people correct it; None where that is not defined."""
    import numpy as np

    from trecjudge.stats.ppi import corrected

    values = board.values(run_id, measure)
    # Labels are of one sample or the other, not of their mean.
    if None in values or measure.aggregate not in MEANS or board.coverage[run_id].samples:
        return None
    keys = [(run_id, topic_id, measure.name) for topic_id in board.expected]
    if people.undetermined.intersection(keys):
        return None
    given = [people.values.get(key) for key in keys]
    answered = board.scores[run_id]
    # A topic without a response has its value for sure: nobody needs to label it.
    certain = [key[1] not in answered or key in people.certain for key in keys]
    return corrected(
        np.array(values, dtype=float),
        np.array([None if g is None else g.estimate for g in given], dtype=float),
        np.array([None if g is None else g.without_judge for g in given], dtype=float),
        np.array(certain),
    )
