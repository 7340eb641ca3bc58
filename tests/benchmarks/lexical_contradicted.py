"""What people's labels leave of the probabilities of near copies that a document contradicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from trecjudge.evaluation.calibrate.pairs import LabelledPair
from trecjudge.judging.offline.features import Measurements, find
from trecjudge.judging.offline.prepared import prepared_text
from trecjudge.judging.offline.support import Contradicted, Kept, shipped_calibration
from trecjudge.judging.offline.wording import read_wording

FEWEST = 5
"""Pairs of a set that count for partial support."""

Row = tuple[float, float, float]
"""The label of a pair (0, 0.5 or 1), and what the weights say: P(supported), P(full)."""


def contradicted_shares(sets: Sequence[Sequence[LabelledPair]]) -> Contradicted:
    """Return observed by expected of all contradicted pairs, 1 at most.

    For full support of all sets together; for support in part of the sets that have such labels,
    each counting alike, since what is called partial differs from set to set.
    """
    rows = [_contradicted(pairs) for pairs in sets]
    graded = [any(pair.weight == 0.5 for pair in pairs) for pairs in sets]

    def kept(brief: bool) -> Kept:
        of_kind = [[row for found, row in part if found.brief is brief] for part in rows]
        everything = np.array([row for part in of_kind for row in part])
        full = (everything[:, 0] == 1).mean() / everything[:, 2].mean()
        counted = (np.array(part) for part, partly in zip(of_kind, graded, strict=True) if partly)
        shares = [
            (part[:, 0] > 0).mean() / part[:, 1].mean() for part in counted if len(part) >= FEWEST
        ]
        return Kept(*(round(min(float(share), 1.0), 2) for share in (np.mean(shares), full)))

    return Contradicted(brief=kept(brief=True), long=kept(brief=False))


def _contradicted(pairs: Iterable[LabelledPair]) -> list[tuple[Measurements, Row]]:
    by = shipped_calibration()
    rows: list[tuple[Measurements, Row]] = []
    for pair in pairs:
        wording = read_wording(pair.sentence)
        if wording.terms and (found := find(wording, prepared_text(pair.text))).contradicted:
            rows.append((found, (pair.weight, *by.probabilities(found.features))))
    return rows
