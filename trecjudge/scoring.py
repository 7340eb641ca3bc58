"""From a judgments file to qrels, leaderboard and summary: no judge runs, no model is asked."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack

from trecjudge.judge import make_judge
from trecjudge.judgments import Header, JudgmentsReader
from trecjudge.leaderboard import (
    Leaderboard,
    best_grades,
    pooled_qrels,
    response_qrels,
)
from trecjudge.measures import LeaderboardSpec, leaderboard_spec
from trecjudge.outputs import Outputs, whole
from trecjudge.summary import Summary, summarise
from trecjudge.trec import QrelsRow, leaderboard_line, qrels_line


def spec_of(header: Header) -> LeaderboardSpec:
    """Return the measures that a judgments file is to be scored by."""
    judge = make_judge(header.judge, header.settings)
    return leaderboard_spec(judge.measures, header.leaderboard, header.measures)


def score(reader: JudgmentsReader, outputs: Outputs) -> Summary:
    """Write the qrels and the leaderboard of a judgments file and return the summary.

    Raises InputError if the file is not whole, before either file is replaced.
    """
    header = reader.header
    board = Leaderboard(spec_of(header), header.topics)
    pool: dict[tuple[str, str], int] = {}
    with ExitStack() as files:
        qrels = files.enter_context(whole(outputs.qrels))
        leaderboard = files.enter_context(whole(outputs.leaderboard))
        for response, judgments in reader:
            board.add(response, judgments)
            if header.qrels_pool:
                best_grades(judgments, pool)
            else:
                qrels.write(_text(response_qrels(response, judgments)))
        board.finish()
        qrels.write(_text(pooled_qrels(pool)))
        for row in board.rows():
            leaderboard.write(leaderboard_line(row).encode())
    summary = summarise(outputs.name, header.judge, board)
    summary.files = {"leaderboard": str(outputs.leaderboard), "qrels": str(outputs.qrels)}
    return summary


def _text(rows: Iterable[QrelsRow]) -> bytes:
    return "".join(qrels_line(row) for row in rows).encode()
