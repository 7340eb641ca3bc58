"""Scores of a response come back as they were, and take little room."""

from __future__ import annotations

import pickle
import tracemalloc

import pytest

from trecjudge.records import Failure
from trecjudge.scores.score import ResponseScores, Score, mean_of_samples

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


OPEN = Score(None, 0.0, 1.0, judged=False, unjudged=1, failure=FAILED)


@pytest.mark.parametrize(
    ("scores", "default", "expected", "spread"),
    [
        pytest.param([1.0, 0.0, 0.0], 0.0, (1 / 3,) * 3, 3**-0.5, id="three values"),
        pytest.param([1.0, None], 0.0, (0.5,) * 3, 0.5**0.5, id="undefined counts the default"),
        pytest.param([1.0, None], None, (1.0,) * 3, None, id="undefined counts nothing"),
        pytest.param([None, None], 0.0, (None,) * 3, None, id="defined nowhere"),
        pytest.param([1.0, OPEN], 0.0, (1.0, 0.5, 1.0), None, id="unjudged counts in the bounds"),
    ],
)
def test_a_topic_has_the_mean_of_its_samples(
    scores: list[float | Score | None],
    default: float | None,
    expected: tuple[float | None, ...],
    spread: float | None,
) -> None:
    own = [score if isinstance(score, Score) else Score.plain(score) for score in scores]
    found, apart = mean_of_samples(own, default)
    ends = (found.value, found.lowest, found.highest)
    assert ends == tuple(None if v is None else pytest.approx(v) for v in expected)
    assert apart == (None if spread is None else pytest.approx(spread))
    assert (found.judged, found.unjudged) == (OPEN not in own, int(OPEN in own))


def test_counts_of_samples_are_averaged_too() -> None:
    counts = [((1.0, 2.0),) * 3, ((0.0, 4.0),) * 3]
    own = [Score(None, None, None, judged=True, sums=sums) for sums in counts]
    assert mean_of_samples(own, 0.0)[0].sums == ((0.5, 3.0),) * 3
