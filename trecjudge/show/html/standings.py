"""The leaderboard as the page takes it: runs in order, means with intervals, scores per topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trecjudge.findings import visible
from trecjudge.measures import DIGITS, MeasureSpec
from trecjudge.results.statistics import RunScore
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.scores.places import mean_for_page, sure_places
from trecjudge.scores.score import Score
from trecjudge.show.templates import LONGEST
from trecjudge.show.words import disambiguate

UNJUDGED, NO_RESPONSE = "?", ""
"""In place of a score: nothing could be judged, there is no response."""

Statistics = Mapping[tuple[str, str], RunScore]
"""(run_id, measure) -> what is known of the mean beside it"""
NOTHING = RunScore("", "")


def standings(board: Leaderboard, known: Statistics, teams: Mapping[str, str]) -> dict[str, Any]:
    """Return runs (the best first), measures and scores: `scores[measure][run][topic]`.

    A score is a number, None where the measure is not defined, UNJUDGED or NO_RESPONSE. `bounds` of
    a measure are [run, topic, lowest, highest] for each score that unjudged items leave open.
    """
    order = board.ranking()
    measures = board.spec.measures
    ranked = board.ranking_measure
    places = sure_places(board, ranked)
    ids = [*order, *board.expected]
    shown = zip(ids, disambiguate(list(map(visible, ids)), LONGEST), strict=True)
    return {
        "ranked_by": board.spec.ranked_by,
        # Of names that are too long: no two of them may look alike.
        "shown": {name: short for name, short in shown if len(name) > LONGEST},
        "measures": [_measure(measure) for measure in measures],
        "runs": [
            _run(board, run_id, known, teams.get(run_id, ""))
            | {"place": places[run_id], "open": board.mean(run_id, ranked).is_open}
            for run_id in order
        ],
        "scores": [
            [[_score(board, run_id, topic, m.name) for topic in board.expected] for run_id in order]
            for m in measures
        ],
        "bounds": [list(_bounds(board, order, m.name)) for m in measures],
    }


def _measure(measure: MeasureSpec) -> dict[str, Any]:
    """Return what the page needs to compute means over only some topics."""
    return {
        "name": measure.name,
        "judge": measure.judge,
        "description": measure.description,
        "lower_is_better": measure.lower_is_better,
        "aggregate": measure.aggregate,
        "default": measure.default,
        "default_if_undefined": measure.default_if_undefined,
    }


def _run(board: Leaderboard, run_id: str, statistics: Statistics, team: str) -> dict[str, Any]:
    coverage = board.coverage[run_id]
    judged, expected = board.counts(run_id, board.ranking_measure)
    means = []
    for measure in board.spec.measures:
        known = statistics.get((run_id, measure.name), NOTHING)
        means.append(
            mean_for_page(board, run_id, measure)
            | {
                "low": known.low,
                "high": known.high,
                "groups": "".join(known.groups),
                "human": known.human,
            }
        )
    return {
        "id": run_id,
        "team": team,
        "responses": coverage.responses,
        "expected_responses": coverage.expected_responses,
        "judged": judged,
        "expected": expected,
        "copied": coverage.copied_share,
        "mostly_copied": coverage.mostly_copied,
        "means": means,
    }


def _bounds(
    board: Leaderboard, order: Sequence[str], measure: str
) -> Iterator[tuple[int, int, float | None, float | None]]:
    for run, run_id in enumerate(order):
        for topic, topic_id in enumerate(board.expected):
            scores = board.scores[run_id].get(topic_id)
            if scores is not None and (score := scores[measure]).is_open:
                yield run, topic, score.lowest, score.highest


def _score(board: Leaderboard, run_id: str, topic_id: str, measure: str) -> float | str | None:
    scores = board.scores[run_id].get(topic_id)
    if scores is None:
        return None if (topic_id, measure) in board.undefined else NO_RESPONSE
    return _show_score(scores[measure])


def _show_score(score: Score) -> float | str | None:
    if score.value is None:
        return None if score.judged else UNJUDGED
    # As in the leaderboard, so that ties are ties on the page too.
    return round(score.value, DIGITS)
