"""From a judgments file to qrels, leaderboard and summary: no judge runs, no model is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import orjson

from trecjudge.human import HumanLabels
from trecjudge.judgments import Header, JudgmentsReader
from trecjudge.labels import Key, TakesLabels
from trecjudge.leaderboard import (
    Leaderboard,
    best_grades,
    pooled_qrels,
    response_qrels,
)
from trecjudge.measures import LeaderboardSpec, MeasureSpec
from trecjudge.outputs import Outputs, whole
from trecjudge.panel import Seat, make_panel, panel_spec
from trecjudge.summary import Summary, summarise
from trecjudge.trec import QrelsRow, leaderboard_line, qrels_line

if TYPE_CHECKING:
    from trecjudge.stats.ppi import Corrected
    from trecjudge.stats.standing import Entry, Standing

AVERAGED = ("mean_of_floats", "mean_of_bools", "sum")
"""Aggregates that rank runs as their means do."""


def spec_of(header: Header) -> LeaderboardSpec:
    """Return the measures that a judgments file is to be scored by."""
    panel = panel_of(header)
    return panel_spec(panel, header.leaderboard, header.measures)


def panel_of(header: Header) -> list[Seat]:
    """Return the judges of a judgments file."""
    names = list(header.judges)
    settings = header.judges if len(names) > 1 else header.judges[names[0]]
    return make_panel(names, settings)


def score(
    reader: JudgmentsReader, outputs: Outputs, labels: Mapping[Key, str] | None = None
) -> Summary:
    """Write the qrels and the leaderboards of a judgments file and return the summary.

    `labels` are those of people on some items: they correct the means in the statistics. Raises
    InputError if the file is not whole, before any file is replaced.
    """
    header = reader.header
    panel = panel_of(header)
    spec = panel_spec(panel, header.leaderboard, header.measures)
    board = Leaderboard(spec, header.topics)
    takers = {s.name: s.judge for s in panel if isinstance(s.judge, TakesLabels)}
    people = HumanLabels(labels or {}, takers)
    first, pooled = next(iter(header.judges)), header.qrels_pool or spec.pooled_qrels
    pool: dict[tuple[str, str], int] = {}
    with ExitStack() as files:
        qrels = files.enter_context(whole(outputs.qrels))
        leaderboard = files.enter_context(whole(outputs.leaderboard))
        statistics = files.enter_context(whole(outputs.statistics))
        for response, judgments in reader:
            board.add(response, judgments)
            if labels:
                people.add(spec, response, judgments)
            graded = [j for j in judgments if j.judge == first]
            if pooled:
                best_grades(graded, pool)
            else:
                qrels.write(_text(response_qrels(response, graded)))
        board.finish()
        qrels.write(_text(pooled_qrels(pool)))
        for row in board.rows():
            leaderboard.write(leaderboard_line(row).encode())
        found = dict(_standings(board, people))
        for standing in (one for column in found.values() for one in column):
            statistics.write(orjson.dumps(standing, option=orjson.OPT_APPEND_NEWLINE))
    summary = summarise(outputs.name, ",".join(header.judges), board, found)
    if labels is not None:
        summary.labels = _told(people)
    summary.files = {
        "leaderboard": str(outputs.leaderboard),
        "statistics": str(outputs.statistics),
        "qrels": str(outputs.qrels),
    }
    return summary


def _standings(board: Leaderboard, people: HumanLabels) -> Iterator[tuple[str, Sequence[Standing]]]:
    """Yield each measure with where the runs stand by it."""
    from trecjudge.stats.standing import standings  # numpy: not at start

    for measure in board.spec.measures:
        entries = [_entry(board, people, measure, run_id) for run_id in sorted(board.scores)]
        averaged = measure.aggregate in AVERAGED
        yield measure.name, standings(measure.name, entries, measure.lower_is_better, averaged)


def _entry(board: Leaderboard, people: HumanLabels, measure: MeasureSpec, run_id: str) -> Entry:
    from trecjudge.stats.standing import Entry

    mean = board.mean(run_id, measure)
    human = _corrected(board, people, measure, run_id) if people.labels else None
    counts = board.counts(run_id, measure)
    values = board.values(run_id, measure)
    return Entry(run_id, values, mean.value, mean.low, mean.high, *counts, human)


def _corrected(
    board: Leaderboard, people: HumanLabels, measure: MeasureSpec, run_id: str
) -> Corrected | None:
    """Return a run's mean as labels of people correct it; None where that is not defined."""
    import numpy as np

    from trecjudge.stats.ppi import corrected

    values = board.values(run_id, measure)
    if None in values or measure.aggregate not in ("mean_of_floats", "mean_of_bools"):
        return None
    keys = [(run_id, topic_id, measure.name) for topic_id in board.expected]
    given = [people.values.get(key, np.nan) for key in keys]
    answered = board.scores[run_id]
    certain = [key[1] not in answered or key in people.certain for key in keys]
    return corrected(np.array(values, dtype=float), np.array(given), np.array(certain))


def _told(people: HumanLabels) -> dict[str, int]:
    """Return how many labels there are, how many are of judged items, how many mean nothing."""
    return {
        "given": len(people.labels),
        "of_judged_items": len(people.matched),
        "unusable": len(people.unusable),
    }


def _text(rows: Iterable[QrelsRow]) -> bytes:
    return "".join(qrels_line(row) for row in rows).encode()
