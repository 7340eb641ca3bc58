"""From a judgments file to qrels, leaderboard and summary: no judge runs, no model is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack

import orjson

from trecjudge.gate import KEYS, read_gate, review
from trecjudge.human import HumanLabels
from trecjudge.judgments import Header, JudgmentsReader
from trecjudge.labels import Key, TakesLabels
from trecjudge.leaderboard import (
    Leaderboard,
    best_grades,
    pooled_qrels,
    response_qrels,
)
from trecjudge.measures import LeaderboardSpec
from trecjudge.outputs import Outputs, whole
from trecjudge.panel import Seat, make_panel, panel_rules, panel_spec
from trecjudge.ranking import standing_lines, standings_of
from trecjudge.summary import Summary, summarise
from trecjudge.trec import QrelsRow, leaderboard_line, qrels_line

PASSED = "PASSED"


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
    takers = {s.name: s.judge for s in panel if isinstance(s.judge, TakesLabels)}
    people = HumanLabels(labels or {}, takers)
    board = Leaderboard(spec, header.topics)
    rules, marked = panel_rules(panel, read_gate(header.gate)), Counter[str]()
    first, pooled = next(iter(header.judges)), header.qrels_pool or spec.pooled_qrels
    pool: dict[tuple[str, str], int] = {}
    with ExitStack() as files:
        qrels = files.enter_context(whole(outputs.qrels))
        leaderboard = files.enter_context(whole(outputs.leaderboard))
        statistics = files.enter_context(whole(outputs.statistics))
        reviews = files.enter_context(whole(outputs.review)) if rules else None
        for response, judgments in reader:
            board.add(response, judgments)
            if labels:
                people.add(spec, response, judgments)
            if reviews is not None:
                scores = board.scores[response.run_id][response.topic_id]
                found = review(rules, spec, response, judgments, scores)
                marked[found["status"] if found else PASSED] += 1
                reviews.write(
                    orjson.dumps(found, option=orjson.OPT_APPEND_NEWLINE) if found else b""
                )
            graded = [j for j in judgments if j.judge == first]
            if pooled:
                best_grades(graded, pool)
            else:
                qrels.write(_text(response_qrels(response, graded)))
        board.finish()
        qrels.write(_text(pooled_qrels(pool)))
        for row in board.rows():
            leaderboard.write(leaderboard_line(row).encode())
        standings = standings_of(board, people)
        statistics.writelines(standing_lines(board, standings))
    summary = summarise(outputs.name, ",".join(header.judges), board, standings)
    if labels is not None:
        summary.labels = people.counts
    for what in ("leaderboard", "statistics", "qrels"):
        summary.files[what] = str(getattr(outputs, what))
    if rules:
        summary.gate = {status: marked[status] for status in (*KEYS.values(), PASSED)}
        summary.files["review"] = str(outputs.review)
    return summary


def _text(rows: Iterable[QrelsRow]) -> bytes:
    return "".join(qrels_line(row) for row in rows).encode()
