"""The leaderboard as the page takes it: runs in order, means with intervals, scores per topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError
from trecjudge.leaderboard import Leaderboard, Score
from trecjudge.measures import MeasureSpec
from trecjudge.records import Place
from trecjudge.report.places import is_open, mean_shown, ranking_measure, sure_places
from trecjudge.sources.containers import lines

UNJUDGED, NO_RESPONSE = "?", ""
"""What stands in the place of a score: nothing could be judged, there is no response."""

Intervals = Mapping[tuple[str, str], Mapping[str, Any]]
"""(run_id, measure) -> its line of NAME.leaderboard.jsonl"""


def read_intervals(path: Path) -> Intervals:
    """Return the lines of a NAME.leaderboard.jsonl; none where there is no such file.

    Raises InputError with file and line for what is no such line.
    """
    if not path.is_file():
        return {}
    found = {}
    for number, line in lines(path):
        try:
            record = orjson.loads(line)
            found[record["run_id"], record["measure"]] = record
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            place = Place(str(path), number)
            raise InputError(f"{place}: is not a line of a leaderboard: {error}") from error
    return found


def standings(board: Leaderboard, intervals: Intervals, teams: Mapping[str, str]) -> dict[str, Any]:
    """Return runs (the best first), measures and scores: `scores[measure][run][topic]`.

    A score is a number, None where the measure is not defined, UNJUDGED or NO_RESPONSE. `bounds` of
    a measure are [run, topic, lowest, highest] for each score that unjudged items leave open.
    """
    order = board.ranking()
    measures = board.spec.measures
    ranked = ranking_measure(board)
    places = sure_places(board, ranked)
    return {
        "ranked_by": board.spec.ranked_by,
        "measures": [_measure(measure) for measure in measures],
        "runs": [
            _run(board, run_id, intervals, teams.get(run_id, ""))
            | {"place": places[run_id], "open": is_open(board.mean(run_id, ranked))}
            for run_id in order
        ],
        "scores": [
            [[_score(board, run_id, topic, m.name) for topic in board.expected] for run_id in order]
            for m in measures
        ],
        "bounds": [list(_bounds(board, order, m.name)) for m in measures],
    }


def _measure(measure: MeasureSpec) -> dict[str, Any]:
    """Return what the page needs to make the means of some topics alone."""
    return {
        "name": measure.name,
        "lower_is_better": measure.lower_is_better,
        "aggregate": measure.aggregate,
        "default": measure.default,
        "default_if_undefined": measure.default_if_undefined,
    }


def _run(board: Leaderboard, run_id: str, intervals: Intervals, team: str) -> dict[str, Any]:
    coverage = board.coverage[run_id]
    means = []
    for measure in board.spec.measures:
        known = intervals.get((run_id, measure.name), {})
        means.append(
            mean_shown(board, run_id, measure)
            | {
                "low": known.get("low"),
                "high": known.get("high"),
                "groups": "".join(known.get("groups") or ()),
                "human": known.get("human"),
            }
        )
    return {
        "id": run_id,
        "team": team,
        "responses": coverage.responses,
        "expected_responses": coverage.expected_responses,
        "judged": coverage.judged,
        "expected": coverage.expected,
        "means": means,
    }


def _bounds(
    board: Leaderboard, order: Sequence[str], measure: str
) -> Iterator[tuple[int, int, float | None, float | None]]:
    for run, run_id in enumerate(order):
        for topic, topic_id in enumerate(board.expected):
            scores = board.scores[run_id].get(topic_id)
            if scores is not None and (score := scores[measure]).low != score.high:
                yield run, topic, score.low, score.high


def _score(board: Leaderboard, run_id: str, topic_id: str, measure: str) -> float | str | None:
    scores = board.scores[run_id].get(topic_id)
    if scores is None:
        return NO_RESPONSE
    return _shown(scores[measure])


def _shown(score: Score) -> float | str | None:
    if score.value is None:
        return None if score.judged else UNJUDGED
    return round(score.value, 6)
