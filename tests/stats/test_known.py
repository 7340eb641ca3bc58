"""What is known beside a mean: unjudged items in words, how topics make it."""

from __future__ import annotations

import numpy as np
import pytest

from trecjudge.results.statistics import Unjudged
from trecjudge.stats.scores import aggregate_topics

VALUES = np.array([[np.nan, 0.5, 0.1], [np.nan, np.nan, np.nan], [0.2, 0.2, 0.8]])


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        ("", [0.3, np.nan, 0.4]),
        ("mean_of_bools", [0.3, np.nan, 0.4]),
        ("sum", [0.6, np.nan, 1.2]),
        ("min", [0.1, np.nan, 0.2]),
        ("max", [0.5, np.nan, 0.8]),
        ("first_value", [0.5, np.nan, 0.2]),
    ],
)
def test_topics_make_a_mean_as_its_measure_says(how: str, wanted: list[float]) -> None:
    np.testing.assert_array_equal(aggregate_topics(VALUES, how), wanted)


@pytest.mark.parametrize("how", ["", "sum", "min", "max", "first_value"])
def test_no_topics_make_none(how: str) -> None:
    assert np.isnan(aggregate_topics(np.empty((2, 0)), how)).all()


@pytest.mark.parametrize(
    ("gaps", "sentence", "with_bounds"),
    [
        (Unjudged(3, 12, 0.25, 1.0), "3 of 12 items are unjudged", "3 of 12 (0.25 to 1)"),
        (Unjudged(3), "3 items are unjudged", "3"),
        (Unjudged(1), "1 item is unjudged", "1"),
        (Unjudged(0, 12, 0.5, 0.5), "0 of 12 items are unjudged", "0 of 12"),
    ],
)
def test_unjudged_items_in_words(gaps: Unjudged, sentence: str, with_bounds: str) -> None:
    assert (str(gaps), gaps.with_bounds) == (sentence, with_bounds)
