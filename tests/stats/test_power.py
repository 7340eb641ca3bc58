"""What a pilot says of a larger leaderboard: by simulation of the tests, and what cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import studentized_range, t

from tests.stats.texts import by_topic, scores
from trecjudge.errors import InputError
from trecjudge.stats.paired import holm_pairs, sign_flip
from trecjudge.stats.power import largest_range, pilot_deviations, power_of
from trecjudge.stats.resampling import student_quantile
from trecjudge.stats.tukey import tukey_hsd

RNG = np.random.default_rng(23)
NAN = float("nan")
NOISE = np.array([0.21, -0.15, 0.03, -0.3, 0.17, 0.09, -0.12, 0.07])
PILOT = scores(
    "".join(by_topic(f"r{i}", np.roll(NOISE, 3 * i) + 0.5 + i / 20) for i in range(6)), "pilot"
)


@pytest.mark.parametrize("freedom", [1, 7, 118, 5000])
def test_student_quantiles_of_any_level(freedom: int) -> None:
    for level in (0.8, 0.95, 1 - 0.05 / 3403):
        assert student_quantile(freedom, level) == pytest.approx(t.ppf((1 + level) / 2, freedom))


@pytest.mark.parametrize("runs", [2, 6, 83])
def test_the_largest_range_is_that_of_tukey(runs: int) -> None:
    wanted = studentized_range.ppf(0.95, runs, np.inf)
    assert largest_range(runs) == pytest.approx(wanted, rel=0.02)


def test_deviations_of_a_pilot() -> None:
    values = RNG.random((4, 9))
    pairs = [np.var(values[i] - values[j], ddof=1) for i in range(4) for j in range(i)]
    deviation, spread = pilot_deviations(values)
    assert deviation == pytest.approx(np.sqrt(np.mean(pairs)))
    residual = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    assert deviation == pytest.approx(np.sqrt(2 * (residual**2).sum() / (3 * 8)))
    assert spread == pytest.approx(np.sqrt(values.var(axis=0, ddof=1).mean()))
    gaps = np.array([[0.1, 0.5, NAN, 0.3], [0.4, 0.2, 0.9, NAN]])
    assert pilot_deviations(gaps)[0] == pytest.approx(np.std([-0.3, 0.3], ddof=1))


@pytest.mark.parametrize("topics", [8, 12])
def test_a_smallest_difference_is_found_eight_of_ten_times(topics: int) -> None:
    (found,) = power_of(PILOT, topics=topics)
    (smallest,) = found.smallest
    rng, sd, worlds = np.random.default_rng(topics), found.deviation / np.sqrt(2), 150

    def drawn(between: float) -> np.ndarray:
        """Return six runs of which the first and the last are so far apart."""
        means = between * np.array([0.5, 0, 0, 0, 0, -0.5])
        return means[:, None] + rng.normal(0, sd, (6, topics))

    assert smallest.pair is not None
    drawn_pairs = [drawn(smallest.pair) for _ in range(worlds)]
    pair = [sign_flip((rows[0] - rows[-1])[None])[0] for rows in drawn_pairs]
    assert np.mean(np.array(pair) < 0.05) == pytest.approx(0.8, abs=0.1)
    for test, apart in ((tukey_hsd, smallest.tukey), (holm_pairs, smallest.holm)):
        if apart is None:  # 15 pairs on 8 topics
            assert (topics, test) == (8, holm_pairs)
            continue
        p = [test(drawn(apart)).p[0, -1] for _ in range(worlds)]
        assert 0.65 < np.mean(np.array(p) < 0.05) < 0.95


def test_topics_that_a_difference_needs_show_it_and_one_less_does_not() -> None:
    (found,) = power_of(PILOT, runs=20, difference=0.1)
    assert found.needed is not None and found.runs == 20
    for place, needed in enumerate(found.needed.by_test):
        assert needed is not None
        (enough,), (less,) = (power_of(PILOT, topics=n, runs=20) for n in (needed, needed - 1))
        seen, missed = (plan.smallest[0].by_test[place] or 1 for plan in (enough, less))
        assert seen <= 0.1 < missed


def test_rows_are_those_of_the_pilot_and_a_few_more() -> None:
    (found,) = power_of(PILOT)
    assert [row.topics for row in found.smallest] == [8, 25, 50, 100]
    pair = [row.pair for row in found.smallest]
    assert pair == sorted(pair, reverse=True)


def test_what_no_number_of_topics_shows() -> None:
    (found,) = power_of(PILOT, difference=1e-6, topics=5)
    assert found.smallest[0].pair is None
    assert found.needed is not None and found.needed.by_test == (None, None, None)


@pytest.mark.parametrize(
    "text",
    [
        by_topic("a", [0.1, 0.5]),
        by_topic("a", [0.1, 0.5]) + by_topic("b", [0.2, 0.6]),
        by_topic("a", [0.1]) + by_topic("b", [0.2]),
    ],
    ids=["one run", "always as far apart", "one topic"],
)
def test_a_pilot_without_a_variance_is_none(text: str) -> None:
    with pytest.raises(InputError, match="a pilot needs two, and topics"):
        power_of(scores(text, "pilot"))
