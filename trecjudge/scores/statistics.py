"""Statistics of a finished leaderboard: the runs ranked by each measure, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import orjson

from trecjudge.measures import DIGITS, MeasureSpec
from trecjudge.results.statistics import Corrected, RunScore
from trecjudge.scores.corrections import MEANS, HumanLabels, Labelled
from trecjudge.scores.leaderboard import Leaderboard

if TYPE_CHECKING:
    from trecjudge.stats.shrinkage import LabelEvidence


def rank_by_measure(board: Leaderboard, people: HumanLabels) -> dict[str, list[RunScore]]:
    """Return the runs by each measure, the best first; `people` correct the means they can."""
    from trecjudge.stats.correlation import SummedCounts, rank_runs  # numpy: not at start

    found, runs = {}, sorted(board.scores)
    for measure in board.spec.measures:
        human = corrections_of(board, people, measure)
        of = measure.expected_of if measure.name in board.spec.expected else ""
        scores = [
            replace(board.mean(run, measure), human=human.get(run), ranks_for=of) for run in runs
        ]
        values = {run: board.values(run, measure) for run in runs}
        sums = None
        if measure.sums is not None:
            counts = {run: [now for now, _, _ in board.sums(run, measure)] for run in runs}
            sums = SummedCounts(counts, measure.sums.of)
        found[measure.name] = rank_runs(scores, values, _kind(measure), sums, board.spec.test)
    return found


def _kind(measure: MeasureSpec) -> Literal["mean", "sum", "of_sums", "other"]:
    if measure.aggregate in MEANS:
        return "mean"
    if measure.aggregate == "sum" or measure.aggregate == "of_sums":
        return measure.aggregate
    return "other"


def statistics_lines(
    board: Leaderboard, found: Mapping[str, Sequence[RunScore]]
) -> Iterator[bytes]:
    """Yield the lines of `NAME.leaderboard.jsonl`: an object for each measure and run.

    `by_topic` has what a leaderboard lacks: a topic that the run did not answer, and
    whether a value that is not there stands as the measure's default or is in no mean.
    `signs` counts the sentences with each sign, and those looked at, where documents had text.
    `languages` counts the run's responses, where some are not in English, `withheld` its judgments
    without a weight to be expected for that.
    `samples` counts topics with several samples, and these, and says how far they differ.
    """
    for measure in board.spec.measures:
        for score in found[measure.name]:
            values = board.values(score.run_id, measure)
            record = score.as_dict()
            record["aggregate"] = measure.aggregate_name
            if score.ranks_for:
                record["ranks_for"] = score.ranks_for
            record["by_topic"] = {
                topic_id: None if value is None else round(value, DIGITS)
                for topic_id, value in zip(board.expected, values, strict=True)
            }
            coverage = board.coverage[score.run_id]
            if coverage.signs:
                record["signs"] = coverage.signs
            if coverage.is_foreign:
                record["languages"] = dict(sorted(coverage.languages.items()))
            if coverage.withheld:
                record["withheld"] = dict(sorted(coverage.withheld.items()))
            if coverage.samples:
                spread = board.spreads.get((score.run_id, measure.name))
                shown = None if spread is None else round(spread, DIGITS)
                record["samples"] = coverage.sample_counts | {"spread": shown}
            yield orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def corrections_of(
    board: Leaderboard, people: HumanLabels, measure: MeasureSpec
) -> Mapping[str, Corrected]:
    """Return the means of runs as labels of people correct them, as far as that is defined."""
    found = people.by_measure.get(measure.name)
    evidence = None if found is None else evidence_of(board, found, measure)
    if evidence is None:
        return {}
    made, people.effects[measure.name] = evidence.correct_means()
    return made


def evidence_of(board: Leaderboard, found: Labelled, measure: MeasureSpec) -> LabelEvidence | None:
    """Return what labels say of the runs whose mean they can correct; None where of none.

    Labels are of one sample or the other of a topic, not of their mean. A mean that a topic leaves
    is left too.
    """
    from trecjudge.stats.shrinkage import LabelEvidence  # numpy: not at start

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
    return LabelEvidence.of(runs, responses, (found.table, kept), sure, len(board.expected))
