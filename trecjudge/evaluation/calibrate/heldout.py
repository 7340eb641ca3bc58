"""Every pair judged by weights that were fitted without its topic."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from trecjudge.evaluation.calibrate.figures import Predictions
from trecjudge.evaluation.calibrate.fitting import fit
from trecjudge.evaluation.calibrate.pairs import LabelledPair
from trecjudge.judging.offline.calibration import Calibration
from trecjudge.judging.offline.features import Measurements
from trecjudge.judging.offline.support import probabilities_of

FEWEST_TOPICS = 3
"""With fewer topics documents are held out instead."""
_FOLDS = 5
"""Groups of documents, by a checksum of their text: the same ones each time."""


def groups_of(pairs: Sequence[LabelledPair]) -> list[str]:
    """Return what each pair is held out with: its topic or, with too few topics, its document."""
    if len({pair.topic_id for pair in pairs}) >= FEWEST_TOPICS:
        return [pair.topic_id for pair in pairs]
    return [f"documents {zlib.crc32(pair.text.encode()) % _FOLDS}" for pair in pairs]


def predict(
    found: Sequence[Measurements], labels: Sequence[float], groups: Sequence[str], by: Calibration
) -> Predictions:
    """Return the predictions of one calibration for all pairs."""
    chances = np.array([probabilities_of(pair, by) for pair in found])
    return Predictions(chances[:, 0], chances[:, 1], np.array(labels), np.array(groups))


def held_out(
    found: Sequence[Measurements],
    labels: Sequence[float],
    groups: Sequence[str],
    like: Calibration,
    prior: Calibration | None = None,
) -> Predictions:
    """Return predictions for all pairs, each by a fit without its group.

    The fits are as that of `like`, with its frequencies. A group without which nothing can be
    fitted is left out. Raises ValueError as `fit` does where that is so of all.
    """
    chances = np.full((len(found), 2), np.nan)
    refused: ValueError | None = None
    for group in dict.fromkeys(groups):
        others = [index for index, own in enumerate(groups) if own != group]
        rows, wanted = [found[i].features for i in others], [labels[i] for i in others]
        try:
            fitted = fit(rows, wanted, like.frequencies, prior)
        except ValueError as error:
            refused = error
            continue
        for index, own in enumerate(groups):
            if own == group:
                chances[index] = probabilities_of(found[index], fitted)
    known = ~np.isnan(chances[:, 0])
    if refused is not None and not known.any():
        raise refused
    supported, full = chances[known].T
    return Predictions(supported, full, np.array(labels)[known], np.array(groups)[known])
