"""How good a calibration is, by figures and on real labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from trecjudge.evaluation.calibrate.calibrate import fit, held_out, is_copy, measure_apart
from trecjudge.evaluation.calibrate.pairs import LabelledPair, read_pairs
from trecjudge.evaluation.calibrate.quality import (
    Predictions,
    accuracy_of_three,
    accuracy_of_two,
    auc_full_against_none,
    auc_supported,
    expected_calibration_error,
    figures,
    labels_of,
    reliability,
    value,
    why_no_interval,
)
from trecjudge.judging.offline.features import Measurements
from trecjudge.judging.offline.support import shipped_calibration
from trecjudge.judging.offline.wording import read_wording
from trecjudge.stats.resampling import NO_INTERVAL
from trecjudge.text.frequencies import TABLE_SIZE, Frequencies


def predictions(*rows: tuple[float, float, float], topics: str = "") -> Predictions:
    """Return predictions of (P(supported), P(full), label) rows, each of a topic of one letter."""
    supported, full, labels = np.array(rows, dtype=np.float64).T
    return Predictions(supported, full, labels, np.array(list(topics or "a" * len(rows))))


FOUR = predictions((0.9, 0.8, 1.0), (0.8, 0.3, 0.5), (0.4, 0.1, 0.5), (0.1, 0.0, 0.0))


def test_figures_by_hand() -> None:
    assert value(auc_supported, FOUR) == 1.0
    assert value(auc_full_against_none, FOUR) == 1.0
    assert labels_of(FOUR).tolist() == [1.0, 0.5, 0.0, 0.0]
    assert value(accuracy_of_three, FOUR) == 0.75
    assert value(accuracy_of_two, FOUR) == 0.75


def test_figures_of_a_resample() -> None:
    weights = np.array([[2.0, 0.0, 1.0, 1.0]])
    assert auc_supported(FOUR, weights).tolist() == [1.0]
    assert accuracy_of_three(FOUR, weights).tolist() == [0.75]
    assert accuracy_of_two(FOUR, weights).tolist() == [0.75]
    wanted = (2 * 0.1 + 0.6 + 0.1) / 4
    assert expected_calibration_error(FOUR, weights).tolist() == pytest.approx([wanted])


def test_equal_chances_give_the_higher_label() -> None:
    assert labels_of(predictions((0.5, 0.5, 0), (0.5, 0.0, 0))).tolist() == [1.0, 0.5]


def test_reliability_is_by_tenths() -> None:
    found = predictions((0.11, 0, 0), (0.19, 0, 1), (1.0, 0, 1))
    assert [(b.pairs, round(b.predicted, 2), b.observed) for b in reliability(found)] == [
        (2, 0.15, 0.5),
        (1, 1.0, 1.0),
    ]
    assert value(expected_calibration_error, found) == pytest.approx(2 / 3 * 0.35)


def noisy(topics: str) -> Predictions:
    """Return pairs of these topics, labelled as likely as predicted."""
    random = np.random.default_rng(1)
    rows = [(p, p / 2, float(random.random() < p)) for p in random.random(10 * len(topics))]
    return predictions(*rows, topics=topics * 10)


def test_the_same_predictions_give_the_same_intervals() -> None:
    first = figures(noisy("abcdef"))
    assert first == figures(noisy("abcdef"))
    assert first == figures(noisy("uvwxyz"))
    for figure in first[:2]:
        assert figure.interval.low < figure.value < figure.interval.high


@pytest.mark.parametrize("topics", ["a", "abc", "abcde"])
def test_fewer_than_six_topics_have_no_interval_with_the_reason(topics: str) -> None:
    found = figures(noisy(topics))
    assert {figure.interval for figure in found} == {NO_INTERVAL}
    wanted = f"no interval over {len(topics)} topics: of fewer than 6 it would not hold"
    assert why_no_interval(noisy(topics), "topics") == wanted


def test_six_topics_need_no_excuse() -> None:
    assert why_no_interval(noisy("abcdef"), "topics") is None


def test_a_figure_that_is_not_defined_has_no_value() -> None:
    assert value(auc_supported, predictions((0.9, 0.8, 1.0), (0.1, 0.0, 1.0))) is None


Labelled = tuple[list[LabelledPair], list[Measurements]]


def shipped_table(passages: int, counts: Mapping[str, int]) -> Frequencies:
    """Return the table of the commonest words in Latin letters: as it is shipped."""
    words = {form: count for form, count in counts.items() if form.isascii() and form.isalpha()}
    common = sorted(words, key=lambda form: (-words[form], form))[:TABLE_SIZE]
    return Frequencies.of(passages, {form: words[form] for form in common})


@pytest.fixture(scope="module")
def labelled() -> Labelled:
    """Return the pairs, each measured by word frequencies of the other topics."""
    path = Path(__file__).parents[3].parent / "shared/data/rag25_support/pairs.jsonl.gz"
    if not path.exists():
        pytest.skip(f"needs real data in {path}")
    pairs = [p for p in read_pairs(path, print) if read_wording(p.sentence).terms]
    found, table = measure_apart(pairs, [p.topic_id for p in pairs], shipped_table)
    shipped = shipped_calibration().frequencies
    assert len(table.counts.keys() & shipped.counts.keys()) > 0.99 * TABLE_SIZE
    return pairs, found


@pytest.fixture(scope="module")
def unseen(labelled: Labelled) -> Predictions:
    """Return predictions for every pair by weights of the other topics."""
    pairs, found = labelled
    topics = [pair.topic_id for pair in pairs]
    return held_out(found, [pair.weight for pair in pairs], topics, shipped_calibration())


SLOW = pytest.mark.slow(
    "trecjudge/evaluation/calibrate", "trecjudge/stats", "trecjudge/judging/offline"
)


@SLOW
def test_it_is_as_good_as_it_says(unseen: Predictions) -> None:
    how = " ".join(shipped_calibration().how)
    in_readme = [
        float(re.search(rf"{name} (0\.\d+)", how)[1])
        for name in (  # type: ignore[index]
            "AUC supported or not",
            "AUC full against none",
            "same label of three",
        )
    ]
    measured = (auc_supported, auc_full_against_none, accuracy_of_three)
    assert [value(of, unseen) for of in measured] == pytest.approx(in_readme, abs=0.002)


@SLOW
def test_its_probabilities_are_calibrated(unseen: Predictions, labelled: Labelled) -> None:
    copies = np.array([is_copy(found.features) for found in labelled[1]])
    every, plain = np.ones(len(copies)), (~copies).astype(float)
    whole, without = expected_calibration_error(unseen, np.stack([every, plain]))
    assert (whole < 0.03, without < 0.025) == (True, True)


def test_the_shipped_weights_are_those_of_these_labels(labelled: Labelled) -> None:
    """But for what changed in reading words since: with more, fit anew and bring the figures up."""
    pairs, found = labelled
    rows, weights = [one.features for one in found], [pair.weight for pair in pairs]
    shipped = shipped_calibration()
    again = fit(rows, weights, shipped.frequencies)
    ours = np.array([again.probabilities(row) for row in rows])
    theirs = np.array([shipped.probabilities(row) for row in rows])
    assert np.abs(ours - theirs).mean() < 0.003
