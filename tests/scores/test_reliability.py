"""The confidence that systems state, held against verdicts: means, bins, what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes import judgment, response
from trecjudge.measures import LeaderboardSpec, MeasureSpec
from trecjudge.records import FULL, NONE, Failure, Judgment, Response
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.scores.reliability import reliability
from trecjudge.scores.summary import summarise


def share(response: Response, judgments: Sequence[Judgment]) -> float | None:
    judged = [j for j in judgments if j.judged]
    return sum(j.label == FULL for j in judged) / len(judged) if judged else None


def board(*stated: tuple[Any, list[str | None]], **measure: Any) -> Leaderboard:
    """Return a leaderboard of one run: the confidence stated of each topic, and its labels."""
    one = Leaderboard(LeaderboardSpec((MeasureSpec("SHARE", share, default=None, **measure),)))
    two = Leaderboard(one.spec)
    for place, (confidence, labels) in enumerate(stated):
        said = {} if confidence is None else {"confidence": confidence}
        answer = replace(response(("A.", []), topic_id=str(place)), said=said)
        failures = [None if label else Failure("transport", "reset") for label in labels]
        own = [
            judgment(label, topic_id=str(place), failure=failure)
            for label, failure in zip(labels, failures, strict=True)
        ]
        (two if place % 2 else one).add(answer, own)  # as two workers count them
    one.take(two.scores, two.coverage)
    one.finish()
    return one


def test_stated_confidence_beside_what_is_found() -> None:
    made = board(
        *(("0.95", [FULL, FULL]), (0.85, [FULL, NONE]), (1, [FULL, NONE]), (0.25, [NONE])),
        *((None, [FULL]), (0.5, [FULL, None]), (0.5, []), ("sure", [FULL]), (True, [FULL])),
        (93, [FULL]),
    )
    (found,) = reliability(made)
    assert (found.responses, found.left_out, found.unread) == (4, 2, 3)
    assert (found.stated, found.found) == (0.7625, 0.5)
    assert found.bins == ((0.2, 1, 0.25, 0.0), (0.8, 1, 0.85, 0.5), (0.9, 2, 0.975, 0.75))
    # (0.25 x 1 + 0.35 x 1 + 0.225 x 2) / 4
    assert found.error == pytest.approx(0.2625)
    (line,) = summarise("x", "j", made, {}).remarks
    assert line == (
        "confidence stated by r: 0.762 on average of 4 responses, SHARE 0.500; calibration error"
        " 0.263 (1 x 0.25 -> 0.00, 1 x 0.85 -> 0.50, 2 x 0.97 -> 0.75); 2 left out: no value,"
        " unjudged items, or several samples; 3 not read: no number from 0 to 1"
    )


def test_samples_of_a_topic_are_left_out() -> None:
    made = Leaderboard(LeaderboardSpec((MeasureSpec("SHARE", share),)))
    said = replace(response(("A.", [])), said={"confidence": 0.5})
    other = replace(said, topic_id="t2")
    for one in (said, said.as_sample("2"), other):
        made.add(one, [judgment(FULL, topic_id=one.topic_id)])
    made.finish()
    assert [(r.responses, r.left_out) for r in reliability(made)] == [(1, 2)]


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(board((None, [FULL])), id="nothing stated"),
        pytest.param(board((0.9, [None])), id="nothing judged"),
        pytest.param(board(("sure", [FULL])), id="nothing read"),
        pytest.param(board((0.9, [FULL]), lower_is_better=True), id="less is better"),
    ],
)
def test_there_is_no_reliability_of_what_cannot_be_compared(made: Leaderboard) -> None:
    assert list(reliability(made)) == []
    assert summarise("x", "j", made, {}).reliability == []
