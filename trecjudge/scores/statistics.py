"""Statistics of a finished leaderboard: the standing of each run by each measure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import orjson

from trecjudge.measures import DIGITS, MeasureSpec
from trecjudge.scores.corrections import MEANS, HumanLabels, Labelled
from trecjudge.scores.leaderboard import Leaderboard

if TYPE_CHECKING:
    from trecjudge.stats.shrinkage import Corrected, Evidence
    from trecjudge.stats.standing import Entry, Standing


def standings_of(board: Leaderboard, people: HumanLabels) -> dict[str, list[Standing]]:
    """Return where the runs stand, by measure; `people` correct the means where they can."""
    from trecjudge.stats.standing import standings  # numpy: not at start

    found = {}
    for measure in board.spec.measures:
        human = corrections_of(board, people, measure)
        entries = [_entry(board, measure, run, human.get(run)) for run in sorted(board.scores)]
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


def _entry(board: Leaderboard, measure: MeasureSpec, run_id: str, human: Corrected | None) -> Entry:
    from trecjudge.stats.standing import Entry

    mean = board.mean(run_id, measure)
    counts = board.counts(run_id, measure)
    values = board.values(run_id, measure)
    entry = Entry(run_id, values, mean.value, mean.lowest, mean.highest, *counts, human)
    if measure.sums is None:
        return entry
    sums = [found for found, _, _ in board.sums(run_id, measure)]
    return replace(entry, sums=sums, of=measure.sums.of)


def corrections_of(
    board: Leaderboard, people: HumanLabels, measure: MeasureSpec
) -> Mapping[str, Corrected]:
    """Return the means of runs as labels of people correct them, as far as that is defined."""
    found = people.by_measure.get(measure.name)
    evidence = None if found is None else evidence_of(board, found, measure)
    if evidence is None:
        return {}
    made, people.effects[measure.name] = evidence.corrected()
    return made


def evidence_of(board: Leaderboard, found: Labelled, measure: MeasureSpec) -> Evidence | None:
    """Return what labels say of the runs whose mean they can correct; None where of none.

    Labels are of one sample or the other of a topic, not of their mean. A mean that a topic leaves
    is left too.
    """
    from trecjudge.stats.shrinkage import Evidence  # numpy: not at start

    values = {run: board.values(run, measure) for run in sorted(board.scores)}
    runs = [
        run
        for run, own in values.items()
        if None not in own and not board.coverage[run].samples and run not in found.unknown
    ]
    known = set(runs)
    kept = [i for i, (run, _) in enumerate(found.responses) if run in known]
    if found.table is None or not kept:
        return None
    kept.sort(key=found.responses.__getitem__)  # sums must not depend on the order of the runs
    responses = [found.responses[i] for i in kept]
    with_items = set(responses)
    # A topic without a response, or with nothing to label, has its value for sure.
    sure = [
        sum(
            value or 0.0
            for topic, value in zip(board.expected, values[run], strict=True)
            if (run, topic) not in with_items
        )
        for run in runs
    ]
    return Evidence.of(runs, responses, (found.table, kept), sure, len(board.expected))
