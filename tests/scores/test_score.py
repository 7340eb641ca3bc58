"""Scores of a response come back as they were, and take little room."""

from __future__ import annotations

import pickle
import tracemalloc

import pytest

from trecjudge.records import Failure
from trecjudge.scores.score import ResponseScores, Score

FAILED = Failure("model_error", "no answer", 3)
SCORES = {
    "M": Score.plain(0.1),
    "NEGATIVE": Score.plain(-0.0),
    "UNDEFINED": Score.plain(None),
    "OPEN": Score(0.5, 0.25, 0.75, judged=False, unjudged=2, failure=FAILED),
    "FAILED": Score(None, None, None, judged=False, unjudged=1, failure=FAILED),
    "SUMS": Score(None, None, None, judged=True, sums=((1.0, 2.0),) * 3),
}


def test_scores_come_back() -> None:
    held = ResponseScores.of(tuple(SCORES), SCORES)
    for found in (held, pickle.loads(pickle.dumps(held))):
        assert list(found.items()) == list(SCORES.items())
        assert str(found["NEGATIVE"].value) == "-0.0"
    assert "OTHER" not in held
    with pytest.raises(KeyError, match="OTHER"):
        held["OTHER"]


def test_plain_scores_take_little_room() -> None:
    measures = tuple("ABCDE")
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        held = [
            ResponseScores.of(measures, {name: Score.plain(n / 7) for name in measures})
            for n in range(1000)
        ]
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(held) == 1000
    assert (after - before) / 1000 < 170, "bytes a response; 850 as objects"
