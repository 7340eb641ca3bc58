"""When topics are too few for a test to tell any two runs apart."""

from __future__ import annotations

import pytest

from trecjudge.scores.places import too_few_topics


@pytest.mark.parametrize(
    ("runs", "topics", "too_few"),
    [
        pytest.param(1, 1, False, id="nothing to tell apart"),
        pytest.param(2, 5, True, id="two runs need six topics"),
        pytest.param(2, 6, False, id="of two runs six are enough"),
        pytest.param(53, 15, True, id="1378 pairs need sixteen"),
        pytest.param(53, 16, False, id="of 1378 pairs sixteen are enough"),
    ],
)
def test_too_few_topics(runs: int, topics: int, too_few: bool) -> None:
    said = f"{topics} topics are too few for a paired test to tell any of {runs} runs apart"
    assert too_few_topics(runs, topics) == (said if too_few else "")
