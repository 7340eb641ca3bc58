"""The figures of the README on the offline attester, checked on the labels of NIST's assessors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from trecjudge.evaluation.calibrate.fitting import fit, held_out, is_copy, measure_apart
from trecjudge.evaluation.calibrate.pairs import LabelledPair, read_pairs
from trecjudge.evaluation.calibrate.quality import (
    Predictions,
    accuracy_of_three,
    auc_full_against_none,
    auc_supported,
    expected_calibration_error,
    value,
)
from trecjudge.judging.offline.features import Measurements
from trecjudge.judging.offline.support import shipped_calibration
from trecjudge.judging.offline.wording import read_wording
from trecjudge.text.frequencies import TABLE_SIZE, Frequencies

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


@pytest.mark.slow("trecjudge/evaluation/calibrate", "trecjudge/stats")
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
